//! What was found before: with a baseline, only what is new fails.
//!
//! A finding is known by its code, its object and what it says, without numbers outside of backticks: so it stays known when
//! lines move, documents change their order or their file, and list items change their position. Of the same finding as many
//! are known as the baseline counts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Found, Judged, Report};
use crate::complaint::Complaint;
use crate::input::Source;
use crate::output;

/// The findings of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    findings: Vec<Known>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    code: String,
    object: String,
    finding: String,
    count: usize,
}

type Key = (String, String, String);

/// What makes a finding the same in two runs.
pub fn key(judged: &Judged, found: &Found) -> Key {
    let subject = &judged.subject;
    let parts = [&subject.kind, &subject.namespace, &subject.name].map(|part| part.as_deref().unwrap_or_default());
    (found.code.clone(), parts.join("/"), without_numbers(&found.message))
}

/// The same text with `#` for each number that is not in backticks.
fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    let (mut is_code, mut in_number) = (false, false);
    for letter in text.chars() {
        is_code ^= letter == '`';
        let is_number = letter.is_ascii_digit() && !is_code;
        match (is_number, in_number) {
            (true, true) => {}
            (true, false) => plain.push('#'),
            (false, _) => plain.push(letter),
        }
        in_number = is_number;
    }
    plain
}

impl Baseline {
    /// Reads what [`Baseline::write`] wrote.
    ///
    /// # Errors
    /// A file that is not a baseline.
    pub fn read(path: &Path) -> Result<Self, Complaint> {
        let source = Source::read(path)?;
        let remedy = "write it again with `--write-baseline`";
        let read: Self = serde_json::from_str(source.text()?)
            .map_err(|error| Complaint::new(source.shown(), format!("is not a baseline: {error}"), remedy))?;
        if read.version != VERSION {
            let problem = format!("is a baseline of version {}, not {VERSION}", read.version);
            return Err(Complaint::new(source.shown(), problem, remedy));
        }
        Ok(read)
    }

    /// Marks what it knows.
    pub fn mark(self, report: &mut Report) {
        let mut left: BTreeMap<Key, usize> = BTreeMap::new();
        for Known { code, object, finding, count } in self.findings {
            left.insert((code, object, finding), count);
        }
        for judged in &mut report.objects {
            let keys: Vec<Key> = judged.findings.iter().map(|found| key(judged, found)).collect();
            for (found, key) in judged.findings.iter_mut().zip(keys) {
                if found.silenced.is_none()
                    && let Some(left) = left.get_mut(&key).filter(|left| **left > 0)
                {
                    *left = left.saturating_sub(1);
                    found.in_baseline = true;
                }
            }
        }
    }

    /// Writes everything that a run found and that is not silenced.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(path: &Path, report: &Report) -> Result<(), Complaint> {
        let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
        for judged in &report.objects {
            for found in judged.findings.iter().filter(|found| found.silenced.is_none()) {
                let count = counts.entry(key(judged, found)).or_default();
                *count = count.saturating_add(1);
            }
        }
        let known = |((code, object, finding), count)| Known { code, object, finding, count };
        let baseline = Baseline { version: VERSION, findings: counts.into_iter().map(known).collect() };
        std::fs::write(path, output::json(&baseline)?).map_err(|error| {
            Complaint::new(path.display(), format!("cannot be written: {error}"), "name a file in a folder that exists")
        })
    }
}

const VERSION: u32 = 1;

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::without_numbers;

    #[test]
    fn positions_are_left_out_and_names_stay() {
        assert_eq!(without_numbers("term 10 of volume `pv-1`: 3 s"), "term # of volume `pv-1`: # s");
    }
}
