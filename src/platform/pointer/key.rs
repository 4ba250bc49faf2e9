//! The deployment's release keys: the public one that verifies, and the private one of the demo and the tests.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{SigningKey, VerifyingKey};

use super::envelope::decode;

/// The public key that every pointer of the deployment goes back to (`CARLOS_RELEASE_PUBKEY`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootKey(pub(super) VerifyingKey);

/// A text that is not a usable key. Never says what the text was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is not base64.
    #[error("the key is not base64 (standard or URL alphabet, padded or not)")]
    NotBase64,
    /// It is base64 of another length.
    #[error("the key has {0} bytes, not {1}")]
    Length(usize, &'static str),
    /// It has the right length, and no signature of it would mean anything.
    #[error("the key is not a point that only one private key belongs to")]
    Weak,
    /// The two halves of a private key do not belong together.
    #[error("the two halves of the key do not belong together")]
    Halves,
}

impl RootKey {
    /// Reads a public key as `CARLOS_RELEASE_PUBKEY` has it; blanks and line ends around it do not matter.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        public_key(text).map(Self)
    }
}

/// Reads a public key, refusing what some libraries let verify anything: points of small order, and second spellings of a
/// point.
pub(super) fn public_key(text: &str) -> Result<VerifyingKey, KeyError> {
    let bytes = decode(text.trim_ascii()).ok_or(KeyError::NotBase64)?;
    let bytes: [u8; 32] = bytes.try_into().map_err(|bytes: Vec<u8>| KeyError::Length(bytes.len(), "32"))?;
    // A coordinate of at least 2^255 - 19 is a smaller one, spelled again.
    let is_canonical = bytes[31] & 0x7f != 0x7f || bytes[1..31].iter().any(|byte| *byte != 0xff) || bytes[0] < 0xed;
    VerifyingKey::from_bytes(&bytes).ok().filter(|key| is_canonical && !key.is_weak()).ok_or(KeyError::Weak)
}

/// A private key (`CARLOS_RELEASE_KEY`). Only the demo builder and the tests have one; it is never printed.
pub struct ReleaseKey(pub(super) SigningKey);

impl fmt::Debug for ReleaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReleaseKey(..)")
    }
}

impl ReleaseKey {
    /// Reads a private key: base64 of a seed of 32 bytes, or of Go's pair of 64.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bytes = decode(text.trim_ascii()).ok_or(KeyError::NotBase64)?;
        if let Ok(seed) = <&[u8; 32]>::try_from(bytes.as_slice()) {
            return Ok(Self::from_seed(seed));
        }
        let pair = <&[u8; 64]>::try_from(bytes.as_slice()).map_err(|_| KeyError::Length(bytes.len(), "32 or 64"))?;
        SigningKey::from_keypair_bytes(pair).map(Self).map_err(|_| KeyError::Halves)
    }

    /// The key of a seed.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The public half, as `CARLOS_RELEASE_PUBKEY` has it.
    #[must_use]
    pub fn public_text(&self) -> String {
        STANDARD.encode(self.0.verifying_key().as_bytes())
    }
}
