//! A tag (formats.md section 5): a name that keeps one version for good.

use super::document::{Document, DocumentError};
use super::keys::app::{AppKey, read as read_key};

/// Reads the version that the tag found at `key` names; the tag's own name must be that of the key.
pub fn read(key: &str, bytes: &[u8]) -> Result<String, DocumentError> {
    let Some((_, _, AppKey::Tag(tag))) = read_key(key) else {
        return Err(DocumentError::whole(key, "is not the key of a tag"));
    };
    let document = Document::parse(key, bytes)?;
    document.root().must_agree("tag", tag)?;
    document.root().text("version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_agrees_with_its_key() {
        let key = "apps/ops/shop/tags/v0.5.0.json";
        assert_eq!(read(key, br#"{"tag":"v0.5.0","version":"abc"}"#).as_deref(), Ok("abc"));
        for text in [r#"{"tag":"v0.5.1","version":"abc"}"#, r#"{"tag":"v0.5.0","version":""}"#, r#"{"version":"abc"}"#, "[]"] {
            assert!(read(key, text.as_bytes()).is_err(), "{text}");
        }
        assert!(read("apps/ops/shop/tags/.json", br#"{"tag":"","version":"abc"}"#).is_err());
        assert!(read("apps/ops/shop/tag.json", br#"{"tag":"","version":"abc"}"#).is_err());
    }
}
