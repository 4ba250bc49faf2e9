//! Values out of arguments.

use std::num::NonZeroU16;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::finding::Code;
use crate::terminal;

/// A positive duration such as `10s`, `2h`, `1h30m` or `3d`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let duration = terminal::duration(text).ok_or("not a duration such as 10s, 5m, 2h or 3d")?;
    match Duration::try_from(duration) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("a duration is more than zero".to_owned()),
    }
}

/// How many at once.
pub(super) fn at_once(text: &str) -> Result<NonZeroU16, String> {
    text.parse().map_err(|_| format!("not a number from 1 to {}", u16::MAX))
}

/// An RFC 3339 instant.
pub(super) fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "not an RFC 3339 time such as 2026-11-30T10:00:00Z".to_owned())
}

/// A positive age such as `2h`.
pub(super) fn age(text: &str) -> Result<SignedDuration, String> {
    duration(text).and_then(|duration| SignedDuration::try_from(duration).map_err(|error| error.to_string()))
}

/// A finding code that may be overridden.
pub(super) fn allowed(text: &str) -> Result<Code, String> {
    let code: Code = text.parse()?;
    if code.overridable() { Ok(code) } else { Err(format!("{code} can never be overridden")) }
}

/// `NAME=VALUE`.
pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "not NAME=VALUE".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}
