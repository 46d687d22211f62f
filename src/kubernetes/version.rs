//! What the tag of an image says about the version that it holds.

use std::cmp::Ordering;

use semver::{Prerelease, Version};

/// Words at the start of the suffix of an unfinished version.
const UNFINISHED: [&str; 7] = ["alpha", "beta", "rc", "pre", "dev", "canary", "snapshot"];

/// A version as people write it in a tag: `v3.6.1`, `3.0`, `v1.3.0-rc1`, `v3.0.0-eks-1-30-2`.
///
/// A tag that leaves numbers out matches every version that begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagVersion {
    /// The first version that the tag matches.
    first: Version,
    /// The first version after those that the tag matches; `None` when it matches exactly one.
    end: Option<Version>,
}

/// How a tag compares with a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Every version that the tag matches is the minimum or later.
    Enough,
    TooOld,
    /// The tag matches versions on both sides of the minimum.
    Unknown,
}

impl TagVersion {
    /// Reads a tag. `None` when it does not begin with a version. A `v` may come before the version, and a suffix after it,
    /// separated by `-`, `_`, `.` or `+`. A suffix that begins with a word such as `rc` makes the version a pre-release, as
    /// in semantic versioning; any other suffix is the vendor's and does not count. A single number without `v` is not read
    /// as a version: it may be the number of a build.
    pub fn read(tag: &str) -> Option<Self> {
        let numbers = tag.strip_prefix(['v', 'V']).unwrap_or(tag);
        let (major, rest) = number(numbers)?;
        let (minor, rest) = next_number(rest);
        let (patch, rest) = if minor.is_some() { next_number(rest) } else { (None, rest) };
        if minor.is_none() && numbers == tag || !(rest.is_empty() || rest.starts_with(['-', '_', '.', '+'])) {
            return None;
        }
        let mut first = Version::new(major, minor.unwrap_or(0), patch.unwrap_or(0));
        first.pre = pre_release(rest);
        let end = match (minor, patch) {
            (Some(_), Some(_)) => None,
            (Some(minor), None) => Some(Version::new(major, minor.checked_add(1)?, 0)),
            (None, _) => Some(Version::new(major.checked_add(1)?, 0, 0)),
        };
        Some(TagVersion { first, end })
    }

    /// The first version that the tag matches.
    pub fn first(&self) -> &Version {
        &self.first
    }

    pub fn major(&self) -> u64 {
        self.first.major
    }

    /// Compares by the precedence of semantic versioning: a pre-release comes before its release.
    pub fn compare(&self, minimum: &Version) -> Age {
        if self.first.cmp_precedence(minimum) != Ordering::Less {
            return Age::Enough;
        }
        match &self.end {
            Some(end) if end.cmp_precedence(minimum) == Ordering::Greater => Age::Unknown,
            _ => Age::TooOld,
        }
    }
}

/// The digits that `text` begins with, as a number, and what follows them.
fn number(text: &str) -> Option<(u64, &str)> {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    Some((text.strip_suffix(rest)?.parse().ok()?, rest))
}

/// A dot and digits, if `text` begins with them; and what follows.
fn next_number(text: &str) -> (Option<u64>, &str) {
    match text.strip_prefix('.').and_then(number) {
        Some((number, rest)) => (Some(number), rest),
        None => (None, text),
    }
}

fn pre_release(suffix: &str) -> Prerelease {
    let suffix = suffix.trim_start_matches(['-', '_', '.', '+']);
    let lower = suffix.to_ascii_lowercase();
    if !UNFINISHED.iter().any(|word| lower.starts_with(word)) {
        return Prerelease::EMPTY;
    }
    // An unfinished version that semantic versioning cannot write comes before every finished one.
    Prerelease::new(suffix).or_else(|_| Prerelease::new("0")).unwrap_or(Prerelease::EMPTY)
}
