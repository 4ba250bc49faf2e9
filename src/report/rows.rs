//! One row a report, with what the judge of retention makes of it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::finding::{self, Code, Finding};
use crate::platform::keys::{self, FLEETS};
use crate::retention::decide::Judge;
use crate::retention::evidence::{AppEvidence, FleetEvidence, Found, ReportEvidence, ReportSource, Seen};

/// The refusals that come from reports alone.
const OF_REPORTS: [Code; 5] =
    [Code::ReportsIncomplete, Code::BoxCannotCollect, Code::ReportStale, Code::ReportIncomplete, Code::ReportFromFuture];

/// What is said of one report.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    #[serde(rename = "box")]
    pub(super) label: String,
    pub(super) source: ReportSource,
    pub(super) fleet: Option<String>,
    pub(super) key: String,
    pub(super) etag: String,
    pub(super) generated_at: Option<Timestamp>,
    pub(super) age_seconds: Option<i64>,
    pub(super) hosts: usize,
    pub(super) incomplete: usize,
    pub(super) build_states_err: String,
    /// What it refuses: of which apps, and why.
    pub(super) refuses: Vec<Refused>,
}

/// One thing that a report refuses.
#[derive(Debug, Serialize)]
pub(super) struct Refused {
    /// The apps, or none for every app.
    pub(super) apps: Vec<String>,
    #[serde(flatten)]
    pub(super) finding: Finding,
}

/// The rows, by box, and then as the platform reads them.
pub(super) fn rows(fleet: &FleetEvidence, reports: &[ReportEvidence]) -> Vec<Row> {
    let refused = refusals(fleet, reports);
    let mut rows: Vec<Row> = reports.iter().map(|one| row(fleet.as_of, one, &refused)).collect();
    rows.sort_by(|a, b| (&a.label, a.source, &a.key).cmp(&(&b.label, b.source, &b.key)));
    rows
}

fn row(as_of: Timestamp, one: &ReportEvidence, refused: &BTreeMap<&str, Vec<(Finding, BTreeSet<String>)>>) -> Row {
    let key = &one.report.key;
    let fleet = key.strip_prefix(FLEETS).filter(|_| one.source != ReportSource::Platform).and_then(|rest| rest.split_once('/'));
    let name = key.rsplit('/').next().and_then(|name| name.strip_suffix(".json")).unwrap_or(key);
    let report = match &one.report.content {
        Seen::Read(report) => Some(report),
        Seen::Unreadable(_) => None,
    };
    let metrics = report.and_then(|report| report.metrics.as_ref());
    let generated_at = report.and_then(|report| report.generated_at);
    let refuses = refused
        .get(key.as_str())
        .into_iter()
        .flatten()
        .map(|(finding, apps)| Refused { apps: apps.iter().cloned().collect(), finding: finding.clone() });
    Row {
        label: report.map_or(name, |report| &report.label).to_owned(),
        source: one.source,
        fleet: fleet.map(|(fleet, _)| fleet.to_owned()),
        key: key.clone(),
        etag: one.report.etag.clone(),
        generated_at,
        age_seconds: generated_at.map(|at| as_of.duration_since(at).as_secs()),
        hosts: metrics.map_or(0, |metrics| metrics.build_states.len()),
        incomplete: metrics.map_or(0, |metrics| metrics.build_states.values().filter(|builds| !builds.complete).count()),
        build_states_err: metrics.map(|metrics| metrics.build_states_err.clone()).unwrap_or_default(),
        refuses: refuses.collect(),
    }
}

/// By report: what it refuses, and of which apps; none for every app. The judge is asked about every app that a report
/// names, and about one that none does.
fn refusals<'a>(fleet: &FleetEvidence, reports: &'a [ReportEvidence]) -> BTreeMap<&'a str, Vec<(Finding, BTreeSet<String>)>> {
    let judge = Judge::new(fleet);
    let refused = |account: &str, app: &str| -> Vec<Finding> {
        let mut findings = judge.app(&bare(account, app)).refusals;
        findings.retain(|finding| OF_REPORTS.contains(&finding.code));
        findings
    };
    let every = refused("", "");
    let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
    for one in reports {
        if let Seen::Read(report) = &one.report.content {
            let builds = report.metrics.iter().flat_map(|metrics| metrics.build_states.values());
            named.extend(builds.filter(|builds| !builds.app.is_empty()).map(|builds| (&*builds.account, &*builds.app)));
        }
    }
    let mut by_report: BTreeMap<&str, Vec<(Finding, BTreeSet<String>)>> = BTreeMap::new();
    let keys: BTreeMap<&str, &str> = reports.iter().map(|one| (one.report.key.as_str(), one.report.key.as_str())).collect();
    let mut add = |finding: Finding, app: Option<String>| {
        let Some(key) = keys.get(finding.subject.as_str()) else { return };
        let of_report = by_report.entry(key).or_default();
        match of_report.iter_mut().find(|(known, _)| *known == finding) {
            Some((_, apps)) => apps.extend(app),
            None => of_report.push((finding, app.into_iter().collect())),
        }
    };
    for finding in &every {
        add(finding.clone(), None);
    }
    for (account, app) in named {
        for finding in refused(account, app).into_iter().filter(|finding| !every.contains(finding)) {
            add(finding, Some(format!("{account}/{app}")));
        }
    }
    for of_report in by_report.values_mut() {
        let mut findings: Vec<Finding> = of_report.iter().map(|(finding, _)| finding.clone()).collect();
        finding::sort(&mut findings);
        of_report.sort_by_key(|(one, _)| findings.iter().position(|finding| finding == one));
    }
    by_report
}

/// An app with a policy and nothing else, so that only the reports can refuse it.
fn bare(account: &str, app: &str) -> AppEvidence {
    let key = keys::app::retention_record(account, app);
    AppEvidence {
        account: account.to_owned(),
        app: app.to_owned(),
        retention: Some(Found { key, etag: String::new(), content: Seen::Read(1) }),
        pipeline: None,
        releases: Seen::Read(Vec::new()),
        records: Seen::Read(Vec::new()),
        pointers: Seen::Read(Vec::new()),
        tags: Seen::Read(Vec::new()),
    }
}
