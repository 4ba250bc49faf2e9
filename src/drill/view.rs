//! What the operator sees of a drill.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::decide::{Decision, Passed, Rung, Step};
use super::evidence::Evidence;
use crate::context::{Answer, finding_line};
use crate::finding::Finding;
use crate::platform::Label;
use crate::snapshot::Verdict;
use crate::store::ObjectMeta;
use crate::terminal::{self, Paper, Table};

/// The answer.
#[derive(Debug, Serialize)]
pub(super) struct Drill {
    /// Whose view this is.
    pub(super) store: String,
    /// The boxes, by label.
    pub(super) boxes: Vec<Drilled>,
    /// What could not be looked at, and hides no snapshot.
    pub(super) findings: Vec<Finding>,
}

/// One box.
#[derive(Debug, Serialize)]
pub(super) struct Drilled {
    #[serde(rename = "box")]
    pub(super) label: Label,
    pub(super) verdict: Verdict,
    at: Option<String>,
    object: Option<ObjectMeta>,
    of: Option<Timestamp>,
    age_seconds: Option<i64>,
    /// How long the box lived on after the snapshot, as its last report tells.
    data_at_risk_seconds: Option<i64>,
    sha256: Option<String>,
    rows: BTreeMap<String, u64>,
    ladder: Vec<Step>,
    /// Measured, from the first request to the last proof.
    #[serde(serialize_with = "seconds")]
    recovery_seconds: Option<Duration>,
    #[serde(serialize_with = "seconds", skip_serializing_if = "Option::is_none")]
    boot_seconds: Option<Duration>,
    /// Of the scratch directory: memory is faster than the standby's disk.
    scratch_filesystem: Option<String>,
    pub(super) receipt: Option<String>,
    pub(super) findings: Vec<Finding>,
}

/// Seconds to the millisecond.
#[expect(clippy::ref_option, reason = "serde hands the field over by reference")]
fn seconds<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match duration {
        None => serializer.serialize_none(),
        Some(duration) => serializer.serialize_f64((duration.as_secs_f64() * 1000.0).round() / 1000.0),
    }
}

impl Drilled {
    pub(super) fn new(evidence: &Evidence, decision: Decision) -> Self {
        let rehearsed = evidence.rehearsed.as_ref().ok();
        let restore = rehearsed.map(|rehearsed| &rehearsed.restore);
        let of = restore.and_then(|restore| restore.of);
        Self {
            label: evidence.seen.label.clone(),
            verdict: decision.verdict,
            at: restore.map(|restore| restore.chosen.at.clone()),
            object: restore.and_then(|restore| restore.chosen.source.object().cloned()),
            of,
            age_seconds: restore.and_then(|restore| Some(restore.as_of.duration_since(restore.of?).as_secs())),
            data_at_risk_seconds: of
                .zip(evidence.seen.reported_at)
                .map(|(of, reported)| reported.duration_since(of).as_secs().max(0)),
            sha256: restore.map(|restore| restore.proof.sha256.clone()),
            rows: restore.map(|restore| restore.proof.rows()).unwrap_or_default(),
            ladder: decision.ladder,
            recovery_seconds: rehearsed.map(|rehearsed| rehearsed.recovery),
            boot_seconds: rehearsed.and_then(|rehearsed| rehearsed.boot.as_ref()).map(|boot| boot.took),
            scratch_filesystem: rehearsed.map(|rehearsed| rehearsed.filesystem.clone()),
            receipt: None,
            findings: decision.findings,
        }
    }

    /// One line, said as soon as the box is done.
    pub(super) fn line(&self) -> String {
        let failed: Vec<&str> =
            self.ladder.iter().filter(|step| step.passed != Passed::Yes).map(|step| step.rung.word()).collect();
        let failed = if failed.is_empty() { String::new() } else { format!(" (not passed: {})", failed.join(", ")) };
        format!("drilled {}: {}{failed}", self.label, self.verdict.word())
    }

    fn rung(&self, rung: Rung) -> &'static str {
        match self.ladder.iter().find(|step| step.rung == rung).map(|step| step.passed) {
            None => "",
            Some(Passed::Yes) => "yes",
            Some(Passed::No) => "no",
            Some(Passed::Unknown) => "unknown",
        }
    }
}

impl Answer for Drill {
    const SCHEMA: &'static str = "carlosctl.drill/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        if self.boxes.is_empty() {
            return format!("no box has a snapshot in {}\n", terminal::escape(&self.store));
        }
        let mut table = Table::new(&["box", "snapshot", "age", "size", "routes", "recovery", "at risk", "verdict"], columns)
            .with_states("verdict");
        let mut ladder =
            Table::new(&["box", "bytes-intact", "opens", "content-plausible", "restored-equals-source", "boots"], columns);
        for drilled in &self.boxes {
            table.row([
                drilled.label.to_string(),
                drilled.at.clone().unwrap_or_default(),
                drilled.age_seconds.map(terminal::age).unwrap_or_default(),
                drilled.object.as_ref().map(|object| terminal::bytes(object.bytes)).unwrap_or_default(),
                drilled.rows.get("routes").map(u64::to_string).unwrap_or_default(),
                drilled.recovery_seconds.map(|took| format!("{:.2} s", took.as_secs_f64())).unwrap_or_default(),
                drilled.data_at_risk_seconds.map(terminal::age).unwrap_or_default(),
                drilled.verdict.word().to_owned(),
            ]);
            ladder.row([
                drilled.label.as_str(),
                drilled.rung(Rung::BytesIntact),
                drilled.rung(Rung::Opens),
                drilled.rung(Rung::ContentPlausible),
                drilled.rung(Rung::RestoredEqualsSource),
                drilled.rung(Rung::Boots),
            ]);
        }
        let mut text = format!("{table}\n{ladder}");
        for drilled in &self.boxes {
            if !drilled.findings.is_empty() || drilled.receipt.is_some() {
                text.push_str(&format!("\nbox {}: {}\n", drilled.label, terminal::state(drilled.verdict.word())));
            }
            for finding in &drilled.findings {
                text.push_str(&finding_line(finding, columns));
                text.push('\n');
            }
            if let Some(receipt) = &drilled.receipt {
                text.push_str(&format!("receipt {} in the bucket\n", terminal::escape(receipt)));
            }
        }
        for finding in &self.findings {
            text.push_str(&format!("\n{}\n", finding_line(finding, columns)));
        }
        text
    }
}
