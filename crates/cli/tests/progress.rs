//! A user who waits at a terminal sees that something happens.

#![allow(clippy::restriction)]

mod program;

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use program::Folder;

/// Gives up on a bar that does not come.
const DEADLINE: Duration = Duration::from_secs(60);

/// Something that looks at what a terminal has shown so far.
type Shown = Arc<Mutex<String>>;

#[test]
fn an_audit_that_takes_longer_than_a_second_shows_how_much_it_has_read() {
    let folder = Folder::new();
    let (mut pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(40, 100)).unwrap();
    let command = pty_process::blocking::Command::new(env!("CARGO_BIN_EXE_placement-guard"));
    let command = command.env_clear().env("TERM", "xterm-256color").current_dir(folder.path()).arg("audit");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn(pts).unwrap();
    let shown = Shown::default();
    let seen = Arc::clone(&shown);
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = pty.read(&mut bytes) {
            seen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    });
    let mut stdin = child.stdin.take().unwrap();
    let started = Instant::now();
    // Input that comes slowly, until the bar is there.
    while !shown.lock().unwrap().contains(" read") && started.elapsed() < DEADLINE {
        stdin.write_all(b"# nothing yet\n").unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(started.elapsed() < DEADLINE, "no bar came");
    stdin.write_all(b"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    reader.join().unwrap();
    let shown = shown.lock().unwrap().clone();
    assert!(shown.contains("KiB read") || shown.contains(" B read"), "{shown:?}");
    // What is left on the terminal is an empty line: the bar goes away.
    assert!(shown.ends_with("\x1b[2K") || shown.ends_with("\r"), "{shown:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "objects: 1, findings: 0, would be refused: 0\n");
    assert_eq!(output.status.code(), Some(0));
}
