//! Archives are read by the `tar` of the machine, which shares nothing with what wrote them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use release::Archive;

/// What `tar` says of an archive.
pub fn tar(options: &[&str], archive: &[u8]) -> String {
    let mut tar = Command::new("tar");
    tar.args(options).args(["--file", "-"]).env("TZ", "UTC").env("LC_ALL", "C");
    let mut child = tar.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(archive).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

/// The paths in an archive.
pub fn paths(options: &[&str], archive: &[u8]) -> Vec<String> {
    tar(&[&["--list"], options].concat(), archive).lines().map(String::from).collect()
}

/// Unpacks an archive.
pub fn unpack(archive: &[u8], folder: &Path) {
    tar(&["--extract", "--gzip", "--no-same-owner", "--directory", folder.to_str().unwrap()], archive);
}

#[test]
fn entries_are_sorted_and_have_one_owner_and_one_time() {
    let long = format!("{}/{}", "folder".repeat(16), "name".repeat(20));
    let mut archive = Archive::new(1_795_337_651);
    archive.file("b/program", true, "run me");
    archive.file("a", false, "text");
    archive.file(&long, false, "");
    let listed = tar(&["--list", "--verbose", "--full-time"], &archive.tar().unwrap());
    let when = "2026-11-22 08:54:11";
    let expected = [
        format!("-rw-r--r-- root/root         4 {when} a"),
        format!("drwxr-xr-x root/root         0 {when} b/"),
        format!("-rwxr-xr-x root/root         6 {when} b/program"),
        format!("drwxr-xr-x root/root         0 {when} {}/", "folder".repeat(16)),
        format!("-rw-r--r-- root/root         0 {when} {long}"),
    ];
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_unpacked_is_what_was_packed_and_the_order_of_packing_changes_nothing() {
    let files = [("one/two/a", vec![b'a'; 511]), ("one/b", vec![b'b'; 512]), ("c", vec![0, 1, 2, 255])];
    let mut forward = Archive::new(7);
    files.iter().for_each(|(path, bytes)| forward.file(path, false, bytes.clone()));
    let mut backward = Archive::new(7);
    files.iter().rev().for_each(|(path, bytes)| backward.file(path, false, bytes.clone()));
    let archive = forward.tar_gz().unwrap();
    assert!(archive == backward.tar_gz().unwrap(), "the order matters");
    let folder = tempfile::tempdir().unwrap();
    unpack(&archive, folder.path());
    for (path, bytes) in files {
        assert_eq!(std::fs::read(folder.path().join(path)).unwrap(), bytes, "{path}");
    }
}

#[test]
fn a_name_that_no_field_holds_is_refused() {
    for (path, fits) in [
        ("n".repeat(100), true),
        ("n".repeat(101), false),
        (format!("{0}/{0}/{1}", "p".repeat(77), "n".repeat(100)), true),
        (format!("{0}/{0}/{1}", "p".repeat(78), "n".repeat(100)), false),
        (format!("{}/{}", "p".repeat(100), "n".repeat(101)), false),
    ] {
        let mut archive = Archive::new(0);
        archive.file(&path, false, "x");
        let names = archive.tar().map(|tar| paths(&[], &tar).pop().unwrap());
        match names {
            Ok(name) => assert!(fits && name == path, "{path}"),
            Err(problem) => {
                assert!(!fits, "{path}");
                assert!(
                    problem.to_string().ends_with("` is too long for the name of a file in an archive"),
                    "{problem}"
                );
            }
        }
    }
}

#[test]
fn a_link_in_a_folder_is_refused_instead_of_followed() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
    let problem = Archive::new(0).folder("here", folder.path()).unwrap_err().to_string();
    assert_eq!(problem, format!("{}: must be a file or a folder", folder.path().join("link").display()));
}
