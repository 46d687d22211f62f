//! What a single value may be: its syntax, the number it is read as, and the spellings of a number.
//!
//! The two ways to read numbers are defined only here. In optional text (a label that may be absent) leading zeros are
//! allowed: `05` is 5. In required text only canonical decimals are numbers: `05` is a word.

/// The values that one axis of a space may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Domain {
    /// Absent, or text; digits are a number, leading zeros allowed.
    OptionalText,
    /// Text; a canonical decimal is a number.
    Text,
    /// A name, with or without a domain prefix: `example.com/name`. Never a number.
    Name,
    /// One of a fixed list. Never a number.
    Listed(&'static [&'static str]),
}

/// The longest text, in bytes.
const LONGEST_TEXT: usize = 63;
/// The longest prefix of a name, in bytes.
const LONGEST_PREFIX: usize = 253;

impl Domain {
    /// Whether there may be no value at all.
    pub fn may_be_absent(self) -> bool {
        self == Domain::OptionalText
    }

    /// Whether `text` is a value of this domain.
    pub fn contains(self, text: &str) -> bool {
        match self {
            Domain::OptionalText | Domain::Text => is_text(text),
            Domain::Name => is_name(text),
            Domain::Listed(all) => all.contains(&text),
        }
    }

    /// The number that a value of this domain is compared as, if it is one in the range of 64 bits. Values of this
    /// domain have no sign, so it is never negative.
    pub fn number(self, text: &str) -> Option<i64> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let readable = match self {
            Domain::OptionalText => digits,
            Domain::Text => digits && (text == "0" || !text.starts_with('0')),
            Domain::Name | Domain::Listed(_) => false,
        };
        if readable { text.parse().ok() } else { None }
    }

    /// Whether values can be numbers at all.
    pub fn has_numbers(self) -> bool {
        matches!(self, Domain::OptionalText | Domain::Text)
    }

    /// Every value that is compared as `number`, shortest first.
    pub fn spellings(self, number: i64) -> impl Iterator<Item = String> {
        let shortest = number.to_string();
        let padding = match self {
            Domain::OptionalText => LONGEST_TEXT.saturating_sub(shortest.len()),
            _ => 0,
        };
        let valid = number >= 0 && self.has_numbers();
        (0..=padding).filter(move |_| valid).map(move |zeros| "0".repeat(zeros) + &shortest)
    }

    /// Values that are not numbers, the plainest first: practically without end, but none for a fixed list.
    pub fn words(self) -> impl Iterator<Item = String> {
        let empty = (self == Domain::Text).then(String::new);
        let stem = match self {
            Domain::OptionalText | Domain::Text => Some("other"),
            Domain::Name => Some("example.com/other"),
            Domain::Listed(_) => None,
        };
        let numbered = move |count: u32| Some(if count == 1 { stem?.to_owned() } else { format!("{}-{count}", stem?) });
        empty.into_iter().chain((1..=u32::MAX).map_while(numbered))
    }
}

/// Up to 63 bytes of `[A-Za-z0-9-_.]`, starting and ending with a letter or digit; or empty.
fn is_text(text: &str) -> bool {
    text.is_empty() || is_qualified(text)
}

fn is_qualified(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= LONGEST_TEXT
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// `name` or `prefix/name`, the prefix a lower-case DNS subdomain.
fn is_name(text: &str) -> bool {
    match text.split_once('/') {
        None => is_qualified(text),
        Some((prefix, name)) => {
            let is_part = |part: &str| {
                let bytes = part.as_bytes();
                let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
                bytes.first().is_some_and(alphanumeric)
                    && bytes.last().is_some_and(alphanumeric)
                    && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
            };
            prefix.len() <= LONGEST_PREFIX && prefix.split('.').all(is_part) && is_qualified(name)
        }
    }
}
