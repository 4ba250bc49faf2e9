//! What an app's own documents protect: records, channel pointers, tags, and for how long a version bakes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::super::decision::{Citation, ReasonCode};
use super::super::evidence::{AppEvidence, Found, Seen};
use super::Refusal;
use super::claims::Claims;
use crate::finding::Code;
use crate::platform::keys;
use crate::platform::pointer::{ChannelPointer, FoundPointer, Signature};

/// The bake window of an app without a pipeline.
const DEFAULT_BAKE: SignedDuration = SignedDuration::from_hours(72);

/// How long a version bakes.
pub(super) struct Bake {
    /// How long.
    pub(super) window: SignedDuration,
    /// In words: of which channel.
    pub(super) of: String,
    /// The pipeline's value, where there is a pipeline.
    pub(super) evidence: Option<Citation>,
}

impl<T> Found<T> {
    pub(super) fn cite(&self, pointer: impl Into<String>, value: impl Into<String>) -> Citation {
        Citation { key: self.key.clone(), etag: self.etag.clone(), pointer: pointer.into(), value: value.into(), source: None }
    }
}

/// The number of releases that the app's record keeps. `None` where there is no record, or one that does not read.
pub(super) fn keep(app: &AppEvidence, refusals: &mut Vec<Refusal>) -> Option<u32> {
    match app.retention.as_ref().map(|found| (&found.key, &found.content)) {
        Some((_, Seen::Read(keep))) if *keep > 0 => return Some(*keep),
        Some((key, content)) => {
            let reason = if let Seen::Unreadable(because) = content { because } else { "it keeps nothing" };
            let because = format!("the retention record is invalid: {reason}");
            let hint = "write it again: keep is an integer of 1 to 1,000,000";
            refusals.push(Refusal::seed(Code::RetentionRecordInvalid, key, because, hint));
        }
        None => {}
    }
    None
}

/// Refuses where a manifest, or the list of releases, does not read: the order is not known then.
pub(super) fn releases_refusals(app: &AppEvidence) -> Vec<Refusal> {
    let refusal = |key: &str, because: &str| {
        let because = format!("the order of the releases is not known: {because}");
        Refusal::seed(Code::ManifestUnreadable, key, because, "ship that release again, or repair its manifest")
    };
    match &app.releases {
        Seen::Unreadable(because) => vec![refusal(&keys::app::releases(&app.account, &app.app), because)],
        Seen::Read(releases) => releases
            .iter()
            .filter_map(|release| release.manifest.as_ref())
            .filter_map(|found| match &found.content {
                Seen::Unreadable(because) => Some(refusal(&found.key, because)),
                Seen::Read(_) => None,
            })
            .collect(),
    }
}

/// What was read of a list; everything that was not becomes a refusal.
fn readable<'a, T>(
    seen: &'a Seen<Vec<Found<T>>>,
    prefix: &str,
    mut refuse: impl FnMut(&str, &str),
) -> Vec<(&'a Found<T>, &'a T)> {
    let found = match seen {
        Seen::Read(found) => found,
        Seen::Unreadable(because) => {
            refuse(prefix, because);
            return Vec::new();
        }
    };
    let mut readable = Vec::new();
    for one in found {
        match &one.content {
            Seen::Read(content) => readable.push((one, content)),
            Seen::Unreadable(because) => refuse(&one.key, because),
        }
    }
    readable.sort_by_key(|(found, _)| (&found.key, &found.etag));
    readable.dedup_by_key(|(found, _)| (&found.key, &found.etag));
    readable
}

fn unread(what: &str, key: &str, because: &str) -> String {
    if key.ends_with('/') {
        format!("it is not known whether there is {what}: {because}")
    } else {
        format!("{what} does not read: {because}")
    }
}

/// Claims what provision records pin (seed `appRecords`).
pub(super) fn claim_records(app: &AppEvidence, claims: &mut Claims<'_>, refusals: &mut Vec<Refusal>) {
    let prefix = keys::app::records(&app.account, &app.app);
    let records = readable(&app.records, &prefix, |key, because| {
        let because = unread("a provision record", key, because);
        refusals.push(Refusal::seed(Code::RecordUnreadable, key, because, "repair or remove that record"));
    });
    for (found, record) in records {
        if let Some(pin) = &record.pin {
            claims.claim(pin, ReasonCode::RecordPin, || record.host.clone(), || vec![found.cite("/pin", pin)]);
        }
    }
}

/// Claims what channels are at and were at. A pointer that does not verify still claims, and refuses the app.
pub(super) fn claim_pointers(app: &AppEvidence, claims: &mut Claims<'_>, refusals: &mut Vec<Refusal>) {
    let prefix = keys::app::channels(&app.account, &app.app);
    let pointers = readable(&app.pointers, &prefix, |key, because| {
        let because = unread("a channel pointer", key, because);
        refusals.push(Refusal::seed(Code::PointerUnreadable, key, because, "promote that channel again"));
    });
    for (found, content) in pointers {
        let pointer = &content.pointer;
        if let Signature::Unverified(because) = &content.signature {
            let because = format!("the pointer of channel {} does not verify: {because}", pointer.channel);
            let hint = "check CARLOS_RELEASE_PUBKEY, or promote that channel again";
            refusals.push(Refusal::seed(Code::PointerUnverified, &found.key, because, hint));
        }
        for (version, _, pointer_to) in promotions(pointer) {
            let code = if pointer_to.is_empty() { ReasonCode::ChannelPointer } else { ReasonCode::RollbackHistory };
            let cite = || vec![found.cite(format!("{pointer_to}/version"), version)];
            claims.claim(version, code, || pointer.channel.clone(), cite);
        }
    }
}

/// Claims what tags name.
pub(super) fn claim_tags(app: &AppEvidence, claims: &mut Claims<'_>, refusals: &mut Vec<Refusal>) {
    let prefix = keys::app::tags(&app.account, &app.app);
    let tags = readable(&app.tags, &prefix, |key, because| {
        let because = unread("a tag", key, because);
        refusals.push(Refusal::seed(Code::TagUnreadable, key, because, "cut that tag again"));
    });
    for (found, version) in tags {
        let name = || match keys::app::read(&found.key) {
            Some((_, _, keys::app::AppKey::Tag(name))) => name.to_owned(),
            _ => found.key.clone(),
        };
        claims.claim(version, ReasonCode::Tag, name, || vec![found.cite("/version", version)]);
    }
}

/// How long the app's versions bake; `None` when that is not known, which refuses.
pub(super) fn bake(app: &AppEvidence, refusals: &mut Vec<Refusal>) -> Option<Bake> {
    let Some(found) = &app.pipeline else {
        return Some(Bake { window: DEFAULT_BAKE, of: "72 h, without a pipeline".to_owned(), evidence: None });
    };
    let because = match &found.content {
        Seen::Unreadable(because) => because.as_str(),
        Seen::Read(pipeline) => match pipeline.longest() {
            Some((at, longest)) if !longest.bake.is_negative() => {
                return Some(Bake {
                    window: longest.bake,
                    of: format!("{} of channel {}", longest.spelled, longest.name),
                    evidence: Some(found.cite(format!("/channels/{at}/bake"), &longest.spelled)),
                });
            }
            _ => "it has no channel with a bake",
        },
    };
    let because = format!("the bake window is not known: {because}");
    refusals.push(Refusal::seed(Code::PipelineUnreadable, &found.key, because, "write the pipeline again"));
    None
}

/// Every version that a pointer names, since when, and where in the payload: nothing for the current one.
fn promotions(pointer: &ChannelPointer) -> impl Iterator<Item = (&str, Option<Timestamp>, String)> {
    let current = (pointer.version.as_str(), pointer.promoted_at, String::new());
    let earlier = pointer.history.iter().enumerate();
    let earlier = earlier.map(|(at, one)| (one.version.as_str(), one.promoted_at, format!("/history/{at}")));
    std::iter::once(current).chain(earlier)
}

/// A promotion of a version to a channel.
pub(super) struct Promoted<'a> {
    /// When.
    pub(super) at: Timestamp,
    found: &'a Found<FoundPointer>,
    pointer: String,
}

impl Promoted<'_> {
    /// What shows it.
    pub(super) fn cite(&self) -> Citation {
        self.found.cite(format!("{}/promoted_at", self.pointer), self.at.to_string())
    }
}

/// The latest promotion of each version to any channel; of several at one instant, that of the smallest key.
pub(super) fn latest_promotions(app: &AppEvidence) -> BTreeMap<&str, Promoted<'_>> {
    let mut latest: BTreeMap<&str, Promoted<'_>> = BTreeMap::new();
    for (found, content) in readable(&app.pointers, "", |_, _| ()) {
        for (version, at, pointer) in promotions(&content.pointer) {
            let Some(at) = at else { continue };
            if latest.get(version).is_none_or(|known| at > known.at) {
                latest.insert(version, Promoted { at, found, pointer });
            }
        }
    }
    latest
}
