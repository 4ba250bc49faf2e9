//! One table style for every command: upper-case header, two spaces between columns, no lines.

use comfy_table::{ColumnConstraint, ContentArrangement, ContentLineStyle, TableStyle, Width};

use super::escape;

/// Between two columns.
const GAP: usize = GAP_WIDTH as usize;
const GAP_WIDTH: u16 = 2;
/// A terminal narrower than this, or one that calls itself 0 columns wide, is no reason to print one letter a line.
const NARROWEST: u16 = 40;

/// A table being filled. Every cell is escaped; an empty one becomes `-`.
///
/// Only the last column is folded, and never a word: stamps, keys and digests are copied from here into the next command.
/// Where that is not enough, lines are as long as they are, and the terminal folds them.
pub struct Table {
    inner: comfy_table::Table,
    columns: Option<u16>,
    needs: Vec<Need>,
}

/// How wide the cells of one column are.
#[derive(Debug, Clone, Copy, Default)]
struct Need {
    whole: usize,
    longest_word: usize,
}

impl Need {
    fn add(&mut self, cell: &str) {
        self.whole = self.whole.max(cell.chars().count());
        // What a cell is indented by goes with its first word.
        let indent = cell.len() - cell.trim_start().len();
        let words = cell.split_whitespace().enumerate();
        let longest = words.map(|(at, word)| word.chars().count() + if at == 0 { indent } else { 0 }).max();
        self.longest_word = self.longest_word.max(longest.unwrap_or_default());
    }
}

impl Table {
    /// A table of these columns, fitted to `columns` of terminal width where that is known.
    #[must_use]
    pub fn new(header: &[&str], columns: Option<u16>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(TableStyle::new().header_lines(ContentLineStyle::none()).content_lines(ContentLineStyle::none()));
        let header: Vec<String> = header.iter().map(|name| name.to_uppercase()).collect();
        let mut needs = vec![Need::default(); header.len()];
        needs.iter_mut().zip(&header).for_each(|(need, name)| need.add(name));
        table.set_header(header);
        let last = needs.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { GAP_WIDTH }));
        }
        Self { inner: table, columns: columns.filter(|columns| *columns >= NARROWEST), needs }
    }

    /// Adds a row of foreign or own text.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells
            .into_iter()
            .map(|cell| {
                let cell = cell.as_ref();
                if cell.is_empty() { "-".to_owned() } else { escape(cell).into_owned() }
            })
            .collect();
        self.needs.iter_mut().zip(&cells).for_each(|(need, cell)| need.add(cell));
        self.inner.add_row(cells);
    }

    /// The width of each column with the gap behind it, where the last one must be folded and can be.
    fn widths(&self) -> Option<Vec<usize>> {
        let (last, others) = self.needs.split_last()?;
        let left = usize::from(self.columns?).checked_sub(others.iter().map(|need| need.whole + GAP).sum())?;
        if !(last.longest_word..last.whole).contains(&left) {
            return None;
        }
        Some(others.iter().map(|need| need.whole + GAP).chain([left]).collect())
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut table = self.inner.clone();
        table.set_content_arrangement(ContentArrangement::Disabled);
        if let (Some(widths), Some(columns)) = (self.widths(), self.columns) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
            table.set_constraints(
                widths
                    .into_iter()
                    .map(|width| ColumnConstraint::Absolute(Width::Fixed(u16::try_from(width).unwrap_or(u16::MAX)))),
            );
        }
        for line in table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_line_whatever_is_in_it() {
        let mut table = Table::new(&["box", "state"], None);
        table.row(["edge-a1", "good"]);
        table.row(["a\nb", ""]);
        assert_eq!(table.to_string(), "BOX      STATE\nedge-a1  good\na\\u{a}b  -\n");
    }

    fn at(columns: u16) -> String {
        let mut table = Table::new(&["  stamp", "age", "flags"], Some(columns));
        table.row(["  20261130T171348Z", "1 h 10 min", "size-collapsed stamp-ahead"]);
        table.to_string()
    }

    #[test]
    fn a_word_is_never_broken_and_the_last_column_folds_first() {
        let whole = "  STAMP             AGE         FLAGS\n  20261130T171348Z  1 h 10 min  size-collapsed stamp-ahead\n";
        assert_eq!(at(250), whole);
        let last = "  STAMP             AGE         FLAGS\n  20261130T171348Z  1 h 10 min  size-collapsed\n\
                    \u{20}                               stamp-ahead\n";
        assert_eq!(at(50), last);
        for columns in 46..58 {
            assert!(at(columns).lines().all(|line| line.len() <= usize::from(columns)), "{columns}: {}", at(columns));
        }
        // Not even the words fit, or the width is none.
        assert_eq!(at(46).lines().count(), 3, "{}", at(46));
        assert_eq!((at(45), at(40), at(0)), (whole.to_owned(), whole.to_owned(), whole.to_owned()));
    }
}
