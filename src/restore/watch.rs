//! `restore watch`: what the agent publishes after it was started is the proof that it runs on the restored registry.
//!
//! The agent's memory of what it last wrote starts with the sidecar's fingerprint (seed `seedSnapshotFingerprint`). Under the
//! dead box's own label a restored current has exactly that fingerprint, so silence is the proof and a new generation is an
//! alarm. Under a label of its own, or after an older rung was restored over a clobber, the agent writes a first snapshot,
//! which must have every restored route.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::cli::restore::WatchArgs;
use crate::context::{Answer, Context, finding_line};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{self, Code, Finding};
use crate::host::target::Target;
use crate::platform::{Label, Stamp};
use crate::registry::Census;
use crate::snapshot::{self, BoxEvidence, Chosen, Expected, Private, Selector, SidecarRead, Source, Verdict, fetch_and_prove};
use crate::store::ObjectMeta;
use crate::terminal::{self, Paper};

use super::gather::look_at_target;
use super::last::{self, Last};

#[derive(Debug, Serialize)]
struct Watched {
    from_box: Label,
    this_box: Label,
    restored_at: Timestamp,
    /// Whether the agent published what it must, and nothing else.
    verdict: Verdict,
    findings: Vec<Finding>,
}

/// What the receipt beside the registry says.
struct Restored {
    from_box: Label,
    this_box: Label,
    at: Timestamp,
    /// The object that was installed; none when it was a file.
    object: Option<ObjectMeta>,
    routes: u64,
    /// Whether the bucket's sidecar describes what was restored, so that the agent has nothing to write.
    expects_silence: bool,
}

/// Runs the command.
///
/// # Errors
/// Not found without a receipt; usage when it does not name both boxes; the store's.
pub(super) async fn run(args: &WatchArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let target = look_at_target(context).await?;
    let restored = last_restore(&target)?;
    let started = context.now();
    let end = started + SignedDuration::try_from(args.window).unwrap_or(SignedDuration::MAX);
    context.say(&format!(
        "watching what {} publishes after the restore of {} ({}) at {}, for {} at most: until {}; Ctrl-C ends it, and nothing is changed",
        restored.this_box,
        restored.from_box,
        terminal::count(restored.routes, "route"),
        terminal::instant(restored.at),
        terminal::age(end.duration_since(started).as_secs()),
        terminal::instant(end)
    ));
    let findings = loop {
        let seen = snapshot::look(context, &restored.this_box, &[&Selector::File(PathBuf::new())]).await?;
        let concluded = if restored.expects_silence {
            alarm(&restored, &seen.seen)
        } else {
            first_snapshot(&restored, &seen, context).await?
        };
        if let Some(findings) = concluded {
            break findings;
        }
        let now = context.now();
        if now >= end {
            break at_the_end(&restored, args);
        }
        let left = end.duration_since(now);
        let until = format!("waiting for {}, {} left", restored.this_box, terminal::age(left.as_secs()));
        let _progress = context.progress_waiting(&until);
        tokio::time::sleep(args.interval.min(left.unsigned_abs())).await;
    };
    conclude(restored, findings, context)
}

fn conclude(restored: Restored, mut findings: Vec<Finding>, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    finding::sort(&mut findings);
    let verdict = Verdict::of(&findings);
    let watched =
        Watched { from_box: restored.from_box, this_box: restored.this_box, restored_at: restored.at, verdict, findings };
    let now = context.now();
    context.answer(&watched, now)?;
    Ok(if verdict == Verdict::Good { Exit::Done } else { Exit::Found })
}

/// Under the same label: anything new is an alarm.
fn alarm(restored: &Restored, seen: &BoxEvidence) -> Option<Vec<Finding>> {
    let new = seen
        .generations
        .first()
        .filter(|generation| generation.object.last_modified > restored.at && generation.stamp > Stamp::at(restored.at));
    let sidecar = match &seen.sidecar {
        SidecarRead::Read(sidecar) => sidecar.created_at.filter(|created_at| *created_at > restored.at),
        _ => None,
    };
    let what = match (new, sidecar) {
        (Some(generation), _) => format!("{} was written", generation.object.key),
        (None, Some(created_at)) => format!("its sidecar is of {}", terminal::instant(created_at)),
        (None, None) => return None,
    };
    let because = format!("{what} after the restore: the agent does not run on what was restored");
    Some(vec![
        Finding::blocking(Code::UnexpectedSnapshot, restored.this_box.as_str(), because)
            .hint(format!("stop the agent, and hold what it wrote: carlosctl snapshot hold --box {}", restored.this_box)),
    ])
}

/// Under a label of its own: the first snapshot after the restore must have every restored host.
async fn first_snapshot(
    restored: &Restored,
    look: &snapshot::Look,
    context: &Context<'_>,
) -> Result<Option<Vec<Finding>>, CommandError> {
    let written = look.seen.current.as_ref().filter(|current| current.last_modified > restored.at);
    let Some(current) = written else { return Ok(None) };
    let published = census(look, current, context).await?;
    let baseline = match &restored.object {
        Some(object) => census(look, object, context).await.ok().flatten(),
        None => None,
    };
    let subject = restored.this_box.as_str();
    let Some(published) = published else {
        return Ok(Some(vec![Finding::blocking(
            Code::RestoredRowsMissing,
            subject,
            format!("{} is no readable registry", current.key),
        )]));
    };
    let missing = missing(restored, baseline.as_ref(), &published);
    Ok(Some(match missing {
        Some(because) => vec![
            Finding::blocking(Code::RestoredRowsMissing, subject, format!("{}: {because}", current.key))
                .hint("stop the agent; the registry it runs on is not the restored one"),
        ],
        None => Vec::new(),
    }))
}

/// What the published registry lacks. The restored object itself is compared where it is still there, else the counts.
fn missing(restored: &Restored, baseline: Option<&Census>, published: &Census) -> Option<String> {
    let Some(baseline) = baseline else {
        return (published.routes < restored.routes).then(|| {
            format!("it has {} of the {} that were restored", terminal::count(published.routes, "route"), restored.routes)
        });
    };
    let there = published.hosts();
    let lost: BTreeSet<&str> = baseline.hosts().difference(&there).copied().collect();
    let first = lost.first()?;
    Some(format!("it lacks {} of those that were restored, {first} for one", terminal::count(lost.len() as u64, "host")))
}

async fn census(look: &snapshot::Look, object: &ObjectMeta, context: &Context<'_>) -> Result<Option<Census>, CommandError> {
    let chosen = Chosen { at: object.key.clone(), source: Source::Object(object.clone()), because: String::new() };
    let expected =
        Expected { subject: object.key.clone(), sidecar: None, default_account: context.settings.default_account.clone() };
    let (fetched, proof) = fetch_and_prove(look.store.as_ref(), &chosen, expected, Private::create()?, None).await?;
    // Another object under the key by now is no baseline.
    Ok(proof.census.filter(|_| fetched.meta.etag == object.etag))
}

/// Nothing came: the proof under the same label, and not known under another.
fn at_the_end(restored: &Restored, args: &WatchArgs) -> Vec<Finding> {
    if restored.expects_silence {
        return Vec::new();
    }
    let watched = SignedDuration::try_from(args.window).unwrap_or_default().as_secs();
    vec![
        Finding::blocking(
            Code::NotRead,
            restored.this_box.as_str(),
            format!("it published no snapshot within {}, so nothing is proved", terminal::age(watched)),
        )
        .hint("is the agent started, and has it the right store? then watch again: carlosctl restore watch"),
    ]
}

/// The last restore of this registry, unless it was taken back.
fn last_restore(target: &Target) -> Result<Restored, CommandError> {
    let path = target.path.display();
    match last::last(target)? {
        Some(Last::Restored(restored)) => watchable(restored).ok_or_else(|| {
            CommandError::new(
                Exit::Refused,
                format!("{path}: the receipt beside it lacks a label or a count; nothing was watched"),
            )
        }),
        Some(Last::TakenBack { at, receipt, was }) => {
            let what = was.as_ref().map_or_else(
                || "the last restore".to_owned(),
                |was| format!("the restore of {} at {}", was.from_box, terminal::instant(was.at)),
            );
            let because = format!(
                "{path}: {what} was taken back at {} (receipt {receipt}); there is nothing to prove",
                terminal::instant(at)
            );
            let error = CommandError::new(Exit::NotFound, because);
            Err(was.iter().fold(error, |error, was| error.hint(format!("to restore again: {}", was.again()))))
        }
        None => Err(CommandError::new(
            Exit::NotFound,
            format!("{path}: no receipt of a restore beside it; there is nothing to prove"),
        )
        .hint("to restore: carlosctl restore --from-box LABEL")),
    }
}

fn watchable(restored: last::Restored) -> Option<Restored> {
    let expects_silence = restored.same_label() && restored.chosen == "current";
    let last::Restored { from_box, this_box, at, object, routes, .. } = restored;
    Some(Restored { from_box, this_box: this_box?, at, object, routes: routes?, expects_silence })
}

impl Answer for Watched {
    const SCHEMA: &'static str = "carlosctl.restore-watch/1";

    fn text(&self, Paper { columns, .. }: Paper) -> String {
        let mut text =
            format!("{} after the restore of {}: {}\n", self.this_box, self.from_box, terminal::state(self.verdict.word()));
        for finding in &self.findings {
            text.push_str(&finding_line(finding, columns));
            text.push('\n');
        }
        text
    }
}
