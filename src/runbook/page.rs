//! A runbook as an operator reads it at a terminal: wrapped to the width, without Markdown's marks.

use super::expect::{self, Values, fill_known};
use super::parse::{Block, Part, Runbook, Section};
use crate::terminal::Table;

/// Narrower than this is no page.
const NARROWEST: usize = 40;

/// The whole runbook.
#[must_use]
pub fn page(runbook: &Runbook, columns: usize) -> String {
    let mut text = String::new();
    for part in &runbook.sections {
        section(&mut text, part, &[], &Values::new(), columns);
    }
    text
}

/// One section, with the values filled in that are known.
pub fn section(text: &mut String, section: &Section, names: &[&str], values: &Values, columns: usize) {
    let columns = columns.max(NARROWEST);
    if !text.is_empty() {
        text.push('\n');
    }
    if !section.heading.is_empty() {
        let heading = plain(&section.heading);
        let line = match section.level {
            1 => "=",
            2 => "-",
            _ => "~",
        };
        wrap(text, &heading, columns, 0);
        text.push_str(&format!("{}\n", line.repeat(heading.chars().count().min(columns))));
    }
    let filled = |line: &String| fill_known(line, names, values);
    for part in &section.parts {
        match part {
            Part::Text(lines) => {
                let lines: Vec<String> = lines.iter().map(filled).collect();
                text.push('\n');
                if lines.iter().all(|line| line.starts_with('|')) {
                    table(text, &lines, columns);
                } else {
                    paragraph(text, &lines, columns);
                }
            }
            Part::Block(shown) => {
                text.push('\n');
                block(text, shown, names, values);
            }
        }
    }
}

/// Commands are never wrapped: they are copied.
fn block(text: &mut String, block: &Block, names: &[&str], values: &Values) {
    let shown = |line: &str| fill_known(line, names, values);
    for command in &block.commands {
        let exit = if command.exit == 0 { String::new() } else { format!("   # exit {}", command.exit) };
        text.push_str(&format!("    $ {}{exit}\n", shown(&command.typed)));
        for line in aligned(command.output.iter().map(|line| shown(line)).collect()) {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
    }
}

/// A sample with its columns as wide as what is in them now. A line in capitals is a header; the lines below it that have as
/// many cells are its rows.
fn aligned(mut lines: Vec<String>) -> Vec<String> {
    let cells: Vec<Vec<String>> = lines.iter().map(|line| expect::columns(line)).collect();
    let is_header = |cells: &[String]| cells.len() > 1 && cells.iter().all(|cell| !cell.contains(char::is_lowercase));
    let mut at = 0;
    while at < lines.len() {
        let header = &cells[at];
        let belongs = |row: &&Vec<String>| row.len() == header.len() || row.len() == 1 && row[0] == "…";
        let rows = if is_header(header) { 1 + cells[at + 1..].iter().take_while(belongs).count() } else { 0 };
        let table: Vec<usize> = (at..at + rows).filter(|row| cells[*row].len() == header.len()).collect();
        for row in &table {
            let indent = lines[*row].len() - lines[*row].trim_start().len();
            let mut line = " ".repeat(indent);
            for (column, cell) in cells[*row].iter().enumerate() {
                let width = table.iter().map(|row| cells[*row][column].chars().count()).max().unwrap_or(0);
                line.push_str(&format!("{cell:width$}  "));
            }
            line.trim_end().clone_into(&mut lines[*row]);
        }
        at += rows.max(1);
    }
    lines
}

/// A runbook's Markdown for a reader: without its authors' comments, and without what a block's fence says to the tests.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut shown = String::new();
    let mut in_comment = false;
    let mut in_block = false;
    for line in text.lines() {
        in_comment |= !in_block && line.starts_with("<!--");
        if in_comment {
            in_comment = !line.trim_end().ends_with("-->");
            continue;
        }
        let is_fence = line.starts_with("```");
        in_block ^= is_fence;
        // A comment stood between two empty lines.
        if line.is_empty() && !in_block && shown.ends_with("\n\n") {
            continue;
        }
        shown.push_str(if is_fence && in_block { "```console" } else { line });
        shown.push('\n');
    }
    shown
}

/// A table: a header, a line of dashes, rows.
fn table(text: &mut String, lines: &[String], columns: usize) {
    let cells = |line: &String| -> Vec<String> { line.trim_matches('|').split('|').map(|cell| plain(cell.trim())).collect() };
    let header = lines.first().map(cells).unwrap_or_default();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header, u16::try_from(columns).ok());
    for line in lines.iter().skip(2) {
        table.row(cells(line));
    }
    text.push_str(&table.to_string());
}

/// A paragraph, or a list: a line that begins with `- ` or `1. ` begins an item.
fn paragraph(text: &mut String, lines: &[String], columns: usize) {
    let mut items: Vec<(usize, String)> = Vec::new();
    for line in lines {
        let trimmed = line.trim();
        let indent = hanging(trimmed);
        match items.last_mut() {
            Some((_, item)) if indent == 0 => {
                item.push(' ');
                item.push_str(trimmed);
            }
            _ => items.push((indent, trimmed.to_owned())),
        }
    }
    for (indent, item) in items {
        wrap(text, &plain(&item), columns, indent);
    }
}

/// How far the lines of a list's item are indented.
fn hanging(line: &str) -> usize {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    if line.starts_with("- ") {
        2
    } else if digits > 0 && line[digits..].starts_with(". ") {
        digits + 2
    } else {
        0
    }
}

fn wrap(text: &mut String, line: &str, columns: usize, indent: usize) {
    let mut used = 0;
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > columns {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
}

/// Without `**`, and links as their text. Backquotes stay: they show where a name begins and ends.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let parts = link.split_once("](").and_then(|(label, after)| Some((label, after.split_once(')')?.1)));
        let (label, after) = parts.unwrap_or(("[", link));
        plain.push_str(label);
        rest = after;
    }
    plain.push_str(rest);
    plain.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_aligned_with_what_is_filled_in() {
        let sample = "x\nBOX    LAST GOOD  STATE\n$DEAD  current    good\n…\n  A  B\n  $DEAD  $DEAD b";
        let values = Values::from([("DEAD".to_owned(), "edge-a1".to_owned())]);
        let lines = sample.lines().map(|line| fill_known(line, &["DEAD"], &values)).collect();
        let expected = "x\nBOX      LAST GOOD  STATE\nedge-a1  current    good\n…\n  A        B\n  edge-a1  edge-a1 b";
        assert_eq!(aligned(lines).join("\n"), expected);
    }

    #[test]
    fn comments_and_what_a_fence_says_are_not_for_readers() {
        let text = "# T\n\n<!-- a\nb -->\n\nx\n\n```console changes\n$ a\n\n\n<!-- said -->\n```\n\n<!-- scene: x -->\n\ny\n";
        assert_eq!(markdown(text), "# T\n\nx\n\n```console\n$ a\n\n\n<!-- said -->\n```\n\ny\n");
    }

    #[test]
    fn text_is_wrapped_and_commands_are_not() {
        let text = "# T\n\n**When**: a [link](x.md) and some more words than fit\n\n**Time**: 1 min\n\n- `$A`: one two three four five six seven eight\n- b\n\n\
            ```console\n$ a command that is much longer than the page is wide, and is copied   # exit 4\nout\n```\n";
        let runbook = Runbook::parse("x", text).expect("a runbook");
        let shown = page(&runbook, 40);
        assert_eq!(
            shown,
            "T\n=\n\nWhen: a link and some more words than\nfit\n\nTime: 1 min\n\n- `$A`: one two three four five six\n  seven eight\n- b\n\n\
             \x20   $ a command that is much longer than the page is wide, and is copied   # exit 4\n    out\n"
        );
    }
}
