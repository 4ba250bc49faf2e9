//! Reading a JSON document as Go's `encoding/json` does, but stricter where a silent default would be dangerous
//! (formats.md section 1).
//!
//! A [`Document`] is parsed once, by `serde_json`, into a plain tree; every document type takes its fields out of it through
//! [`Fields`]. Absent on purpose: derived deserialization. It would accept a repeated spelling, or say nothing of the key.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

use super::fields::Fields;

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How deep lists and objects may be nested.
pub const MAX_DEPTH: usize = 64;

/// A document that does not read, and why: which key, which field where one is to blame, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentError {
    /// The object's key, or what else the document was called.
    pub key: String,
    /// The field, with the objects around it: `metrics.build_states`.
    pub field: Option<String>,
    /// What is wrong with it.
    pub because: String,
}

impl DocumentError {
    /// An error about the whole document.
    pub fn whole(key: impl Into<String>, because: impl Into<String>) -> Self {
        Self { key: key.into(), field: None, because: because.into() }
    }

    /// The error without the key, for places that name the key themselves: `field "bytes": is missing`.
    #[must_use]
    pub fn without_key(&self) -> String {
        match &self.field {
            Some(field) => format!("field {field:?}: {}", self.because),
            None => self.because.clone(),
        }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.without_key())
    }
}

impl std::error::Error for DocumentError {}

/// What a document is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    /// Any other number, as far as it can be shown: a fraction, an exponent, or beyond an `i64`.
    Number(String),
    Text(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

impl Value {
    /// What it is, for errors.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// One whole JSON document: an object, and the key it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    key: String,
    members: BTreeMap<String, Value>,
}

impl Document {
    /// Parses `bytes`, which were read from `key`.
    ///
    /// Refused, each with its own reason: more than [`MAX_BYTES`], nesting beyond [`MAX_DEPTH`], a byte-order mark, bytes that
    /// are not UTF-8, text after the document, a repeated key at any depth, and anything but an object.
    pub fn parse(key: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        let refuse = |because: String| DocumentError::whole(key, because);
        if bytes.len() > MAX_BYTES {
            return Err(refuse(format!("{} bytes, more than the {MAX_BYTES} that are read of a document", bytes.len())));
        }
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            return Err(refuse("starts with a UTF-8 byte-order mark".to_owned()));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|error| refuse(format!("is not UTF-8 from byte {} on", error.valid_up_to())))?;
        if text.trim_ascii().is_empty() {
            return Err(refuse("is empty".to_owned()));
        }
        let repeated = RefCell::new(None);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = Tree { depth: 0, repeated: &repeated }.deserialize(&mut deserializer).map_err(|error| DocumentError {
            key: key.to_owned(),
            field: repeated.take(),
            because: error.to_string(),
        })?;
        deserializer.end().map_err(|error| {
            refuse(format!("text after the end of the document at line {} column {}", error.line(), error.column()))
        })?;
        match value {
            Value::Object(members) => Ok(Self { key: key.to_owned(), members }),
            other => Err(refuse(format!("is {}, not an object", other.kind()))),
        }
    }

    /// The key that the document was read from.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The document's own fields.
    #[must_use]
    pub fn root(&self) -> Fields<'_> {
        Fields::new(&self.key, String::new(), &self.members)
    }
}

/// Builds a [`Value`], counting depth and refusing repeated keys; `repeated` takes the key's name for the error.
#[derive(Clone, Copy)]
struct Tree<'a> {
    depth: usize,
    repeated: &'a RefCell<Option<String>>,
}

impl Tree<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH}")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or_else(|_| Value::Number(value.to_string()), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = BTreeMap::new();
        while let Some(name) = entries.next_key::<String>()? {
            if members.contains_key(&name) {
                self.repeated.replace(Some(name));
                return Err(A::Error::custom("appears twice in one object"));
            }
            let value = entries.next_value_seed(inner)?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(bytes: impl AsRef<[u8]>) -> String {
        Document::parse("k.json", bytes.as_ref()).expect_err("refused").to_string()
    }

    #[test]
    fn what_is_not_one_plain_document_is_refused_with_its_own_reason() {
        assert_eq!(refusal(b"\xEF\xBB\xBF{}"), "k.json: starts with a UTF-8 byte-order mark");
        assert_eq!(refusal(b"{\"a\":\"\xFF\"}"), "k.json: is not UTF-8 from byte 6 on");
        assert_eq!(refusal(" \n"), "k.json: is empty");
        assert_eq!(refusal("{} x"), "k.json: text after the end of the document at line 1 column 4");
        assert_eq!(refusal("{}{}"), "k.json: text after the end of the document at line 1 column 3");
        assert_eq!(refusal("[]"), "k.json: is a list, not an object");
        assert_eq!(refusal("null"), "k.json: is null, not an object");
        assert_eq!(refusal("{\"lab"), "k.json: EOF while parsing a string at line 1 column 5");
        assert_eq!(refusal("{\"a\":1,\"a\":2}"), "k.json: field \"a\": appears twice in one object at line 1 column 10");
        assert_eq!(
            refusal("{\"x\":[{\"b\":1,\"\\u0062\":2}]}"),
            "k.json: field \"b\": appears twice in one object at line 1 column 21"
        );
        assert!(refusal("{\"a\":NaN}").contains("expected value"));
        assert!(refusal("{\"a\":1,}").contains("trailing comma"));
        assert!(refusal("{\"a\":\"\\ud800\"}").contains("surrogate") || refusal("{\"a\":\"\\ud800\"}").contains("hex escape"));
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let padded = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
        assert!(Document::parse("k", padded(MAX_BYTES).as_bytes()).is_ok());
        assert!(refusal(padded(MAX_BYTES + 1)).contains("8388609 bytes, more than"));
        // The object itself is the first of the 64.
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert!(Document::parse("k", nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(refusal(nested(MAX_DEPTH + 1)).contains("nested deeper than 64"));
        assert!(refusal("[".repeat(4_000_000)).contains("nested deeper than 64"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Document::parse("k", &bytes);
        }

        #[test]
        fn no_text_of_json_letters_panics(text in "[{}\\[\\]\",:0-9eE+.ntrufalsab \\\\-]{0,60}") {
            let _ = Document::parse("k", text.as_bytes());
        }

        #[test]
        fn a_repeated_key_is_refused_wherever_it_is(name in "[a-z_]{1,6}", before in 0..3_usize, depth in 0..5_usize) {
            let other = ["\"Z0\":null,", "\"Z1\":null,"][..before].concat();
            let object = format!("{{{other}\"{name}\":1,\"y\":[],\"{name}\":1}}");
            prop_assume!(name != "y");
            let document = (0..depth).fold(object, |inner, _| format!("{{\"o\":[{inner}]}}"));
            let error = Document::parse("k", document.as_bytes()).expect_err("refused");
            prop_assert_eq!(error.field, Some(name));
        }
    }
}
