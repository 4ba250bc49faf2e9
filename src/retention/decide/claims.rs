//! Everything that holds on to a version, collected before any verdict.

use std::collections::BTreeMap;

use super::super::decision::{Citation, Reason, ReasonCode};
use super::super::evidence::ReleaseEvidence;
use super::{NAMED, words};

/// The claims on an app's releases. A claim on a version that is not there is nothing to keep, and is counted only.
pub(super) struct Claims<'a> {
    versions: BTreeMap<&'a str, BTreeMap<ReasonCode, Claim>>,
    compared: BTreeMap<ReasonCode, u64>,
}

/// What holds on to a version for one reason.
#[derive(Default)]
struct Claim {
    who: Vec<String>,
    evidence: Vec<Citation>,
}

impl<'a> Claims<'a> {
    pub(super) fn new(releases: &[&'a ReleaseEvidence]) -> Self {
        Self {
            versions: releases.iter().map(|release| (release.version.as_str(), BTreeMap::new())).collect(),
            compared: NAMED.into_iter().map(|code| (code, 0)).collect(),
        }
    }

    /// `who` holds on to `version`, as `cite` shows. Both are asked only when there is such a release.
    pub(super) fn claim(
        &mut self,
        version: &str,
        code: ReasonCode,
        who: impl FnOnce() -> String,
        cite: impl FnOnce() -> Vec<Citation>,
    ) {
        if let Some(compared) = self.compared.get_mut(&code) {
            *compared += 1;
        }
        if let Some(codes) = self.versions.get_mut(version) {
            let claim = codes.entry(code).or_default();
            claim.who.push(who());
            claim.evidence.extend(cite());
        }
    }

    /// Whether anything holds on to `version`.
    pub(super) fn hold(&self, version: &str) -> bool {
        self.versions.get(version).is_some_and(|codes| !codes.is_empty())
    }

    /// How many named versions were compared, by reason.
    pub(super) fn compared(&self) -> BTreeMap<ReasonCode, u64> {
        self.compared.clone()
    }

    /// Takes out every reason to keep `version`, in the order of the codes.
    pub(super) fn take(&mut self, version: &str) -> Vec<Reason> {
        self.versions.remove(version).into_iter().flatten().map(|(code, claim)| reason(code, claim)).collect()
    }
}

fn reason(code: ReasonCode, mut claim: Claim) -> Reason {
    claim.who.sort();
    claim.who.dedup();
    claim.evidence.sort();
    claim.evidence.dedup();
    let who = words::names(&claim.who);
    let because = match code {
        ReasonCode::ChannelPointer => format!("channel {who} is at it"),
        ReasonCode::RollbackHistory => format!("in the rollback history of channel {who}"),
        ReasonCode::Tag => format!("tagged {who}"),
        ReasonCode::Adopted => format!("adopted by {who}"),
        ReasonCode::Previous => format!("previous on {who}"),
        ReasonCode::Good => format!("good (fallback) on {who}"),
        ReasonCode::RecordPin => format!("pinned by the record of {who}"),
        ReasonCode::BuildState => format!("named by the build state of {who}"),
        ReasonCode::BakeWindow | ReasonCode::Newest | ReasonCode::TieAtBoundary | ReasonCode::IncompleteRelease => who,
    };
    Reason { code, because, evidence: claim.evidence }
}
