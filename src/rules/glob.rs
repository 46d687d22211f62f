//! Patterns of names, as settings write them.

use crate::kubernetes::field::{Field, Unreadable};

/// A pattern in which `*` matches any characters or none, and every other character matches itself.
///
/// It matches names of drivers, classes and namespaces. So it consists of the characters of such names and `*`. The `?`,
/// `[…]` and `{…}` of other pattern languages are refused: no name could ever match them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    pattern: String,
}

impl Glob {
    /// Reads a pattern. The empty pattern matches only the empty name.
    ///
    /// # Errors
    /// A character that no name has.
    pub fn read(field: &Field<'_, '_>) -> Result<Self, Unreadable> {
        let pattern = field.required_string()?;
        let is_known = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"-.*".contains(&letter);
        if pattern.bytes().all(is_known) {
            return Ok(Glob { pattern: pattern.to_owned() });
        }
        Err(field.unacceptable("lowercase letters, digits, `-`, `.` and `*` (which matches any characters)"))
    }

    /// Reads a list of patterns; `None` when it is absent.
    ///
    /// # Errors
    /// What cannot be a pattern, and an empty list, which would match nothing.
    pub fn read_list(list: &Field<'_, '_>) -> Result<Option<Vec<Self>>, Unreadable> {
        if !list.is_present() {
            return Ok(None);
        }
        let globs = list.each(Glob::read)?;
        if globs.is_empty() {
            return Err(list.unreadable("is empty and would match nothing; `*` matches every name"));
        }
        Ok(Some(globs))
    }

    pub fn matches(&self, name: &str) -> bool {
        let mut pieces = self.pattern.split('*');
        let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            // The first place is the best: it leaves the most for the pieces that follow.
            let Some((_, after)) = rest.split_once(piece) else { return false };
            rest = after;
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob { pattern: pattern.to_owned() }.matches(name)
    }

    #[test]
    fn a_star_stands_for_any_characters_and_for_none() {
        for (pattern, names) in [
            ("*", ["", "a", "regional-ssd"].as_slice()),
            ("", &[""]),
            ("regional*", &["regional", "regional-ssd"]),
            ("*.csi.azure.com", &["file.csi.azure.com", ".csi.azure.com"]),
            ("a*b*a", &["aba", "aabbaa", "axbxa"]),
            ("*a*", &["a", "bab"]),
            ("a**b", &["ab", "axb"]),
        ] {
            for name in names {
                assert!(matches(pattern, name), "`{pattern}` must match `{name}`");
            }
        }
    }

    #[test]
    fn everything_else_stands_for_itself() {
        for (pattern, names) in [
            ("", ["a"].as_slice()),
            ("regional", &["", "regional-ssd", "a-regional"]),
            ("regional*", &["", "region", "a-regional"]),
            ("*.csi.azure.com", &["csi.azure.com", "file.csi.azure.com.evil", "filexcsixazurexcom"]),
            // One `a` cannot be both the beginning and the end.
            ("a*a", &["a"]),
            ("a*b*a", &["aa", "ab", "abb"]),
        ] {
            for name in names {
                assert!(!matches(pattern, name), "`{pattern}` must not match `{name}`");
            }
        }
    }
}
