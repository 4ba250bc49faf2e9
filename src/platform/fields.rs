//! The fields of one object of a document, taken out by name and kind (formats.md section 1).
//!
//! Names match regardless of case and underscores; two spellings of one field are an error as soon as the field is asked for.
//! `null` and, for texts, `""` are what Go calls the zero value: nothing for an optional field, an error for a required one.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::document::{DocumentError, Value};
use super::go;

/// One object of a document. Every accessor's error names the document's key and the field.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    key: &'a str,
    /// Where the object is in its document, ending in `.`, or empty for the document itself.
    path: String,
    members: &'a BTreeMap<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(key: &'a str, path: String, members: &'a BTreeMap<String, Value>) -> Self {
        Self { key, path, members }
    }

    /// An error about `field` of this object, for rules that only the caller knows.
    pub fn error(&self, field: &str, because: impl Into<String>) -> DocumentError {
        DocumentError { key: self.key.to_owned(), field: Some(format!("{}{field}", self.path)), because: because.into() }
    }

    /// A text that must be there and not be empty.
    pub fn text(&self, field: &str) -> Result<String, DocumentError> {
        match self.required(field)? {
            Value::Text(text) if text.is_empty() => Err(self.error(field, "is empty")),
            Value::Text(text) => Ok(text.clone()),
            other => Err(self.wrong(field, other, "a text")),
        }
    }

    /// A text that may be missing, `null` or empty, which all mean `None`.
    pub fn optional_text(&self, field: &str) -> Result<Option<String>, DocumentError> {
        match self.member(field)? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok((!text.is_empty()).then(|| text.clone())),
            Some(other) => Err(self.wrong(field, other, "a text")),
        }
    }

    /// A text that must be said, though it may be empty: something else than a missing or `null` one.
    pub fn text_or_empty(&self, field: &str) -> Result<String, DocumentError> {
        match self.required(field)? {
            Value::Text(text) => Ok(text.clone()),
            other => Err(self.wrong(field, other, "a text")),
        }
    }

    /// A text that, where it is given and not empty, must be exactly `expected`.
    pub fn agrees(&self, field: &str, expected: &str) -> Result<(), DocumentError> {
        match self.optional_text(field)? {
            Some(text) if text != expected => Err(self.error(field, format!("is {text:?}, and the key says {expected:?}"))),
            _ => Ok(()),
        }
    }

    /// A text that must be there and be exactly `expected`.
    pub fn must_agree(&self, field: &str, expected: &str) -> Result<(), DocumentError> {
        self.text(field)?;
        self.agrees(field, expected)
    }

    /// An integer that must be there: no fraction, exponent or quotes, and within an `i64`.
    pub fn integer(&self, field: &str) -> Result<i64, DocumentError> {
        self.as_integer(field, self.required(field)?)
    }

    /// An integer of at least 0 that must be there.
    pub fn count(&self, field: &str) -> Result<u64, DocumentError> {
        let number = self.integer(field)?;
        u64::try_from(number).map_err(|_| self.error(field, format!("is {number}, and a count is never negative")))
    }

    /// A boolean that must be there.
    pub fn boolean(&self, field: &str) -> Result<bool, DocumentError> {
        self.as_boolean(field, self.required(field)?)
    }

    /// A boolean that may be missing or `null`.
    pub fn optional_boolean(&self, field: &str) -> Result<Option<bool>, DocumentError> {
        self.optional(field)?.map(|value| self.as_boolean(field, value)).transpose()
    }

    /// A time that must be there; `None` is Go's zero time, which means "unknown".
    pub fn instant(&self, field: &str) -> Result<Option<Timestamp>, DocumentError> {
        self.as_instant(field, self.required(field)?)
    }

    /// A time that may be missing, `null` or Go's zero time, which all mean "unknown".
    pub fn optional_instant(&self, field: &str) -> Result<Option<Timestamp>, DocumentError> {
        Ok(self.optional(field)?.map(|value| self.as_instant(field, value)).transpose()?.flatten())
    }

    /// An object that must be there.
    pub fn object(&self, field: &str) -> Result<Self, DocumentError> {
        self.as_object(field, self.required(field)?)
    }

    /// An object that may be missing or `null`.
    pub fn optional_object(&self, field: &str) -> Result<Option<Self>, DocumentError> {
        self.optional(field)?.map(|value| self.as_object(field, value)).transpose()
    }

    /// A list of objects that must be there; it may be empty, and none of its items may be `null`.
    pub fn objects(&self, field: &str) -> Result<Vec<Self>, DocumentError> {
        self.as_objects(field, self.required(field)?)
    }

    /// A list of objects that may be missing or `null`, as Go writes an empty one.
    pub fn optional_objects(&self, field: &str) -> Result<Vec<Self>, DocumentError> {
        self.optional(field)?.map_or_else(|| Ok(Vec::new()), |value| self.as_objects(field, value))
    }

    /// A list of texts that may be missing or `null`, as Go writes an empty one; an item that is `null` is empty.
    pub fn optional_texts(&self, field: &str) -> Result<Vec<String>, DocumentError> {
        match self.optional(field)? {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => items.iter().enumerate().map(|(at, item)| self.item(field, at, item)).collect(),
            Some(other) => Err(self.wrong(field, other, "a list")),
        }
    }

    /// An object whose member names are data (hosts, say), so that they are taken exactly as they are; each is an object.
    /// Missing and `null` mean that there are none. Sorted by name.
    pub fn optional_map(&self, field: &str) -> Result<Vec<(&'a str, Self)>, DocumentError> {
        let members = match self.optional(field)? {
            None => return Ok(Vec::new()),
            Some(Value::Object(members)) => members,
            Some(other) => return Err(self.wrong(field, other, "an object")),
        };
        let entry =
            |(name, value): (&'a String, &'a Value)| Ok((name.as_str(), self.as_object(&format!("{field}.{name}"), value)?));
        members.iter().map(entry).collect()
    }

    fn member(&self, field: &str) -> Result<Option<&'a Value>, DocumentError> {
        let mut found = self.members.iter().filter(|(name, _)| same_name(name, field));
        let Some((name, value)) = found.next() else { return Ok(None) };
        match found.next() {
            None => Ok(Some(value)),
            Some((other, _)) => Err(self.error(field, format!("is spelled twice, as {name:?} and as {other:?}"))),
        }
    }

    fn optional(&self, field: &str) -> Result<Option<&'a Value>, DocumentError> {
        Ok(self.member(field)?.filter(|value| **value != Value::Null))
    }

    fn required(&self, field: &str) -> Result<&'a Value, DocumentError> {
        match self.member(field)? {
            None => Err(self.error(field, "is missing")),
            Some(Value::Null) => Err(self.error(field, "is null")),
            Some(value) => Ok(value),
        }
    }

    fn wrong(&self, field: &str, found: &Value, wanted: &str) -> DocumentError {
        self.error(field, format!("is {}, not {wanted}", found.kind()))
    }

    fn as_integer(&self, field: &str, value: &Value) -> Result<i64, DocumentError> {
        match value {
            Value::Integer(number) => Ok(*number),
            Value::Number(text) => {
                Err(self.error(field, format!("is not written as an integer of at most 64 bits (reads as {text})")))
            }
            other => Err(self.wrong(field, other, "an integer")),
        }
    }

    fn as_boolean(&self, field: &str, value: &Value) -> Result<bool, DocumentError> {
        match value {
            Value::Boolean(value) => Ok(*value),
            other => Err(self.wrong(field, other, "a boolean")),
        }
    }

    fn as_instant(&self, field: &str, value: &Value) -> Result<Option<Timestamp>, DocumentError> {
        match value {
            Value::Text(text) => go::parse_instant(text).map_err(|because| self.error(field, because)),
            other => Err(self.wrong(field, other, "a time")),
        }
    }

    fn as_object(&self, field: &str, value: &'a Value) -> Result<Self, DocumentError> {
        match value {
            Value::Object(members) => Ok(Self::new(self.key, format!("{}{field}.", self.path), members)),
            other => Err(self.wrong(field, other, "an object")),
        }
    }

    fn as_objects(&self, field: &str, value: &'a Value) -> Result<Vec<Self>, DocumentError> {
        match value {
            Value::List(items) => {
                items.iter().enumerate().map(|(at, item)| self.as_object(&format!("{field}[{at}]"), item)).collect()
            }
            other => Err(self.wrong(field, other, "a list")),
        }
    }

    fn item(&self, field: &str, at: usize, value: &Value) -> Result<String, DocumentError> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            Value::Null => Ok(String::new()),
            other => Err(self.wrong(&format!("{field}[{at}]"), other, "a text")),
        }
    }
}

/// Whether two names spell one field: Go folds case (also of the long s and the Kelvin sign), and we ignore underscores.
fn same_name(a: &str, b: &str) -> bool {
    folded(a).eq(folded(b))
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|character| *character != '_')
        .flat_map(char::to_lowercase)
        .map(|character| if character == 'ſ' { 's' } else { character })
}

#[cfg(test)]
mod tests {
    use crate::platform::Document;

    fn document(text: &str) -> Document {
        Document::parse("k", text.as_bytes()).expect("a document")
    }

    #[test]
    fn a_field_is_found_in_any_spelling_and_never_in_two() {
        for name in ["generated_at", "GeneratedAt", "generatedAt", "GENERATED_AT", "_generatedat"] {
            let document = document(&format!("{{\"{name}\":\"x\",\"unknown\":[1]}}"));
            assert_eq!(document.root().text("generated_at").as_deref(), Ok("x"), "{name}");
        }
        let twice = document("{\"box\":\"a\",\"Box\":\"b\"}");
        assert_eq!(
            twice.root().text("box").expect_err("two spellings").to_string(),
            "k: field \"box\": is spelled twice, as \"Box\" and as \"box\""
        );
        assert!(document("{\"buildſtate\":1,\"build_state\":2}").root().integer("build_state").is_err());
        assert!(document("{\"\u{212A}ind\":1,\"kind\":2}").root().integer("kind").is_err());
    }

    #[test]
    fn an_integer_is_an_integer() {
        for (text, because) in [
            ("1e3", "is not written as an integer of at most 64 bits (reads as 1000)"),
            ("2.5", "is not written as an integer of at most 64 bits (reads as 2.5)"),
            ("3.0", "is not written as an integer of at most 64 bits (reads as 3)"),
            ("9223372036854775808", "is not written as an integer of at most 64 bits (reads as 9223372036854775808)"),
            ("\"3\"", "is a text, not an integer"),
            ("-1", "is -1, and a count is never negative"),
            ("null", "is null"),
            ("[]", "is a list, not an integer"),
        ] {
            let error = document(&format!("{{\"bytes\":{text}}}")).root().count("bytes").expect_err(text);
            assert_eq!((error.field.as_deref(), error.because.as_str()), (Some("bytes"), because), "{text}");
        }
        assert_eq!(document("{\"n\":9223372036854775807}").root().count("n"), Ok(9_223_372_036_854_775_807));
        assert_eq!(document("{\"n\":-7}").root().integer("n"), Ok(-7));
        assert!(document("{}").root().integer("n").expect_err("missing").to_string().ends_with("field \"n\": is missing"));
    }

    #[test]
    fn null_is_nothing_where_nothing_is_allowed_and_an_error_elsewhere() {
        let document =
            document("{\"t\":null,\"e\":\"\",\"l\":null,\"b\":null,\"i\":null,\"o\":null,\"m\":null,\"s\":[\"a\",null]}");
        let root = document.root();
        assert_eq!(root.optional_text("t"), Ok(None));
        assert_eq!(root.optional_text("e"), Ok(None));
        assert_eq!(root.optional_texts("l"), Ok(vec![]));
        assert_eq!(root.optional_texts("s"), Ok(vec!["a".to_owned(), String::new()]));
        assert_eq!(root.optional_boolean("b"), Ok(None));
        assert_eq!(root.optional_instant("i"), Ok(None));
        assert!(root.optional_object("o").expect("nothing").is_none());
        assert!(root.optional_map("m").expect("nothing").is_empty());
        assert!(root.optional_objects("l").expect("nothing").is_empty());
        for error in [
            root.text("t").err(),
            root.text("e").err(),
            root.boolean("b").err(),
            root.instant("i").err(),
            root.object("o").err(),
            root.objects("l").err(),
        ] {
            assert!(error.is_some());
        }
    }

    #[test]
    fn names_that_are_data_are_not_folded_and_an_inner_error_names_its_path() {
        let document = document("{\"m\":{\"a_b\":{\"x\":1},\"ab\":{\"x\":2},\"AB\":{\"x\":\"no\"}},\"l\":[{},{\"x\":true}]}");
        let map = document.root().optional_map("m").expect("a map");
        assert_eq!(map.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["AB", "a_b", "ab"]);
        assert_eq!(map[0].1.integer("x").expect_err("a text").to_string(), "k: field \"m.AB.x\": is a text, not an integer");
        let list = document.root().objects("l").expect("a list");
        assert_eq!(list[1].integer("x").expect_err("a boolean").field.as_deref(), Some("l[1].x"));
    }
}
