//! Instants and lists as findings and reasons say them.

use jiff::{SignedDuration, Timestamp};

use crate::terminal;

/// How many names are said before "and n more".
const NAMES_SAID: usize = 3;

/// An instant to the second, as Go's `time.RFC3339` has it.
pub(super) fn second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// An age in its two largest units.
pub(super) fn age(age: SignedDuration) -> String {
    terminal::age(age.as_secs())
}

/// The first few names, and how many more there are.
pub(super) fn names(names: &[String]) -> String {
    let said = names.iter().take(NAMES_SAID).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_SAID) {
        0 => said,
        more => format!("{said} and {more} more"),
    }
}

/// A name as one step of a JSON pointer.
pub(super) fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
