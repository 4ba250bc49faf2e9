//! Sentences folded at words, for a terminal whose width is known.

use unicode_width::UnicodeWidthStr;

/// Narrower than this, the terminal folds by itself as well as we could.
const NARROWEST: u16 = 40;
/// By how much the later lines of a folded sentence are indented.
const INDENT: usize = 4;

/// `line` folded into lines of at most `columns`, the later ones indented. A word that is longer stays whole, because it is a
/// key or a path. Whole lines only: a command that is to be copied is not given here.
#[must_use]
pub fn wrap(line: &str, columns: Option<u16>) -> String {
    wrap_under(line, columns, INDENT)
}

/// As [`wrap`], with the later lines indented by `indent`.
#[must_use]
pub fn wrap_under(line: &str, columns: Option<u16>, indent: usize) -> String {
    match columns.filter(|columns| *columns >= NARROWEST) {
        Some(columns) => fold(line, usize::from(columns), indent),
        None => line.to_owned(),
    }
}

/// `line` in lines of at most `columns`, however few those are.
pub(super) fn fold(line: &str, columns: usize, indent: usize) -> String {
    let mut folded = String::with_capacity(line.len() + 16);
    let mut used = 0;
    for (at, word) in line.split(' ').enumerate() {
        let width = word.width();
        if used > indent && used + 1 + width > columns {
            folded.push('\n');
            folded.push_str(&" ".repeat(indent));
            used = indent;
        } else if at > 0 {
            folded.push(' ');
            used += 1;
        }
        folded.push_str(word);
        used += width;
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn a_sentence_is_folded_between_words_and_nothing_is_lost() {
        let line = "warning size-collapsed: edge-c3: current has 32.0 KiB, 20261130T164348Z had 120.0 KiB";
        assert_eq!(
            wrap(line, Some(60)),
            "warning size-collapsed: edge-c3: current has 32.0 KiB,\n    20261130T164348Z had 120.0 KiB"
        );
        let long = format!("x {} y", "k".repeat(80));
        for columns in [None, Some(0), Some(40), Some(60), Some(250)] {
            for line in [line, &long, "", "  a  b"] {
                let folded = wrap(line, columns);
                assert_eq!(folded.replace("\n    ", " "), line, "{columns:?}");
                let fits = |line: &str| line.len() <= usize::from(columns.unwrap_or(u16::MAX)) || line.trim().len() >= 80;
                assert!(columns.is_none_or(|columns| columns < 40) || folded.lines().all(fits), "{folded}");
            }
        }
    }
}
