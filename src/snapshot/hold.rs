//! `snapshot hold`: freezes the evidence first, before anyone debates the restore.
//!
//! A hold is server-side copies of a box's current, sidecar and generations under a key that the agent's pruning never
//! reaches. `hold.json` is written last and seals it; it names every copy by key, bytes, etag and sha256.

mod release;
mod take;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::evidence::BoxEvidence;
use super::gather::{Reports, Scope, gather};
use super::judge::{Rung, judge};
use super::look::{look, must_exist};
use super::select::Selector;
use crate::cli::snapshot::{HoldArgs, HoldCommand};
use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Finding, Severity};
use crate::platform::{Label, Stamp};
use crate::store::{self, Capability, ObjectMeta};
use crate::terminal::{self, Paper, Table};

pub use take::take;

/// A hold: the answer of the command, and the document that seals it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The box.
    #[serde(rename = "box")]
    pub label: Label,
    /// When it was taken; names it.
    pub hold: Stamp,
    /// The copies.
    pub objects: Vec<HeldObject>,
    /// What was found while it was taken.
    pub findings: Vec<Finding>,
}

/// One copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldObject {
    /// The copy.
    #[serde(flatten)]
    pub object: ObjectMeta,
    /// What it was copied from.
    pub from: String,
    /// The etag of what it was copied from.
    pub from_etag: String,
    /// The version it was copied from, where one was named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from_version: Option<String>,
    /// The sha256 of the copy's content, in hex.
    pub sha256: String,
}

/// Runs the command and its subcommands.
///
/// # Errors
/// Not found, not confirmed, or the store's.
pub async fn run(args: &HoldArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    match (&args.command, &args.label) {
        (Some(HoldCommand::List { boxes, as_of }), _) => list(boxes, as_of.as_of, context).await,
        (Some(HoldCommand::Release { label, hold, confirm }), _) => {
            release::run(label, *hold, confirm.as_deref(), context).await
        }
        (None, Some(label)) => hold(label, args.all_versions, context).await,
        (None, None) => Err(CommandError::usage("snapshot hold wants --box LABEL")),
    }
}

async fn hold(label: &Label, all_versions: bool, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    // Asking for a version is what makes the look read versions; which one is decided by what is there.
    let selector = if all_versions { Selector::Version(String::new()) } else { Selector::Current };
    let look = look(context, label, &[&selector]).await?;
    let now = context.now();
    let writable = context.deployment_for_writing().await?;
    let needed = [Capability::CreateOnly];
    store::probe_for(writable.as_ref(), &needed).await?.require(&needed)?;
    let progress = context.progress_bytes(&format!("holding {label}"), 0);
    let (hold, existed) = take(writable.as_ref(), &look.seen, Stamp::at(now), &progress).await?;
    drop(progress);
    if existed {
        context.say(&format!("nothing has changed since hold {}; no new one was made", hold.hold));
    }
    let held = Held { at: hold.best(judge(&look.seen, now).last_good), hold };
    let hold = &held.hold;
    let complete = hold.findings.iter().all(|finding| finding.severity == Severity::Note);
    context.say_findings(&hold.findings);
    context.answer(&held, now)?;
    Ok(if complete { Exit::Done } else { Exit::Partly })
}

/// The answer: the hold, and which of its copies to use.
#[derive(Debug, Serialize)]
struct Held {
    #[serde(flatten)]
    hold: Hold,
    /// The selector of the copy that is the box's last good snapshot, as far as listings tell; none where none is.
    at: Option<String>,
}

impl Hold {
    /// The selector of its copy of this rung, where it has one.
    fn best(&self, last_good: Option<Rung>) -> Option<String> {
        let (name, at) = match last_good? {
            Rung::Current => ("current.db".to_owned(), format!("hold:{}", self.hold)),
            Rung::Generation(stamp) => (format!("{stamp}.db"), format!("hold:{}/{stamp}", self.hold)),
        };
        self.objects.iter().any(|held| held.object.key.rsplit('/').next() == Some(&name)).then_some(at)
    }
}

impl Answer for Held {
    const SCHEMA: &'static str = "carlosctl.snapshot-hold/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut table = Table::new(&["copy", "from", "size", "sha256"], columns);
        let Self { hold, at } = self;
        for held in &hold.objects {
            let name = held.object.key.rsplit('/').next().unwrap_or_default();
            table.row([name, &held.from, &terminal::bytes(held.object.bytes), held.sha256.get(..12).unwrap_or_default()]);
        }
        let next = match at {
            Some(at) => format!("use it: carlosctl restore --from-box {} --at {at}", hold.label),
            None => format!("none of it looks good; look into it: carlosctl snapshot list --box {} --all-versions", hold.label),
        };
        format!("hold {} of box {}\n{table}{next}\n", hold.hold, hold.label)
    }
}

#[derive(Debug, Serialize)]
struct Holds {
    holds: Vec<HoldRow>,
    #[serde(skip)]
    as_of: Timestamp,
}

#[derive(Debug, Serialize)]
struct HoldRow {
    #[serde(rename = "box")]
    label: Label,
    hold: Stamp,
    sealed: bool,
    objects: Vec<ObjectMeta>,
}

async fn list(boxes: &[Label], as_of: Option<Timestamp>, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = as_of.unwrap_or_else(|| context.now());
    let store = context.deployment().await?;
    let reports = Reports { store: store.as_ref(), prefix: &context.settings.status_prefix };
    let scope = Scope { boxes: boxes.to_vec(), concurrency: context.settings.concurrency, ..Scope::default() };
    let progress = context.progress_listing();
    let scene = gather(store.as_ref(), &reports, &scope).await?;
    drop(progress);
    must_exist(store.as_ref(), &scene, boxes).await?;
    let rows = |seen: BoxEvidence| {
        let label = seen.label;
        seen.holds.into_iter().map(move |hold| HoldRow {
            label: label.clone(),
            hold: hold.stamp,
            sealed: hold.sealed,
            objects: hold.objects,
        })
    };
    let holds = Holds { holds: scene.boxes.into_values().flat_map(rows).collect(), as_of };
    context.answer(&holds, as_of)?;
    Ok(Exit::Done)
}

impl Answer for Holds {
    const SCHEMA: &'static str = "carlosctl.snapshot-hold-list/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        if self.holds.is_empty() {
            return "no holds\n".to_owned();
        }
        let mut table = Table::new(&["box", "hold", "age", "objects", "size", "state"], columns);
        for hold in &self.holds {
            table.row([
                hold.label.as_str(),
                &hold.hold.to_string(),
                &terminal::age(self.as_of.duration_since(hold.hold.instant()).as_secs()),
                &hold.objects.len().to_string(),
                &terminal::bytes(hold.objects.iter().map(|object| object.bytes).sum()),
                if hold.sealed { "sealed" } else { "cut short" },
            ]);
        }
        table.to_string()
    }
}
