//! What the deployment store has to say.

use super::{excess, expiry, not_known, not_ready, ready};
use crate::doctor::evidence::{Candidate, Evidence, Permissions, Store, StoreFacts, Versions};
use crate::finding::{Code, Finding};
use crate::platform::keys;
use crate::snapshot::CLOCK_TOLERANCE;
use crate::store::{Capabilities, StoreError};
use crate::terminal;

const SUBJECT: &str = "deployment store";
/// How many labels are offered.
const LABELS_OFFERED: usize = 12;

/// Everything about the store.
pub(super) fn deployment(evidence: &Evidence, checks: &mut Vec<Finding>) {
    match &evidence.store {
        Store::NotNamed => checks.push(
            not_ready(SUBJECT, "none is named, so nothing in it could be looked at; what follows is this machine alone")
                .hint("give --bucket NAME or --dir PATH, or set CARLOS_DEPLOYMENT_BUCKET or CARLOS_DEPLOYMENT_DIR"),
        ),
        Store::Closed { because, hint } => {
            let mut found = not_ready(SUBJECT, because);
            found.hint.clone_from(hint);
            checks.push(found);
        }
        Store::Open(facts) => open(facts, evidence.read_only, checks),
    }
}

fn open(facts: &StoreFacts, read_only: bool, checks: &mut Vec<Finding>) {
    match &facts.listed {
        Err(error) => {
            checks.push(refused(SUBJECT, &format!("{} does not list", facts.name), error));
            return;
        }
        Ok(0) => checks.push(
            not_ready(SUBJECT, format!("{} answers, and no box has a current snapshot in it", facts.name))
                .hint("check --bucket or --dir; generations and holds, if there are any: carlosctl snapshot list"),
        ),
        Ok(boxes) => checks.push(ready(
            SUBJECT,
            format!(
                "{} answers; {} a current snapshot",
                facts.name,
                if *boxes == 1 { "1 box has".to_owned() } else { format!("{boxes} boxes have") }
            ),
        )),
    }
    match &facts.generations_listed {
        Ok(()) => checks.push(ready("permission to list", "snapshots and generations are listed")),
        Err(error) => checks.push(refused("permission to list", &format!("{} does not list", keys::GENERATIONS), error)),
    }
    if let Some(largest) = &facts.largest {
        checks.push(match &largest.readable {
            Ok(()) => ready("permission to read", format!("{} is read", largest.key)),
            Err(error) => refused("permission to read", &format!("{} is not read", largest.key), error),
        });
    }
    writing(&facts.permissions, read_only, checks);
    excess::powers(&facts.powers, read_only, checks);
    versions(&facts.versions, checks);
    expiry::rules(&facts.expiry, checks);
    clock(facts.clock_ahead_seconds, checks);
    match &facts.reports {
        Some(Ok(0)) => checks.push(
            Finding::warning(
                Code::DeadBoxReporting,
                "box reports",
                "none is there, so a restore cannot tell whether the dead box still reports".to_owned(),
            )
            .hint("name the store that boxes report to: --status-bucket or --status-dir"),
        ),
        Some(Ok(reports)) => {
            checks.push(ready("box reports", format!("{} listed", terminal::count(*reports as u64, "report"))));
        }
        Some(Err(because)) => checks.push(
            Finding::warning(
                Code::NotRead,
                "box reports",
                format!("not listed, so a restore cannot tell whether the dead box still reports: {because}"),
            )
            .hint("check --status-bucket or --status-dir, and the permission to list there"),
        ),
        None => checks.push(ready("box reports", "no status store is named; the deployment directory itself is looked at")),
    }
}

/// A store's refusal as a check: clocks have a code of their own.
fn refused(subject: &str, what: &str, error: &StoreError) -> Finding {
    let because = format!("{what}: {error}");
    let mut found = match error {
        StoreError::ClockSkew { .. } => Finding::blocking(Code::ClockSkew, "clock", because),
        _ => not_ready(subject, because),
    };
    found.hint = error.hints().into_iter().next();
    if matches!(error, StoreError::Denied { .. }) {
        // Its own hint names this command.
        found.hint = Some("allow this identity to list and read the whole of control/".to_owned());
    }
    found
}

fn writing(permissions: &Permissions, read_only: bool, checks: &mut Vec<Finding>) {
    const SUBJECT: &str = "permission to write";
    match permissions {
        Permissions::NotTried if read_only => checks.push(
            not_known(SUBJECT, "not tried (--read-only), so it is not known whether a receipt or a hold can be written")
                .hint("without --read-only it is tried: carlosctl doctor"),
        ),
        Permissions::NotTried => checks.push(not_known(SUBJECT, "not tried, because the store does not open for writing")),
        Permissions::Tried(Ok(capabilities)) => able(capabilities, checks),
        Permissions::Tried(Err(error)) => {
            let mut found = not_ready(SUBJECT, format!("no receipt and no hold could be written: {error}"));
            found.hint = Some(match error {
                StoreError::Denied { .. } => format!(
                    "allow this identity to put and delete below control/carlosctl/; an object may be left below {}",
                    keys::PROBES
                ),
                error => error.hints().into_iter().next().unwrap_or_else(|| "look at what the store said".to_owned()),
            });
            checks.push(found);
        }
    }
}

fn able(capabilities: &Capabilities, checks: &mut Vec<Finding>) {
    if capabilities.create_only {
        checks.push(ready(
            "permission to write",
            "a scratch object was written and removed; a create never overwrites (If-None-Match)",
        ));
    } else {
        checks.push(
            not_ready(
                "conditional writes",
                "this store lets a create overwrite (If-None-Match), so receipts and holds are refused",
            )
            .hint("use a store, or a version of it, that enforces If-None-Match"),
        );
    }
    for (there, what, needs) in [
        (capabilities.replace_if, "a replacement of exactly one etag (If-Match)", "box snapshot"),
        (capabilities.delete_if, "a deletion of exactly one etag (If-Match)", "a retention run that deletes by etag"),
    ] {
        checks.push(if there {
            ready("conditional writes", format!("{what} is enforced"))
        } else {
            Finding::warning(
                Code::NotReady,
                "conditional writes",
                format!("{what} is not enforced; a restore does not need it, {needs} does"),
            )
            .hint("nothing for a restore")
        });
    }
}

fn versions(versions: &Versions, checks: &mut Vec<Finding>) {
    const SUBJECT: &str = "versioning";
    checks.push(match versions {
        Versions::Kept => ready(SUBJECT, "overwritten objects are kept as older versions"),
        Versions::NotKept => Finding::warning(
            Code::NotReady,
            SUBJECT,
            "overwritten objects are not kept: after a clobber, generations and holds are all there is",
        )
        .hint("turn on versioning for the bucket, with a lifecycle rule that keeps old versions for a month or longer"),
        Versions::Unsupported => ready(SUBJECT, "this kind of store keeps no versions; generations and holds are all there is"),
        Versions::Unknown(because) => Finding::warning(Code::NotRead, SUBJECT, format!("not known: {because}"))
            .hint("allow this identity to list versions, for snapshot list --all-versions"),
    });
}

fn clock(ahead_seconds: Option<i64>, checks: &mut Vec<Finding>) {
    checks.push(match ahead_seconds {
        None => not_known("clock", "the store's answers carried no time, so the clocks could not be compared")
            .hint("compare it with the Date of any answer of the store: date -u"),
        Some(ahead) => {
            let apart = terminal::age(ahead.saturating_abs());
            let direction = if ahead < 0 { "behind" } else { "ahead of" };
            let because = format!("the store's clock is {apart} {direction} this machine's");
            if ahead.unsigned_abs() > CLOCK_TOLERANCE.as_secs().unsigned_abs() {
                Finding::blocking(Code::ClockSkew, "clock", because)
                    .hint("set this machine's clock, and then look at it: timedatectl")
            } else {
                ready("clock", because)
            }
        }
    });
}

/// Whether it is known who we are, and whether we have published already.
pub(super) fn label(evidence: &Evidence, checks: &mut Vec<Finding>) {
    const SUBJECT: &str = "own label";
    let facts = evidence.store.facts();
    let Some(own) = &evidence.this_box else {
        let offered = offered(facts.map(|facts| facts.candidates.as_slice()).unwrap_or_default());
        checks.push(
            Finding::blocking(Code::OwnLabelUnknown, SUBJECT, "neither --this-box nor CARLOS_BOX_LABEL is set")
                .hint(format!("give --this-box LABEL, this machine's own and not the dead box's{offered}")),
        );
        return;
    };
    let published = match facts.map(|facts| &facts.own) {
        None => &[][..],
        Some(Ok(published)) => published.as_slice(),
        Some(Err(because)) => {
            let because = format!("{own}; whether something was published under it is not known: {because}");
            checks.push(not_known(SUBJECT, because));
            return;
        }
    };
    if published.is_empty() {
        checks.push(ready(SUBJECT, format!("{own}{}", if facts.is_some() { "; nothing was published under it" } else { "" })));
        return;
    }
    let keys: Vec<&str> = published.iter().map(|published| published.key.as_str()).collect();
    checks.push(
        Finding::blocking(
            Code::BoxAlreadyPublished,
            own.as_str(),
            format!("{} is there under this box's own label: its agent has run, so it is no cold standby", keys.join(", ")),
        )
        .hint("for a rebuilt box: restore --same-label; else check --this-box, or restore with --allow box-already-published"),
    );
}

fn offered(candidates: &[Candidate]) -> String {
    if candidates.is_empty() {
        return String::new();
    }
    let name = |candidate: &Candidate| {
        let known = match (candidate.edges_record, candidate.current_snapshot) {
            (true, true) => "record, snapshot",
            (true, false) => "record",
            (false, _) => "snapshot",
        };
        format!("{} ({known})", candidate.label)
    };
    let names: Vec<String> = candidates.iter().take(LABELS_OFFERED).map(name).collect();
    let more = candidates.len().saturating_sub(LABELS_OFFERED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; the store knows {}{more}", names.join(", "))
}
