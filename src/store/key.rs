//! Which keys any store can hold, and digests as text.

use sha2::{Digest, Sha256};

use super::StoreError;
use crate::platform::hex;

/// The longest key of S3, in bytes. A directory keeps to it, so that what fits one store fits the other.
pub(crate) const KEY_LIMIT_BYTES: usize = 1024;

/// Refuses what no store can hold, before any request is made.
pub(super) fn check_key(key: &str) -> Result<(), StoreError> {
    let because = if key.is_empty() {
        "it is empty".to_owned()
    } else if key.len() > KEY_LIMIT_BYTES {
        format!("it has {} bytes, more than the {KEY_LIMIT_BYTES} of a key", key.len())
    } else if key.contains('\0') {
        "it contains a NUL".to_owned()
    } else {
        return Ok(());
    };
    Err(StoreError::BadKey { key: key.to_owned(), because })
}

/// Refuses a prefix that would match half a name: `edge-1` must never see `edge-10` (formats.md section 2).
pub(super) fn check_prefix(prefix: &str) -> Result<(), StoreError> {
    if prefix.is_empty() {
        return Ok(());
    }
    if !prefix.ends_with('/') {
        return Err(StoreError::BadKey { key: prefix.to_owned(), because: "a prefix ends in \"/\"".to_owned() });
    }
    check_key(prefix)
}

/// Whether a listing is of one whole key, as [`super::ReadStore::list`] says.
pub(super) fn is_whole_key(prefix: &str) -> bool {
    !prefix.is_empty() && !prefix.ends_with('/')
}

/// What a listing of `prefix` shows: everything below it, or exactly that key; never half a name.
pub(super) fn is_listed(prefix: &str, key: &str) -> bool {
    if is_whole_key(prefix) { key == prefix } else { key.starts_with(prefix) }
}

/// A finished digest as lower-case hex.
pub(super) fn hex_digest(hasher: Sha256) -> String {
    hex(&hasher.finalize())
}

/// The SHA-256 of `body` as lower-case hex.
pub(super) fn sha256_hex(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}

/// A name that nobody else uses: 16 random hex digits.
pub(super) fn random_name() -> Result<String, StoreError> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Other { subject: "random number generator".to_owned(), detail: error.to_string() })?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_no_store_can_hold_are_refused() {
        for key in ["a", "a/b", "a//b", "..", &"k".repeat(KEY_LIMIT_BYTES)] {
            assert_eq!(check_key(key), Ok(()), "{key}");
        }
        for key in ["", "a\0b", &"k".repeat(KEY_LIMIT_BYTES + 1)] {
            assert!(matches!(check_key(key), Err(StoreError::BadKey { .. })), "{key}");
        }
    }

    #[test]
    fn half_a_name_is_no_prefix() {
        assert_eq!(check_prefix(""), Ok(()));
        assert_eq!(check_prefix("control/"), Ok(()));
        assert!(matches!(check_prefix("control"), Err(StoreError::BadKey { .. })));
    }

    #[test]
    fn digests_are_lower_case_hex() {
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
