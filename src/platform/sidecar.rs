//! The sidecar of a box's current snapshot (formats.md section 3, seed `snapshotMeta`).

use jiff::Timestamp;
use serde::Serialize;

use super::document::{Document, DocumentError};
use super::go;

/// The only version of a sidecar that there is.
const VERSION: i64 = 1;

/// What a sidecar says of the snapshot beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sidecar {
    /// The label of the box that wrote it, as it is written; whether it is the right one is for the caller to compare.
    pub label: String,
    /// An opaque digest of the registry's content.
    pub fingerprint: String,
    /// When it was written; `None` when the sidecar does not say, or says Go's zero time.
    pub created_at: Option<Timestamp>,
    /// The length of the snapshot, in bytes.
    pub bytes: u64,
}

/// A sidecar that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SidecarError {
    /// It does not read.
    #[error(transparent)]
    Unreadable(#[from] DocumentError),
    /// It reads, and is of a version that this program does not know.
    #[error("{key}: sidecar version {version} is not known")]
    Version {
        /// The sidecar's key.
        key: String,
        /// Its version.
        version: i64,
    },
}

/// The sidecar as Go's struct spells it, in its order.
#[derive(Serialize)]
struct Spelling<'a> {
    v: i64,
    r#box: &'a str,
    fingerprint: &'a str,
    created_at: String,
    bytes: u64,
}

impl Sidecar {
    /// Reads the sidecar found at `key`. The version is looked at first, so that a newer sidecar is not called unreadable.
    pub fn read(key: &str, bytes: &[u8]) -> Result<Self, SidecarError> {
        let document = Document::parse(key, bytes)?;
        let root = document.root();
        let version = root.integer("v")?;
        if version != VERSION {
            return Err(SidecarError::Version { key: key.to_owned(), version });
        }
        Ok(Self {
            label: root.text("box")?,
            fingerprint: root.text("fingerprint")?,
            created_at: root.optional_instant("created_at")?,
            bytes: root.count("bytes")?,
        })
    }

    /// The sidecar as Go's `json.Marshal` writes it, byte for byte.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        go::to_json(&Spelling {
            v: VERSION,
            r#box: &self.label,
            fingerprint: &self.fingerprint,
            created_at: go::format_instant(self.created_at),
            bytes: self.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "control/registry-snapshot/edge-a1.json";
    const GOOD: &str = r#"{"v":1,"box":"edge-a1","fingerprint":"ab12","created_at":"2026-11-30T10:00:00.25Z","bytes":126976}"#;

    fn read(text: &str) -> Result<Sidecar, SidecarError> {
        Sidecar::read(KEY, text.as_bytes())
    }

    #[test]
    fn a_good_one_reads_and_is_written_back_byte_for_byte() {
        let sidecar = read(GOOD).expect("a sidecar");
        assert_eq!((sidecar.label.as_str(), sidecar.bytes), ("edge-a1", 126_976));
        assert_eq!(sidecar.created_at, Some("2026-11-30T10:00:00.25Z".parse().expect("an instant")));
        assert_eq!(String::from_utf8(sidecar.to_json().expect("json")).expect("utf-8"), GOOD);
        let odd = Sidecar { label: "a<b>&c".to_owned(), created_at: None, ..sidecar };
        assert_eq!(
            String::from_utf8(odd.to_json().expect("json")).expect("utf-8"),
            r#"{"v":1,"box":"a\u003cb\u003e\u0026c","fingerprint":"ab12","created_at":"0001-01-01T00:00:00Z","bytes":126976}"#
        );
    }

    /// Case 18: every odd value of the sheet.
    #[test]
    fn an_unknown_time_is_unknown_and_every_other_oddity_is_refused_by_name() {
        let time = r#""2026-11-30T10:00:00.25Z""#;
        for unknown in [r#""0001-01-01T00:00:00Z""#, "null"] {
            assert_eq!(read(&GOOD.replace(time, unknown)).expect("a sidecar").created_at, None, "{unknown}");
        }
        assert_eq!(read(&GOOD.replace(r#""created_at":"2026-11-30T10:00:00.25Z","#, "")).expect("a sidecar").created_at, None);
        for (from, to, because) in [
            (
                time,
                r#""2026-11-30 10:00:00Z""#,
                "field \"created_at\": \"2026-11-30 10:00:00Z\" is not an RFC 3339 time: it does not start like 2006-01-02T15:04:05",
            ),
            ("126976", "1e3", "field \"bytes\": is not written as an integer of at most 64 bits (reads as 1000)"),
            ("126976", "-1", "field \"bytes\": is -1, and a count is never negative"),
            (
                "126976",
                "9223372036854775808",
                "field \"bytes\": is not written as an integer of at most 64 bits (reads as 9223372036854775808)",
            ),
            ("\"edge-a1\"", "null", "field \"box\": is null"),
            ("\"edge-a1\"", "\"\"", "field \"box\": is empty"),
            ("\"v\":1,", "", "field \"v\": is missing"),
            ("\"v\":1", "\"v\":\"1\"", "field \"v\": is a text, not an integer"),
            ("\"v\":1,", "\"v\":1,\"V\":1,", "field \"v\": is spelled twice, as \"V\" and as \"v\""),
        ] {
            let error = read(&GOOD.replace(from, to)).expect_err(to);
            assert_eq!(error.to_string(), format!("{KEY}: {because}"));
            assert!(matches!(error, SidecarError::Unreadable(_)), "{to}");
        }
        assert_eq!(
            Sidecar::read(KEY, format!("\u{feff}{GOOD}").as_bytes()).expect_err("a mark").to_string(),
            format!("{KEY}: starts with a UTF-8 byte-order mark")
        );
        assert!(read(&format!("{GOOD}x")).expect_err("trailing text").to_string().contains("text after the end"));
    }

    #[test]
    fn another_version_is_its_own_answer_even_when_nothing_else_reads() {
        for (text, version) in [(r#"{"v":2,"boxes":[]}"#, 2), (r#"{"V":0}"#, 0), (r#"{"v":-1}"#, -1)] {
            assert_eq!(read(text), Err(SidecarError::Version { key: KEY.to_owned(), version }));
        }
    }
}
