//! What differs between what was shown and what is there now. Ages, words and the etags of reports do not count; what they
//! decide does.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::{AppPlan, Input, PlannedVersion};
use crate::retention::decision::{AppDecision, Citation};
use crate::store::ObjectMeta;

/// What differs in what is common to all apps.
pub(crate) fn fleet_drift(shown: &[Input], now: &[Input]) -> Vec<String> {
    inputs(shown, now)
}

/// What differs in one app.
pub(crate) fn app_drift(shown: &AppPlan, now: &AppPlan) -> Vec<String> {
    let name = shown.name();
    let mut drift = inputs(&shown.inputs, &now.inputs);
    let (before, after) = (essence(&shown.decision), essence(&now.decision));
    if before.status != after.status {
        drift.push(format!("{name} was {:?}, and is {:?}", before.status, after.status).to_lowercase());
    }
    if before.keep != after.keep {
        drift.push(format!("{name} kept {}, and keeps {}", word(before.keep), word(after.keep)));
    }
    for refusal in after.refusals.iter().filter(|refusal| !before.refusals.contains(refusal)) {
        drift.push(format!("{name} is refused now: {}: {}", refusal.code, refusal.subject));
    }
    for refusal in before.refusals.iter().filter(|refusal| !after.refusals.contains(refusal)) {
        drift.push(format!("{name} is no longer refused: {}: {}", refusal.code, refusal.subject));
    }
    drift.extend(versions(&before, &after));
    if before.hazards != after.hazards {
        drift.push(format!("{name}: what the passes of boxes would delete differs"));
    }
    drift.extend(victims(shown, now));
    // Whatever the sentences above do not tell apart is a difference all the same.
    if drift.is_empty() && before != after {
        drift.push(format!("{name}: the decision differs"));
    }
    drift
}

fn word<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| value.to_string())
}

/// The decision without what changes by itself.
fn essence(decision: &AppDecision) -> AppDecision {
    let mut essence = decision.clone();
    for refusal in &mut essence.refusals {
        refusal.because.clear();
        refusal.hint = None;
    }
    essence.refusals.dedup();
    for reason in essence.versions.iter_mut().flat_map(|version| &mut version.reasons) {
        reason.because.clear();
        reason.evidence.iter_mut().for_each(settle);
        reason.evidence.sort();
        reason.evidence.dedup();
    }
    for hazard in &mut essence.hazards {
        hazard.because.clear();
    }
    // How many versions are named also counts the reports.
    essence.compared.clear();
    essence
}

/// A report is rewritten all the time: neither its etag nor the place of a build in a list says anything.
fn settle(citation: &mut Citation) {
    if citation.source.is_some() {
        citation.etag.clear();
        if let Some((host, _)) = citation.pointer.rsplit_once('/') {
            citation.pointer.truncate(host.len());
        }
    }
}

fn inputs(shown: &[Input], now: &[Input]) -> Vec<String> {
    let by_key = |inputs: &[Input]| -> BTreeMap<_, _> {
        inputs.iter().map(|input| ((input.class, input.key.clone()), input.etag.clone())).collect()
    };
    differences(&by_key(shown), &by_key(now)).into_iter().map(|((_, key), what)| format!("{key} {what}")).collect()
}

fn victims(shown: &AppPlan, now: &AppPlan) -> Vec<String> {
    let objects = |plan: &AppPlan| -> BTreeMap<String, (String, u64)> {
        let all = plan.victims.iter().flat_map(PlannedVersion::steps).flatten();
        all.map(|object: &ObjectMeta| (object.key.clone(), (object.etag.clone(), object.bytes))).collect()
    };
    let objects = differences(&objects(shown), &objects(now));
    objects.into_iter().map(|(key, what)| format!("to be deleted: {key} {what}")).collect()
}

fn versions(before: &AppDecision, after: &AppDecision) -> Vec<String> {
    let by_name = |decision: &AppDecision| -> BTreeMap<String, _> {
        decision.versions.iter().map(|version| (version.version.clone(), version.clone())).collect()
    };
    let (was, is) = (by_name(before), by_name(after));
    let changed = differences(&was, &is).into_iter().map(|(version, what)| {
        let verdicts = was.get(&version).zip(is.get(&version)).filter(|(was, is)| was.verdict != is.verdict);
        let what = match verdicts {
            Some((was, is)) => format!("was {:?}, and is {:?}", was.verdict, is.verdict).to_lowercase(),
            None if what == "changed" => "is kept or goes for other reasons".to_owned(),
            None => what.to_owned(),
        };
        format!("{}/{} {version}: {what}", before.account, before.app)
    });
    changed.collect()
}

/// Every key that is new, gone or has another value.
fn differences<K: Ord + Clone, V: PartialEq + Debug>(was: &BTreeMap<K, V>, is: &BTreeMap<K, V>) -> Vec<(K, &'static str)> {
    let mut found = Vec::new();
    for (key, value) in was {
        match is.get(key) {
            None => found.push((key.clone(), "is gone")),
            Some(now) if now != value => found.push((key.clone(), "changed")),
            Some(_) => {}
        }
    }
    found.extend(is.keys().filter(|key| !was.contains_key(key)).map(|key| (key.clone(), "is new")));
    found
}
