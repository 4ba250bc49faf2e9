//! One value of one column, exactly as it is stored.

use std::borrow::Cow;
use std::fmt;

use crate::platform::hex;
use rusqlite::types::ValueRef;
use serde::{Serialize, Serializer};

/// A stored value. Text that is not UTF-8 is kept as its bytes, and nothing is ever cut.
///
/// As JSON: null, number and string are themselves; what JSON cannot say is an object with one field, `text_hex`,
/// `blob_hex` or `real`.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Text that is not UTF-8.
    BadText(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// Whether nothing is set here: NULL, empty text or zero, which is what a column added later starts as.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        match self {
            Self::Null | Self::Integer(0) => true,
            Self::Text(text) => text.is_empty(),
            Self::Blob(bytes) => bytes.is_empty(),
            Self::Real(_) | Self::BadText(_) | Self::Integer(_) => false,
        }
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::BadText(bytes.to_vec()),
            },
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

/// For people, not yet escaped for a terminal.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
            Self::BadText(bytes) => f.write_str(&shown(bytes)),
            Self::Blob(bytes) => write!(f, "x'{}'", hex(bytes)),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |serializer: S, name: &str, text: String| serializer.collect_map([(name, text)]);
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Real(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Real(number) => one(serializer, "real", number.to_string()),
            Self::Text(text) => serializer.serialize_str(text),
            Self::BadText(bytes) => one(serializer, "text_hex", hex(bytes)),
            Self::Blob(bytes) => one(serializer, "blob_hex", hex(bytes)),
        }
    }
}

/// Bytes as text: what is UTF-8 as it is, and every other byte as `\xff`. Whole, for people.
#[must_use]
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text.into()
}

/// A text column read strictly: NULL is empty, a number is its digits.
///
/// # Errors
/// Why it is not text that can be compared: not UTF-8, a hidden NUL, bytes, or a number that lost its spelling.
pub(super) fn text(value: ValueRef<'_>) -> Result<Cow<'_, str>, &'static str> {
    match value {
        ValueRef::Null => Ok(Cow::Borrowed("")),
        ValueRef::Integer(number) => Ok(number.to_string().into()),
        ValueRef::Real(_) => Err("a number where text belongs; 1.10 and 1.1 are the same there"),
        ValueRef::Blob(_) => Err("bytes where text belongs"),
        ValueRef::Text(bytes) if bytes.contains(&0) => Err("text that hides a NUL"),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| "text that is not UTF-8"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_shown_whole_and_apart() {
        assert_eq!(shown(b"v1"), "v1");
        assert_eq!(shown(b"v\xff1"), "v\\xff1");
        assert_ne!(shown(b"\xff\\xff"), shown(b"\xff\xff"));
    }

    #[test]
    fn text_that_hides_something_is_not_read_as_what_it_shows() {
        assert_eq!(text(ValueRef::Text(b"v1")), Ok("v1".into()));
        assert_eq!(text(ValueRef::Integer(7)), Ok("7".into()));
        for bad in [ValueRef::Text(b"v1\0x"), ValueRef::Text(b"v\xff1"), ValueRef::Blob(b"v1"), ValueRef::Real(1.1)] {
            assert!(text(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn json_says_what_it_can_and_names_what_it_cannot() {
        let json = |value: &Value| serde_json::to_string(value).expect("it serializes");
        assert_eq!(json(&Value::Text("v1\0x".into())), "\"v1\\u0000x\"");
        assert_eq!(json(&Value::BadText(b"v\xff".to_vec())), "{\"text_hex\":\"76ff\"}");
        assert_eq!(json(&Value::Blob(vec![0, 1])), "{\"blob_hex\":\"0001\"}");
        assert_eq!(json(&Value::Real(f64::INFINITY)), "{\"real\":\"inf\"}");
        assert_eq!(json(&Value::Null), "null");
    }
}
