//! What the commands of the box half answer.

use serde::Serialize;

use super::report::Reported;
use super::retention_pass::Pruned;
use super::snapshot_pass::{Outcome, Published};
use crate::context::Answer;
use crate::platform::Label;
use crate::terminal::Paper;

#[derive(Serialize)]
pub(super) struct SnapshotAnswer {
    #[serde(rename = "box")]
    pub(super) label: Label,
    pub(super) outcome: &'static str,
    #[serde(flatten)]
    published: Option<Published>,
    #[serde(skip)]
    text: String,
}

impl SnapshotAnswer {
    pub(super) fn of(label: &Label, outcome: Outcome) -> Self {
        let text = format!("{outcome}\n");
        let (outcome, published) = match outcome {
            Outcome::Unchanged { .. } => ("unchanged", None),
            Outcome::Published(published) => ("published", Some(published)),
        };
        Self { label: label.clone(), outcome, published, text }
    }
}

impl Answer for SnapshotAnswer {
    const SCHEMA: &'static str = "carlosctl.box-snapshot/1";

    fn text(&self, _: Paper) -> String {
        self.text.clone()
    }
}

#[derive(Serialize)]
pub(super) struct ReportAnswer {
    #[serde(rename = "box")]
    pub(super) label: Label,
    #[serde(flatten)]
    pub(super) reported: Reported,
}

impl Answer for ReportAnswer {
    const SCHEMA: &'static str = "carlosctl.box-report/1";

    fn text(&self, _: Paper) -> String {
        format!("{}\n", crate::terminal::escape(&self.reported.to_string()))
    }
}

#[derive(Serialize)]
pub(super) struct RetentionAnswer {
    #[serde(rename = "box")]
    pub(super) label: Label,
    #[serde(flatten)]
    pub(super) pruned: Pruned,
}

impl Answer for RetentionAnswer {
    const SCHEMA: &'static str = "carlosctl.box-retention/1";

    fn text(&self, _: Paper) -> String {
        format!("{}\n", self.pruned)
    }
}

/// How a loop ended; everything else was said while it went on.
#[derive(Serialize)]
pub(super) struct LoopAnswer {
    #[serde(rename = "box")]
    pub(super) label: Label,
    pub(super) passes: u64,
    pub(super) failed: u64,
}

impl Answer for LoopAnswer {
    const SCHEMA: &'static str = "carlosctl.box-loop/1";

    fn text(&self, _: Paper) -> String {
        String::new()
    }
}

/// Nothing was to be done here.
#[derive(Serialize)]
pub(super) struct Nothing {
    pub(super) outcome: &'static str,
}

impl Answer for Nothing {
    const SCHEMA: &'static str = "carlosctl.box-none/1";

    fn text(&self, _: Paper) -> String {
        String::new()
    }
}
