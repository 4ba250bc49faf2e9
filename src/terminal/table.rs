//! One table style for every command: upper-case header, two spaces between columns, no lines.

use std::fmt::{self, Write};

use comfy_table::{ContentArrangement, ContentLineStyle, TableStyle};
use unicode_width::UnicodeWidthStr;

use super::wrap::fold;
use super::{escape, state};

/// Between two columns, and where there is little room.
const GAPS: [u16; 2] = [2, 1];
/// A terminal narrower than this, or one that calls itself 0 columns wide, is no reason to print one letter a line.
const NARROWEST: u16 = 40;
/// A column narrower than this is not folded where a word of it does not fit.
const NARROWEST_COLUMN: usize = 20;

/// A table being filled. Every cell is escaped; an empty one becomes `-`.
///
/// Where it is wider than the terminal, its last column is folded, then the columns move together, and at last each row
/// becomes a block with one line a cell. A word is never folded: stamps, keys and digests are copied from here into the next
/// command, so a line with one that is longer than the terminal is wide is as long as it is.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    columns: Option<u16>,
    /// Which column has states.
    states: Option<usize>,
}

/// How wide the cells of one column are.
#[derive(Debug, Clone, Copy, Default)]
struct Need {
    whole: usize,
    longest_word: usize,
}

impl Need {
    fn add(&mut self, cell: &str) {
        self.whole = self.whole.max(cell.width());
        // What a cell is indented by goes with its first word.
        let indent = cell.len() - cell.trim_start().len();
        let words = cell.split_whitespace().enumerate();
        let longest = words.map(|(at, word)| word.width() + if at == 0 { indent } else { 0 }).max();
        self.longest_word = self.longest_word.max(longest.unwrap_or_default());
    }
}

/// How a table is laid out.
enum Layout {
    /// As columns with `gap` between them, the last one folded at `last` where that is a number.
    Columns { gap: u16, last: Option<usize> },
    /// A block a row.
    Blocks,
}

impl Table {
    /// A table of these columns, fitted to `columns` of terminal width where that is known.
    #[must_use]
    pub fn new(header: &[&str], columns: Option<u16>) -> Self {
        let header = header.iter().map(|name| name.to_uppercase()).collect();
        Self { header, rows: Vec::new(), columns: columns.filter(|columns| *columns >= NARROWEST), states: None }
    }

    /// Says that the column of this name has nothing but our own words, the first of which is a state and may be painted.
    #[must_use]
    pub fn with_states(mut self, name: &str) -> Self {
        self.states = self.header.iter().position(|header| header.eq_ignore_ascii_case(name));
        self
    }

    /// Adds a row of foreign or own text.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cell = |(at, cell): (usize, S)| match cell.as_ref() {
            "" => "-".to_owned(),
            cell if self.states == Some(at) => state(&escape(cell)),
            cell => escape(cell).into_owned(),
        };
        let cells = cells.into_iter().enumerate().map(cell).collect();
        self.rows.push(cells);
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::default(); self.header.len()];
        for row in std::iter::once(&self.header).chain(&self.rows) {
            needs.iter_mut().zip(row).for_each(|(need, cell)| need.add(cell));
        }
        needs
    }

    fn layout(&self) -> Layout {
        let needs = self.needs();
        let whole = Layout::Columns { gap: GAPS[0], last: None };
        let (Some(columns), Some((last, others))) = (self.columns.map(usize::from), needs.split_last()) else {
            return whole;
        };
        for gap in GAPS {
            let used: usize = others.iter().map(|need| need.whole + usize::from(gap)).sum();
            let left = columns.saturating_sub(used);
            if left >= last.whole {
                return Layout::Columns { gap, last: None };
            }
            if left >= last.longest_word {
                return Layout::Columns { gap, last: Some(left) };
            }
        }
        if others.len() > 1 {
            return Layout::Blocks;
        }
        // Names and values are blocks already; the values that can be folded are.
        let used: usize = others.iter().map(|need| need.whole + usize::from(GAPS[0])).sum();
        Layout::Columns { gap: GAPS[0], last: Some(columns.saturating_sub(used)).filter(|left| *left >= NARROWEST_COLUMN) }
    }

    /// The table with `gap` between its columns.
    fn drawn(&self, gap: u16, fold_last: Option<usize>) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_style(TableStyle::new().header_lines(ContentLineStyle::none()).content_lines(ContentLineStyle::none()));
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.header);
        for row in &self.rows {
            let mut row = row.clone();
            if let (Some(columns), Some(cell)) = (fold_last, row.last_mut()) {
                *cell = fold(cell, columns, 0);
            }
            table.add_row(row);
        }
        let last = self.header.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { gap }));
        }
        table
    }

    /// The rows as blocks: a line a cell, and an empty line between two rows.
    fn blocks(&self) -> String {
        let indent = self.header.first().map_or(0, |name| name.len() - name.trim_start().len());
        let names: Vec<&str> = self.header.iter().map(|name| name.trim()).collect();
        let begins = indent + usize::from(GAPS[0]) + names.iter().map(|name| name.width()).max().unwrap_or_default();
        let columns = self.columns.map_or(usize::MAX, usize::from);
        let block = |row: &Vec<String>| -> String {
            let line = |(name, cell): (&&str, &String)| {
                let begin = format!("{:indent$}{name}", "");
                let gap = begins.saturating_sub(begin.width());
                fold(&format!("{begin}{:gap$}{}", "", cell.trim()), columns, begins) + "\n"
            };
            names.iter().zip(row).map(line).collect()
        };
        self.rows.iter().map(block).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = match self.layout() {
            Layout::Columns { gap, last } => self.drawn(gap, last),
            Layout::Blocks => return f.write_str(&self.blocks()),
        };
        for line in table.lines() {
            f.write_str(line.trim_end())?;
            f.write_char('\n')?;
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
        table.row(["  20261130T161348Z", "2 h", ""]);
        table.to_string()
    }

    #[test]
    fn the_last_column_folds_first_and_then_the_columns_move_together() {
        let whole = "  STAMP             AGE         FLAGS\n  20261130T171348Z  1 h 10 min  size-collapsed stamp-ahead\n\
                     \u{20} 20261130T161348Z  2 h         -\n";
        assert_eq!((at(250), at(58)), (whole.to_owned(), whole.to_owned()));
        let folded = "  STAMP             AGE         FLAGS\n  20261130T171348Z  1 h 10 min  size-collapsed\n\
                    \u{20}                               stamp-ahead\n  20261130T161348Z  2 h         -\n";
        assert_eq!((at(57), at(46)), (folded.to_owned(), folded.to_owned()));
        let near = "  STAMP            AGE        FLAGS\n  20261130T171348Z 1 h 10 min size-collapsed\n\
                  \u{20}                             stamp-ahead\n  20261130T161348Z 2 h        -\n";
        assert_eq!((at(45), at(44)), (near.to_owned(), near.to_owned()));
        // No terminal, or one that does not know how wide it is.
        assert_eq!((at(39), at(0)), (whole.to_owned(), whole.to_owned()));
    }

    #[test]
    fn where_not_even_that_fits_a_row_becomes_a_block_and_no_word_is_broken() {
        let block = "  STAMP  20261130T171348Z\n  AGE    1 h 10 min\n  FLAGS  size-collapsed stamp-ahead\n\n\
                   \u{20} STAMP  20261130T161348Z\n  AGE    2 h\n  FLAGS  -\n";
        assert_eq!((at(43), at(40)), (block.to_owned(), block.to_owned()));
        let digest = "0".repeat(64);
        let mut table = Table::new(&["what", "when", "value"], Some(40));
        table.row(["sha256", "one two three four five six seven eight nine", &digest]);
        assert_eq!(
            table.to_string(),
            format!("WHAT   sha256\nWHEN   one two three four five six seven\n       eight nine\nVALUE  {digest}\n")
        );
    }

    #[test]
    fn a_value_is_folded_beside_another_that_cannot_be() {
        let digest = "0".repeat(64);
        let mut table = Table::new(&["what", "value"], Some(40));
        table.row(["sha256", &digest]);
        table.row(["chosen", "the newest that proves and did not collapse"]);
        let folded = "chosen  the newest that proves and did\n        not collapse\n";
        assert_eq!(table.to_string(), format!("WHAT    VALUE\nsha256  {digest}\n{folded}"));
    }

    #[test]
    fn every_line_fits_where_no_word_is_too_long() {
        for columns in 40..=250 {
            let text = at(columns);
            assert!(text.lines().all(|line| line.width() <= usize::from(columns)), "{columns}: {text}");
            assert!(text.contains("20261130T171348Z") && text.contains("size-collapsed"), "{columns}: {text}");
        }
    }

    #[test]
    fn colour_moves_nothing_and_paints_no_word_but_ours() {
        let mut table = Table::new(&["box", "state", "last drill"], Some(60)).with_states("state");
        table.row(["good", "suspect: size-collapsed", "bad, 2 h ago"]);
        table.row(["bad", "good", ""]);
        let marked = table.to_string();
        let plain = "BOX   STATE                    LAST DRILL\ngood  suspect: size-collapsed  bad, 2 h ago\nbad   good                     -\n";
        assert_eq!(super::super::paint(&marked, false), plain);
        let painted =
            plain.replace("suspect", "\u{1b}[33msuspect\u{1b}[0m").replace("bad   good", "bad   \u{1b}[32mgood\u{1b}[0m");
        assert_eq!(super::super::paint(&marked, true), painted);
    }

    #[test]
    fn a_wide_letter_takes_two_columns() {
        let mut table = Table::new(&["box", "state"], None);
        table.row(["한글", "good"]);
        table.row(["edge-a1", "bad"]);
        assert_eq!(table.to_string(), "BOX      STATE\n한글     good\nedge-a1  bad\n");
    }
}
