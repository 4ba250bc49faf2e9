//! A box's report (formats.md section 6, seed `status.Box`): which builds its instances may still need.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::document::{Document, DocumentError};
use super::fields::Fields;
use super::go;

/// What a box said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxReport {
    /// The box; agrees with the key of the report.
    pub label: String,
    /// When the box said it; `None` is Go's zero time, of which no age can be told.
    pub generated_at: Option<Timestamp>,
    /// What it measured; `None` when it measured nothing.
    pub metrics: Option<BoxMetrics>,
}

/// The part of a report that retention rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxMetrics {
    /// By host: every row of the box that keeps a build state.
    pub build_states: BTreeMap<String, HostBuilds>,
    /// Why the box could not collect its build states; empty when it could.
    pub build_states_err: String,
}

/// The builds that one host's build state names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostBuilds {
    /// The account of the host's app.
    pub account: String,
    /// The host's app; empty for a row that belongs to none, which then takes no part in retention.
    pub app: String,
    /// The versions named, in the report's order; an empty one means nothing.
    pub builds: Vec<String>,
    /// Whether the box could read the build state.
    pub complete: bool,
}

impl BoxReport {
    /// Reads the report found at `key`; its label must be the name of that key.
    ///
    /// `null` and missing maps and lists are empty, as Go writes them. A missing `complete` is `false`: not known to be whole.
    pub fn read(key: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        let document = Document::parse(key, bytes)?;
        let root = document.root();
        let label = root.text("label")?;
        let name = key.rsplit('/').next().and_then(|name| name.strip_suffix(".json")).unwrap_or(key);
        root.must_agree("label", name)?;
        let metrics = root.optional_object("metrics")?.map(|metrics| BoxMetrics::read(&metrics)).transpose()?;
        Ok(Self { label, generated_at: root.instant("generated_at")?, metrics })
    }

    /// The report as Go's `json.Marshal` writes it; a map without hosts is `null` there.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        #[derive(Serialize)]
        struct Spelling<'a> {
            label: &'a str,
            generated_at: String,
            metrics: Option<Metrics<'a>>,
        }
        #[derive(Serialize)]
        struct Metrics<'a> {
            build_states: Option<&'a BTreeMap<String, HostBuilds>>,
            build_states_err: &'a str,
        }
        let metrics = self.metrics.as_ref().map(|metrics| Metrics {
            build_states: (!metrics.build_states.is_empty()).then_some(&metrics.build_states),
            build_states_err: &metrics.build_states_err,
        });
        go::to_json(&Spelling { label: &self.label, generated_at: go::format_instant(self.generated_at), metrics })
    }
}

impl BoxMetrics {
    fn read(metrics: &Fields<'_>) -> Result<Self, DocumentError> {
        let mut build_states = BTreeMap::new();
        for (host, fields) in metrics.optional_map("build_states")? {
            if host.is_empty() {
                return Err(metrics.error("build_states", "has a host without a name"));
            }
            build_states.insert(host.to_owned(), HostBuilds::read(&fields)?);
        }
        Ok(Self { build_states, build_states_err: metrics.optional_text("build_states_err")?.unwrap_or_default() })
    }
}

impl HostBuilds {
    /// A row without an app has an empty one, which is something else than not saying it; an app without an account would
    /// protect nothing, so it is an error.
    fn read(fields: &Fields<'_>) -> Result<Self, DocumentError> {
        let app = fields.text_or_empty("app")?;
        let account = fields.text_or_empty("account")?;
        if account.is_empty() && !app.is_empty() {
            return Err(fields.error("account", "is empty"));
        }
        Ok(Self {
            account,
            app,
            builds: fields.optional_texts("builds")?,
            complete: fields.optional_boolean("complete")?.unwrap_or(false),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "status/boxes/edge-a1.json";

    fn read(text: &str) -> Result<BoxReport, DocumentError> {
        BoxReport::read(KEY, text.as_bytes())
    }

    fn metrics(text: &str) -> Result<BoxReport, DocumentError> {
        read(&format!("{{\"label\":\"edge-a1\",\"generated_at\":\"2026-11-30T10:00:00Z\",\"metrics\":{text}}}"))
    }

    /// Case 20: what Go writes for nil.
    #[test]
    fn null_is_what_go_writes_for_nothing() {
        assert_eq!(metrics("null").expect("a report").metrics, None);
        let empty = Some(BoxMetrics::default());
        assert_eq!(metrics("{}").expect("a report").metrics, empty);
        assert_eq!(metrics(r#"{"build_states":null,"build_states_err":null}"#).expect("a report").metrics, empty);
        let report = metrics(r#"{"BuildStates":{"h1":{"account":"ops","app":"a","builds":null,"complete":true}}}"#);
        let host = report.expect("a report").metrics.expect("metrics").build_states["h1"].clone();
        assert_eq!((host.builds.len(), host.complete), (0, true));
        let unsaid = metrics(r#"{"build_states":{"h1":{"account":"ops","app":"a"}}}"#).expect("a report");
        assert!(!unsaid.metrics.expect("metrics").build_states["h1"].complete);
        let appless = metrics(r#"{"build_states":{"h1":{"account":"ops","app":"","builds":["v1"],"complete":true}}}"#);
        assert_eq!(appless.expect("a report").metrics.expect("metrics").build_states["h1"].app, "");
    }

    #[test]
    fn a_report_that_could_hide_a_build_does_not_read() {
        for (text, field) in [
            (r#"{"build_states":{"h1":{"account":"ops","builds":[]}}}"#, "metrics.build_states.h1.app"),
            (r#"{"build_states":{"h1":{"account":"","app":"a"}}}"#, "metrics.build_states.h1.account"),
            (r#"{"build_states":{"h1":{"account":null,"app":"a"}}}"#, "metrics.build_states.h1.account"),
            (r#"{"build_states":{"h1":null}}"#, "metrics.build_states.h1"),
            (r#"{"build_states":{"":{"account":"ops","app":"a"}}}"#, "metrics.build_states"),
            (r#"{"build_states":{"h1":{"account":"ops","app":"a","builds":[1]}}}"#, "metrics.build_states.h1.builds[0]"),
            (r#"{"build_states":{"h1":{"account":"ops","app":"a","complete":"yes"}}}"#, "metrics.build_states.h1.complete"),
            (r#"{"build_states":[]}"#, "metrics.build_states"),
            (r#"{"build_states":{},"buildStates":{}}"#, "metrics.build_states"),
            (r#"{"build_states_err":1}"#, "metrics.build_states_err"),
            ("7", "metrics"),
        ] {
            assert_eq!(metrics(text).expect_err(text).field.as_deref(), Some(field), "{text}");
        }
        let label = read(r#"{"label":"edge-b2","generated_at":"2026-11-30T10:00:00Z"}"#).expect_err("another box");
        assert_eq!(
            label.to_string(),
            "status/boxes/edge-a1.json: field \"label\": is \"edge-b2\", and the key says \"edge-a1\""
        );
        assert_eq!(read(r#"{"label":"edge-a1"}"#).expect_err("no time").field.as_deref(), Some("generated_at"));
        let zero = read(r#"{"label":"edge-a1","generated_at":"0001-01-01T00:00:00Z"}"#).expect("a report");
        assert_eq!(zero.generated_at, None);
    }

    #[test]
    fn it_is_written_as_go_writes_it_and_reads_back() {
        let host = HostBuilds { account: "ops".into(), app: "a&b".into(), builds: vec!["v<2>".into()], complete: true };
        let report = BoxReport {
            label: "edge-a1".to_owned(),
            generated_at: Some("2026-11-30T10:00:00Z".parse().expect("an instant")),
            metrics: Some(BoxMetrics { build_states: [("h1".to_owned(), host)].into(), build_states_err: String::new() }),
        };
        let json = report.to_json().expect("json");
        assert_eq!(
            std::str::from_utf8(&json).expect("utf-8"),
            r#"{"label":"edge-a1","generated_at":"2026-11-30T10:00:00Z","metrics":{"build_states":{"h1":{"account":"ops","app":"a\u0026b","builds":["v\u003c2\u003e"],"complete":true}},"build_states_err":""}}"#
        );
        assert_eq!(BoxReport::read(KEY, &json), Ok(report.clone()));
        let nothing = BoxReport { metrics: Some(BoxMetrics::default()), ..report };
        assert!(String::from_utf8(nothing.to_json().expect("json")).expect("utf-8").contains(r#""build_states":null"#));
    }
}
