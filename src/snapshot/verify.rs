//! `snapshot verify`: downloads and proves, and ends with a verdict a box.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::Semaphore;

use super::evidence::BoxEvidence;
use super::gather::{Reports, Scope, gather};
use super::judge::judge;
use super::landing::Private;
use super::look::{Look, must_exist};
use super::proof::{Proof, Reference, Verdict, fetch_and_prove};
use super::select::{Chosen, Source, neighbours};
use super::twin;
use crate::cli::snapshot::VerifyArgs;
use crate::context::{Answer, Context, finding_line};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding};
use crate::platform::Label;
use crate::store::{ObjectMeta, ReadStore};
use crate::terminal::{self, Bars, Paper, Progress, Table};

/// How many snapshots are on the local disk at once, or on their way to it.
const PROVED_AT_ONCE: usize = 32;
/// Of how many boxes they may be: enough that there are always as many, also while some boxes wait for their last answer.
const BOXES_AT_ONCE: usize = 8;

#[derive(Debug, Serialize)]
struct Verified {
    store: String,
    boxes: Vec<BoxVerdict>,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct BoxVerdict {
    #[serde(rename = "box")]
    label: Label,
    verdict: Verdict,
    objects: Vec<ObjectVerdict>,
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
struct ObjectVerdict {
    #[serde(flatten)]
    object: ObjectMeta,
    at: String,
    verdict: Verdict,
    sha256: Option<String>,
    rows: BTreeMap<String, u64>,
    findings: Vec<Finding>,
}

/// One object, fetched and proved, or not.
struct Proved {
    chosen: Chosen,
    /// Whether it was asked for, or only serves to compare.
    asked: bool,
    meta: Option<ObjectMeta>,
    proof: Option<Proof>,
    findings: Vec<Finding>,
}

/// Runs the command.
///
/// # Errors
/// When the listings could not be read whole, or a named box does not exist.
pub(super) async fn run(args: &VerifyArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of = args.as_of.as_of.unwrap_or_else(|| context.now());
    let store = context.deployment().await?;
    let progress = context.progress_listing();
    let mut scene = look_at(&store, &args.boxes, context).await?;
    drop(progress);
    must_exist(store.as_ref(), &scene, &args.boxes).await?;
    let total = scene
        .boxes
        .values()
        .flat_map(|seen| targets(seen, args.all_generations, as_of))
        .map(|(chosen, _)| chosen.bytes())
        .sum();
    let progress = context.progress_bytes(&format!("proving {}", terminal::count(scene.boxes.len() as u64, "box")), total);
    let boxes: Vec<BoxVerdict> = {
        let turns = Semaphore::new(context.settings.concurrency.min(PROVED_AT_ONCE));
        let prover = Prover { store: &store, context, progress: &progress, turns: &turns, all: args.all_generations, as_of };
        stream::iter(std::mem::take(&mut scene.boxes).into_values())
            .map(|seen| prover.verify_box(seen))
            .buffered(BOXES_AT_ONCE)
            .try_collect()
            .await?
    };
    drop(progress);
    let all_good = !boxes.is_empty() && boxes.iter().all(|verified| verified.verdict == Verdict::Good);
    context.answer(&Verified { store: store.describe(), boxes, findings: scene.findings }, as_of)?;
    Ok(if all_good { Exit::Done } else { Exit::Found })
}

async fn look_at(store: &Arc<dyn ReadStore>, boxes: &[Label], context: &Context<'_>) -> Result<super::Scene, CommandError> {
    let status = context.status_store().await?.unwrap_or_else(|| Arc::clone(store));
    let reports = Reports { store: status.as_ref(), prefix: &context.settings.status_prefix };
    let scope = Scope { boxes: boxes.to_vec(), concurrency: context.settings.concurrency, ..Scope::default() };
    Ok(gather(store.as_ref(), &reports, &scope).await?)
}

/// What proving needs, of every box.
struct Prover<'a> {
    store: &'a Arc<dyn ReadStore>,
    context: &'a Context<'a>,
    progress: &'a Progress,
    turns: &'a Semaphore,
    all: bool,
    as_of: Timestamp,
}

impl Prover<'_> {
    /// Proves one box; looks once more when it changed meanwhile, and calls it still writing when it changed again.
    async fn verify_box(&self, seen: BoxEvidence) -> Result<BoxVerdict, CommandError> {
        let look = Look { store: Arc::clone(self.store), seen };
        let proved = self.prove_box(&look).await;
        if !changed(&look, &proved).await {
            return Ok(conclude(&look.seen, proved, self.as_of, None));
        }
        let label = look.seen.label.clone();
        let mut scene = look_at(self.store, std::slice::from_ref(&label), self.context).await?;
        let seen = scene.boxes.remove(&label).unwrap_or_else(|| BoxEvidence::new(label));
        let look = Look { store: Arc::clone(self.store), seen };
        let proved = self.prove_box(&look).await;
        let still = changed(&look, &proved).await.then(|| {
            Finding::blocking(
                Code::StillWriting,
                look.seen.label.as_str(),
                "its snapshot changed twice while it was read: the box is not dead",
            )
        });
        Ok(conclude(&look.seen, proved, self.as_of, still))
    }

    async fn prove_box(&self, look: &Look) -> Vec<Proved> {
        stream::iter(targets(&look.seen, self.all, self.as_of))
            .map(|(chosen, asked)| async move {
                match self.prove_one(look, &chosen).await {
                    Ok((meta, proof)) => {
                        Proved { meta: Some(meta), findings: proof.findings.clone(), proof: Some(proof), chosen, asked }
                    }
                    Err(error) => {
                        let finding = Finding::blocking(Code::NotRead, chosen.source.name(), error.message);
                        Proved { chosen, asked, meta: None, proof: None, findings: vec![finding] }
                    }
                }
            })
            .buffered(PROVED_AT_ONCE)
            .collect()
            .await
    }

    /// Proves one object; its copy is gone again afterwards.
    async fn prove_one(&self, look: &Look, chosen: &Chosen) -> Result<(ObjectMeta, Proof), CommandError> {
        // Never closed; were it, nothing would be the worse for one more at once.
        let _turn = self.turns.acquire().await.ok();
        let expected = look.expected(chosen, &self.context.settings.default_account);
        let store = look.store.as_ref();
        let (fetched, proof) = fetch_and_prove(store, chosen, expected, Private::create()?, Some(self.progress)).await?;
        Ok((fetched.meta, proof))
    }
}

/// What is fetched, newest first: current and what it is compared with, or everything.
fn targets(seen: &BoxEvidence, all: bool, as_of: Timestamp) -> Vec<(Chosen, bool)> {
    let current = seen.current.as_ref().map(|current| Chosen {
        at: "current".to_owned(),
        source: Source::Object(current.clone()),
        because: "to be proved".to_owned(),
    });
    // The generation of current's own pass serves to compare bytes when listings cannot tell; rows are compared with the ones
    // that a restore compares them with.
    let twin = twin::doubtful_twin(seen).map(|generation| generation.stamp);
    let compared = current.as_ref().map(|current| neighbours(seen, current, as_of)).unwrap_or_default();
    let mut targets: Vec<(Chosen, bool)> = current.into_iter().map(|current| (current, true)).collect();
    for generation in &seen.generations {
        let at = generation.stamp.to_string();
        if all || Some(generation.stamp) == twin || compared.iter().any(|older| older.at == at) {
            let chosen = Chosen { at, source: Source::Object(generation.object.clone()), because: "to be proved".to_owned() };
            targets.push((chosen, all));
        }
    }
    targets
}

/// Whether anything is no longer as it was listed.
async fn changed(look: &Look, proved: &[Proved]) -> bool {
    let moved = proved.iter().any(|proved| match (&proved.meta, proved.chosen.source.object()) {
        (Some(read), Some(listed)) => read.etag != listed.etag || read.bytes != listed.bytes,
        _ => false,
    });
    // A sidecar that cannot be read again has its own finding.
    moved || look.sidecar_changed().await.unwrap_or(false)
}

/// Compares what was proved with its neighbours, and gives the verdict.
fn conclude(seen: &BoxEvidence, mut proved: Vec<Proved>, as_of: Timestamp, still: Option<Finding>) -> BoxVerdict {
    compare_with_older(seen, &mut proved);
    let mut findings = judge(seen, as_of).findings;
    compare_with_twin(seen, &findings, &mut proved);
    findings.extend(still);
    finding::sort(&mut findings);
    let objects: Vec<ObjectVerdict> = proved.into_iter().filter(|proved| proved.asked).filter_map(object_verdict).collect();
    let worst = objects.iter().map(|object| object.verdict).max().unwrap_or(Verdict::Unknown);
    BoxVerdict { label: seen.label.clone(), verdict: worst.max(Verdict::of(&findings)), objects, findings }
}

fn object_verdict(proved: Proved) -> Option<ObjectVerdict> {
    let mut findings = proved.findings;
    finding::sort(&mut findings);
    Some(ObjectVerdict {
        object: proved.meta.or_else(|| proved.chosen.source.object().cloned())?,
        at: proved.chosen.at,
        verdict: Verdict::of(&findings),
        sha256: proved.proof.as_ref().map(|proof| proof.sha256.clone()),
        rows: proved.proof.as_ref().map(Proof::rows).unwrap_or_default(),
        findings,
    })
}

/// Walks from the oldest: each is compared with the last one that did not collapse.
fn compare_with_older(seen: &BoxEvidence, proved: &mut [Proved]) {
    let mut reference = Reference::default();
    let mut collapsed = Vec::new();
    for (place, proved) in proved.iter().enumerate().rev() {
        let Some(census) = proved.proof.as_ref().and_then(|proof| proof.census.as_ref()) else { continue };
        if let Err((because, older_at)) = reference.step(&proved.chosen.at, census) {
            let found = Finding::blocking(Code::RowsCollapsed, proved.chosen.source.name(), because);
            collapsed.push((place, found.hint(older_hint(seen, older_at))));
        }
    }
    for (place, found) in collapsed {
        proved[place].findings.push(found);
    }
}

/// What to do where an older one is to be taken instead: hold it before it is pruned, and once that is done, take it.
fn older_hint(seen: &BoxEvidence, older_at: &str) -> String {
    let label = &seen.label;
    let older = older_at.parse().ok().and_then(|stamp| seen.generation(stamp));
    match older.and_then(|older| seen.hold_of(std::slice::from_ref(older))) {
        Some(hold) => {
            format!(
                "{older_at} is safe in hold {hold}; take that one: carlosctl restore --from-box {label} --at hold:{hold}/{older_at}"
            )
        }
        None => format!("take {older_at}, but first hold what there is: carlosctl snapshot hold --box {label}"),
    }
}

/// Current and the generation of its own pass are one content. Where a pass was cut short, the listing has said so.
fn compare_with_twin(seen: &BoxEvidence, findings: &[Finding], proved: &mut [Proved]) {
    let Some(generation) = twin::doubtful_twin(seen).map(|generation| generation.stamp.to_string()) else { return };
    let sha = |at: &str| proved.iter().find(|proved| proved.chosen.at == at)?.proof.as_ref().map(|proof| proof.sha256.clone());
    let (Some(one), Some(other)) = (sha("current"), sha(&generation)) else { return };
    if one == other || findings.iter().any(|found| found.code == Code::TornPair) {
        return;
    }
    for proved in proved {
        let other = match proved.chosen.at.as_str() {
            "current" => format!("generation {generation}"),
            at if at == generation => "current".to_owned(),
            _ => continue,
        };
        proved.findings.push(twin::differs(&proved.chosen.source.name(), &other));
    }
}

impl Answer for Verified {
    const SCHEMA: &'static str = "carlosctl.snapshot-verify/1";

    fn text(&self, paper: Paper) -> String {
        let columns = paper.columns;
        if self.boxes.is_empty() {
            return format!("no box has a snapshot in {}\n", terminal::escape(&self.store));
        }
        let mut table = Table::new(&["box", "snapshot", "size", "routes", "sha256", "verdict"], columns).with_states("verdict");
        for verified in &self.boxes {
            let (sizes, routes) = (SIZES.bars(&self.boxes, verified, paper), ROUTES.bars(&self.boxes, verified, paper));
            for object in &verified.objects {
                table.row([
                    verified.label.as_str(),
                    &object.at,
                    &SIZES.cell(object, sizes),
                    &ROUTES.cell(object, routes),
                    object.sha256.as_deref().map_or("", |sha256| &sha256[..12]),
                    object.verdict.word(),
                ]);
            }
        }
        let mut text = table.to_string();
        for verified in &self.boxes {
            text.push_str(&format!("\nbox {}: {}\n", verified.label, terminal::state(verified.verdict.word())));
            for finding in verified.findings.iter().chain(verified.objects.iter().flat_map(|object| &object.findings)) {
                text.push_str(&finding_line(finding, columns));
                text.push('\n');
            }
        }
        for finding in &self.findings {
            text.push_str(&format!("\n{}\n", finding_line(finding, columns)));
        }
        text
    }
}

/// A column of numbers that are compared within a box.
struct Column {
    number: fn(&ObjectVerdict) -> Option<u64>,
    shown: fn(u64) -> String,
}

const SIZES: Column = Column { number: |object| Some(object.object.bytes), shown: terminal::bytes };
const ROUTES: Column = Column { number: |object| object.rows.get("routes").copied(), shown: |routes| routes.to_string() };

impl Column {
    /// The bars of one box; none where there is nothing to compare. Numbers stand under each other in all boxes.
    fn bars(&self, boxes: &[BoxVerdict], verified: &BoxVerdict, paper: Paper) -> Option<Bars> {
        let all = boxes.iter().flat_map(|verified| &verified.objects).filter_map(self.number);
        let digits = all.map(|number| (self.shown)(number).len()).max().unwrap_or_default();
        let whole = verified.objects.iter().filter_map(self.number).max()?;
        let cells = if paper.columns.is_some_and(|columns| columns >= 100) { 10 } else { 4 };
        (verified.objects.len() > 1).then_some(Bars { whole, digits, cells, unicode: paper.unicode })
    }

    fn cell(&self, object: &ObjectVerdict, bars: Option<Bars>) -> String {
        match ((self.number)(object), bars) {
            (Some(number), Some(bars)) => bars.cell(number, &(self.shown)(number)),
            (Some(number), None) => (self.shown)(number),
            (None, _) => String::new(),
        }
    }
}
