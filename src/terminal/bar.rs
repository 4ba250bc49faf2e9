//! Small bars: numbers that are to be compared at a glance.

/// What is drawn of the last cell, by eighths.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// `part` of `whole` as a bar of at most `cells` characters: to an eighth of a cell, or where only ASCII can be shown to a
/// whole one. What is not nothing is never drawn as nothing.
fn bar(part: u64, whole: u64, cells: u8, unicode: bool) -> String {
    let steps = if unicode { 8 } else { 1 };
    let length = u128::from(cells) * steps;
    let (part, whole) = (u128::from(part.min(whole)), u128::from(whole.max(1)));
    // Rounded, but up from nothing.
    let drawn = if part == 0 { 0 } else { ((part * length * 2 + whole) / (whole * 2)).max(1) };
    let (full, rest) = (usize::try_from(drawn / steps).unwrap_or_default(), usize::try_from(drawn % steps).unwrap_or_default());
    let mut bar = String::from(if unicode { "█" } else { "#" }).repeat(full);
    bar.extend(rest.checked_sub(1).and_then(|eighths| EIGHTHS.get(eighths)));
    bar
}

/// A column of numbers with a bar behind each: all are measured by one, so that what was lost is seen.
#[derive(Debug, Clone, Copy)]
pub struct Bars {
    /// What the longest bar stands for.
    pub whole: u64,
    /// How wide the longest number is, as it is shown.
    pub digits: usize,
    /// How many characters the longest bar has.
    pub cells: u8,
    /// Whether more than ASCII can be shown.
    pub unicode: bool,
}

impl Bars {
    /// One number, right-aligned as `shown`, and its bar.
    #[must_use]
    pub fn cell(&self, number: u64, shown: &str) -> String {
        let bar = bar(number, self.whole, self.cells, self.unicode);
        format!("{shown:>digits$} {bar}", digits = self.digits).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Bars, bar};

    #[test]
    fn numbers_stand_under_each_other_with_their_bars_behind_them() {
        let bars = Bars { whole: 120, digits: 9, cells: 4, unicode: false };
        assert_eq!(bars.cell(120, "120.0 KiB"), "120.0 KiB ####");
        assert_eq!(bars.cell(32, "32.0 KiB"), " 32.0 KiB #");
        assert_eq!(bars.cell(0, "0 B"), "      0 B");
    }

    #[test]
    fn a_collapse_is_seen_and_what_is_there_is_never_nothing() {
        let both = |part, whole, cells| (bar(part, whole, cells, true), bar(part, whole, cells, false));
        let pair = |unicode: &str, ascii: &str| (unicode.to_owned(), ascii.to_owned());
        assert_eq!(both(120, 120, 4), pair("████", "####"));
        assert_eq!(both(32, 120, 4), pair("█▏", "#"));
        assert_eq!(both(75, 120, 4), pair("██▌", "###"));
        assert_eq!(both(1, u64::MAX, 4), pair("▏", "#"));
        assert_eq!(both(0, 120, 4), pair("", ""));
        assert_eq!(both(0, 0, 4), pair("", ""));
        assert_eq!(both(u64::MAX, u64::MAX, 20), pair(&"█".repeat(20), &"#".repeat(20)));
        for part in 1..=400 {
            let (unicode, ascii) = both(part, 400, 10);
            assert!((1..=10).contains(&unicode.chars().count()) && (1..=10).contains(&ascii.len()), "{part}");
        }
    }
}
