//! What was seen in the bucket. Plain facts; judged in `judge`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::finding::Finding;
use crate::platform::{Label, Sidecar, Stamp, keys};
use crate::store::{ObjectMeta, ObjectVersion};

/// Everything seen of a deployment's snapshots.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The boxes, by label.
    pub boxes: BTreeMap<Label, BoxEvidence>,
    /// The abandoned fixed keys.
    pub legacy: Vec<ObjectMeta>,
    /// Objects among the snapshots that are no snapshot of any box.
    pub unrecognized: Vec<ObjectMeta>,
    /// What could not be looked at, and does not hide any snapshot.
    pub findings: Vec<Finding>,
}

/// What was seen of one box.
#[derive(Debug, Clone)]
pub struct BoxEvidence {
    /// Its label.
    pub label: Label,
    /// Its current snapshot.
    pub current: Option<ObjectMeta>,
    /// Its sidecar as an object.
    pub sidecar_object: Option<ObjectMeta>,
    /// Its sidecar as a document.
    pub sidecar: SidecarRead,
    /// Its generations, newest stamp first.
    pub generations: Vec<Generation>,
    /// Objects among its generations whose name is not a stamp. The agent counts them when it prunes.
    pub strays: Vec<ObjectMeta>,
    /// Its holds, newest first.
    pub holds: Vec<HoldEvidence>,
    /// When its last report was written, where one was seen.
    pub reported_at: Option<Timestamp>,
    /// Why it is not known whether it reports.
    pub reports_unread: Option<String>,
    /// Its last drill, where drills were asked for.
    pub last_drill: Option<LastDrill>,
    /// Every version of its current snapshot and sidecar, where versions were asked for and are kept.
    pub versions: Vec<ObjectVersion>,
}

/// One generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// The time in its name.
    pub stamp: Stamp,
    /// The object.
    pub object: ObjectMeta,
}

/// What came of reading a sidecar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SidecarRead {
    /// There is none.
    Missing,
    /// It is hidden by a delete marker.
    Deleted,
    /// It reads. Whether it names the right box is judged, not read.
    Read(Sidecar),
    /// It is there and does not read.
    Unreadable {
        /// The reading error.
        because: String,
    },
    /// It is of another version than 1.
    Version {
        /// The reading error, with the version.
        because: String,
    },
    /// The store would not give it.
    NotRead {
        /// The store's answer.
        because: String,
    },
}

impl SidecarRead {
    /// The sidecar, when it reads.
    #[must_use]
    pub fn document(&self) -> Option<&Sidecar> {
        match self {
            Self::Read(sidecar) => Some(sidecar),
            _ => None,
        }
    }
}

/// One hold of a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldEvidence {
    /// When it was taken.
    pub stamp: Stamp,
    /// Its copies.
    pub objects: Vec<ObjectMeta>,
    /// Whether its `hold.json` is there: it is written last, and seals the hold.
    pub sealed: bool,
}

/// The last drill of a box, as the name of its receipt says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastDrill {
    /// When it was.
    pub stamp: Stamp,
    /// How it went: `good`, `unknown` or `bad`.
    pub verdict: String,
}

impl BoxEvidence {
    /// A box of which nothing was seen yet.
    #[must_use]
    pub fn new(label: Label) -> Self {
        Self {
            label,
            current: None,
            sidecar_object: None,
            sidecar: SidecarRead::Missing,
            generations: Vec::new(),
            strays: Vec::new(),
            holds: Vec::new(),
            reported_at: None,
            reports_unread: None,
            last_drill: None,
            versions: Vec::new(),
        }
    }

    /// Whether anything at all was seen of it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.current.is_none()
            && self.sidecar_object.is_none()
            && self.generations.is_empty()
            && self.strays.is_empty()
            && self.holds.is_empty()
            && self.versions.is_empty()
    }

    /// The instant that the current snapshot claims to be of: the sidecar's, and the store's only where there is no sidecar
    /// that reads. A sidecar that does not know its time is not told it: no age is made up (formats.md section 1).
    #[must_use]
    pub fn current_at(&self) -> Option<Timestamp> {
        let current = self.current.as_ref()?;
        match self.sidecar.document() {
            Some(sidecar) => sidecar.created_at,
            None => Some(current.last_modified),
        }
    }

    /// The generation of this stamp.
    #[must_use]
    pub fn generation(&self, stamp: Stamp) -> Option<&Generation> {
        self.generations.iter().find(|generation| generation.stamp == stamp)
    }

    /// The stamp of the pass that wrote current, as its sidecar says: the generation of it has the same content.
    #[must_use]
    pub fn own_pass(&self) -> Option<Stamp> {
        self.sidecar.document().and_then(|sidecar| sidecar.created_at).map(Stamp::at)
    }

    /// The newest sealed hold that has a copy of each of these generations. A generation is never written twice, so its stamp
    /// and size tell.
    #[must_use]
    pub fn hold_of(&self, generations: &[Generation]) -> Option<Stamp> {
        let has = |hold: &&HoldEvidence| {
            generations.iter().all(|generation| {
                let key = format!("{}{}.db", keys::hold(&self.label, hold.stamp), generation.stamp);
                hold.objects.iter().any(|copy| copy.key == key && copy.bytes == generation.object.bytes)
            })
        };
        self.holds.iter().filter(|hold| hold.sealed).find(has).map(|hold| hold.stamp)
    }

    /// Whether a generation holds the same content as current, as far as listings tell: one etag, one size.
    #[must_use]
    pub fn same_as_current(&self, generation: &Generation) -> bool {
        self.current.as_ref().is_some_and(|current| {
            !current.etag.is_empty() && current.etag == generation.object.etag && current.bytes == generation.object.bytes
        })
    }
}
