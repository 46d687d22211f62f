//! A list in a message: the first few entries, and how many more there are.

/// `a, b, +3`: at most `most` entries, then the number of the rest. No entry is written as the empty string.
///
/// An iterator that knows its length, such as a mapped slice, is asked only for the entries that are shown.
pub fn first_few(shown: impl Iterator<Item = String>, most: usize, separator: &str) -> String {
    first_few_of(shown, most, separator, "")
}

/// The same with a noun behind the number: `a or b or +3 terms`.
pub fn first_few_of(mut shown: impl Iterator<Item = String>, most: usize, separator: &str, noun: &str) -> String {
    let first = shown.by_ref().take(most).collect();
    let rest = match shown.size_hint() {
        (least, Some(greatest)) if least == greatest => least,
        _ => shown.count(),
    };
    joined(first, rest, separator, noun)
}

fn joined(mut entries: Vec<String>, rest: usize, separator: &str, noun: &str) -> String {
    match (rest, noun) {
        (0, _) => {}
        (_, "") => entries.push(format!("+{rest}")),
        _ => entries.push(format!("+{rest} {noun}")),
    }
    entries.join(separator)
}

#[cfg(test)]
mod tests {
    use super::{first_few, first_few_of};

    fn letters(count: usize) -> impl Iterator<Item = String> {
        ["a", "b", "c", "d", "e", "f", "g", "h", "i"].iter().take(count).map(|letter| String::from(*letter))
    }

    #[test]
    fn the_rest_is_a_number() {
        let listed = |count| first_few(letters(count), 2, ", ");
        assert_eq!([0, 1, 2, 3, 9].map(listed), ["", "a", "a, b", "a, b, +1", "a, b, +7"]);
        assert_eq!(first_few_of(letters(4), 2, " or ", "terms"), "a or b or +2 terms");
        assert_eq!(first_few_of(letters(2), 2, " or ", "terms"), "a or b");
    }

    #[test]
    fn an_iterator_that_does_not_know_its_length_is_counted() {
        assert_eq!(first_few(letters(9).filter(|letter| letter != "a"), 2, ","), "b,c,+6");
    }

    #[test]
    fn entries_that_are_not_shown_are_not_written() {
        let shown = (0..20_000).map(|index| if index < 3 { index.to_string() } else { panic!("{index} is written") });
        assert_eq!(first_few(shown, 3, ", "), "0, 1, 2, +19997");
    }
}
