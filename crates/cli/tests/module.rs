//! `check --module`: a module as a cluster would run it gives exactly the library's answers.

#![allow(clippy::restriction)]

mod program;

use std::collections::BTreeSet;

use placement_guard::objects::Objects;
use placement_guard::rules::cluster::{Cluster, NoCluster};
use placement_guard::verdict;
use placement_guard_cli::cluster::Surroundings;
use placement_guard_cli::input::Place;
use placement_guard_cli::judge::Judge;
use placement_guard_cli::module::Loaded;
use placement_guard_cli::origin::Origin;
use placement_guard_cli::report::Locate;
use placement_guard_cli::settings;
use program::{Folder, built_module, repository};
use serde_json::json;

/// Where these requests are written does not matter.
const BEGIN: Locate<'static> = &|_| Place { line: 1, column: 1 };

fn built() -> Loaded {
    Loaded::load(&built_module().display().to_string(), &Origin::default())
        .unwrap_or_else(|complaint| panic!("{complaint}"))
}

#[test]
fn the_module_gives_the_librarys_verdict_on_every_case() {
    let module = built();
    let mut judged = 0;
    let mut with_cluster = 0;
    for case in testkit::cases().unwrap().into_iter().filter(|case| !case.has_unreadable_kinds()) {
        let settings = String::from_utf8(case.settings()).unwrap();
        let sets = settings::of_text("settings.yaml", &settings).unwrap();
        let objects = case.cluster().map(|objects| Objects::read(&json!(objects).to_string()).unwrap());
        with_cluster += usize::from(objects.is_some());
        let surroundings = objects.clone().map(Surroundings::from).unwrap_or_default();
        let judge = Judge::new(sets, Some(&module), |_| Ok(surroundings));
        let Some(request) = case.request() else {
            let unreadable = verdict::validate_settings(&settings).unwrap_err();
            let said = format!(": {}: {}; ", unreadable.path, unreadable.problem);
            let complaint = judge.err().map(|complaint| complaint.to_string()).unwrap();
            let parts = complaint.split_once(&said).unwrap_or_else(|| panic!("{}: {complaint}", case.name));
            assert!(parts.0.starts_with("settings.yaml:1:"), "{complaint}");
            assert_eq!(parts.1, "write settings that this module knows");
            continue;
        };
        let judge = judge.unwrap_or_else(|complaint| panic!("{}: {complaint}", case.name));
        let review = json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request});
        let cluster: &dyn Cluster = objects.as_ref().map_or(&NoCluster, |objects| objects);
        let library = verdict::check_in(&settings, &request.to_string(), cluster);
        for asked in [request, &review] {
            let (verdict, found) = judge.judge(&asked.to_string(), BEGIN).unwrap();
            let mut library = library.clone();
            if library.annotations.get("relation").is_some_and(|relation| relation == "widened")
                && !verdict.annotations.contains_key("gainsLiveNodes")
            {
                // A module does not ask its host for names that change nothing.
                library.annotations.remove("gainsLiveNodes");
            }
            if objects.is_none() && library.findings.iter().any(|code| code == "cluster-unreadable") {
                // Whom to ask for a cluster depends on who judges.
                library.message.clone_from(&verdict.message);
            }
            assert_eq!(verdict, library, "{}", case.name);
            let codes: BTreeSet<String> = found.into_iter().map(|found| found.code).collect();
            let known =
                if library.code == Some(422) { vec![String::from("unreadable")] } else { library.findings.clone() };
            assert_eq!(codes, known.into_iter().collect(), "{}", case.name);
        }
        judged += 1;
    }
    assert!(judged > 300 && with_cluster > 15, "only {judged} requests, {with_cluster} in a cluster");
}

#[test]
fn what_is_not_quite_a_review_is_answered_alike() {
    let module = built();
    let settings = r#"{"volumeNodeAffinity": {}}"#;
    let sets = settings::of_text("settings.yaml", settings).unwrap();
    let judge = Judge::new(sets, Some(&module), |_| Ok(Surroundings::default()))
        .unwrap_or_else(|complaint| panic!("{complaint}"));
    let texts = [
        "",
        "null",
        "[]",
        r#"{"kind": "AdmissionReview"}"#,
        r#"{"kind": "AdmissionReview", "request": null}"#,
        r#"{"kind": "AdmissionReview", "request": 1}"#,
        r#"{"kind": "AdmissionReview", "request": {"operation": "CREATE"}, "request": {"operation": "DELETE"}}"#,
        r#"{"kind": "AdmissionReview", "kind": "AdmissionReview", "request": {"operation": "DELETE"}}"#,
        r#"{"kind": "AdmissionReview", "kind": {"kind": "Pod"}, "operation": "DELETE"}"#,
        r#"{"kind": "AdmissionReview", "request": {"operation": "CREATE", "operation": "DELETE"}}"#,
        r#"{"operation": "CREATE", "operation": "DELETE"}"#,
        r#"{"kind": "Admission\u0052eview", "request": {"operation": "DELETE"}}"#,
        r#"{"operation": "DELETE""#,
    ];
    for text in texts {
        let library = verdict::check(settings, text);
        let (asked, _) = judge.judge(text, BEGIN).unwrap_or_else(|complaint| panic!("{text}: {complaint}"));
        assert_eq!((asked.allowed, asked.code), (library.allowed, library.code), "{text}");
    }
}

#[test]
fn the_program_judges_with_a_module_as_it_does_without() {
    let folder = Folder::new();
    folder.write("settings.yaml", "volumeNodeAffinity: {}\n");
    let mut check = folder.command();
    check.args(["check", "--settings", "settings.yaml", "--output", "json"]);
    for entry in std::fs::read_dir(repository().join("tests/requests")).unwrap() {
        check.arg(entry.unwrap().path());
    }
    let mut with_module = folder.command();
    with_module.args(check.get_args()).arg("--module").arg(built_module());
    let (without, with) = (program::ran(check, b""), program::ran(with_module, b""));
    assert_eq!((without.code, without.err.as_str()), (Some(1), ""));
    assert_eq!(with, without);
}

#[test]
fn the_module_decides_about_the_settings_too() {
    let folder = Folder::new();
    folder.write("settings.yaml", "volumeNodeAffinity:\n  allow: [widened, equal]\n").write("request.json", "{}");
    let mut check = folder.command();
    check.args(["check", "--settings", "settings.yaml", "request.json", "--module"]).arg(built_module());
    program::ran(check, b"").complained(
        "settings.yaml:2:20: volumeNodeAffinity.allow[1]: must be one of `widened`, `narrowed`, `shifted`, `undecided`, but is \
         `equal`; write settings that this module knows",
    );
}

#[test]
fn what_is_no_module_is_said() {
    let folder = Folder::new();
    folder.write("settings.yaml", "volumeNodeAffinity: {}\n").write("text.wasm", "text");
    folder.write("empty.wasm", b"\0asm\x01\0\0\0").write("request.json", r#"{"operation": "DELETE"}"#);
    let check = |module: &str| folder.run(&format!("check --settings settings.yaml --module {module} request.json"));
    let absent = "cannot be read: No such file or directory (os error 2); name a module file, or \
                  `HOST/REPOSITORY:TAG` in a registry";
    for file in ["absent.wasm", "ghcr.io/absent.wasm", "absent", "./localhost:1/absent"] {
        check(file).complained(&format!("{file}: {absent}"));
    }
    check("text.wasm").complained(
        "text.wasm: is not a WebAssembly module: failed to parse WebAssembly module: magic header not detected: bad magic \
         number - expected=[ 0x0, 0x61, 0x73, 0x6d, ] actual=[ 0x74, 0x65, 0x78, 0x74, ] (at offset 0x0); give the file \
         that `make module` wrote",
    );
    check("empty.wasm").complained(
        "empty.wasm: does not answer: Initialization failed: Guest call function (__guest_call) not exported by wasm \
         module; give a module of this program",
    );
    check("localhost:1/guard:v1").complained(
        "cannot pull `localhost:1/guard:v1`: Connection refused (os error 111); is `localhost:1` up? for plain \
         HTTP, use `--insecure`",
    );
    check("registry://Guard:v1").complained(
        "`registry://Guard:v1` is not a reference to a module in a registry: invalid reference format; write \
         `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:…`",
    );
    check("ghcr.io/guard:v1 --insecure").complained(
        "`--insecure` speaks plain HTTP, and `ghcr.io` is not on this machine; without this option, the program uses \
         HTTPS",
    );
}
