//! Texts that are committed and reviewed: compared with what is there now, rewritten by `make bless`.

use std::path::Path;

/// Panics unless the file holds exactly `actual`. With `BLESS=1` in the environment it is written instead.
#[track_caller]
pub fn assert_golden(file: impl AsRef<Path>, actual: &str) {
    let file = file.as_ref();
    if std::env::var_os("BLESS").is_some_and(|bless| bless == "1") {
        std::fs::write(file, actual).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        return;
    }
    let expected = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("{}: {error}; `make bless` writes it", file.display()));
    assert!(
        actual == expected,
        "not what {} holds; where the change is meant, `make bless` and review the difference\n{}",
        file.display(),
        difference(&expected, actual)
    );
}

/// The lines from the first to the last that differ, of both sides.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let same_at_the_start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same_at_the_start..], &new[same_at_the_start..]);
    let same_at_the_end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let removed = old[..old.len() - same_at_the_end].iter().map(|line| format!("- {line}\n"));
    let added = new[..new.len() - same_at_the_end].iter().map(|line| format!("+ {line}\n"));
    removed.chain(added).collect()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_shows_the_lines_that_changed_and_no_others() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\ny\nc\n"), "- b\n+ x\n+ y\n");
        assert_eq!(difference("a\na\n", "a\n"), "- a\n");
    }
}
