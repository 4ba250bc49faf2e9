//! Evidence in, decision out: pure, and the same bytes for the same evidence in any order.
//!
//! | part | what it knows |
//! |---|---|
//! | `registries` | which registries count, whose pins are not known, and what is pinned |
//! | `reports` | the builds that box reports name, and when reports refuse an app (seed `settingsProtected`) |
//! | `documents` | records, channel pointers, tags, and the bake window |
//! | `order` | which releases are the newest, and which are incomplete |
//! | `claims` | everything that holds on to a version, and how that is said |
//! | `hazards` | what a box's own pass would delete while another box holds on to it |
//!
//! Every part collects all it finds; none stops at the first. A refusal never removes a reason.

mod claims;
mod documents;
mod hazards;
mod order;
mod registries;
mod reports;
mod words;

use std::collections::BTreeSet;

use super::decision::{AppDecision, Decision, ReasonCode, Status, Verdict, VersionDecision};
use super::evidence::{AppEvidence, Evidence, FleetEvidence, ReleaseEvidence, Seen, View};
use crate::finding::{self, Code, Finding};
use claims::Claims;
use order::Order;
use registries::Registries;
pub(super) use registries::collapsed;
use reports::Reports;

/// Decides about every app of the evidence.
#[must_use]
pub fn decide(evidence: &Evidence) -> Decision {
    let judge = Judge::new(&evidence.fleet);
    let mut apps: Vec<&AppEvidence> = evidence.apps.iter().collect();
    apps.sort_by_key(|app| (&app.account, &app.app));
    apps.dedup();
    judge.decision(apps.into_iter().map(|app| judge.app(app)).collect())
}

/// What is common to all apps, ready to be asked about one after the other.
pub struct Judge<'a> {
    fleet: &'a FleetEvidence,
    registries: Registries<'a>,
    reports: Reports<'a>,
}

/// Why nothing of an app may be deleted.
#[derive(Debug, Clone)]
struct Refusal {
    finding: Finding,
    /// Whether a box's own pass would refuse for it too. Rules of ours may not be counted on there.
    by_every_pass: bool,
}

impl Refusal {
    /// A refusal of the platform's own pass.
    fn seed(code: Code, subject: &str, because: String, hint: impl Into<String>) -> Self {
        Self { finding: Finding::blocking(code, subject, because).hint(hint), by_every_pass: true }
    }

    /// A refusal of ours only.
    fn ours(code: Code, subject: &str, because: String, hint: impl Into<String>) -> Self {
        Self { by_every_pass: false, ..Self::seed(code, subject, because, hint) }
    }
}

impl<'a> Judge<'a> {
    /// Prepares to judge apps of this fleet.
    #[must_use]
    pub fn new(fleet: &'a FleetEvidence) -> Self {
        let reports = Reports::new(fleet);
        Self { fleet, registries: Registries::new(fleet, &reports), reports }
    }

    /// The accounts and names of the apps that have a route in some registry: those that must be gathered.
    pub fn hosted_apps(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.registries.apps()
    }

    /// Whether anything of the app's own documents bears on its decision: it has a route in a registry that counts, or that
    /// cannot be told. For any other app nothing is enforced, and nothing of it has to be read.
    #[must_use]
    pub fn rests_on_documents(&self, account: &str, app: &str) -> bool {
        self.registries.hosts(account, app) || !self.registries.are_all_known()
    }

    /// The whole decision, around those on the apps.
    #[must_use]
    pub fn decision(&self, apps: Vec<AppDecision>) -> Decision {
        let mut findings = self.reports.notes(self.fleet);
        finding::sort(&mut findings);
        let left_out: BTreeSet<&String> = self.fleet.boxes.iter().filter(|one| one.left_out).map(|one| &one.label).collect();
        Decision {
            view: self.fleet.view.clone(),
            as_of: self.fleet.as_of,
            without_boxes: left_out.into_iter().cloned().collect(),
            apps,
            findings,
        }
    }

    /// Decides about one app.
    #[must_use]
    pub fn app(&self, app: &AppEvidence) -> AppDecision {
        let releases = releases(app);
        let mut claims = Claims::new(&releases);
        let mut refusals = documents::releases_refusals(app);
        let recorded_keep = documents::keep(app, &mut refusals);
        documents::claim_records(app, &mut claims, &mut refusals);
        documents::claim_pointers(app, &mut claims, &mut refusals);
        documents::claim_tags(app, &mut claims, &mut refusals);
        let bake = documents::bake(app, &mut refusals);
        self.reports.judge(self.fleet, app, &mut claims, &mut refusals);
        let keep = self.fleet.what_if_keep.or(recorded_keep);
        let order = Order::new(self.fleet.as_of, &releases);
        let windows = order.claim_windows(bake.as_ref(), app, &mut claims);
        // Before pins and the newest are claimed: what every box's own pass has in common.
        let hazards = self.hazards(app, &order, recorded_keep, &claims, &refusals);
        self.registries.judge(app, &mut claims, &mut refusals);
        order.claim_newest(keep, &mut claims);
        order.refuse_to_keep_nothing(keep, app, &claims, &mut refusals);
        let status = self.status(app, &refusals);
        let eligible_before = recorded_keep.map(|keep| order.beyond(keep));
        let versions = order
            .lines()
            .map(|line| {
                let reasons = claims.take(line.version);
                let verdict = match status {
                    _ if !reasons.is_empty() => Verdict::Kept,
                    Status::Evaluated => Verdict::Eligible,
                    Status::Refused => Verdict::Undetermined,
                    Status::NoPolicy | Status::NotHosted => Verdict::Kept,
                };
                let before = eligible_before.as_ref().is_some_and(|versions| versions.contains(line.version));
                VersionDecision {
                    version: line.version.to_owned(),
                    shipped_at: line.shipped_at,
                    verdict,
                    rank: line.rank,
                    bakes_until: windows.get(line.version).copied().flatten(),
                    // Never without a what-if: then what is eligible was so before.
                    newly: verdict == Verdict::Eligible && !before,
                    reasons,
                }
            })
            .collect();
        AppDecision {
            account: app.account.clone(),
            app: app.app.clone(),
            keep,
            recorded_keep,
            status,
            refusals: if status == Status::Refused { sorted(refusals) } else { Vec::new() },
            versions,
            compared: claims.compared(),
            hazards,
        }
    }

    fn status(&self, app: &AppEvidence, refusals: &[Refusal]) -> Status {
        if !self.registries.hosts(&app.account, &app.app) && self.registries.are_all_known() {
            Status::NotHosted
        } else if app.retention.is_none() && self.fleet.what_if_keep.is_none() {
            Status::NoPolicy
        } else if refusals.is_empty() {
            Status::Evaluated
        } else {
            Status::Refused
        }
    }
}

/// The releases of an app, each once, by version.
fn releases(app: &AppEvidence) -> Vec<&ReleaseEvidence> {
    let Seen::Read(releases) = &app.releases else { return Vec::new() };
    let mut releases: Vec<_> = releases.iter().collect();
    releases.sort_by_key(|release| &release.version);
    releases.dedup_by_key(|release| &release.version);
    releases
}

fn sorted(refusals: Vec<Refusal>) -> Vec<Finding> {
    let mut findings = refusals.into_iter().map(|refusal| refusal.finding).collect();
    finding::sort(&mut findings);
    findings
}

fn is_fleet(view: &View) -> bool {
    *view == View::Fleet
}

/// The reasons for which versions that something names are compared with the releases.
const NAMED: [ReasonCode; 8] = [
    ReasonCode::ChannelPointer,
    ReasonCode::RollbackHistory,
    ReasonCode::Tag,
    ReasonCode::Adopted,
    ReasonCode::Previous,
    ReasonCode::Good,
    ReasonCode::RecordPin,
    ReasonCode::BuildState,
];
