//! Numbers as an operator reads and types them.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp, Unit};

/// A size in binary units: `126.0 KiB`. Exact below 1 KiB.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// An age in its two largest units: `3 d 4 h`, `12 min`, `40 s`. A negative one is said to be ahead.
#[must_use]
pub fn age(seconds: i64) -> String {
    let magnitude = seconds.unsigned_abs();
    let text = match magnitude {
        0..60 => format!("{magnitude} s"),
        60..3_600 => format!("{} min", magnitude / 60),
        3_600..86_400 => two(magnitude / 3_600, "h", magnitude % 3_600 / 60, "min"),
        _ => two(magnitude / 86_400, "d", magnitude % 86_400 / 3_600, "h"),
    };
    if seconds < 0 { format!("{text} ahead") } else { text }
}

/// As [`age`], as a time: `12 min ago`, or `12 min ahead`.
#[must_use]
pub fn ago(seconds: i64) -> String {
    if seconds < 0 { age(seconds) } else { format!("{} ago", age(seconds)) }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{large} {large_unit}") } else { format!("{large} {large_unit} {small} {small_unit}") }
}

/// A length of time as it is typed: `10s`, `1h30m`, `3d`. A day has 24 hours, a week seven days; months and years are no
/// length.
#[must_use]
pub fn duration(text: &str) -> Option<SignedDuration> {
    text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// An instant in UTC to the second, as people compare them; JSON keeps the fraction.
#[must_use]
pub fn instant(instant: Timestamp) -> String {
    instant.round(Unit::Second).unwrap_or(instant).to_string()
}

/// An instant and how long it is ago, as people compare them.
#[must_use]
pub fn instant_and_age(at: Timestamp, as_of: Timestamp) -> String {
    format!("{} ({})", instant(at), ago(as_of.duration_since(at).as_secs()))
}

/// A count with its noun: `1 route`, `12 routes`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let end = if noun.ends_with('s') { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{end}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ages_read_well() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(126_976), "124.0 KiB");
        assert_eq!(bytes(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(age(0), "0 s");
        assert_eq!(age(3_599), "59 min");
        assert_eq!(age(3_600), "1 h");
        assert_eq!(age(6 * 3_600 + 720), "6 h 12 min");
        assert_eq!(age(-90), "1 min ahead");
        assert_eq!(age(3 * 86_400 + 4 * 3_600), "3 d 4 h");
        let at = |text: &str| text.parse().expect("an instant");
        let (then, now) = (at("2026-11-30T10:00:00.4Z"), at("2026-11-30T12:00:00Z"));
        assert_eq!(instant_and_age(then, now), "2026-11-30T10:00:00Z (1 h 59 min ago)");
        assert_eq!(instant_and_age(now, then), "2026-11-30T12:00:00Z (1 h 59 min ahead)");
        let hours = |hours| Some(SignedDuration::from_hours(hours));
        assert_eq!(
            (duration("3d"), duration("1d 2h"), duration("90m")),
            (hours(72), hours(26), Some(SignedDuration::from_mins(90)))
        );
        assert_eq!((duration("1mo"), duration("3"), duration("")), (None, None, None));
        assert_eq!(count(1, "route"), "1 route");
        assert_eq!(count(2, "process"), "2 processes");
    }
}
