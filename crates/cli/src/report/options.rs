//! How a run reports, and how it ends.

use std::path::PathBuf;

use clap::ValueEnum;

use super::baseline::Baseline;
use super::{Grouped, Length, Report, github, junit, sarif, text};
use crate::complaint::{Complaint, Outcome};
use crate::output;

/// The options about the report, the same for `check` and `audit`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Report")]
pub struct Options {
    /// How to print what was found; `github` prints workflow annotations with file and line, `sarif` is SARIF 2.1.0
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,

    /// Print only what is refused or warned of; with `text`
    #[arg(long, short, conflicts_with = "summary")]
    quiet: bool,

    /// Print only the last line with the numbers; with `text`
    #[arg(long)]
    summary: bool,

    /// What ends with exit code 1; what is silenced or in the baseline never does [default: refusals]
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Option<FailOn>,

    /// Findings that are known: only what is new fails
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write everything that is found now to a baseline, and end with exit code 0
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Yaml,
    Github,
    Sarif,
    Junit,
}

/// What makes a run fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Objects that a cluster would refuse
    Refusals,
    /// Warnings too
    Warnings,
    /// Nothing that is found
    Never,
}

impl Options {
    /// Marks what is known, prints, and says how the run ends. `fail_on` counts where the command line says nothing.
    ///
    /// # Errors
    /// A baseline that cannot be read or written, and an output that cannot be written.
    pub fn finish(&self, mut report: Report, grouped: Grouped, fail_on: Option<FailOn>) -> Result<Outcome, Complaint> {
        if let Some(path) = &self.baseline {
            Baseline::read(path)?.mark(&mut report);
        }
        report.sum_up();
        let length = match (self.summary, self.quiet) {
            (true, _) => Length::Summary,
            (_, true) => Length::Findings,
            _ => Length::Everything,
        };
        output::print(&match self.output {
            Format::Text => text::of(&report, grouped, length),
            Format::Json => output::json(&report)?,
            Format::Yaml => output::yaml(&report)?,
            Format::Github => github::of(&report),
            Format::Sarif => output::json(&sarif::of(&report))?,
            Format::Junit => junit::of(&report),
        })?;
        if let Some(path) = &self.write_baseline {
            Baseline::write(path, &report)?;
            return Ok(Outcome::Accepted);
        }
        let summary = &report.summary;
        let fails = match self.fail_on.or(fail_on).unwrap_or(FailOn::Refusals) {
            FailOn::Refusals => summary.refusals > 0,
            FailOn::Warnings => summary.refusals > 0 || summary.warnings > 0,
            FailOn::Never => false,
        };
        Ok(if fails { Outcome::Refused } else { Outcome::Accepted })
    }
}
