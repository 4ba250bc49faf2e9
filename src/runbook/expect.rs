//! What a command should print against what it printed, and the values that are read from it.

use std::collections::BTreeMap;
use std::fmt;

/// What is filled in, by name.
pub type Values = BTreeMap<String, String>;

/// Where an output first differs from what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The expected line that is not there, with the values that are known; `None` where more was printed than is expected.
    pub expected: Option<String>,
    /// What was printed in its place; `None` where nothing was that looks like it.
    pub printed: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.expected, &self.printed) {
            (Some(expected), Some(printed)) => write!(f, "not printed: {expected}; in its place: {printed}"),
            (Some(expected), None) => write!(f, "not printed: {expected}"),
            (None, Some(printed)) => write!(f, "more was printed than is expected: {printed}"),
            (None, None) => write!(f, "more was printed than is expected"),
        }
    }
}

/// `text` with every one of `names` replaced by its value.
///
/// # Errors
/// The first name that has no value.
pub fn fill(text: &str, names: &[&str], values: &Values) -> Result<String, String> {
    let mut filled = String::new();
    for piece in pieces(text, names) {
        match piece {
            Piece::Literal(text) => filled.push_str(text),
            Piece::Wild => filled.push('…'),
            Piece::Name(name) => filled.push_str(values.get(name).ok_or_else(|| name.to_owned())?),
        }
    }
    Ok(filled)
}

/// `text` with every one of `names` replaced that has a value; the others stay as they are written.
#[must_use]
pub fn fill_known(text: &str, names: &[&str], values: &Values) -> String {
    let known: Vec<&str> = names.iter().copied().filter(|name| values.contains_key(*name)).collect();
    fill(text, &known, values).unwrap_or_else(|_| text.to_owned())
}

/// Whether a value can stand in a command as it is: words of letters, digits and `._:/@+,=%~-`, none of which is an option.
#[must_use]
pub fn is_safe(value: &str) -> bool {
    !value.is_empty() && value.split(' ').all(|word| !word.is_empty() && !word.starts_with('-') && word.chars().all(is_word))
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._:/@+,=%~-".contains(character)
}

/// The names that `text` has in it.
#[must_use]
pub fn names_in<'n>(text: &str, names: &[&'n str]) -> Vec<&'n str> {
    let pieces = pieces(text, names);
    let has = |wanted: &str| pieces.iter().any(|piece| matches!(piece, Piece::Name(name) if *name == wanted));
    names.iter().copied().filter(|name| has(name)).collect()
}

/// Compares a whole output with what is expected of it. How wide a gap is does not count, because columns are as wide as what
/// is in them; but a line in columns, which are two blanks apart or more, has as many as are expected, and `…` stands for one,
/// or as the last for any number. Names without a value take it from the output.
///
/// # Errors
/// The first expected line that is not there, or the first line that is not expected.
pub fn compare(expected: &[String], output: &str, names: &[&str], values: &mut Values) -> Result<(), Difference> {
    let expected: Vec<&str> = expected.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut furthest = Furthest { matched: 0, left: lines.len() };
    if rest(&expected, &lines, names, values, 0, &mut furthest) {
        return Ok(());
    }
    let left = &lines[lines.len() - furthest.left..];
    let Some(line) = expected.get(furthest.matched) else {
        return Err(Difference { expected: None, printed: left.first().map(|line| (*line).to_owned()) });
    };
    let line = fill_known(line, names, values);
    let word = line.split_whitespace().next();
    let alike = left.iter().find(|printed| printed.split_whitespace().next() == word);
    // Behind `…` nothing has a place of its own.
    let placed = furthest.matched == 0 || expected[furthest.matched - 1] != "…";
    let printed = alike.or(left.first().filter(|_| placed)).map(|line| (*line).to_owned());
    Err(Difference { expected: Some(line), printed })
}

/// How far a comparison came.
struct Furthest {
    /// How many expected lines were found.
    matched: usize,
    /// How many printed lines were left when the last of them was.
    left: usize,
}

fn rest(expected: &[&str], lines: &[&str], names: &[&str], values: &mut Values, depth: usize, furthest: &mut Furthest) -> bool {
    if depth > furthest.matched {
        *furthest = Furthest { matched: depth, left: lines.len() };
    }
    let Some((first, after)) = expected.split_first() else { return lines.is_empty() };
    if *first == "…" {
        return (0..=lines.len()).any(|skipped| rest(after, &lines[skipped..], names, values, depth + 1, furthest));
    }
    let Some((line, following)) = lines.split_first() else { return false };
    let mut taken = values.clone();
    if line_matches(first, line, names, &mut taken) && rest(after, following, names, &mut taken, depth + 1, furthest) {
        *values = taken;
        return true;
    }
    false
}

/// Takes from `output` the values that `expected` shows and that are not known yet. Nothing else is compared.
pub fn take(expected: &[String], output: &str, names: &[&str], values: &mut Values) {
    for pattern in expected {
        let unknown =
            pieces(pattern, names).into_iter().any(|piece| matches!(piece, Piece::Name(name) if !values.contains_key(name)));
        if unknown {
            for line in output.lines() {
                if line_matches(pattern, line, names, values) {
                    break;
                }
            }
        }
    }
}

/// What the command asks to be typed: `type NAME to go on: NAME`.
#[must_use]
pub fn asked(expected: &[String]) -> Option<&str> {
    expected.iter().find_map(|line| Some(line.trim().strip_prefix("type ")?.split_once(" to go on: ")?.1))
}

/// Whether one line is as expected. On success the values taken are in `values`.
fn line_matches(pattern: &str, line: &str, names: &[&str], values: &mut Values) -> bool {
    let (mut expected, mut printed) = (columns(pattern), columns(line));
    if expected.len() > 1 {
        if expected.last().is_some_and(|last| last == "…") {
            expected.pop();
            printed.truncate(expected.len());
        }
    } else {
        (expected, printed) = (vec![single_blanks(pattern)], vec![single_blanks(line)]);
    }
    let mut taken = values.clone();
    let same = expected.len() == printed.len()
        && expected.iter().zip(&printed).all(|(pattern, text)| matches(&pieces(pattern, names), text, &mut taken));
    if same {
        *values = taken;
    }
    same
}

/// What stands between gaps of two blanks or more.
pub(super) fn columns(line: &str) -> Vec<String> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn matches(pieces: &[Piece<'_>], text: &str, values: &mut Values) -> bool {
    let Some((first, after)) = pieces.split_first() else { return text.is_empty() };
    match first {
        Piece::Literal(literal) => text.strip_prefix(literal).is_some_and(|text| matches(after, text, values)),
        Piece::Wild => boundaries(text).any(|at| matches(after, &text[at..], values)),
        Piece::Name(name) => {
            if let Some(value) = values.get(*name) {
                return text.strip_prefix(value.as_str()).is_some_and(|text| matches(after, text, values));
            }
            let longest = text.find(|character| !is_word(character)).unwrap_or(text.len());
            for end in (1..=longest).rev().filter(|end| is_safe(&text[..*end])) {
                let mut taken = values.clone();
                taken.insert((*name).to_owned(), text[..end].to_owned());
                if matches(after, &text[end..], &mut taken) {
                    *values = taken;
                    return true;
                }
            }
            false
        }
    }
}

fn boundaries(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()])
}

#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Literal(&'t str),
    /// `…`
    Wild,
    Name(&'t str),
}

/// Splits at `…` and at `$NAME` where the name is one of `names`; any other `$` is the shell's.
fn pieces<'t>(text: &'t str, names: &[&str]) -> Vec<Piece<'t>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    while at < text.len() {
        let here = &text[at..];
        let (piece, length) = if here.starts_with('…') {
            (Some(Piece::Wild), '…'.len_utf8())
        } else if let Some(after) = here.strip_prefix('$') {
            let end = after.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')).unwrap_or(after.len());
            let name = &after[..end];
            (names.contains(&name).then_some(Piece::Name(name)), 1 + end)
        } else {
            (None, here.chars().next().map_or(1, char::len_utf8))
        };
        if let Some(piece) = piece {
            if begin < at {
                pieces.push(Piece::Literal(&text[begin..at]));
            }
            pieces.push(piece);
            begin = at + length;
        }
        at += length;
    }
    if begin < text.len() {
        pieces.push(Piece::Literal(&text[begin..]));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Values {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn names_are_filled_and_every_other_dollar_is_the_shells() {
        let known = values(&[("DEAD", "edge-a1")]);
        assert_eq!(
            fill("x $DEAD $HOME ${DEAD} $DEADLY", &["DEAD"], &known).expect("filled"),
            "x edge-a1 $HOME ${DEAD} $DEADLY"
        );
        assert_eq!(fill("$DEAD $GOOD", &["DEAD", "GOOD"], &known), Err("GOOD".to_owned()));
        assert_eq!(fill_known("$DEAD $GOOD", &["DEAD", "GOOD"], &known), "edge-a1 $GOOD");
    }

    #[test]
    fn an_output_is_compared_whole_and_gives_what_is_not_known() {
        let mut known = values(&[("DEAD", "edge-a1")]);
        let expected = lines("BOX LAST GOOD\n$DEAD $GOOD … bad\n…\nend");
        let names = ["DEAD", "GOOD"];
        compare(&expected, "BOX      LAST GOOD\nedge-a1  20261130T101112Z  1 h  bad\nx\n\ny\nend\n", &names, &mut known)
            .expect("it matches");
        assert_eq!(known["GOOD"], "20261130T101112Z");
        // What is known now is compared, not taken again.
        let other = compare(&expected, "BOX LAST GOOD\nedge-a1 current 1 h bad\nend\n", &names, &mut known);
        assert_eq!(
            other.expect_err("another generation").to_string(),
            "not printed: edge-a1 20261130T101112Z … bad; in its place: edge-a1 current 1 h bad"
        );
        let differs = |output: &str| compare(&expected, output, &names, &mut known.clone()).expect_err(output).to_string();
        assert_eq!(differs(""), "not printed: BOX LAST GOOD");
        let row = "edge-a1 20261130T101112Z 1 h bad";
        assert_eq!(differs(&format!("BOX LAST GOOD\n{row}\nx\n")), "not printed: end");
        let more = compare(&lines("a"), "a\nb\n", &[], &mut Values::new()).expect_err("more");
        assert_eq!(more.to_string(), "more was printed than is expected: b");
        for output in ["BOX LAST GOOD\nedge-a1 20261130T101112Z bad\nend\nmore\n", "", "end\n"] {
            assert!(compare(&expected, output, &names, &mut known).is_err(), "{output:?}");
        }
    }

    #[test]
    fn a_wildcard_does_not_reach_into_another_column() {
        let expected = lines("BOX  AGE  STATE  …\n$DEAD  …  good  …");
        let same = |output: &str| {
            compare(&expected, output, &["DEAD"], &mut values(&[("DEAD", "edge-a1")])).map_err(|differs| differs.to_string())
        };
        assert_eq!(same("BOX      AGE  STATE\nedge-a1  1 h  good\n"), Ok(()));
        assert_eq!(same("BOX      AGE  STATE  LAST DRILL\nedge-a1  1 h  good   good, 3 d ago\n"), Ok(()));
        let bad = "edge-a1  1 h  bad    good, 3 d ago";
        let differs = format!("not printed: edge-a1  …  good  …; in its place: {bad}");
        assert_eq!(same(&format!("BOX      AGE  STATE  LAST DRILL\n{bad}\n")), Err(differs));
        assert!(same("BOX      AGE  STATE\nedge-a1  good\n").is_err());
    }

    #[test]
    fn nothing_that_a_shell_would_read_is_taken() {
        let mut known = Values::new();
        for hostile in ["good;reboot", "$(reboot)", "`x`", "--flag", "a'b", "x\u{202e}y"] {
            take(&lines("last good is $GOOD"), &format!("last good is {hostile}\n"), &["GOOD"], &mut known);
            assert_eq!(known, Values::new(), "{hostile}");
            assert!(!is_safe(hostile), "{hostile}");
        }
        assert!(is_safe("carlos-edge.service carlos-adopt.timer") && !is_safe("a  b") && !is_safe("a\nb"));
    }

    #[test]
    fn the_question_is_found() {
        assert_eq!(asked(&lines("…\ntype $DEAD to go on: $DEAD\n…")), Some("$DEAD"));
        assert_eq!(asked(&lines("…\n")), None);
        assert_eq!(names_in("x $DEAD $HOME $DEADLY", &["DEAD", "HOLD"]), ["DEAD"]);
    }
}
