//! Tables of text: columns of a fixed width, cells of several lines, long lines broken between words.

use std::fmt::Write;

/// The separator of two columns.
const GAP: &str = "  ";

/// A table whose rows are added one by one.
pub struct Table {
    widths: Vec<usize>,
    text: String,
}

impl Table {
    /// The head: the title and the width of each column.
    pub fn new(columns: &[(&str, usize)]) -> Self {
        let widths: Vec<usize> = columns.iter().map(|(_, width)| *width).collect();
        let mut table = Self { widths, text: String::new() };
        let titles: Vec<String> = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        table.row(&titles);
        table
    }

    /// Adds a row; the lines of a cell are broken where they are too long for their column.
    pub fn row(&mut self, cells: &[String]) {
        if !self.text.is_empty() {
            let rules: Vec<String> = self.widths.iter().map(|width| "─".repeat(*width)).collect();
            self.line(&rules.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let cells: Vec<Vec<String>> = cells
            .iter()
            .zip(&self.widths)
            .map(|(cell, width)| cell.lines().flat_map(|line| broken(line, *width)).collect())
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        for number in 0..height {
            self.line(&cells.iter().map(|cell| cell.get(number).map_or("", String::as_str)).collect::<Vec<_>>());
        }
    }

    fn line(&mut self, cells: &[&str]) {
        let padded: Vec<String> =
            cells.iter().zip(&self.widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        // Nothing is ever written to a string in vain.
        let _ = writeln!(self.text, "{}", padded.join(GAP).trim_end());
    }

    /// The table as text, with a line break at its end.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A line as lines of at most `width` letters; those after the first are set in. A longer word has a line of its own.
fn broken(line: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn long_lines_are_broken_between_words_and_cells_stand_beside_each_other() {
        let mut table = Table::new(&[("edit", 10), ("verdict", 8)]);
        table.row(&["zone in (b, c)\nelse".to_owned(), "refused".to_owned()]);
        let expected = "edit        verdict\n\
                        ──────────  ────────\n\
                        zone in     refused\n\
                        \u{20} (b, c)\n\
                        else\n";
        assert_eq!(table.finish(), expected);
    }
}
