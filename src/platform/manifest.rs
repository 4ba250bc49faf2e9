//! A release manifest (formats.md section 5): when a version was shipped, and which artifacts it needs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::document::{Document, DocumentError};
use super::fields::Fields;
use super::keys::app::{AppKey, is_sha256, read as read_key};

/// What a release is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version; agrees with the key.
    pub version: String,
    /// Which kind of release.
    pub kind: ReleaseKind,
    /// When it was shipped: what releases are ordered by, so that an unknown time is an error.
    pub shipped_at: Timestamp,
    /// A name for people.
    pub label: Option<String>,
    /// Everything that the version needs.
    pub artifacts: Vec<Artifact>,
}

/// Which kind of release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseKind {
    /// One binary a target.
    Binary,
    /// One archive of files.
    Static,
}

/// One artifact of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// What it is for: `linux-arm64`.
    pub target: String,
    /// Its content, and so its key: 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Manifest {
    /// Reads the manifest found at `key`; its account, app and version must be those of the key.
    ///
    /// The list of artifacts must be there: what a manifest does not name may be deleted with another version.
    pub fn read(key: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        let Some((account, app, AppKey::Manifest(version))) = read_key(key) else {
            return Err(DocumentError::whole(key, "is not the key of a manifest"));
        };
        let document = Document::parse(key, bytes)?;
        let root = document.root();
        let format = root.integer("v")?;
        if format != 1 {
            return Err(root.error("v", format!("manifest version {format} is not known")));
        }
        root.must_agree("account", account)?;
        root.must_agree("app", app)?;
        root.must_agree("version", version)?;
        let kind = match root.text("kind")?.as_str() {
            "binary" => ReleaseKind::Binary,
            "static" => ReleaseKind::Static,
            other => return Err(root.error("kind", format!("is {other:?}, not binary or static"))),
        };
        let shipped_at = root
            .instant("shipped_at")?
            .ok_or_else(|| root.error("shipped_at", "is Go's zero time: it is not known when this was shipped"))?;
        let artifacts = root.objects("artifacts")?.iter().map(Artifact::read).collect::<Result<_, _>>()?;
        Ok(Self { version: version.to_owned(), kind, shipped_at, label: root.optional_text("label")?, artifacts })
    }
}

impl Artifact {
    fn read(fields: &Fields<'_>) -> Result<Self, DocumentError> {
        let sha256 = fields.text("sha256")?;
        if !is_sha256(&sha256) {
            return Err(fields.error("sha256", "is not 64 lower-case hexadecimal digits"));
        }
        Ok(Self { target: fields.text("target")?, sha256, bytes: fields.count("bytes")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "apps/ops/shop/releases/v1/manifest.json";
    const GOOD: &str = r#"{"v":1,"account":"ops","app":"shop","version":"v1","kind":"binary","shipped_at":"2026-11-30T10:00:00Z",
        "artifacts":[{"target":"linux-arm64","sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bytes":7}]}"#;

    #[test]
    fn a_good_one_reads() {
        let manifest = Manifest::read(KEY, GOOD.as_bytes()).expect("a manifest");
        assert_eq!((manifest.kind, manifest.artifacts.len(), manifest.label), (ReleaseKind::Binary, 1, None));
        assert!(Manifest::read(KEY, GOOD.replace("\"binary\"", "\"static\"").as_bytes()).is_ok());
    }

    #[test]
    fn whatever_could_decide_a_deletion_must_be_said() {
        for (from, to, field) in [
            ("\"v\":1", "\"v\":2", "v"),
            ("\"ops\"", "\"acme\"", "account"),
            ("\"shop\"", "\"\"", "app"),
            ("\"v1\"", "\"v2\"", "version"),
            ("binary", "docker", "kind"),
            ("2026-11-30T10:00:00Z", "0001-01-01T00:00:00Z", "shipped_at"),
            ("2026-11-30T10:00:00Z", "2026-11-30", "shipped_at"),
            ("\"artifacts\"", "\"other\"", "artifacts"),
            ("aaaa\"", "aaaA\"", "artifacts[0].sha256"),
            ("\"linux-arm64\"", "null", "artifacts[0].target"),
            (":7", ":-7", "artifacts[0].bytes"),
        ] {
            let error = Manifest::read(KEY, GOOD.replace(from, to).as_bytes()).expect_err(to);
            assert_eq!(error.field.as_deref(), Some(field), "{to}");
        }
        assert!(Manifest::read("apps/ops/shop/releases/v1/x/manifest.json", GOOD.as_bytes()).is_err());
    }
}
