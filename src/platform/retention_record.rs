//! An app's retention record (formats.md section 5): how many releases to keep.

use super::document::{Document, DocumentError};

/// The most releases that a record may ask for.
const MOST: i64 = 1_000_000;

/// Reads the `keep` of the retention record found at `key`: 1 to 1,000,000.
pub fn read(key: &str, bytes: &[u8]) -> Result<u32, DocumentError> {
    let document = Document::parse(key, bytes)?;
    let root = document.root();
    let keep = root.integer("keep")?;
    u32::try_from(keep)
        .ok()
        .filter(|_| (1..=MOST).contains(&keep))
        .ok_or_else(|| root.error("keep", format!("is {keep}, not between 1 and {MOST}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_within_the_bounds_is_a_policy() {
        for (text, keep) in [("1", 1), ("1000000", 1_000_000)] {
            assert_eq!(read("k", format!("{{\"keep\":{text},\"note\":\"x\"}}").as_bytes()), Ok(keep));
        }
        for text in ["0", "-1", "1000001", "3.0", "1e1", "\"3\"", "null", "[]", "4294967297"] {
            let error = read("k", format!("{{\"keep\":{text}}}").as_bytes()).expect_err(text);
            assert_eq!(error.field.as_deref(), Some("keep"), "{text}");
        }
        assert!(read("k", b"{}").is_err());
    }
}
