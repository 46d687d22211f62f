//! What is said when no decision can be made: what, where with line and column as far as they are known, and what to do.

#![allow(clippy::restriction)]

mod program;

use program::Folder;

/// A file for `check`, and the complaint about it.
const REQUESTS: [(&str, &[u8], &str); 10] = [
    (
        "cut.json",
        b"{\"operation\": \"CREATE\",\n \"kind\": }",
        "cut.json:2:10: is not JSON: expected value; correct it",
    ),
    ("end.json", b"{\"operation\": ", "end.json:1:14: is not JSON: EOF while parsing a value; correct it"),
    (
        "open.yaml",
        b"operation: [1\nkind: 2\n",
        "open.yaml:2:5: is not usable YAML: did not find expected ',' or ']' while parsing a flow sequence; correct it",
    ),
    (
        "tab.yaml",
        b"object:\n\tspec: {}\n",
        "tab.yaml:2:1: is not usable YAML: found character that cannot start any token while scanning for the next token; \
         correct it",
    ),
    (
        "alias.yaml",
        b"operation: CREATE\nobject: *pod\n",
        "alias.yaml:2:9: is not usable YAML: the alias `*pod` has no anchor before it; correct it",
    ),
    (
        "infinite.yaml",
        b"operation: CREATE\nobject: {a: .inf}\n",
        "infinite.yaml:2:13: is not usable YAML: a number must be finite; correct it",
    ),
    ("latin.yaml", b"operation: \xe4\n", "latin.yaml:1:1: is not UTF-8 at byte 11; save it as UTF-8"),
    (
        "text.yaml",
        b"---\nsome text\n",
        "text.yaml:2:1: a manifest: must be an object, but is a string: `some text`; correct the manifest",
    ),
    ("deep.yaml", b"", "deep.yaml:1:135: is not usable YAML: it is nested more than 127 levels deep; correct it"),
    ("bomb.yaml", b"", "bomb.yaml:6:32: is not usable YAML: its aliases repeat more than 4 MiB; correct it"),
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("settings.yaml", "volumeNodeAffinity: {}\n").write("request.json", r#"{"operation": "DELETE"}"#);
    folder
}

/// Text that is harmless to read and endless to write out.
fn bomb() -> String {
    let tenfold = |name: char, of: &str| format!("{name}: &{name} [{}]\n", [of; 10].join(","));
    let levels = ('a'..='i').map(|name| tenfold(char::from(name as u8 + 1), &format!("*{name}")));
    std::iter::once(tenfold('a', "x")).chain(levels).collect()
}

#[test]
fn requests_that_cannot_be_read() {
    let folder = folder();
    for (file, bytes, complaint) in REQUESTS {
        match file {
            "deep.yaml" => folder.write(file, format!("object: {}{}", "[".repeat(200), "]".repeat(200))),
            "bomb.yaml" => folder.write(file, bomb()),
            _ => folder.write(file, bytes),
        };
        folder.run(&format!("check --settings settings.yaml request.json {file}")).complained(complaint);
        // Only what is called so must be JSON.
        if !bytes.is_empty() && file.ends_with(".yaml") {
            let piped = folder.pipe(bytes, "check --settings settings.yaml -");
            piped.complained(&complaint.replacen(file, "standard input", 1));
        }
    }
}

#[test]
fn manifests_that_cannot_be_read() {
    let folder = folder();
    let after = |text: &str| folder.write("after.yaml", text).run("check --settings settings.yaml --after after.yaml");
    after("- apiVersion: v1\n")
        .complained("after.yaml:1:1: a manifest: must be an object, but is a list of 1 item; correct the manifest");
    after("apiVersion: v1\nkind: Pod\nmetadata: {name: yes}\n").complained(
        "after.yaml:3:18: metadata.name: must be a string, but is a boolean: `true`; write it in quotes; correct the manifest",
    );
}

#[test]
fn files_that_are_not_there_and_not_what_they_should_be() {
    let folder = folder();
    folder.write("folder/file", "").write("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n");
    folder.write("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {labels: {a: 5}, name: a}\n");
    folder.write("none.yaml", "apiVersion: v1\nkind: NodeList\nitems: []\n");
    folder.write("nameless.yaml", "apiVersion: v1\nkind: Node\n");
    let missing = "cannot be read: No such file or directory (os error 2); name a file, or `-`";
    let nodes = "give what `kubectl get nodes -o yaml` prints";
    let cases = [
        ("--settings absent.yaml request.json", format!("absent.yaml: {missing}")),
        ("--settings settings.yaml absent.json", format!("absent.json: {missing}")),
        ("--settings settings.yaml --before absent.yaml", format!("absent.yaml: {missing}")),
        (
            "--settings settings.yaml folder",
            String::from("folder: holds no file that ends in `.yaml`, `.yml` or `.json`; name another folder"),
        ),
        ("--settings - -", String::from("standard input: is read twice; give the other as a file")),
        ("--settings settings.yaml - -", String::from("standard input: is read twice; give the other as a file")),
        (
            "--settings settings.yaml --nodes pod.yaml request.json",
            format!("pod.yaml:1: is a `Pod`, not a `Node`; {nodes}"),
        ),
        (
            "--settings settings.yaml --nodes node.yaml request.json",
            format!(
                "node.yaml:1: metadata.labels.a: must be a string, but is a number: `5`; write it in quotes; {nodes}"
            ),
        ),
        (
            "--settings settings.yaml --nodes nameless.yaml request.json",
            format!("nameless.yaml:1: is a `Node` without a name; {nodes}"),
        ),
        ("--settings settings.yaml --nodes none.yaml request.json", format!("none.yaml: holds no `Node`; {nodes}")),
    ];
    for (arguments, complaint) in cases {
        folder.run(&format!("check {arguments}")).complained(&complaint);
    }
}

#[test]
fn wrong_usage_names_the_option() {
    let folder = folder();
    let cases = [
        ("check request.json", "--settings <PATH>"),
        ("check --settings settings.yaml", "<PATH>..."),
        (
            "check --settings settings.yaml request.json --after request.json",
            "'[PATH]...' cannot be used with '--after <PATH>...'",
        ),
        (
            "check --settings settings.yaml request.json --output xml",
            "[possible values: text, json, yaml, github, sarif, junit]",
        ),
        ("check --settings settings.yaml request.json --insecure", "--module <FILE|REFERENCE>"),
        ("check --settings settings.yaml request.json --require-digest", "--module <FILE|REFERENCE>"),
        ("check --settings settings.yaml request.json --verify-key key.pub", "--module <FILE|REFERENCE>"),
        ("chek", "a similar subcommand exists: 'check'"),
        ("completions tcsh", "[possible values: bash, elvish, fish, powershell, zsh]"),
        ("push module.wasm", "<REFERENCE>"),
        ("pull localhost:5000/guard:v1", "--output-path <OUTPUT_PATH>"),
    ];
    for (arguments, names) in cases {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains(names), "{arguments}: {}", ran.err);
    }
}

#[test]
fn a_complaint_on_a_terminal_is_red_at_its_beginning() {
    let (code, shown) = folder().on_terminal(&[], "check --settings absent.yaml request.json");
    let said = "absent.yaml: cannot be read: No such file or directory (os error 2); name a file, or `-`";
    assert_eq!((code, shown), (Some(2), format!("\x1b[1m\x1b[31merror:\x1b[0m {said}\n")));
}
