//! Input that is made to hurt: without an end, nested without an end, and names that say something else than they are.

#![allow(clippy::restriction)]

mod program;

use std::process::Command;

use program::{Folder, Ran, ran};

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: team}\nspec: {tolerations: [{operator: Exists}]}\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "tolerations: {allowed: []}\n");
    folder
}

fn audit(folder: &Folder, path: &str) -> Ran {
    folder.run(&format!("audit --settings settings.yaml {path}"))
}

/// A reader that calls itself for each level would have no stack left.
#[test]
fn json_may_be_nested_without_an_end() {
    let folder = folder();
    let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
    let pod =
        |name: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":{name}}},"spec":{open}{close}}}"#);
    folder.write("deep.json", pod("\"a\"")).write("name.json", pod("1"));
    folder.write("list.json", format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, pod("\"a\"")));
    let lists = r#"{"apiVersion":"v1","kind":"List","items":["#.repeat(50_000) + &"]}".repeat(50_000);
    folder.write("lists.json", &lists);
    for (file, said) in [
        ("deep.json", "recursion limit exceeded"),
        ("name.json", "recursion limit exceeded"),
        ("list.json", "recursion limit exceeded"),
        ("lists.json", "it holds Lists in Lists, more than 16 levels deep"),
    ] {
        let ran = audit(&folder, file);
        assert_eq!(ran.code, Some(2), "{file}: {}", ran.err);
        assert!(ran.err.contains(said), "{file}: {}", ran.err);
    }
}

#[test]
fn a_text_without_an_end_is_not_held() {
    let folder = folder();
    for (file, line) in [("/dev/zero", 1), ("rows.yaml", 2_000_000), ("text.json", 3)] {
        if file == "rows.yaml" {
            folder.write(file, "a: b # longer than any object of Kubernetes\n".repeat(2_000_000));
        } else if file == "text.json" {
            folder.write(file, format!("{{\n\"kind\":\n\"{}\"}}\n", "x".repeat(80 << 20)));
        }
        let ran = audit(&folder, file);
        assert_eq!(ran.code, Some(2), "{file}: {}", ran.err);
        let said =
            ran.err.split_once("the document or item at line ").unwrap_or_else(|| panic!("{file}: {}", ran.err)).1;
        let (at, rest) = said.split_once(' ').unwrap();
        assert!(rest.starts_with("is longer than 64 MiB"), "{file}: {}", ran.err);
        assert!((1..=line).contains(&at.parse::<usize>().unwrap()), "{file}: {}", ran.err);
    }
}

/// A folder may hold what is no file at all. It is passed, and never opened: a pipe without a writer would be waited for.
#[test]
fn what_is_no_file_is_passed() {
    let folder = folder();
    folder.write("all/pod.yaml", POD);
    assert!(Command::new("mkfifo").arg(folder.path().join("all/pipe.yaml")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("all/socket.yaml")).unwrap();
    for (target, link) in
        [("/dev/zero", "device.yaml"), (".", "here"), ("../all", "up.yaml"), ("pipe.yaml", "link.yaml")]
    {
        std::os::unix::fs::symlink(target, folder.path().join("all").join(link)).unwrap();
    }
    let ran = audit(&folder, "all");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    assert!(ran.out.contains("\nobjects: 1, "), "{}", ran.out);
    assert!(audit(&folder, "all/socket.yaml").err.starts_with("error: all/socket.yaml: cannot be read: "));
}

/// In the log of a job on GitHub every line that begins with `::` is a command, of standard error too.
#[test]
fn a_name_never_begins_a_line() {
    let folder = folder();
    let names = ["a\n::error file=x::b\u{1b}[31m.yaml", "b::c,d%0A.yaml", "c\n  ::add-mask::a.yaml"];
    for name in names {
        folder.write(&format!("names/{name}"), POD);
    }
    folder.write("names/broken\n::stop-commands::a.yaml", "a: [1\n");
    folder.write("names/template.yaml", format!("---\n# Source: a\u{1b}[2J/templates/b.yaml\n{POD}"));
    let odd = |text: &str| format!("\"{text}\\n::error::c\\u001b]0;d\\u0007\\u202e\"");
    let tolerations = format!("spec: {{tolerations: [{{key: {}, operator: Exists}}]}}\n", odd("k"));
    let silence = "placement-guard.dev/ignore: \"::x\\u001b[1m: y\\ntoleration-not-allowed: \\u001b[1mwhy\"";
    folder.write(
        "names/object.yaml",
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {}, namespace: {}, annotations: {{{silence}}}}}\n{tolerations}---\n\
             apiVersion: v1\nkind: {}\n",
            odd("n"),
            odd("s"),
            odd("Kind")
        ),
    );
    for (command, format) in [
        ("check", "text"),
        ("audit", "text"),
        ("check", "github"),
        ("check", "junit"),
        ("check", "json"),
        ("check", "sarif"),
        ("check", "yaml"),
    ] {
        let ran = folder.run(&format!("{command} --settings settings.yaml --output {format} names"));
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        for line in ran.out.lines().chain(ran.err.lines()) {
            let is_ours = format == "github"
                && (line.starts_with("::error file=names/") || line.starts_with("::warning file=names/"));
            assert!(is_ours || !line.trim_start().starts_with("::"), "{command} {format}: {line}");
            assert!(!line.contains(['\u{1b}', '\u{7}']), "{command} {format}: {line}");
        }
        assert!(format != "text" || !ran.out.contains('\u{202e}'), "{}", ran.out);
        if format == "github" {
            for name in names {
                let property = name.replace('%', "%25").replace('\n', "%0A").replace(':', "%3A").replace(',', "%2C");
                let property = property.replace("\u{1b}[31m", "");
                assert!(ran.out.contains(&format!("::error file=names/{property},line=4,")), "{property}\n{}", ran.out);
            }
        }
    }
}

#[test]
fn many_equal_keys_are_one_line() {
    let folder = folder();
    folder.write("a.yaml", format!("{POD}{}", "k: 1\n".repeat(1000)));
    let ran = audit(&folder, "a.yaml");
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 6, "{}", ran.err);
    assert_eq!(lines[5], "warning: a.yaml:1: 994 more keys appear twice");
}

#[test]
fn a_revision_is_no_option_of_git() {
    let folder = folder();
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(folder.path()).status().unwrap();
    assert!(git.success());
    for revision in ["-h", "--output=taken", "--help", "HEAD..HEAD", "", "HEAD\nHEAD", "--"] {
        let mut command = folder.command();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.args(["check", "--settings", "settings.yaml", &format!("--since={revision}")]);
        let ran = ran(command, b"");
        assert_eq!(ran.code, Some(2), "{revision}");
        assert!(ran.err.contains("`: is not a revision that git knows here; "), "{revision}: {}", ran.err);
    }
    assert!(!folder.path().join("taken").exists());
}
