//! The record of a known box (formats.md section 7): that it exists is all we need of it.

use super::document::{Document, DocumentError};
use super::keys::EDGES;
use super::label::Label;

/// Reads which box the record found at `key` is of: the key's name, with which `box_id` agrees where it is given.
pub fn read(key: &str, bytes: &[u8]) -> Result<Label, DocumentError> {
    let name = key
        .strip_prefix(EDGES)
        .and_then(|name| name.strip_suffix(".json"))
        .ok_or_else(|| DocumentError::whole(key, "is not the key of an edges record"))?;
    let label = name.parse().map_err(|error: super::label::LabelError| DocumentError::whole(key, error.to_string()))?;
    Document::parse(key, bytes)?.root().agrees("box_id", name)?;
    Ok(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_names_the_box() {
        let read = |key: &str, text: &str| read(key, text.as_bytes()).map(|label| label.to_string());
        assert_eq!(read("control/edges/edge-a1.json", r#"{"eip":"192.0.2.1"}"#).as_deref(), Ok("edge-a1"));
        assert_eq!(read("control/edges/edge-a1.json", r#"{"box_id":"edge-a1"}"#).as_deref(), Ok("edge-a1"));
        for (key, text) in [
            ("control/edges/edge-a1.json", r#"{"box_id":"edge-b2"}"#),
            ("control/edges/edge-a1.json", "{"),
            ("control/edges/a/b.json", "{}"),
            ("control/edges/a b.json", "{}"),
            ("control/other/edge-a1.json", "{}"),
        ] {
            assert!(read(key, text).is_err(), "{key} {text}");
        }
    }
}
