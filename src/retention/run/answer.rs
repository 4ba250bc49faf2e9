//! What a run did.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::delete::INTERRUPTED;
use crate::context::{Answer, finding_line};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::Finding;
use crate::retention::AppName;
use crate::retention::decision::Status;
use crate::retention::plan::{AppPlan, Plan, PlannedVersion};
use crate::store::{ObjectMeta, ReadStore};
use crate::terminal::{Paper, escape, state};

/// What became of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It was there, and we deleted it.
    Deleted,
    /// It was gone already.
    Missing,
    /// It is still there, because of this.
    Failed(String),
    /// Nobody knows, because of this.
    Unknown(String),
}

/// One object of a run, as the receipt names it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ObjectRan {
    key: String,
    etag: String,
    bytes: u64,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
}

impl ObjectRan {
    pub(crate) fn new(object: &ObjectMeta, gone: Gone) -> Self {
        let (outcome, because) = match gone {
            Gone::Deleted => ("deleted", None),
            Gone::Missing => ("missing", None),
            Gone::Failed(because) => ("failed", Some(because)),
            Gone::Unknown(because) => ("unknown", Some(because)),
        };
        Self { key: object.key.clone(), etag: object.etag.clone(), bytes: object.bytes, outcome, because }
    }
}

/// How many objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Deleted by us.
    pub(crate) deleted: u64,
    /// Gone already.
    pub(crate) missing: u64,
    /// Still there.
    pub(crate) failed: u64,
    /// Not known.
    pub(crate) unknown: u64,
}

/// A version that was left, and why.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Left {
    /// The version.
    pub(crate) version: String,
    /// Why.
    pub(crate) because: String,
}

/// What was done of one app.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AppRan {
    /// Its account.
    pub(crate) account: String,
    /// Its name.
    pub(crate) app: String,
    /// Versions that are gone.
    pub(crate) deleted: Vec<String>,
    /// The version that failed.
    pub(crate) failed: Vec<Left>,
    /// Versions that were left.
    pub(crate) skipped: Vec<Left>,
    /// Why nothing may be deleted of it.
    pub(crate) refusals: Vec<Finding>,
    #[serde(skip)]
    status: Option<Status>,
    #[serde(skip)]
    counts: Counts,
    #[serde(skip)]
    objects: Vec<ObjectRan>,
}

impl AppRan {
    /// Nothing yet.
    pub(crate) fn new(plan: &AppPlan) -> Self {
        let AppName { account, app } = plan.name();
        Self {
            account,
            app,
            deleted: Vec::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
            refusals: plan.decision().refusals.clone(),
            status: Some(plan.decision().status),
            counts: Counts::default(),
            objects: Vec::new(),
        }
    }

    pub(super) fn deleted(&mut self, victim: &PlannedVersion) {
        self.counts.missing += victim.absent();
        self.deleted.push(victim.version().to_owned());
    }

    pub(super) fn fail(&mut self, version: &str, because: &str) {
        self.failed.push(Left { version: version.to_owned(), because: because.to_owned() });
    }

    pub(super) fn skip(&mut self, version: &str, because: &str) {
        self.skipped.push(Left { version: version.to_owned(), because: because.to_owned() });
    }

    pub(super) fn object(&mut self, object: ObjectRan) {
        match object.outcome {
            "deleted" => self.counts.deleted += 1,
            "missing" => self.counts.missing += 1,
            "failed" => self.counts.failed += 1,
            _ => self.counts.unknown += 1,
        }
        self.objects.push(object);
    }

    /// Takes back what the store's own listing does not bear out: what is still listed is not gone, and without a listing
    /// nobody knows.
    pub(super) fn prove(&mut self, victims: &[PlannedVersion], listed: &Result<BTreeSet<String>, String>) {
        let mut doubtful = BTreeMap::new();
        for object in self.objects.iter_mut().filter(|object| object.because.is_none()) {
            let (outcome, because) = match listed {
                Ok(listed) if !listed.contains(&object.key) => continue,
                Ok(_) => ("failed", "the store answered that it is gone, and still lists it".to_owned()),
                Err(because) => {
                    ("unknown", format!("the store answered that it is gone, and could not be asked again: {because}"))
                }
            };
            let counts = &mut self.counts;
            *(if object.outcome == "deleted" { &mut counts.deleted } else { &mut counts.missing }) -= 1;
            *(if outcome == "failed" { &mut counts.failed } else { &mut counts.unknown }) += 1;
            object.outcome = outcome;
            object.because = Some(because.clone());
            doubtful.insert(object.key.clone(), because);
        }
        for victim in victims {
            let because = victim
                .steps()
                .into_iter()
                .flatten()
                .find_map(|object| doubtful.get(&object.key).map(|because| format!("{}: {because}", object.key)));
            if let Some(because) = because
                && let Some(at) = self.deleted.iter().position(|version| version == victim.version())
            {
                let version = self.deleted.remove(at);
                self.fail(&version, &because);
            }
        }
    }

    /// Whether anything was or had to be done.
    fn says_something(&self) -> bool {
        !(self.deleted.is_empty() && self.failed.is_empty() && self.skipped.is_empty() && self.refusals.is_empty())
    }
}

/// The answer.
#[derive(Debug, Serialize)]
pub(super) struct Ran {
    store: String,
    nonce: String,
    apps: Vec<AppRan>,
    counts: Counts,
    receipt: Option<String>,
    findings: Vec<Finding>,
    #[serde(skip)]
    versions: u64,
}

/// What the receipt says of an app.
#[derive(Serialize)]
pub(super) struct Receipted<'a> {
    #[serde(flatten)]
    app: &'a AppRan,
    objects: &'a [ObjectRan],
}

impl Ran {
    /// The apps of a plan, with nothing done yet.
    pub(super) fn new(store: &dyn ReadStore, plan: &Plan, wanted: &[AppName]) -> Result<Self, CommandError> {
        let wanted: BTreeSet<&AppName> = wanted.iter().collect();
        let (mut apps, mut versions) = (Vec::new(), 0);
        for app in plan.apps()? {
            let app = app?;
            if wanted.contains(&app.name()) {
                versions += app.victims().len() as u64;
                apps.push(AppRan::new(&app));
            }
        }
        let (store, nonce) = (store.describe(), plan.header().nonce().to_owned());
        Ok(Self { store, nonce, apps, counts: Counts::default(), receipt: None, findings: Vec::new(), versions })
    }

    /// How many versions are to go.
    pub(super) fn versions(&self) -> u64 {
        self.versions
    }

    /// Takes in what was done of one app.
    pub(super) fn add(&mut self, ran: AppRan) {
        if let Some(app) = self.apps.iter_mut().find(|app| (&app.account, &app.app) == (&ran.account, &ran.app)) {
            *app = ran;
        }
    }

    /// Sums up.
    pub(super) fn close(&mut self) {
        self.counts = Counts::default();
        for app in &self.apps {
            self.counts.deleted += app.counts.deleted;
            self.counts.missing += app.counts.missing;
            self.counts.failed += app.counts.failed;
            self.counts.unknown += app.counts.unknown;
        }
    }

    /// What the receipt names.
    pub(super) fn receipted(&self) -> (Vec<Receipted<'_>>, Counts) {
        let apps = self.apps.iter().filter(|app| app.says_something());
        (apps.map(|app| Receipted { app, objects: &app.objects }).collect(), self.counts)
    }

    /// Where the receipt is.
    pub(super) fn written(&mut self, receipt: String) {
        self.receipt = Some(receipt);
    }

    /// What else is to be known.
    pub(super) fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub(super) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// 130 when it was told to stop, 4 when everything that has a policy was refused, 3 when something was left undone, else 0.
    pub(super) fn exit(&self) -> Exit {
        let refused = self.apps.iter().filter(|app| app.status == Some(Status::Refused)).count();
        let evaluated = self.apps.iter().filter(|app| app.status == Some(Status::Evaluated)).count();
        let is_told_to_stop = |left: &Left| left.because == INTERRUPTED;
        let undone = self.apps.iter().any(|app| !app.failed.is_empty() || !app.skipped.is_empty());
        if self.apps.iter().any(|app| app.skipped.iter().any(is_told_to_stop)) {
            Exit::Interrupted
        } else if refused > 0 && evaluated == 0 {
            Exit::Found
        } else if undone || refused > 0 || !self.findings.is_empty() {
            Exit::Partly
        } else {
            Exit::Done
        }
    }
}

impl Answer for Ran {
    const SCHEMA: &'static str = "carlosctl.retention-run/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut text = String::new();
        for app in self.apps.iter().filter(|app| app.says_something()) {
            let name = format!("{}/{}", app.account, app.app);
            let name = escape(&name);
            if !app.deleted.is_empty() {
                text.push_str(&format!("{name}: deleted {}\n", escape(&app.deleted.join(", "))));
            }
            for left in &app.failed {
                text.push_str(&format!("{name}: {} is incomplete: {}\n", escape(&left.version), escape(&left.because)));
            }
            for left in &app.skipped {
                text.push_str(&format!("{name}: {} was left: {}\n", escape(&left.version), escape(&left.because)));
            }
            if !app.refusals.is_empty() {
                text.push_str(&format!("{name}: {}\n", state("refused")));
            }
        }
        if text.is_empty() {
            text.push_str("no version was eligible, and nothing was left of an earlier run\n");
        }
        let Counts { deleted, missing, failed, unknown } = self.counts;
        text.push_str(&format!("objects: {deleted} deleted, {missing} missing, {failed} failed, {unknown} unknown\n"));
        if let Some(receipt) = &self.receipt {
            text.push_str(&format!("receipt {}\n", escape(receipt)));
        }
        for finding in &self.findings {
            text.push_str(&finding_line(finding, columns));
            text.push('\n');
        }
        if self.apps.iter().any(|app| !app.failed.is_empty() || !app.skipped.is_empty()) {
            text.push_str("to finish: carlosctl retention run\n");
        }
        text
    }
}
