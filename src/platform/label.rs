//! A box's label (formats.md section 3).

use std::fmt;
use std::str::FromStr;

/// The name of a box: 1 to 128 bytes of `[A-Za-z0-9._-]`, not starting with `-` or `.`.
///
/// Only a `Label` may become part of a key or a path, so a name out of a bucket has to pass here first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

/// A text that is not a box label, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a box label: {because}")]
pub struct LabelError {
    text: String,
    because: &'static str,
}

impl Label {
    /// The longest label, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// The label as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let refuse = |because| Err(LabelError { text: text.to_owned(), because });
        if text.is_empty() {
            return refuse("it is empty");
        }
        if text.len() > Self::MAX_BYTES {
            return refuse("it is longer than 128 bytes");
        }
        if text.starts_with(['-', '.']) {
            return refuse("it starts with - or .");
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
            return refuse("only letters, digits, '.', '_' and '-' are allowed");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for Label {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl serde::Serialize for Label {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Label {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_formats_section_3() {
        for good in ["edge-a1", "a", "9", "_x", "edge-1.db", "A.b-c_d", &"x".repeat(128)] {
            assert!(good.parse::<Label>().is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "-a", ".a", "a/b", "edge-a1 ", "a\u{1b}", "é", "a\n", &"x".repeat(129)] {
            assert!(bad.parse::<Label>().is_err(), "{bad:?}");
        }
    }
}
