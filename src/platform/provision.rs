//! A provision record (formats.md section 5, seed `provision.Record`): an instance that should exist somewhere.

use serde::{Deserialize, Serialize};

use super::document::{Document, DocumentError};
use super::keys::app::{AppKey, read as read_key};

/// What retention needs to know of a provisioned instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvisionRecord {
    /// The instance's host; agrees with the key.
    pub host: String,
    /// `instance` where the record does not say.
    pub kind: String,
    /// The systemd unit that owns the process; empty where none does.
    pub unit: String,
    /// Whether it may sleep; `true` where the record does not say.
    pub hibernate: bool,
    /// The version that the record pins, where it does.
    pub pin: Option<String>,
}

impl ProvisionRecord {
    /// Reads the record found at `key`. Its host, and its account and app where it gives them, must be those of the key.
    pub fn read(key: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        let Some((account, app, AppKey::Record(host))) = read_key(key) else {
            return Err(DocumentError::whole(key, "is not the key of a provision record"));
        };
        let document = Document::parse(key, bytes)?;
        let root = document.root();
        root.must_agree("host", host)?;
        root.agrees("account", account)?;
        root.agrees("app", app)?;
        Ok(Self {
            host: host.to_owned(),
            kind: root.optional_text("kind")?.unwrap_or_else(|| "instance".to_owned()),
            unit: root.optional_text("unit")?.unwrap_or_default(),
            hibernate: root.optional_boolean("hibernate")?.unwrap_or(true),
            pin: root.optional_text("pin")?,
        })
    }

    /// Whether some box must report this instance's build state: a sleeper that no unit owns (seed `settingsProtected`).
    #[must_use]
    pub fn keeps_build_state(&self) -> bool {
        self.kind == "instance" && self.unit.is_empty() && self.hibernate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "apps/ops/shop/instances/h1.json";

    fn read(text: &str) -> Result<ProvisionRecord, DocumentError> {
        ProvisionRecord::read(KEY, text.as_bytes())
    }

    #[test]
    fn what_is_not_said_has_the_seeds_defaults() {
        for text in
            [r#"{"host":"h1"}"#, r#"{"host":"h1","kind":"","unit":null,"hibernate":null,"pin":"","account":"","app":null}"#]
        {
            let record = read(text).expect("a record");
            assert!(record.keeps_build_state());
            assert_eq!(record.pin, None);
        }
        for (text, keeps) in [
            (r#"{"host":"h1","kind":"instance"}"#, true),
            (r#"{"host":"h1","kind":"service"}"#, false),
            (r#"{"host":"h1","unit":"a.service"}"#, false),
            (r#"{"host":"h1","hibernate":false}"#, false),
        ] {
            assert_eq!(read(text).expect("a record").keeps_build_state(), keeps, "{text}");
        }
        assert_eq!(read(r#"{"Host":"h1","PIN":"v1"}"#).expect("a record").pin.as_deref(), Some("v1"));
    }

    #[test]
    fn a_record_that_disagrees_with_its_path_does_not_read() {
        for (text, field) in [
            (r#"{"host":"h2"}"#, Some("host")),
            (r"{}", Some("host")),
            (r#"{"host":"h1","account":"acme"}"#, Some("account")),
            (r#"{"host":"h1","app":"other"}"#, Some("app")),
            (r#"{"host":"h1","pin":7}"#, Some("pin")),
            (r"{", None),
        ] {
            assert_eq!(read(text).expect_err(text).field.as_deref(), field, "{text}");
        }
        assert!(ProvisionRecord::read("apps/ops/shop/instances/x/y.json", br#"{"host":"y"}"#).is_err());
    }
}
