//! Which objects would go with the versions that may go. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::{AppDecision, ReasonCode, Status, Verdict};
use super::evidence::{AppEvidence, Seen};
use crate::platform::keys::app as keys;
use crate::store::ObjectMeta;

/// A version that may go, and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Victim {
    /// The version.
    pub(crate) version: String,
    /// The objects below its own directory, but for its manifest, by key.
    pub(crate) objects: Vec<ObjectMeta>,
    /// Its manifest, where it has one: it goes last, so that a version half gone is still one.
    pub(crate) manifest: Option<ObjectMeta>,
    /// The artifacts that only this version names, of those that are left when it goes: key, and bytes by the manifest.
    pub(crate) artifacts: BTreeMap<String, u64>,
}

impl Victim {
    /// How many bytes would be freed.
    pub(crate) fn bytes(&self) -> u64 {
        self.objects.iter().chain(&self.manifest).map(|object| object.bytes).chain(self.artifacts.values().copied()).sum()
    }
}

/// What would go, in the order in which it is shown and deleted.
pub(crate) fn victims(app: &AppEvidence, decision: &AppDecision) -> Vec<Victim> {
    let Seen::Read(releases) = &app.releases else { return Vec::new() };
    if decision.status != Status::Evaluated {
        return Vec::new();
    }
    let eligible: Vec<&str> = decision
        .versions
        .iter()
        .filter(|version| version.verdict == Verdict::Eligible)
        .map(|version| version.version.as_str())
        .collect();
    let going: BTreeSet<&str> = eligible.iter().copied().collect();
    let by_version: BTreeMap<&str, _> = releases.iter().map(|release| (release.version.as_str(), release)).collect();
    let names = |version: &str| -> BTreeMap<&str, u64> {
        let manifest = by_version.get(version).and_then(|release| release.manifest.as_ref());
        match manifest.map(|found| &found.content) {
            Some(Seen::Read(manifest)) => manifest.artifacts.iter().map(|one| (one.sha256.as_str(), one.bytes)).collect(),
            _ => BTreeMap::new(),
        }
    };
    let mut needed: BTreeMap<&str, usize> = BTreeMap::new();
    for version in by_version.keys() {
        for sha256 in names(version).into_keys() {
            *needed.entry(sha256).or_default() += 1;
        }
    }
    // A release that is in the making may be about to name an artifact that is there already; which, nobody knows yet.
    let in_the_making = decision.versions.iter().any(|version| {
        !going.contains(version.version.as_str())
            && version.reasons.iter().any(|reason| reason.code == ReasonCode::IncompleteRelease)
    });
    let mut victims = Vec::new();
    for version in eligible {
        let Some(release) = by_version.get(version) else { continue };
        let key = keys::manifest(&app.account, &app.app, version);
        let (mut manifest, mut objects): (Vec<_>, Vec<_>) =
            release.objects.iter().cloned().partition(|object| object.key == key);
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        let mut artifacts = BTreeMap::new();
        for (sha256, bytes) in names(version) {
            let left = needed.entry(sha256).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 && !in_the_making {
                artifacts.insert(keys::artifact(&app.account, &app.app, sha256), bytes);
            }
        }
        victims.push(Victim { version: version.to_owned(), objects, manifest: manifest.pop(), artifacts });
    }
    victims
}

/// How many bytes an app's eligible versions would free.
pub(crate) fn bytes_freed(app: &AppEvidence, decision: &AppDecision) -> u64 {
    victims(app, decision).iter().map(Victim::bytes).sum()
}
