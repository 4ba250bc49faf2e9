//! `snapshot list`: one row a box, and one a generation.

mod timeline;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join;
use jiff::Timestamp;
use serde::Serialize;

use super::evidence::{BoxEvidence, LastDrill, Scene, SidecarRead};
use super::gather::{Reports, Scope, gather, last_drills};
use super::judge::{Judgement, Rung, State, judge, rung_at};
use super::versions::{Version, versions};
use crate::cli::snapshot::ListArgs;
use crate::context::{Answer, Context, finding_line};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Code, Finding, Severity};
use crate::platform::{Label, Stamp, keys};
use crate::store::ObjectMeta;
use crate::terminal::{self, Paper, Table};

/// Up to this many boxes are listed with their generations when no box was named.
const BOXES_IN_DETAIL: usize = 8;

/// The answer.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    /// Whose view this is.
    store: String,
    boxes: Vec<BoxRow>,
    legacy: Vec<ObjectMeta>,
    unrecognized: Vec<Unrecognized>,
    findings: Vec<Finding>,
    #[serde(skip)]
    as_of: Timestamp,
    #[serde(skip)]
    in_detail: bool,
}

#[derive(Debug, Serialize)]
struct Unrecognized {
    key: String,
}

#[derive(Debug, Serialize)]
struct BoxRow {
    #[serde(rename = "box")]
    label: Label,
    state: State,
    last_good: Option<String>,
    last_good_at: Option<Timestamp>,
    current: Option<ObjectMeta>,
    #[serde(skip)]
    current_at: Option<Timestamp>,
    sidecar: SidecarRow,
    generations: Vec<GenerationRow>,
    holds: Vec<HoldRow>,
    reported_at: Option<Timestamp>,
    last_drill: Option<LastDrill>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    versions: Vec<Version>,
    findings: Vec<Finding>,
}

/// What is said of a sidecar in every JSON document.
#[derive(Debug, Serialize)]
pub(super) struct SidecarRow {
    status: &'static str,
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

#[derive(Debug, Serialize)]
struct GenerationRow {
    #[serde(flatten)]
    object: ObjectMeta,
    stamp: Stamp,
    same_as_current: bool,
    flags: Vec<Code>,
}

#[derive(Debug, Serialize)]
struct HoldRow {
    hold: Stamp,
    objects: usize,
    bytes: u64,
    sealed: bool,
}

/// Runs the command.
///
/// # Errors
/// When the listings could not be read whole.
pub(super) async fn run(args: &ListArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = args.as_of.as_of.unwrap_or_else(|| context.now());
    let store = context.deployment().await?;
    let status = context.status_store().await?.unwrap_or_else(|| Arc::clone(&store));
    let reports = Reports { store: status.as_ref(), prefix: &context.settings.status_prefix.clone() };
    let scope = Scope {
        boxes: args.boxes.clone(),
        all_versions: args.all_versions,
        doubtful: false,
        concurrency: context.settings.concurrency,
    };
    let progress = context.progress_listing();
    let (scene, drills) = join(gather(store.as_ref(), &reports, &scope), last_drills(store.as_ref(), &scope)).await;
    drop(progress);
    let scene = with_drills(scene?, drills);
    super::must_exist(store.as_ref(), &scene, &args.boxes).await?;
    let in_detail = !args.boxes.is_empty() || scene.boxes.len() <= BOXES_IN_DETAIL;
    let unseen = unseen(&scene);
    context.answer(&listing(store.describe(), scene, as_of, in_detail), as_of)?;
    if unseen.is_empty() {
        return Ok(Exit::Done);
    }
    Err(CommandError::new(Exit::Partly, format!("not everything could be looked at: {}", unseen.join(", ")))
        .hint("the findings say why; what was seen is listed"))
}

/// What the store would not give. Where there is any, "no finding" does not mean "nothing is wrong".
fn unseen(scene: &Scene) -> Vec<String> {
    let sidecars = scene.boxes.values().filter(|seen| matches!(seen.sidecar, SidecarRead::NotRead { .. }));
    let mut unseen: Vec<String> = sidecars.map(|seen| keys::sidecar(&seen.label)).collect();
    if scene.boxes.values().any(|seen| seen.reports_unread.is_some()) {
        unseen.push("the box reports".to_owned());
    }
    unseen
}

fn with_drills(mut scene: Scene, drills: Result<BTreeMap<Label, LastDrill>, Finding>) -> Scene {
    match drills {
        Ok(drills) => {
            for (label, drill) in drills {
                if let Some(seen) = scene.boxes.get_mut(&label) {
                    seen.last_drill = Some(drill);
                }
            }
        }
        Err(finding) => scene.findings.push(finding),
    }
    scene
}

fn listing(store: String, scene: Scene, as_of: Timestamp, in_detail: bool) -> Listing {
    let mut findings = scene.findings;
    if let Some(object) = scene.legacy.first() {
        findings.push(Finding::note(
            Code::LegacySnapshot,
            object.key.clone(),
            "an abandoned snapshot from before boxes had keys of their own; it is never restored by default",
        ));
    }
    if let Some(object) = scene.unrecognized.first() {
        let more = scene.unrecognized.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let because = format!("among the snapshots, and none{more}: look who wrote it");
        findings.push(Finding::note(Code::UnrecognizedKey, object.key.clone(), because));
    }
    crate::finding::sort(&mut findings);
    Listing {
        store,
        boxes: scene.boxes.into_values().map(|seen| box_row(&seen, as_of)).collect(),
        legacy: scene.legacy,
        unrecognized: scene.unrecognized.into_iter().map(|object| Unrecognized { key: object.key }).collect(),
        findings,
        as_of,
        in_detail,
    }
}

fn box_row(seen: &BoxEvidence, as_of: Timestamp) -> BoxRow {
    let judgement = judge(seen, as_of);
    let (versions, version_findings) = versions(seen);
    let mut findings = judgement.findings.clone();
    findings.extend(version_findings);
    crate::finding::sort(&mut findings);
    BoxRow {
        label: seen.label.clone(),
        state: judgement.state,
        last_good: judgement.last_good.map(Rung::selector),
        last_good_at: judgement.last_good.and_then(|rung| rung_at(seen, rung)),
        current: seen.current.clone(),
        current_at: seen.current_at(),
        sidecar: SidecarRow::new(seen),
        generations: seen
            .generations
            .iter()
            .map(|generation| GenerationRow {
                object: generation.object.clone(),
                stamp: generation.stamp,
                same_as_current: seen.same_as_current(generation),
                flags: flags(&judgement, generation.stamp, generation.object.bytes),
            })
            .collect(),
        holds: seen
            .holds
            .iter()
            .map(|hold| HoldRow {
                hold: hold.stamp,
                objects: hold.objects.len(),
                bytes: hold.objects.iter().map(|object| object.bytes).sum(),
                sealed: hold.sealed,
            })
            .collect(),
        reported_at: seen.reported_at,
        last_drill: seen.last_drill.clone(),
        versions,
        findings,
    }
}

fn flags(judgement: &Judgement, stamp: Stamp, bytes: u64) -> Vec<Code> {
    let mut flags = Vec::new();
    if bytes == 0 {
        flags.push(Code::EmptyObject);
    }
    if judgement.collapsed.contains(&stamp) {
        flags.push(Code::SizeCollapsed);
    }
    if judgement.ahead.contains(&stamp) {
        flags.push(Code::StampAhead);
    }
    flags
}

impl SidecarRow {
    /// `ok`, `missing`, `unreadable` or `mismatch`.
    #[must_use]
    pub(super) fn status(&self) -> &'static str {
        self.status
    }

    /// The row of a box.
    #[must_use]
    pub(super) fn new(seen: &BoxEvidence) -> Self {
        let document = seen.sidecar.document();
        let status = match &seen.sidecar {
            SidecarRead::Missing | SidecarRead::Deleted => "missing",
            SidecarRead::Unreadable { .. } | SidecarRead::Version { .. } | SidecarRead::NotRead { .. } => "unreadable",
            SidecarRead::Read(sidecar) if sidecar.label == seen.label.as_str() => "ok",
            SidecarRead::Read(_) => "mismatch",
        };
        Self {
            status,
            label: document.map(|sidecar| sidecar.label.clone()),
            created_at: document.and_then(|sidecar| sidecar.created_at),
            bytes: document.map(|sidecar| sidecar.bytes),
            fingerprint: document.map(|sidecar| sidecar.fingerprint.clone()),
        }
    }
}

impl State {
    /// The word as it is shown.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Suspect => "suspect",
            Self::Bad => "bad",
        }
    }
}

impl Answer for Listing {
    const SCHEMA: &'static str = "carlosctl.snapshot-list/1";

    fn text(&self, paper: Paper) -> String {
        let columns = paper.columns;
        if self.boxes.is_empty() {
            let mut text = format!("no box has a snapshot in {}\n", terminal::escape(&self.store));
            self.push_rest(&mut text, columns);
            return text;
        }
        // These two come with the first report and the first drill.
        let reported = self.boxes.iter().any(|row| row.reported_at.is_some());
        let drilled = self.boxes.iter().any(|row| row.last_drill.is_some());
        let mut header = vec!["box", "last good", "age", "size", "generations", "state"];
        header.extend(reported.then_some("reported"));
        header.extend(drilled.then_some("last drill"));
        let mut table = Table::new(&header, columns).with_states("state");
        for row in &self.boxes {
            let mut cells = vec![
                row.label.to_string(),
                row.last_good.clone().unwrap_or_default(),
                row.last_good_at.map(|at| self.age(at)).unwrap_or_default(),
                row.last_good_bytes().map(terminal::bytes).unwrap_or_default(),
                row.generations.len().to_string(),
                state_words(row.state, &row.findings),
            ];
            if reported {
                cells.push(row.reported_at.map_or_else(|| "never".to_owned(), |at| self.ago(at)));
            }
            if drilled {
                cells.push(row.last_drill.as_ref().map(|drill| self.drill_words(drill)).unwrap_or_default());
            }
            table.row(&cells);
        }
        let mut text = table.to_string();
        for row in &self.boxes {
            if self.in_detail {
                self.push_detail(&mut text, row, paper);
            } else if !row.findings.is_empty() {
                text.push('\n');
                push_findings(&mut text, &row.findings, columns);
            }
        }
        if !self.in_detail {
            text.push_str("\none box in detail: carlosctl snapshot list --box LABEL\n");
        }
        self.push_rest(&mut text, columns);
        text
    }
}

impl BoxRow {
    fn last_good_bytes(&self) -> Option<u64> {
        match self.last_good.as_deref()? {
            "current" => self.current.as_ref().map(|object| object.bytes),
            stamp => self.generations.iter().find(|row| row.stamp.to_string() == stamp).map(|row| row.object.bytes),
        }
    }
}

/// The state with the codes that made it so, each once.
pub(super) fn state_words(state: State, findings: &[Finding]) -> String {
    let weighty = findings.iter().filter(|finding| finding.severity > Severity::Note);
    let codes: BTreeSet<&str> = weighty.map(|finding| finding.code.as_str()).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    if codes.is_empty() { state.word().to_owned() } else { format!("{}: {}", state.word(), codes.join(" ")) }
}

impl Listing {
    fn age(&self, at: Timestamp) -> String {
        terminal::age(self.as_of.duration_since(at).as_secs())
    }

    fn ago(&self, at: Timestamp) -> String {
        terminal::ago(self.as_of.duration_since(at).as_secs())
    }

    fn drill_words(&self, drill: &LastDrill) -> String {
        format!("{}, {}", drill.verdict, self.ago(drill.stamp.instant()))
    }

    fn push_detail(&self, text: &mut String, row: &BoxRow, paper: Paper) {
        let columns = paper.columns;
        text.push_str(&format!("\n{}\n", row.label));
        timeline::push(text, row, paper, |at| self.age(at));
        super::versions::push_table(text, &row.versions, self.as_of, columns);
        for hold in &row.holds {
            let sealed = if hold.sealed { "" } else { ", not sealed" };
            text.push_str(&format!(
                "  hold {}: {}, {}{sealed}\n",
                hold.hold,
                terminal::count(hold.objects as u64, "object"),
                terminal::bytes(hold.bytes)
            ));
        }
        push_findings(text, &row.findings, columns);
    }

    fn push_rest(&self, text: &mut String, columns: Option<u16>) {
        if !self.unrecognized.is_empty() {
            text.push_str("\nnot recognized\n");
            for object in &self.unrecognized {
                text.push_str(&format!("  {}\n", terminal::escape(&object.key)));
            }
        }
        if !self.findings.is_empty() {
            text.push('\n');
            push_findings(text, &self.findings, columns);
        }
    }
}

fn push_findings(text: &mut String, findings: &[Finding], columns: Option<u16>) {
    for finding in findings {
        text.push_str(&finding_line(finding, columns));
        text.push('\n');
    }
}
