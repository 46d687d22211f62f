//! The program: what it writes, and what it says when it cannot.

#![allow(clippy::restriction)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The smallest module there is: the magic number and the version.
const EMPTY_MODULE: &[u8] = b"\0asm\x01\0\0\0";

fn project_metadata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../metadata.yml")
}

/// A folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_annotate")).args(arguments).output().unwrap()
}

#[test]
fn the_output_is_the_module_with_its_metadata() {
    let folder = folder("writes");
    let (input, output) = (folder.join("in.wasm"), folder.join("out.wasm"));
    std::fs::write(&input, EMPTY_MODULE).unwrap();
    let metadata = project_metadata();
    let result = run(&["--metadata".as_ref(), &metadata, "--output".as_ref(), &output, &input]);
    assert_eq!(String::from_utf8_lossy(&result.stderr), "");
    assert_eq!(result.status.code(), Some(0));

    let yaml = std::fs::read_to_string(metadata).unwrap();
    let expected = package::annotate(EMPTY_MODULE, &package::Metadata::parse(&yaml).unwrap()).unwrap();
    assert_eq!(std::fs::read(&output).unwrap(), expected);
    assert_eq!(std::fs::read(&input).unwrap(), EMPTY_MODULE, "the input stays as it was");
}

#[test]
fn the_listing_for_artifact_hub_is_written_where_it_is_asked_for() {
    let output = folder("lists").join("artifacthub-pkg.yml");
    let metadata = project_metadata();
    let questions = metadata.with_file_name("questions-ui.yml");
    let created_at = "2026-11-21T08:59:03Z";
    let hub: [&Path; 2] = ["--artifact-hub".as_ref(), created_at.as_ref()];
    let result = run(&["--metadata".as_ref(), &metadata, "--output".as_ref(), &output, hub[0], hub[1], &questions]);
    assert_eq!((result.status.code(), String::from_utf8_lossy(&result.stderr).as_ref()), (Some(0), ""));

    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    let metadata = package::Metadata::parse(&read(&metadata)).unwrap();
    let expected = package::artifact_hub(&metadata, Some(&read(&questions)), created_at).unwrap();
    assert_eq!(read(&output), expected);
}

#[test]
fn a_complaint_names_the_file_and_ends_with_code_2() {
    let folder = folder("complains");
    let (module, text, output) = (folder.join("in.wasm"), folder.join("text"), folder.join("never.wasm"));
    let absent = folder.join("absent");
    std::fs::write(&module, EMPTY_MODULE).unwrap();
    std::fs::write(&text, "not: a module").unwrap();
    let metadata = project_metadata();
    let (m, o): (&Path, &Path) = ("--metadata".as_ref(), "--output".as_ref());
    let usage = "; usage: annotate --metadata metadata.yml --output OUT (IN.wasm | --artifact-hub CREATED-AT questions-ui.yml)\n";
    let cases: [(&[&Path], String); 6] = [
        (&[], format!("annotate: `--metadata` is missing{usage}")),
        (&[m, &metadata, o, &output], format!("annotate: the file to read is missing{usage}")),
        (&["--force".as_ref()], format!("annotate: invalid option '--force'{usage}")),
        (
            &[m, &absent, o, &output, &module],
            format!("annotate: {}: No such file or directory (os error 2)\n", absent.display()),
        ),
        (&[m, &text, o, &output, &module], format!("annotate: {}: not the metadata of a policy: ", text.display())),
        (&[m, &metadata, o, &output, &text], format!("annotate: {}: not a WebAssembly module: ", text.display())),
    ];
    for (arguments, complaint) in cases {
        let result = run(arguments);
        assert!(String::from_utf8_lossy(&result.stderr).starts_with(&complaint), "{arguments:?}: {result:?}");
        assert_eq!(result.status.code(), Some(2), "{arguments:?}");
        assert!(!output.exists(), "{arguments:?} wrote a file");
    }
}
