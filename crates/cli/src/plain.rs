//! Names of files and objects on a line of text. They may hold what moves the cursor of a terminal, begins a new line, or turns
//! the direction of writing; on a new line, the log of a CI service takes `::` for a command.

use std::borrow::Cow;

/// The same text in which such characters are escaped.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(moves) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::new();
    for letter in text.chars() {
        if moves(letter) {
            plain.extend(letter.escape_default());
        } else {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

fn moves(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
#[allow(clippy::restriction)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(plain("a\n::error::b\u{1b}[31m\u{202e}c"), r"a\n::error::b\u{1b}[31m\u{202e}c");
        assert_eq!(plain("ü b.yaml"), "ü b.yaml");
    }
}
