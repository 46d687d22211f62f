//! `settings` and `settings check`: what may be said, and where a file goes wrong.

#![allow(clippy::restriction)]

mod program;

use program::{Folder, repository};

#[test]
fn the_committed_schema_is_what_the_program_prints() {
    let ran = Folder::new().run("settings");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let committed = std::fs::read_to_string(repository().join("policies/settings.schema.json")).unwrap();
    assert_eq!(ran.out, committed);
}

#[test]
fn settings_that_can_be_used_are_said_to_be() {
    let folder = Folder::new();
    folder.write("settings.yaml", "# Only this.\n---\nvolumeNodeAffinity: {}\n");
    folder.run("settings check settings.yaml").printed(0, "settings.yaml: these settings can be used\n");
    folder.pipe("{\"nodeTaints\": {}}", "settings check -").printed(0, "standard input: these settings can be used\n");
}

/// What is wrong, and the place: a value, the key where that is what is wrong, or what lacks something.
const PLACES: [(&str, &str); 14] = [
    ("settings.yaml:1:1: settings: has no section", "{}"),
    ("settings.yaml:2:1: settings: has no section", "# Nothing yet.\nvolumeNodeAffinity:\n"),
    ("settings.yaml:1:1: settings: must be an object, but is a list of 1 item", "- volumeNodeAffinity\n"),
    ("settings.yaml:1:1: settings: must be an object, but is a string: `all of them`", "all of them\n"),
    ("settings.yaml:2:1: nodeTaint: is not a known key", "volumeNodeAffinity: {}\nnodeTaint: {}\n"),
    (
        "settings.yaml:3:3: volumeNodeAffinity.topolgy: is not a known key",
        "volumeNodeAffinity:\n  allow: []\n  topolgy: {}\n",
    ),
    (
        "settings.yaml:1:42: volumeNodeAffinity.allow[1]: must be one of",
        "{volumeNodeAffinity: {\"allow\": [widened, equal]}}",
    ),
    (
        "settings.yaml:4:31: volumeNodeAffinity.topology.zones.us-east1[1]: must be a valid label value",
        "volumeNodeAffinity:\n  topology:\n    zones:\n      us-east1: [us-east1-b,  \"not a zone\"]\n",
    ),
    (
        "settings.yaml:4:34: volumeNodeAffinity.topology.aliases[beta.example.com/zone]: must be a string",
        "volumeNodeAffinity:\n  topology:\n    aliases:\n      \"beta.example.com/zone\":   [zone]\n",
    ),
    (
        "settings.yaml:4:5: csiDriverTokens.audiences[1].drivers: is missing",
        "csiDriverTokens:\n  audiences:\n  - {drivers: [\"*\"], allow: []}\n  - allow: []\n",
    ),
    (
        "settings.yaml:2:39: nodeTaints.numericKeys[1]: must be a valid taint key",
        "{\"volumeNodeAffinity\": {},\n \"nodeTaints\": {\"numericKeys\": [\"ok\", \"not ok\"]}}",
    ),
    (
        "settings.yaml:2:2: volumeNodeAffinity: appears twice",
        "{\"volumeNodeAffinity\": {},\n \"volumeNodeAffinity\": {}}",
    ),
    (
        "settings.yaml:2:2: volumeNodeAffinity.allow: appears twice",
        "{\"volumeNodeAffinity\": {\"allow\": [],\n \"allow\": []}, \"nodeTaints\": {}}",
    ),
    (
        "settings.yaml:1:47: accessModes.singleWriter[0].storageClasses: is empty",
        "accessModes: {singleWriter: [{storageClasses: [], level: require}]}",
    ),
];

#[test]
fn what_is_wrong_is_said_with_line_and_column() {
    let folder = Folder::new();
    for (complaint, settings) in PLACES {
        let ran = folder.write("settings.yaml", settings).run("settings check settings.yaml");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{settings}");
        let begin = format!("error: {complaint}");
        assert!(ran.err.starts_with(&begin), "expected {complaint}\ngot {}", ran.err);
        let remedies = ["; `placement-guard settings` prints what is known\n", "`?\n"];
        assert!(remedies.iter().any(|remedy| ran.err.ends_with(remedy)), "{}", ran.err);
        // `check` with these settings says the same.
        for command in ["check --settings settings.yaml request.json", "audit --settings settings.yaml ."] {
            let judged = folder.run(command);
            assert_eq!((judged.code, judged.err), (Some(2), ran.err.clone()), "{command}");
        }
    }
}

#[test]
fn everything_that_is_wrong_in_several_files_is_said_at_once_with_what_may_be_meant() {
    let folder = Folder::new();
    folder.write("good.yaml", "nodeTaints: {}\n");
    folder.write("a.yaml", "volumeNodeAfinity: {}\ntolerations:\n  enforcement: wran\n  allowed: [{key: 5}]\n");
    folder.write("b.yaml", "localVolumes: {pined: true}\n");
    let ran = folder.run("settings check a.yaml good.yaml b.yaml absent.yaml");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), "good.yaml: these settings can be used\n"));
    let begins = [
        ("error: a.yaml:1:1: volumeNodeAfinity: is not a known key", "; did you mean `volumeNodeAffinity`?"),
        ("error: a.yaml:3:16: tolerations.enforcement: must be one of", "; did you mean `warn`?"),
        (
            "error: a.yaml:4:19: tolerations.allowed[0].key: must be a string, but is a number: `5`; write it in quotes",
            "known",
        ),
        ("error: b.yaml:1:16: localVolumes.pined: is not a known key", "; did you mean `pinned`?"),
        ("error: absent.yaml: cannot be read", "name a file, or `-`"),
    ];
    assert_eq!(ran.err.lines().count(), begins.len(), "{}", ran.err);
    for (line, (begin, end)) in ran.err.lines().zip(begins) {
        assert!(line.starts_with(begin) && line.ends_with(end), "{line}\nis not {begin} … {end}");
    }
}

#[test]
fn a_file_that_is_no_settings_file_is_no_decision() {
    let folder = Folder::new();
    let check = |text: &str| folder.write("settings.yaml", text).run("settings check settings.yaml");
    let write = "write settings, such as `volumeNodeAffinity: {}`, into it";
    check("").complained(&format!("settings.yaml: holds no document; {write}"));
    check("# Nothing.\n---\n").complained(&format!("settings.yaml: holds no document; {write}"));
    check("a: {}\n---\nb: {}\n")
        .complained("settings.yaml:3: is another document; leave one: settings, such as `volumeNodeAffinity: {}`");
    check("volumeNodeAffinity: {}\nvolumeNodeAffinity: {}\n").complained(
        "settings.yaml:2:1: volumeNodeAffinity: appears twice; `placement-guard settings` prints what is known",
    );
    check("volumeNodeAffinity: [\n")
        .complained(
            "settings.yaml:2:1: is not usable YAML: did not find expected node content while parsing a flow node; correct it",
        );
    folder
        .run("settings check absent.yaml")
        .complained("absent.yaml: cannot be read: No such file or directory (os error 2); name a file, or `-`");
}
