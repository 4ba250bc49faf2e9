//! Making pointers, for the demo deployment and the tests. Retention never does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signer as _;
use serde::Serialize;

use super::envelope::pre_authentication_encoding;
use super::{ChannelPointer, GRANT_TYPE, POINTER_TYPE, ReleaseKey};
use crate::platform::go;

/// A pointer that could not be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the pointer: {0}")]
pub struct SignError(#[from] serde_json::Error);

/// The root's statement that a scoped key may sign for some channels; it travels in the envelope.
#[derive(Debug, Clone)]
pub struct Grant {
    envelope: Signed,
    name: String,
}

#[derive(Debug, Clone, Serialize)]
struct Signed {
    #[serde(rename = "payloadType")]
    payload_type: &'static str,
    payload: String,
    signatures: Vec<OneSignature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<Box<Self>>,
}

#[derive(Debug, Clone, Serialize)]
struct OneSignature {
    keyid: String,
    sig: String,
}

impl Signed {
    fn new(key: &ReleaseKey, key_id: &str, payload_type: &'static str, payload: &[u8]) -> Self {
        let signature = key.0.sign(&pre_authentication_encoding(payload_type, payload));
        let signatures = vec![OneSignature { keyid: key_id.to_owned(), sig: STANDARD.encode(signature.to_bytes()) }];
        Self { payload_type, payload: STANDARD.encode(payload), signatures, grant: None }
    }
}

/// The envelope of `pointer`, signed by the root key.
pub fn sign(key: &ReleaseKey, pointer: &ChannelPointer) -> Result<Vec<u8>, SignError> {
    Ok(go::to_json(&Signed::new(key, "root", POINTER_TYPE, &pointer.to_json()?))?)
}

/// The envelope of `pointer`, signed by a scoped key whose grant comes along.
pub fn sign_scoped(key: &ReleaseKey, grant: &Grant, pointer: &ChannelPointer) -> Result<Vec<u8>, SignError> {
    let signed = Signed::new(key, &grant.name, POINTER_TYPE, &pointer.to_json()?);
    Ok(go::to_json(&Signed { grant: Some(Box::new(grant.envelope.clone())), ..signed })?)
}

/// The root's grant for the scoped key `name` to sign for `scopes`.
pub fn grant(root: &ReleaseKey, name: &str, key: &ReleaseKey, scopes: &[&str]) -> Result<Grant, SignError> {
    #[derive(Serialize)]
    struct Spelling<'a> {
        name: &'a str,
        public_key: String,
        scopes: &'a [&'a str],
    }
    let payload = go::to_json(&Spelling { name, public_key: key.public_text(), scopes })?;
    Ok(Grant { envelope: Signed::new(root, "root", GRANT_TYPE, &payload), name: name.to_owned() })
}
