//! All colour that there is: the words for a state, a refusal, and the question that wants a name. Never the only carrier of
//! meaning.
//!
//! A word is marked where it is written and painted where it is printed. The marks are invisible characters that [`escape`]
//! lets through from nobody, so that whatever is painted was marked here, and nothing of a bucket's can be; and they have no
//! width, so that tables stay aligned.
//!
//! [`escape`]: super::escape()

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

/// A mark, and what it begins.
const STYLES: [(char, Style); 4] = [
    (GOOD, AnsiColor::Green.on_default()),
    (SUSPECT, AnsiColor::Yellow.on_default()),
    (BAD, AnsiColor::Red.on_default().bold()),
    (ASKED, Style::new().bold()),
];
const GOOD: char = '\u{2061}';
const SUSPECT: char = '\u{2062}';
const BAD: char = '\u{2063}';
const ASKED: char = '\u{2064}';
/// Ends what a mark began.
const END: char = '\u{2060}';

/// `text` with its first word marked, where that is one of ours for a state. What follows is left as it is.
#[must_use]
pub fn state(text: &str) -> String {
    let end = text.find(|next: char| !next.is_ascii_alphabetic() && next != '-').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let mark = match word {
        "good" | "ready" => GOOD,
        "suspect" | "unknown" | "warning" => SUSPECT,
        "bad" | "not-ready" | "blocking" | "refused" | "error" => BAD,
        _ => return text.to_owned(),
    };
    format!("{mark}{word}{END}{rest}")
}

/// A whole question, marked.
#[must_use]
pub fn asked(question: &str) -> String {
    format!("{ASKED}{question}{END}")
}

/// `text` as it is printed: marked words in colour, or with `colour` false without their marks.
#[must_use]
pub fn paint(text: &str, colour: bool) -> Cow<'_, str> {
    let is_mark = |character: char| character == END || STYLES.iter().any(|(mark, _)| *mark == character);
    if !text.contains(is_mark) {
        return Cow::Borrowed(text);
    }
    let mut painted = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match STYLES.iter().find(|(mark, _)| *mark == character) {
            Some((_, style)) if colour => painted.push_str(&style.render().to_string()),
            None if character == END && colour => painted.push_str(&anstyle::Reset.render().to_string()),
            None if character != END => painted.push(character),
            _ => {}
        }
    }
    Cow::Owned(painted)
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::super::escape;
    use super::*;

    #[test]
    fn only_a_first_word_of_ours_is_painted_and_the_text_stays_as_it_is() {
        let painted = |text: &str| paint(&state(text), true).into_owned();
        assert_eq!(painted("good"), "\u{1b}[32mgood\u{1b}[0m");
        assert_eq!(painted("suspect: size-collapsed bad"), "\u{1b}[33msuspect\u{1b}[0m: size-collapsed bad");
        assert_eq!(painted("not-ready (1 blocking)"), "\u{1b}[1m\u{1b}[31mnot-ready\u{1b}[0m (1 blocking)");
        for text in ["goods", "goodly bad", "-", "", "Good", "note", "é good"] {
            assert_eq!(painted(text), text);
        }
        for text in ["good", "error: x", "-", ""] {
            assert_eq!(paint(&state(text), false), text);
        }
    }

    #[test]
    fn a_mark_has_no_width_and_cannot_come_from_outside() {
        for mark in STYLES.map(|(mark, _)| mark).into_iter().chain([END]) {
            let text = format!("a{mark}b");
            assert_eq!(text.width(), 2, "{mark:?}");
            assert!(!escape(&text).contains(mark), "{mark:?}");
            assert_eq!(paint(&escape(&text), true), escape(&text));
        }
    }
}
