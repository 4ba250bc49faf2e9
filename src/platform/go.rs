//! How Go spells things in JSON: times, durations and escaped texts, byte for byte where we write them.

use std::io;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// Go's zero time, which stands for "unknown" in a document.
pub const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Reads a time as RFC 3339 wants it: capital `T` and `Z`, two-digit fields, an optional fraction after a point, any offset
/// below 24 hours. `Ok(None)` is Go's zero time. Digits beyond nanoseconds are cut off, as Go cuts them.
///
/// Go refuses a blank for the `T`, lower-case letters and second 60, and so does this.
pub fn parse_instant(text: &str) -> Result<Option<Timestamp>, String> {
    let refuse = |because: &str| format!("{text:?} is not an RFC 3339 time: {because}");
    let bytes = text.as_bytes();
    let shaped = bytes.len() >= 20
        && bytes[..19].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            10 => *byte == b'T',
            13 | 16 => *byte == b':',
            _ => byte.is_ascii_digit(),
        });
    if !shaped {
        return Err(refuse("it does not start like 2006-01-02T15:04:05"));
    }
    let (fraction, zone) = match text[19..].strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("0", &text[19..]),
    };
    if fraction.is_empty() {
        return Err(refuse("no digit after the point"));
    }
    let offset = offset_seconds(zone).ok_or_else(|| refuse("it does not end in Z or an offset like +01:00"))?;
    let number = |from: usize, to: usize| text[from..to].parse::<i16>().unwrap_or(i16::MAX);
    let small = |from: usize, to: usize| i8::try_from(number(from, to)).unwrap_or(i8::MAX);
    let nanosecond = format!("{:0<9}", &fraction[..fraction.len().min(9)]).parse().unwrap_or(0);
    let instant =
        DateTime::new(number(0, 4), small(5, 7), small(8, 10), small(11, 13), small(14, 16), small(17, 19), nanosecond)
            .map_err(|_| refuse("there is no such day or time of day"))
            .and_then(|civil| TimeZone::UTC.to_timestamp(civil).map_err(|_| refuse("it is beyond the years that can be told")))
            .and_then(|local| {
                local
                    .checked_sub(SignedDuration::from_secs(offset))
                    .map_err(|_| refuse("it is beyond the years that can be told"))
            })?;
    Ok((instant != zero_time()).then_some(instant))
}

/// Seconds east of UTC, for `Z`, `+hh:mm` or `-hh:mm`.
fn offset_seconds(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let bytes = zone.as_bytes();
    let shaped = bytes.len() == 6
        && matches!(bytes[0], b'+' | b'-')
        && bytes[3] == b':'
        && [1, 2, 4, 5].iter().all(|at| bytes[*at].is_ascii_digit());
    let (hours, minutes) = shaped.then(|| Some((zone[1..3].parse::<i64>().ok()?, zone[4..6].parse::<i64>().ok()?)))??;
    let seconds = (hours < 24 && minutes < 60).then_some(hours * 3_600 + minutes * 60)?;
    Some(if bytes[0] == b'-' { -seconds } else { seconds })
}

fn zero_time() -> Timestamp {
    Timestamp::constant(-62_135_596_800, 0)
}

/// Writes a time as Go marshals a UTC `time.Time`: RFC 3339 with as many digits of the fraction as it has; `None` is Go's
/// zero time.
#[must_use]
pub fn format_instant(instant: Option<Timestamp>) -> String {
    instant.map_or_else(|| ZERO_TIME.to_owned(), |instant| instant.to_string())
}

/// Writes `value` as Go's `json.Marshal` does: no blanks, and `<`, `>`, `&`, U+2028 and U+2029 escaped in texts.
///
/// Fields come in the order of the struct, as in Go; maps must be sorted by the caller, as Go sorts them.
pub fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, GoFormatter))?;
    Ok(out)
}

struct GoFormatter;

impl serde_json::ser::Formatter for GoFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, character) in fragment.char_indices() {
            if matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
                writer.write_all(&fragment.as_bytes()[written..at])?;
                write!(writer, "\\u{:04x}", u32::from(character))?;
                written = at + character.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[written..])
    }
}

/// Reads a duration in Go's syntax (`24h`, `1h30m`, `0s`, `1.5h`, `-3s`): the answer is in nanoseconds.
///
/// A faithful port of `time.ParseDuration`, without its undocumented acceptance of a lone sign.
pub fn parse_duration(text: &str) -> Result<SignedDuration, String> {
    let refuse = |because: &str| format!("{text:?} is not a duration like 24h or 1h30m: {because}");
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return Err(refuse("there is no number"));
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let (whole, after) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        let (fraction, after) = match after.strip_prefix('.') {
            Some(tail) => tail.split_at(tail.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(refuse("there is no number"));
        }
        let (unit, after) = after.split_at(after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len()));
        let scale = unit_nanoseconds(unit).ok_or_else(|| refuse(&format!("unknown unit {unit:?}")))?;
        total = nanoseconds(whole, fraction, scale)
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| refuse("it is longer than 292 years"))?;
        rest = after;
    }
    Ok(SignedDuration::from_nanos(if negative { -total } else { total }))
}

fn unit_nanoseconds(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `whole.fraction` times `scale`, or nothing when it does not fit. Fraction digits beyond 18 are too small to matter.
fn nanoseconds(whole: &str, fraction: &str, scale: i64) -> Option<i64> {
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let digits = &fraction[..fraction.len().min(18)];
    let numerator: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let denominator = 10_i128.pow(u32::try_from(digits.len()).ok()?);
    let part = i64::try_from(numerator * i128::from(scale) / denominator).ok()?;
    whole.checked_mul(scale)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Timestamp {
        parse_instant(text).expect(text).expect("not the zero time")
    }

    #[test]
    fn a_time_is_read_as_go_reads_it() {
        assert_eq!(instant("2026-11-30T10:00:00Z").as_second(), 1_796_032_800);
        assert_eq!(instant("2026-11-30T12:00:00+02:00"), instant("2026-11-30T10:00:00Z"));
        assert_eq!(instant("2026-11-30T09:30:00-00:30"), instant("2026-11-30T10:00:00Z"));
        assert_eq!(instant("2026-11-30T10:00:00.1234567899Z"), instant("2026-11-30T10:00:00.123456789Z"));
        assert_eq!(instant("2026-11-30T10:00:00.5Z").subsec_nanosecond(), 500_000_000);
        assert_eq!(parse_instant(ZERO_TIME), Ok(None));
        assert_eq!(parse_instant("0001-01-01T02:00:00+02:00"), Ok(None));
        for bad in [
            "2026-11-30 10:00:00Z",
            "2026-11-30t10:00:00Z",
            "2026-11-30T10:00:00z",
            "2026-11-30T10:00:60Z",
            "2026-02-30T10:00:00Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T10:00:00",
            "2026-11-30T10:00Z",
            "2026-11-30T10:00:00.Z",
            "2026-11-30T10:00:00,5Z",
            "2026-11-30T10:00:00+0200",
            "2026-11-30T10:00:00+24:00",
            "2026-11-30T10:00:00+00:60",
            "2026-11-30T10:00:00Z ",
            " 2026-11-30T10:00:00Z",
            "2026-11-30T10:00:00Zé",
            "2026-11-3éT10:00:00Z",
            "9999-12-31T23:59:59-23:59",
            "+2026-11-30T10:00:00Z",
            "",
        ] {
            assert!(parse_instant(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_time_is_written_as_go_writes_it() {
        for text in ["2026-11-30T10:00:00Z", "2026-11-30T10:00:00.5Z", "2026-11-30T10:00:00.000000001Z", "0999-01-01T00:00:00Z"]
        {
            assert_eq!(format_instant(Some(instant(text))), text);
        }
        assert_eq!(format_instant(None), ZERO_TIME);
    }

    #[test]
    fn texts_are_escaped_as_go_escapes_them() {
        let json = to_json(&"<a>&\u{2028}\u{2029}\"\\/\n\u{8}\u{1f}\u{7f}é").expect("json");
        assert_eq!(
            String::from_utf8(json).expect("utf-8"),
            "\"\\u003ca\\u003e\\u0026\\u2028\\u2029\\\"\\\\/\\n\\b\\u001f\u{7f}é\""
        );
    }

    #[test]
    fn a_duration_is_read_as_go_reads_it() {
        for (text, seconds) in [
            ("24h", 86_400.0),
            ("0s", 0.0),
            ("0", 0.0),
            ("1h30m", 5_400.0),
            ("1.5h", 5_400.0),
            ("-3s", -3.0),
            ("+5m", 300.0),
            (".5s", 0.5),
            ("1.s", 1.0),
            ("1us", 1e-6),
            ("1µs", 1e-6),
            ("1μs", 1e-6),
            ("2ms1ns", 0.002_000_001),
        ] {
            let read = parse_duration(text).expect(text).as_secs_f64();
            assert!((read - seconds).abs() < 1e-10, "{text}: {read}");
        }
        assert!(parse_duration("2562047h47m16.854775807s").is_ok());
        for bad in ["", "3", "-", "1d", "24H", "1 h", "h", ".s", "1h-3m", "2562048h", "9223372036854775808ns", "1h30", "é"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
