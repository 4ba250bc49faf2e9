//! Which releases are the newest, which still bake, and which are incomplete.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::super::decision::{Citation, ReasonCode};
use super::super::evidence::{AppEvidence, ReleaseEvidence, Seen};
use super::claims::Claims;
use super::documents::{Bake, Promoted, latest_promotions};
use super::{Refusal, words};
use crate::finding::Code;
use crate::platform::keys;

/// How long a release without a manifest is kept after its newest object.
const INCOMPLETE_GRACE: SignedDuration = SignedDuration::from_hours(24);

/// The releases of an app, ranked.
pub(super) struct Order<'a> {
    as_of: Timestamp,
    /// By rank; those of one rank by version.
    ranked: Vec<Line<'a>>,
    /// Without a manifest: the most recently written first.
    incomplete: Vec<Line<'a>>,
    /// With a manifest that does not read, so that their place in the order is not known.
    unreadable: Vec<Line<'a>>,
}

/// One release and its place.
pub(super) struct Line<'a> {
    pub(super) version: &'a str,
    pub(super) shipped_at: Option<Timestamp>,
    pub(super) rank: Option<u64>,
    release: &'a ReleaseEvidence,
}

impl<'a> Order<'a> {
    pub(super) fn new(as_of: Timestamp, releases: &[&'a ReleaseEvidence]) -> Self {
        let mut order = Self { as_of, ranked: Vec::new(), incomplete: Vec::new(), unreadable: Vec::new() };
        for release in releases {
            let mut line = Line { version: &release.version, shipped_at: None, rank: None, release };
            match release.manifest.as_ref().map(|found| &found.content) {
                Some(Seen::Read(manifest)) => {
                    line.shipped_at = Some(manifest.shipped_at);
                    order.ranked.push(line);
                }
                Some(Seen::Unreadable(_)) => order.unreadable.push(line),
                None => order.incomplete.push(line),
            }
        }
        // Versions are already sorted, and these sorts are stable.
        order.ranked.sort_by_key(|line| Reverse(line.shipped_at));
        order.incomplete.sort_by_key(|line| Reverse(line.written_at()));
        let mut newer = (0, None);
        for (position, line) in (0_u64..).zip(&mut order.ranked) {
            if newer.1 != line.shipped_at {
                newer = (position, line.shipped_at);
            }
            line.rank = Some(newer.0 + 1);
        }
        order
    }

    /// Every release, in the order in which they are shown.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line<'a>> {
        self.ranked.iter().chain(&self.incomplete).chain(&self.unreadable)
    }

    /// The newest `keep` releases, and those of the last one's instant. Releases whose place is not known may be among the
    /// newest, so that they take up places.
    fn newest(&self, keep: u32) -> &[Line<'a>] {
        let certain = usize::try_from(keep).unwrap_or(usize::MAX).saturating_sub(self.unreadable.len());
        let Some(last) = certain.min(self.ranked.len()).checked_sub(1) else { return &[] };
        let boundary = self.ranked[last].shipped_at;
        let end = self.ranked.iter().take_while(|line| line.shipped_at >= boundary).count();
        &self.ranked[..end]
    }

    /// The versions that `keep` newest releases leave out.
    pub(super) fn beyond(&self, keep: u32) -> BTreeSet<&'a str> {
        let newest = self.newest(keep).len();
        self.ranked[newest..].iter().chain(&self.incomplete).map(|line| line.version).collect()
    }

    /// Claims the newest releases, protected otherwise or not.
    pub(super) fn claim_newest(&self, keep: Option<u32>, claims: &mut Claims<'_>) {
        let Some(keep) = keep else { return };
        let newest = self.newest(keep);
        let places = usize::try_from(keep).unwrap_or(usize::MAX);
        let boundary = newest.last().filter(|_| newest.len() > places).map(|line| line.shipped_at);
        for line in newest {
            let rank = line.rank.unwrap_or_default();
            let (code, who) = if boundary == Some(line.shipped_at) {
                (
                    ReasonCode::TieAtBoundary,
                    format!("rank {rank}, shipped at the same instant as the last of the newest {keep}"),
                )
            } else {
                (ReasonCode::Newest, format!("rank {rank} of the newest {keep}"))
            };
            claims.claim(line.version, code, || who, || line.shipped().into_iter().collect());
        }
    }

    /// Claims what still bakes, and incomplete releases that may still be in the making. Answers when each window ends.
    ///
    /// Exactly at its end a version is no longer inside its window.
    pub(super) fn claim_windows(
        &self,
        bake: Option<&Bake>,
        app: &AppEvidence,
        claims: &mut Claims<'_>,
    ) -> BTreeMap<&'a str, Option<Timestamp>> {
        for line in &self.incomplete {
            let Some(object) = line.release.newest_object() else { continue };
            if self.as_of.duration_since(object.last_modified) < INCOMPLETE_GRACE {
                let who = || {
                    format!("no manifest, and its newest object is younger than 24 h ({})", words::second(object.last_modified))
                };
                claims.claim(line.version, ReasonCode::IncompleteRelease, who, || vec![written(object)]);
            }
        }
        let Some(bake) = bake else { return BTreeMap::new() };
        let promotions = latest_promotions(app);
        let mut windows = BTreeMap::new();
        for line in &self.ranked {
            let Some(shipped_at) = line.shipped_at else { continue };
            let promoted = promotions.get(line.version).filter(|promoted| promoted.at > shipped_at);
            let since = promoted.map_or(shipped_at, |promoted| promoted.at);
            let until = since.checked_add(bake.window).ok();
            windows.insert(line.version, until);
            if self.as_of.duration_since(since) < bake.window {
                let end = until.map_or_else(|| "the end of time".to_owned(), words::second);
                let from = if promoted.is_some() { "promoted" } else { "shipped" };
                let who = || format!("bakes until {end} ({}, since it was {from})", bake.of);
                claims.claim(line.version, ReasonCode::BakeWindow, who, || {
                    let start = promoted.map(Promoted::cite).or_else(|| line.shipped());
                    start.into_iter().chain(bake.evidence.clone()).collect()
                });
            }
        }
        windows
    }

    /// Refuses when nothing is certain to be left: no release has a manifest, and something would go.
    pub(super) fn refuse_to_keep_nothing(
        &self,
        keep: Option<u32>,
        app: &AppEvidence,
        claims: &Claims<'_>,
        refusals: &mut Vec<Refusal>,
    ) {
        if keep.is_none() || !self.unreadable.is_empty() {
            // Refused already.
            return;
        }
        let newest_stays = self.ranked.first().is_some_and(|line| claims.hold(line.version));
        if !newest_stays && self.lines().any(|line| !claims.hold(line.version)) {
            refusals.push(Refusal::ours(
                Code::KeepsNothing,
                &keys::app::releases(&app.account, &app.app),
                "no release with a manifest would be left that is certain to be the newest".to_owned(),
                "ship a release, or repair the retention record",
            ));
        }
    }
}

impl Line<'_> {
    fn written_at(&self) -> Option<Timestamp> {
        self.release.newest_object().map(|object| object.last_modified)
    }

    /// The manifest's own word on when it was shipped.
    fn shipped(&self) -> Option<Citation> {
        let manifest = self.release.manifest.as_ref()?;
        Some(manifest.cite("/shipped_at", self.shipped_at?.to_string()))
    }
}

fn written(object: &crate::store::ObjectMeta) -> Citation {
    Citation {
        key: object.key.clone(),
        etag: object.etag.clone(),
        pointer: "/last_modified".to_owned(),
        value: object.last_modified.to_string(),
        source: None,
    }
}
