//! `snapshot show`: what is in one snapshot.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::fetch::Fetched;
use super::judge::{State, judge};
use super::landing::{Landing, Private};
use super::list::{SidecarRow, state_words};
use super::look::{Look, look};
use super::proof::{Proof, Verdict, fetch_and_prove};
use super::select::{Chosen, Selector, select};
use super::twin;
use crate::cli::snapshot::ShowArgs;
use crate::context::{Answer, Context, finding_line};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Finding};
use crate::platform::Label;
use crate::registry::AppHosts;
use crate::store::ObjectMeta;
use crate::terminal::{self, Paper, Table};

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    object: ObjectMeta,
    #[serde(rename = "box")]
    label: Label,
    at: String,
    of: Option<Timestamp>,
    sha256: String,
    verdict: Verdict,
    state: State,
    sidecar: SidecarRow,
    rows: BTreeMap<String, u64>,
    apps: Vec<AppHosts>,
    box_scoped: BTreeMap<String, u64>,
    findings: Vec<Finding>,
    #[serde(skip)]
    as_of: Timestamp,
}

/// Runs the command.
///
/// # Errors
/// Not found, or the store's. A bad content is shown, and is no error.
pub(super) async fn run(args: &ShowArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = args.as_of.as_of.unwrap_or_else(|| context.now());
    let look = look(context, &args.label, &[&args.at]).await?;
    let (chosen, fetched, proof) = resolve(context, &look, &args.at, as_of, Private::create).await?;
    let mut findings = proof.findings.clone();
    let judgement = judge(&look.seen, as_of);
    findings.extend(judgement.findings);
    finding::sort(&mut findings);
    let census = proof.census.as_ref();
    let shown = Shown {
        object: fetched.meta.clone(),
        label: args.label.clone(),
        at: chosen.at.clone(),
        of: look.chosen_at(&chosen).await,
        sha256: proof.sha256.clone(),
        verdict: proof.verdict(),
        state: judgement.state,
        sidecar: SidecarRow::new(&look.seen),
        rows: proof.rows(),
        apps: census.map(|census| census.apps.clone()).unwrap_or_default(),
        box_scoped: census.map(|census| census.box_scoped.clone()).unwrap_or_default(),
        findings,
        as_of,
    };
    context.answer(&shown, as_of)?;
    Ok(Exit::Done)
}

/// What a selector means, fetched and proved: the one object, or for `good` the first candidate that proves.
///
/// # Errors
/// Not found when no candidate proves; else the store's.
pub async fn resolve<L: Landing>(
    context: &mut Context<'_>,
    look: &Look,
    selector: &Selector,
    as_of: Timestamp,
    land: impl Fn() -> Result<L, CommandError>,
) -> Result<(Chosen, Fetched<L>, Proof), CommandError> {
    let candidates = select(&look.seen, selector, as_of)?;
    let must_prove = *selector == Selector::Good;
    let mut last = None;
    for chosen in candidates {
        // Which one `good` means is known only when it has proved.
        if !must_prove {
            context.say(&chosen.line());
        }
        let progress = context.progress_bytes(&chosen.at, chosen.bytes());
        let expected = look.expected(&chosen, &context.settings.default_account);
        let (fetched, mut proof) = fetch_and_prove(look.store.as_ref(), &chosen, expected, land()?, Some(&progress)).await?;
        proof.findings.extend(twin::compare(look, &chosen, &proof.sha256, as_of).await);
        finding::sort(&mut proof.findings);
        drop(progress);
        if must_prove && proof.verdict() == Verdict::Good {
            context.say(&chosen.line());
        }
        if !must_prove || proof.verdict() == Verdict::Good {
            return Ok((chosen, fetched, proof));
        }
        context.say(&format!("passed over {}: it does not prove", chosen.at));
        context.say_findings(&proof.findings);
        last = Some(chosen.at);
    }
    Err(CommandError::new(
        Exit::NotFound,
        format!("box {}: no snapshot proves, the last one tried was {}", look.seen.label, last.unwrap_or_default()),
    )
    .hint(format!("carlosctl snapshot verify --box {} --all-generations", look.seen.label)))
}

impl Answer for Shown {
    const SCHEMA: &'static str = "carlosctl.snapshot-show/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut table = Table::new(&["what", "value"], columns);
        table.row(["box", self.label.as_str()]);
        table.row(["chosen", &self.at]);
        table.row(["object", &self.object.key]);
        table.row(["etag", &self.object.etag]);
        table.row(["sha256", &self.sha256]);
        table.row(["size", &terminal::bytes(self.object.bytes)]);
        let of = self.of.map(|of| terminal::instant_and_age(of, self.as_of));
        table.row(["of", &of.unwrap_or_default()]);
        table.row(["written", &terminal::instant_and_age(self.object.last_modified, self.as_of)]);
        table.row(["sidecar", self.sidecar.status()]);
        // Of this object alone: whether the box is in order is another question, and a clobbered snapshot is a whole one.
        table.row(["content", &format!("{} by itself", self.verdict.word())]);
        table.row(["box state", &state_words(self.state, &self.findings)]);
        let mut text = table.to_string();
        push_counts(&mut text, "table", "rows", &self.rows, columns);
        push_apps(&mut text, &self.apps, columns);
        push_counts(&mut text, "box-scoped column", "rows that use it", &self.box_scoped, columns);
        if !self.findings.is_empty() {
            text.push('\n');
        }
        for finding in &self.findings {
            text.push_str(&finding_line(finding, columns));
            text.push('\n');
        }
        text
    }
}

fn push_counts(text: &mut String, name: &str, counted: &str, counts: &BTreeMap<String, u64>, columns: Option<u16>) {
    if counts.is_empty() {
        return;
    }
    let mut table = Table::new(&[name, counted], columns);
    for (name, count) in counts {
        table.row([name.as_str(), &count.to_string()]);
    }
    text.push('\n');
    text.push_str(&table.to_string());
}

/// Apps and how many hosts each has.
pub fn push_apps(text: &mut String, apps: &[AppHosts], columns: Option<u16>) {
    if apps.is_empty() {
        return;
    }
    let mut table = Table::new(&["account", "app", "hosts"], columns);
    for app in apps {
        table.row([app.account.as_str(), &app.app, &app.hosts.len().to_string()]);
    }
    text.push('\n');
    text.push_str(&table.to_string());
}
