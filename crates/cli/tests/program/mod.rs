//! The built program as a process: with pipes, or on a terminal. What it prints is compared with reviewed files.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tempfile::TempDir;

/// Longer than any process of a test runs, also on a busy machine.
const LONGEST: Duration = Duration::from_secs(180);

/// Kills a process that runs for too long. A test that reads from it or waits for it then goes on, and fails.
pub struct TimeLimit {
    _until_dropped: Sender<()>,
}

impl TimeLimit {
    /// Until this is dropped.
    pub fn on(process: &Child) -> Self {
        let (sender, is_over) = channel();
        let id = process.id().to_string();
        std::thread::spawn(move || {
            if is_over.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                eprintln!("process {id} still runs after {LONGEST:?}, and is killed");
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        TimeLimit { _until_dropped: sender }
    }
}

/// What a run left behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Ends with `code`, prints `out`, and says nothing on standard error.
    #[track_caller]
    pub fn printed(&self, code: i32, out: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(code), out, ""));
    }

    /// Ends with 2, and with nothing but a complaint.
    #[track_caller]
    pub fn complained(&self, complaint: &str) {
        let said = format!("error: {complaint}\n");
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(2), "", said.as_str()));
    }
}

/// A folder in which the program runs, so that what it prints names files and not where they are.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// With a copy of the files in the folder `name` next to the tests.
    pub fn copy_of(name: &str) -> Self {
        let folder = Self::new();
        for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    /// Runs the program in pipes, with nothing on standard input.
    pub fn run(&self, arguments: &str) -> Ran {
        self.pipe("", arguments)
    }

    /// The same, with a text on standard input; arguments are separated by spaces.
    pub fn pipe(&self, input: impl AsRef<[u8]>, arguments: &str) -> Ran {
        let mut command = self.command();
        command.args(arguments.split_whitespace());
        ran(command, input.as_ref())
    }

    /// The program, with nothing in its environment but where tests share what they compiled.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_placement-guard"));
        command.env_clear().current_dir(self.path());
        command.envs(std::env::vars_os().filter(|(name, _)| name == "PLACEMENT_GUARD_COMPILED"));
        command
    }

    /// Runs the program on a terminal of 100 columns, with `environment` in addition to `TERM`: the exit code and
    /// everything that was shown.
    pub fn on_terminal(&self, environment: &[(&str, &str)], arguments: &str) -> (Option<i32>, String) {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(40, 100)).unwrap();
        let mut command = pty_process::blocking::Command::new(env!("CARGO_BIN_EXE_placement-guard"));
        command = command.env_clear().env("TERM", "xterm-256color").current_dir(self.path());
        command = environment.iter().fold(command, |command, (name, value)| command.env(name, value));
        let mut child = command.args(arguments.split_whitespace()).spawn(pts).unwrap();
        let _limit = TimeLimit::on(&child);
        let mut shown = Vec::new();
        let mut pty = pty;
        // When the last process on a terminal ends, reading from it fails.
        let _ended = pty.read_to_end(&mut shown);
        let code = child.wait().unwrap().code();
        (code, String::from_utf8(shown).unwrap().replace("\r\n", "\n"))
    }
}

/// Runs a command to its end, its input coming through a pipe.
pub fn ran(mut command: Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _limit = TimeLimit::on(&child);
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that complains about its arguments reads nothing.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    });
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The module that `make module` built.
pub fn built_module() -> PathBuf {
    let module = repository().join("target/placement-guard.wasm");
    assert!(module.exists(), "{} is missing; `make module` builds it", module.display());
    module
}

/// [`testkit::golden::assert_golden`] on `tests/golden/NAME`.
#[track_caller]
pub fn assert_golden(name: &str, actual: &str) {
    testkit::golden::assert_golden(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name), actual);
}
