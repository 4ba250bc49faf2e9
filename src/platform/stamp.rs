//! The time in a generation's name: UTC `YYYYMMDDTHHMMSSZ` (formats.md section 3, seed `snapshotStamp`).

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A generation's stamp. Orders as its text does, which is the order in which the agent prunes.
///
/// The year of a stamp is 0000 to 9999, and every field is checked: 30 February is not a stamp, and neither is second 60.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(DateTime);

/// A text that is not a stamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a stamp of the form YYYYMMDDTHHMMSSZ")]
pub struct StampError(String);

impl Stamp {
    /// The stamp of an instant: whole seconds, the fraction cut off as Go's layout cuts it.
    #[must_use]
    pub fn at(instant: Timestamp) -> Self {
        let civil = TimeZone::UTC.to_datetime(instant);
        Self(civil.with().subsec_nanosecond(0).build().unwrap_or(civil))
    }

    /// The stamp of the next second; the last second there is has none after it.
    #[must_use]
    pub fn next_second(self) -> Self {
        Self(self.0.checked_add(SignedDuration::from_secs(1)).unwrap_or(self.0))
    }

    /// The instant that the stamp names. The last hours of the year 9999 are the latest instant there is.
    #[must_use]
    pub fn instant(self) -> Timestamp {
        TimeZone::UTC.to_timestamp(self.0).unwrap_or(Timestamp::MAX)
    }
}

impl FromStr for Stamp {
    type Err = StampError;

    fn from_str(text: &str) -> Result<Self, StampError> {
        let refuse = || StampError(text.to_owned());
        let bytes = text.as_bytes();
        let shaped = bytes.len() == 16
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                8 => *byte == b'T',
                15 => *byte == b'Z',
                _ => byte.is_ascii_digit(),
            });
        if !shaped {
            return Err(refuse());
        }
        let number = |from: usize, to: usize| text[from..to].parse::<i16>().map_err(|_| refuse());
        let small = |from: usize, to: usize| text[from..to].parse::<i8>().map_err(|_| refuse());
        DateTime::new(number(0, 4)?, small(4, 6)?, small(6, 8)?, small(9, 11)?, small(11, 13)?, small(13, 15)?, 0)
            .map(Self)
            .map_err(|_| refuse())
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.0;
        f.pad(&format!(
            "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        ))
    }
}

impl serde::Serialize for Stamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Stamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_real_instant_is_a_stamp() {
        for good in ["20261115T000000Z", "99991231T235959Z", "00010101T000000Z", "20240229T000000Z"] {
            assert_eq!(good.parse::<Stamp>().expect("a stamp").to_string(), good);
        }
        for bad in [
            "20260230T000000Z",
            "20261130T101160Z",
            "zzz",
            "20261115T000000Z.db.tmp",
            "20261115t000000z",
            "2026111 T000000Z",
            "",
        ] {
            assert!(bad.parse::<Stamp>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_next_second_carries_over() {
        let stamp: Stamp = "20261231T235959Z".parse().expect("a stamp");
        assert_eq!(stamp.next_second().to_string(), "20270101T000000Z");
    }

    #[test]
    fn a_fraction_is_cut_off() {
        let instant: Timestamp = "2026-11-30T10:00:00.999999999Z".parse().expect("an instant");
        assert_eq!(Stamp::at(instant).to_string(), "20261130T100000Z");
    }
}
