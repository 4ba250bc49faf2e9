//! Foreign text made safe for a terminal: what is in a bucket can be written by anyone who may write there.

use std::borrow::Cow;

/// `text` with every control character, bidi control and invisible separator shown as a `\u{…}` escape.
///
/// Everything printed for people passes here; JSON keeps the true value.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Control characters of C0 and C1, line and paragraph separators, bidi controls, zero-width and tag characters.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00AD}'
                | '\u{061C}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E007F}'
        )
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_that_moves_the_cursor_or_turns_the_text_gets_through() {
        assert_eq!(escape("edge-a1 한글 é"), "edge-a1 한글 é");
        assert_eq!(escape("a\u{1b}[2J\r\n\u{7}"), "a\\u{1b}[2J\\u{d}\\u{a}\\u{7}");
        assert_eq!(escape("\u{202E}x\u{9b}y\u{2066}"), "\\u{202e}x\\u{9b}y\\u{2066}");
    }
}
