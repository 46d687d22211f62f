//! Where answers go: text with colours for people, JSON and YAML for programs, annotations for GitHub.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::complaint::Complaint;
use crate::plain::plain;

pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const FAINT: Style = Style::new().dimmed();

/// `text` in a style; where the output is not a terminal the style is taken out again.
pub fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes to standard output. A reader that goes away, like `head`, is not an error.
///
/// # Errors
/// Every other failure to write.
pub fn print(text: &str) -> Result<(), Complaint> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Complaint::new("standard output", format!("cannot be written: {error}"), "free some disk space"))
        }
        _ => Ok(()),
    }
}

/// Writes a complaint to standard error, which is the last place that could take one.
pub fn complain(complaint: &Complaint) {
    let line = format!("{} {complaint}\n", styled(BAD, "error:"));
    let _lost = anstream::stderr().lock().write_all(line.as_bytes());
}

/// Writes a warning to standard error.
pub fn warn(warning: &str) {
    let line = format!("{} {}\n", styled(WARNING, "warning:"), plain(warning));
    let _lost = anstream::stderr().lock().write_all(line.as_bytes());
}

/// A value as indented JSON, with a line break at its end.
///
/// # Errors
/// When the value has no form in JSON.
pub fn json(value: &impl Serialize) -> Result<String, Complaint> {
    let text = serde_json::to_string_pretty(value).map_err(|error| unprintable(&error))?;
    Ok(text + "\n")
}

/// A value as YAML.
///
/// # Errors
/// When the value has no form in YAML.
pub fn yaml(value: &impl Serialize) -> Result<String, Complaint> {
    let text = serde_saphyr::to_string(value).map_err(|error| unprintable(&error))?;
    // In the log of a job on GitHub such a line is a command. JSON is YAML too, and keeps a string on its line.
    if text.lines().any(|line| line.trim_start().starts_with("::")) {
        return json(value);
    }
    Ok(text)
}

fn unprintable(error: &dyn Display) -> Complaint {
    Complaint::new("the answer", format!("cannot be written: {error}"), "use `--output text`, and report this")
}
