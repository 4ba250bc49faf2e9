//! What the box reports protect, and when they refuse an app (seed `boxReports.load` and `settingsProtected`).

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::super::decision::{Citation, ReasonCode};
use super::super::evidence::{AppEvidence, FleetEvidence, ReportEvidence, ReportSource, ReportsEvidence, Seen};
use super::claims::Claims;
use super::{Refusal, is_fleet, words};
use crate::finding::{Code, Finding};
use crate::platform::keys;
use crate::platform::{BoxReport, HostBuilds};

/// An app is not pruned while the newest report of one of its hosts is older than this (seed `buildStateReportMaxAge`).
pub(super) const MAX_AGE: SignedDuration = SignedDuration::from_hours(6);
/// How far ahead a report may be dated before that is more than clocks being a little apart.
const MAX_AHEAD: SignedDuration = SignedDuration::from_mins(5);

/// The reports in the order in which the platform reads them, each once.
pub(super) struct Reports<'a> {
    /// Every report that was found, readable or not.
    all: Vec<&'a ReportEvidence>,
    by_app: BTreeMap<(&'a str, &'a str), Vec<Naming<'a>>>,
    /// Why no app may be pruned.
    refusals: Vec<Refusal>,
}

/// A report that names a host of an app.
#[derive(Clone, Copy)]
struct Naming<'a> {
    source: ReportSource,
    key: &'a str,
    etag: &'a str,
    report: &'a BoxReport,
    host: &'a str,
    builds: &'a HostBuilds,
}

impl<'a> Reports<'a> {
    pub(super) fn new(fleet: &'a FleetEvidence) -> Self {
        let mut reports = Self { all: Vec::new(), by_app: BTreeMap::new(), refusals: Vec::new() };
        match &fleet.reports {
            ReportsEvidence::Unavailable(none) => reports.refusals.push(Refusal::seed(
                Code::ReportsUnavailable,
                keys::REPORTS,
                format!("the box reports cannot be read: {}", none.because),
                "give --status-bucket or --status-dir, or repair the status store",
            )),
            ReportsEvidence::Listed { unlisted, reports: found } => {
                reports.refusals.extend(unlisted.iter().map(|one| incomplete(&one.prefix, &one.because)));
                reports.all = found.iter().collect();
                reports.all.sort_by_key(|one| (one.source, &one.report.key, &one.report.etag));
                reports.all.dedup();
                reports.index(fleet);
            }
        }
        reports
    }

    fn index(&mut self, fleet: &FleetEvidence) {
        for one in &self.all {
            let report = match &one.report.content {
                Seen::Read(report) => report,
                Seen::Unreadable(because) => {
                    self.refusals.push(incomplete(&one.report.key, because));
                    continue;
                }
            };
            let Some(metrics) = &report.metrics else { continue };
            if !metrics.build_states_err.is_empty() {
                self.refusals.extend(cannot_collect(fleet, &one.report.key, report, &metrics.build_states_err));
            }
            for (host, builds) in &metrics.build_states {
                let naming = Naming { source: one.source, key: &one.report.key, etag: &one.report.etag, report, host, builds };
                self.by_app.entry((builds.account.as_str(), builds.app.as_str())).or_default().push(naming);
            }
        }
    }

    /// The labels of the platform boxes that published a report, each with the report's key.
    pub(super) fn platform_boxes(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all.iter().filter(|one| one.source == ReportSource::Platform).filter_map(|one| {
            let key = one.report.key.as_str();
            let name = key.rsplit('/').next()?.strip_suffix(".json")?;
            Some((name, key))
        })
    }

    /// Reports that are worth a note: under a box's own view, those dated ahead, which its pass does not refuse.
    pub(super) fn notes(&self, fleet: &FleetEvidence) -> Vec<Finding> {
        if is_fleet(&fleet.view) {
            return Vec::new();
        }
        let note = |one: &&ReportEvidence| match &one.report.content {
            Seen::Read(report) => {
                let ahead = ahead(fleet.as_of, report)?;
                Some(Finding::note(Code::ReportFromFuture, &one.report.key, from_future(report, ahead)))
            }
            Seen::Unreadable(_) => None,
        };
        self.all.iter().filter_map(note).collect()
    }

    /// Claims every build that any report names for the app, and refuses what the newest report of each host leaves unknown.
    pub(super) fn judge(&self, fleet: &FleetEvidence, app: &AppEvidence, claims: &mut Claims<'_>, refusals: &mut Vec<Refusal>) {
        refusals.extend(self.refusals.iter().cloned());
        let mut newest: BTreeMap<&str, Naming<'_>> = BTreeMap::new();
        for naming in self.by_app.get(&(app.account.as_str(), app.app.as_str())).into_iter().flatten() {
            naming.claim(claims);
            if let Some(ahead) = ahead(fleet.as_of, naming.report)
                && is_fleet(&fleet.view)
            {
                refusals.push(naming.future_refusal(ahead));
            }
            newest
                .entry(naming.host)
                // Only a later report replaces: of two at the same instant the first read stands, as in the seed.
                .and_modify(|known| {
                    if naming.report.generated_at > known.report.generated_at {
                        *known = *naming;
                    }
                })
                .or_insert(*naming);
        }
        refuse_unreported(app, &newest, refusals);
        for naming in newest.values() {
            refusals.extend(naming.stale_refusal(fleet.as_of));
            if !naming.builds.complete {
                refusals.push(naming.incomplete_refusal());
            }
        }
    }
}

impl Naming<'_> {
    fn claim(&self, claims: &mut Claims<'_>) {
        for (at, version) in self.builds.builds.iter().enumerate().filter(|(_, version)| !version.is_empty()) {
            claims.claim(
                version,
                ReasonCode::BuildState,
                || format!("{} ({})", self.host, self.report.label),
                || {
                    vec![Citation {
                        key: self.key.to_owned(),
                        etag: self.etag.to_owned(),
                        pointer: format!("/metrics/build_states/{}/builds/{at}", words::step(self.host)),
                        value: version.clone(),
                        source: Some(self.source),
                    }]
                },
            );
        }
    }

    fn future_refusal(&self, ahead: SignedDuration) -> Refusal {
        Refusal::ours(
            Code::ReportFromFuture,
            self.key,
            from_future(self.report, ahead),
            format!("set the clock of {}; its next report unblocks", self.report.label),
        )
    }

    /// A report of which no age can be told is as old as any.
    fn stale_refusal(&self, as_of: Timestamp) -> Option<Refusal> {
        let (label, host) = (&self.report.label, self.host);
        let because = match self.report.generated_at {
            None => format!("{label}, which hosts {host}, does not say when it reported"),
            Some(at) if as_of.duration_since(at) > MAX_AGE => {
                let age = words::age(as_of.duration_since(at));
                format!("{label}, which hosts {host}, has not reported since {}; that is {age} ago", words::second(at))
            }
            Some(_) => return None,
        };
        let since = as_of.checked_sub(MAX_AGE).map_or_else(|_| "6 h ago".to_owned(), words::second);
        let hint = format!("a report of {host}'s box at or after {since} unblocks");
        Some(Refusal::seed(Code::ReportStale, self.key, because, hint))
    }

    fn incomplete_refusal(&self) -> Refusal {
        Refusal::seed(
            Code::ReportIncomplete,
            self.key,
            format!("{} could not read the build state of {}", self.report.label, self.host),
            format!("repair the build state of {} on {}; its next complete report unblocks", self.host, self.report.label),
        )
    }
}

/// Every provisioned instance that keeps a build state must be named by some report: a missing entry is unknown.
fn refuse_unreported(app: &AppEvidence, newest: &BTreeMap<&str, Naming<'_>>, refusals: &mut Vec<Refusal>) {
    let Seen::Read(records) = &app.records else { return };
    for found in records {
        if let Seen::Read(record) = &found.content
            && record.keeps_build_state()
            && !newest.contains_key(record.host.as_str())
        {
            refusals.push(Refusal::seed(
                Code::HostUnreported,
                &found.key,
                format!("no box report names the build state of {}", record.host),
                format!("a report of the box that hosts {} unblocks, or the removal of its record", record.host),
            ));
        }
    }
}

/// A box that could not collect its build states may host any app, while its report is fresh. One of which no age can be
/// told is taken to be fresh, which the platform's own pass does not do.
fn cannot_collect(fleet: &FleetEvidence, key: &str, report: &BoxReport, error: &str) -> Option<Refusal> {
    let because = format!("{} could not collect its build states: {error}", report.label);
    let hint = format!("a report of {} without that error unblocks", report.label);
    match report.generated_at {
        Some(at) if fleet.as_of.duration_since(at) <= MAX_AGE => {
            Some(Refusal::seed(Code::BoxCannotCollect, key, because, hint))
        }
        None if is_fleet(&fleet.view) => {
            let because = format!("{because} (and it does not say when)");
            Some(Refusal::ours(Code::BoxCannotCollect, key, because, hint))
        }
        _ => None,
    }
}

fn incomplete(subject: &str, because: &str) -> Refusal {
    Refusal::seed(
        Code::ReportsIncomplete,
        subject,
        format!("the box reports could not all be read: {because}"),
        "repair or remove it; what a box reported there is not known",
    )
}

/// How far ahead the report is dated, when that is too far.
fn ahead(as_of: Timestamp, report: &BoxReport) -> Option<SignedDuration> {
    report.generated_at.map(|at| at.duration_since(as_of)).filter(|ahead| *ahead > MAX_AHEAD)
}

fn from_future(report: &BoxReport, ahead: SignedDuration) -> String {
    format!("the report of {} is dated {} ahead", report.label, words::age(ahead))
}
