//! A channel pointer (formats.md section 5): a signed statement of which version a channel is at, and was at before.
//!
//! [`read`] answers two questions apart: what the pointer says, and whether that is signed. One that is not signed still
//! protects every version it names, and refuses its app; the caller has both. What is verified is the payload's own bytes,
//! never a re-encoding of them.

mod envelope;
mod key;
mod sign;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::document::{Document, DocumentError};
use super::go;
use super::keys::app::{AppKey, read as read_key};
use envelope::Envelope;

pub use key::{KeyError, ReleaseKey, RootKey};
pub use sign::{Grant, SignError, grant, sign, sign_scoped};

/// The payload type of a channel pointer.
pub const POINTER_TYPE: &str = "application/vnd.carlos.channel-pointer.v1+json";
/// The payload type of a grant.
pub const GRANT_TYPE: &str = "application/vnd.carlos.grant.v1+json";

/// What a pointer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelPointer {
    /// The account of the app.
    pub account: String,
    /// The app.
    pub app: String,
    /// The channel; may contain `/`.
    pub channel: String,
    /// The version that the channel is at.
    pub version: String,
    /// Since when; `None` is Go's zero time.
    pub promoted_at: Option<Timestamp>,
    /// Where the channel was before, in the pointer's own order.
    pub history: Vec<Promotion>,
    /// When the channel ends, for a leased one.
    pub lease_expires_at: Option<Timestamp>,
}

/// One earlier version of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// The version.
    pub version: String,
    /// Since when the channel was at it; `None` when that is not said.
    pub promoted_at: Option<Timestamp>,
}

/// Whether a pointer may be believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signature {
    /// It is signed, by `root` or by the scoped key of this name.
    Verified(String),
    /// It is not, because of this.
    Unverified(String),
}

/// A pointer as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPointer {
    /// What it says.
    pub pointer: ChannelPointer,
    /// Whether that may be believed.
    pub signature: Signature,
}

/// Reads the pointer found at `key`, and verifies it with the deployment's public key, or says why there is none: then
/// nothing verifies. An error means that it is not known which versions the pointer names.
pub fn read(key: &str, bytes: &[u8], root: Result<&RootKey, &str>) -> Result<FoundPointer, DocumentError> {
    let Some((account, app, AppKey::Channel(channel))) = read_key(key) else {
        return Err(DocumentError::whole(key, "is not the key of a channel pointer"));
    };
    let document = Document::parse(key, bytes)?;
    let envelope = Envelope::read(&document.root())?;
    let pointer = ChannelPointer::read(key, &envelope.payload)?;
    let signature = match pointer.disagreement(account, app, channel) {
        Some(because) => Signature::Unverified(because),
        None => match envelope.verify(key, root, channel) {
            Ok(signer) => Signature::Verified(signer),
            Err(because) => Signature::Unverified(because),
        },
    };
    Ok(FoundPointer { pointer, signature })
}

impl ChannelPointer {
    /// Reads the payload of the envelope found at `key`.
    fn read(key: &str, payload: &[u8]) -> Result<Self, DocumentError> {
        let document = Document::parse(&format!("{key} (payload)"), payload)?;
        let root = document.root();
        let promotion = |fields: &super::Fields<'_>| {
            Ok(Promotion { version: fields.text("version")?, promoted_at: fields.optional_instant("promoted_at")? })
        };
        Ok(Self {
            account: root.text("account")?,
            app: root.text("app")?,
            channel: root.text("channel")?,
            version: root.text("version")?,
            promoted_at: root.instant("promoted_at")?,
            history: root.optional_objects("history")?.iter().map(promotion).collect::<Result<_, _>>()?,
            lease_expires_at: root.optional_instant("lease_expires_at")?,
        })
    }

    /// Why the pointer is not of this account, app and channel, where it is not.
    fn disagreement(&self, account: &str, app: &str, channel: &str) -> Option<String> {
        [("account", &self.account, account), ("app", &self.app, app), ("channel", &self.channel, channel)]
            .into_iter()
            .find(|(_, said, expected)| said != expected)
            .map(|(field, said, expected)| format!("its {field} is {said:?}, and the key says {expected:?}"))
    }

    /// The payload as Go's `json.Marshal` writes it.
    fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        #[derive(Serialize)]
        struct Spelling<'a> {
            account: &'a str,
            app: &'a str,
            channel: &'a str,
            version: &'a str,
            promoted_at: String,
            history: Vec<Earlier<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            lease_expires_at: Option<String>,
        }
        #[derive(Serialize)]
        struct Earlier<'a> {
            version: &'a str,
            promoted_at: String,
        }
        let earlier = |promotion: &'_ Promotion| go::format_instant(promotion.promoted_at);
        go::to_json(&Spelling {
            account: &self.account,
            app: &self.app,
            channel: &self.channel,
            version: &self.version,
            promoted_at: go::format_instant(self.promoted_at),
            history: self.history.iter().map(|one| Earlier { version: &one.version, promoted_at: earlier(one) }).collect(),
            lease_expires_at: self.lease_expires_at.map(|at| go::format_instant(Some(at))),
        })
    }
}

#[cfg(test)]
mod tests;
