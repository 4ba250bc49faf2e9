//! The reports as tables and documents.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rows::Row;
use crate::context::{Answer, finding_line};
use crate::platform::{HostBuilds, Label};
use crate::retention::evidence::{ReportEvidence, ReportSource, Seen, Unlisted};
use crate::terminal::{self, Paper, Table, escape};

/// The answer of `report list`.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    store: String,
    reports: Vec<Row>,
    unlisted: Vec<Unlisted>,
}

/// The answer of `report show`.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    #[serde(rename = "box")]
    label: Label,
    reports: Vec<Detail>,
}

/// One report with its hosts.
#[derive(Debug, Serialize)]
struct Detail {
    #[serde(flatten)]
    row: Row,
    build_states: BTreeMap<String, HostBuilds>,
}

impl Listing {
    pub(super) fn new(store: String, reports: Vec<Row>, unlisted: &[Unlisted]) -> Self {
        Self { store, reports, unlisted: unlisted.to_vec() }
    }
}

impl Shown {
    pub(super) fn new(label: Label, rows: Vec<Row>, reports: &[ReportEvidence]) -> Self {
        let reports = rows.into_iter().map(|row| Detail { build_states: build_states(&row, reports), row }).collect();
        Self { label, reports }
    }
}

fn build_states(row: &Row, reports: &[ReportEvidence]) -> BTreeMap<String, HostBuilds> {
    let found = reports.iter().find(|one| one.source == row.source && one.report.key == row.key);
    match found.map(|one| &one.report.content) {
        Some(Seen::Read(report)) => report.metrics.clone().unwrap_or_default().build_states,
        _ => BTreeMap::new(),
    }
}

impl Row {
    fn place(&self) -> String {
        let fleet = self.fleet.as_deref().unwrap_or("-");
        match self.source {
            ReportSource::Platform => "platform".to_owned(),
            ReportSource::SoleHousekeeper => "this machine".to_owned(),
            ReportSource::StatusFleet => format!("fleet {fleet}"),
            ReportSource::DeploymentFleet => format!("fleet {fleet} (deployment store)"),
        }
    }

    fn age(&self) -> String {
        self.age_seconds.map(terminal::age).unwrap_or_default()
    }

    fn reported(&self) -> String {
        self.generated_at.map(terminal::instant).unwrap_or_default()
    }

    fn hosts(&self) -> String {
        if self.incomplete == 0 { self.hosts.to_string() } else { format!("{} ({} unread)", self.hosts, self.incomplete) }
    }

    /// The codes of what it refuses, each with how much.
    fn refusals(&self) -> String {
        let one = |refused: &super::rows::Refused| match refused.apps.as_slice() {
            [] => format!("{}: every app", refused.finding.code),
            apps => format!("{}: {}", refused.finding.code, apps.join(", ")),
        };
        self.refuses.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    fn push_findings(&self, text: &mut String, columns: Option<u16>) {
        for refused in &self.refuses {
            text.push_str(&finding_line(&refused.finding, columns));
            text.push('\n');
        }
    }
}

impl Answer for Listing {
    const SCHEMA: &'static str = "carlosctl.report-list/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut text = if self.reports.is_empty() {
            format!("no box has reported in {}\n", escape(&self.store))
        } else {
            let mut table = Table::new(&["box", "of", "reported", "age", "hosts", "refuses"], columns);
            for row in &self.reports {
                table.row([row.label.as_str(), &row.place(), &row.reported(), &row.age(), &row.hosts(), &row.refusals()]);
            }
            table.to_string()
        };
        if self.reports.iter().any(|row| !row.refuses.is_empty()) || !self.unlisted.is_empty() {
            text.push('\n');
        }
        for row in &self.reports {
            row.push_findings(&mut text, columns);
        }
        for unlisted in &self.unlisted {
            text.push_str(&format!(
                "could not be listed, which refuses every app: {}: {}\n",
                escape(&unlisted.prefix),
                escape(&unlisted.because)
            ));
        }
        text
    }
}

impl Answer for Shown {
    const SCHEMA: &'static str = "carlosctl.report-show/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut text = String::new();
        for detail in &self.reports {
            let row = &detail.row;
            let age = row.age_seconds.map_or_else(String::new, |age| format!(" ({})", terminal::ago(age)));
            let reported = row
                .generated_at
                .map_or_else(|| "at an unknown time".to_owned(), |at| format!("{}{age}", terminal::instant(at)));
            let line = format!("{} ({}), reported {reported}", row.label, escape(&row.place()));
            text.push_str(&format!(
                "{}\nkey {}\netag {}\n",
                terminal::wrap(&line, columns),
                escape(&row.key),
                escape(if row.etag.is_empty() { "-" } else { &row.etag })
            ));
            if !detail.build_states.is_empty() {
                let mut table = Table::new(&["host", "account", "app", "builds", "complete"], columns);
                for (host, builds) in &detail.build_states {
                    let complete = if builds.complete { "yes" } else { "no" };
                    table.row([host.as_str(), &builds.account, &builds.app, &builds.builds.join(", "), complete]);
                }
                text.push_str(&table.to_string());
            }
            row.push_findings(&mut text, columns);
            text.push('\n');
        }
        text
    }
}
