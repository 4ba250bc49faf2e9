//! The DSSE envelope around a pointer and around a grant, and how both are verified.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_PAD_INDIFFERENT, URL_SAFE_PAD_INDIFFERENT};
use ed25519_dalek::{Signature, VerifyingKey};

use super::key::{RootKey, public_key};
use super::{GRANT_TYPE, POINTER_TYPE};
use crate::platform::document::{Document, DocumentError};
use crate::platform::fields::Fields;

/// A signed payload.
pub(super) struct Envelope {
    payload_type: String,
    /// The payload's own bytes, which are what was signed.
    pub(super) payload: Vec<u8>,
    signatures: Vec<(Option<String>, String)>,
    grant: Option<Box<Self>>,
}

/// Decodes base64 of either alphabet, padded or not.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD_PAD_INDIFFERENT.decode(text).or_else(|_| URL_SAFE_PAD_INDIFFERENT.decode(text)).ok()
}

/// What DSSE signs: the payload and its type, each with its length, so that neither can pass for the other.
pub(super) fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut encoding = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    encoding.extend_from_slice(payload);
    encoding
}

impl Envelope {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, DocumentError> {
        let payload = decode(&fields.text("payload")?).ok_or_else(|| fields.error("payload", "is not base64"))?;
        let signatures = fields
            .optional_objects("signatures")?
            .iter()
            .map(|signature| Ok((signature.optional_text("keyid")?, signature.text("sig")?)))
            .collect::<Result<_, DocumentError>>()?;
        let grant = fields.optional_object("grant")?.map(|grant| Self::read(&grant)).transpose()?.map(Box::new);
        Ok(Self { payload_type: fields.optional_text("payloadType")?.unwrap_or_default(), payload, signatures, grant })
    }

    /// Who signed this pointer of `channel`: `root`, or the name of a scoped key whose grant the root signed.
    pub(super) fn verify(&self, key: &str, root: Result<&RootKey, &str>, channel: &str) -> Result<String, String> {
        let root = root.map_err(|because| format!("there is no public key to verify it with: {because}"))?;
        if self.payload_type != POINTER_TYPE {
            return Err(format!("its payload type is {:?}, not {POINTER_TYPE}", self.payload_type));
        }
        if self.is_signed_by(&root.0, None) {
            return Ok("root".to_owned());
        }
        let Some(grant) = &self.grant else {
            return Err("no signature of it verifies with the release key".to_owned());
        };
        let grant = GrantPayload::verified(grant, key, root)?;
        if !self.is_signed_by(&grant.public_key, Some(&grant.name)) {
            return Err(format!("no signature of it verifies with the scoped key {:?}", grant.name));
        }
        if !grant.covers(channel) {
            return Err(format!("the scoped key {:?} covers {:?}, not {channel:?}", grant.name, grant.scopes));
        }
        Ok(grant.name)
    }

    /// Whether one of the signatures (those with this key id, where one is wanted) verifies strictly.
    fn is_signed_by(&self, key: &VerifyingKey, key_id: Option<&str>) -> bool {
        let message = pre_authentication_encoding(&self.payload_type, &self.payload);
        self.signatures
            .iter()
            .filter(|(id, _)| key_id.is_none_or(|wanted| id.as_deref() == Some(wanted)))
            .filter_map(|(_, signature)| Signature::from_slice(&decode(signature)?).ok())
            .any(|signature| key.verify_strict(&message, &signature).is_ok())
    }
}

/// What the root lets a scoped key do.
struct GrantPayload {
    name: String,
    public_key: VerifyingKey,
    scopes: Vec<String>,
}

impl GrantPayload {
    fn verified(envelope: &Envelope, key: &str, root: &RootKey) -> Result<Self, String> {
        if envelope.payload_type != GRANT_TYPE {
            return Err(format!("its grant's payload type is {:?}, not {GRANT_TYPE}", envelope.payload_type));
        }
        if !envelope.is_signed_by(&root.0, None) {
            return Err("its grant is not signed by the release key".to_owned());
        }
        let read = || {
            let document = Document::parse(&format!("{key} (grant)"), &envelope.payload)?;
            let fields = document.root();
            let public_key =
                public_key(&fields.text("public_key")?).map_err(|error| fields.error("public_key", error.to_string()))?;
            Ok(Self { name: fields.text("name")?, public_key, scopes: fields.optional_texts("scopes")? })
        };
        read().map_err(|error: DocumentError| format!("its grant does not read: {}", error.without_key()))
    }

    /// A scope covers the channel of that name and everything below it.
    fn covers(&self, channel: &str) -> bool {
        self.scopes
            .iter()
            .filter(|scope| !scope.is_empty())
            .any(|scope| channel.strip_prefix(scope.as_str()).is_some_and(|below| below.is_empty() || below.starts_with('/')))
    }
}
