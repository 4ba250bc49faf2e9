//! One table style for every command: upper-case header, two spaces between columns, no lines.

use comfy_table::{ContentArrangement, ContentLineStyle, TableStyle};

use super::escape;

/// A table being filled. Every cell is escaped; an empty one becomes `-`.
pub struct Table {
    table: comfy_table::Table,
}

impl Table {
    /// A table of these columns, fitted to `columns` of terminal width where that is known.
    #[must_use]
    pub fn new(header: &[&str], columns: Option<u16>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(TableStyle::new().header_lines(ContentLineStyle::none()).content_lines(ContentLineStyle::none()));
        // A terminal that calls itself 0 columns wide is no reason to print one letter a line.
        match columns.filter(|columns| *columns >= 40) {
            Some(columns) => {
                table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        table.set_header(header.iter().map(|name| name.to_uppercase()).collect::<Vec<_>>());
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        Self { table }
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
        self.table.add_row(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in self.table.lines() {
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
}
