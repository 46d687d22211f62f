//! Writes HTML. Only what this program itself writes is markup; everything else is escaped, wherever it comes from.

/// A piece of a page.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Adds markup of this program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text, also as the value of an attribute in quotes. Characters that have no form, or that turn the direction of what
    /// follows them, are shown as `�`.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(letter),
                '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => self.0.push('\u{FFFD}'),
                _ if letter.is_control() => self.0.push('\u{FFFD}'),
                _ => self.0.push(letter),
            }
        }
        self
    }

    pub fn number(&mut self, number: usize) -> &mut Self {
        let digits = number.to_string();
        for (position, digit) in digits.chars().enumerate() {
            if position > 0 && digits.len().saturating_sub(position).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }

    /// Adds a sentence in which backticks mark code.
    pub fn said(&mut self, sentence: &str) -> &mut Self {
        for (position, part) in sentence.split('`').enumerate() {
            if position.is_multiple_of(2) {
                self.text(part);
            } else {
                self.raw("<code>").text(part).raw("</code>");
            }
        }
        self
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::restriction)]

    use super::Html;

    fn of(write: impl FnOnce(&mut Html)) -> String {
        let mut html = Html::default();
        write(&mut html);
        html.into_string()
    }

    #[test]
    fn nothing_that_is_given_becomes_markup() {
        let text = |given: &str| of(|html| _ = html.text(given));
        assert_eq!(text("</script><b a=\"'&\">"), "&lt;/script&gt;&lt;b a=&quot;&#39;&amp;&quot;&gt;");
        assert_eq!(text("a\nb\tc"), "a\nb\tc");
        assert_eq!(text("\0\u{1b}[31m\u{202e}gnp\u{2066}\u{200f}"), "��[31m�gnp��");
        assert_eq!(of(|html| _ = html.said("a `<b>` c")), "a <code>&lt;b&gt;</code> c");
        assert_eq!(of(|html| _ = html.said("one ` only")), "one <code> only</code>");
    }

    #[test]
    fn thousands_are_separated() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(of(|html| _ = html.number(number)), expected);
        }
    }
}
