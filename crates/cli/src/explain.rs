//! `explain`: what a code means, an example, and how to mend it.

use placement_guard::rules::finding::Severity;
use templates::findings::{self, Explained};

use crate::complaint::{Complaint, Outcome};
use crate::nearest::nearest;
use crate::output;

#[derive(clap::Args)]
pub struct Arguments {
    /// The code, for instance `local-not-pinned`; without one, all codes are listed
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// Explains.
///
/// # Errors
/// A code that does not exist.
pub fn run(arguments: &Arguments) -> Result<Outcome, Complaint> {
    let Some(code) = &arguments.code else {
        output::print(&list())?;
        return Ok(Outcome::Accepted);
    };
    let Some(explained) = findings::named(code) else {
        let names = findings::all().map(|explained| explained.name);
        let remedy = match nearest(code, names) {
            Some(name) => format!("did you mean `{name}`?"),
            None => String::from("`placement-guard explain` lists every code"),
        };
        return Err(Complaint::new(format!("`{code}`"), "is not a known code", remedy));
    };
    output::print(&text(explained))?;
    Ok(Outcome::Accepted)
}

fn list() -> String {
    findings::all().map(|explained| format!("{:<32} {}\n", explained.name, explained.means)).collect()
}

fn text(explained: &Explained) -> String {
    let effect = match explained.severity {
        Severity::Refuses => "refuses the object, unless the settings say that it only warns",
        Severity::Warns => "warns",
    };
    let whose = match (explained.code, explained.code.and_then(placement_guard::rules::finding::Code::section)) {
        (None, _) => String::from("the command line, in `check` and `audit`"),
        (Some(_), None) => String::from("every rule"),
        (Some(_), Some(section)) => format!("the section `{section}` of the settings"),
    };
    let Explained { name, means, mend, .. } = explained;
    let mut text = format!("{name}\n\n{means}\n\nEffect:   {effect}\nFrom:     {whose}\nAccepted: {mend}\n");
    if let Some(example) = explained.example {
        text.push_str("\nAn example with this finding:\n\n");
        example.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text.push_str(&format!("\n{}\n", explained.link()));
    text
}
