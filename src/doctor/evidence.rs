//! What was seen. Plain facts; judged in `decide`.

use serde::Serialize;

use crate::host::holders::Holders;
use crate::host::target::Target;
use crate::host::trial::Replacing;
use crate::host::units::UnitsAnswer;
use crate::platform::Label;
use crate::registry::Census;
use crate::restore::Last;
use crate::store::{Capabilities, ExpiryRule, Powers, StoreError};

/// The user that the agent runs as (formats.md section 8).
pub(super) const SERVICE_USER: &str = "carlos";

/// Everything that was seen.
#[derive(Debug)]
pub struct Evidence {
    /// The deployment store.
    pub store: Store,
    /// This machine.
    pub host: Host,
    /// This box's own label, where it is known.
    pub this_box: Option<Label>,
    /// The units that must be stopped before a restore, as they were named.
    pub units_named: Vec<String>,
    /// Whether nothing was tried out.
    pub read_only: bool,
}

/// What became of the deployment store.
#[derive(Debug)]
pub enum Store {
    /// None is named.
    NotNamed,
    /// It does not open.
    Closed {
        /// Why.
        because: String,
        /// What to do.
        hint: Option<String>,
    },
    /// It opens; whether it answers is in the facts.
    Open(Box<StoreFacts>),
}

impl Store {
    /// The facts, where it opened.
    #[must_use]
    pub fn facts(&self) -> Option<&StoreFacts> {
        match self {
            Self::Open(facts) => Some(facts),
            _ => None,
        }
    }
}

/// What was seen of a store that opened.
#[derive(Debug)]
pub struct StoreFacts {
    /// Its name for people.
    pub name: String,
    /// How many current snapshots the listing shows, or why there is no listing.
    pub listed: Result<usize, StoreError>,
    /// Whether generations could be listed.
    pub generations_listed: Result<(), StoreError>,
    /// The largest current snapshot, and whether it may be read.
    pub largest: Option<Largest>,
    /// What may be done there.
    pub permissions: Permissions,
    /// What this identity may do besides, below each prefix that was tried.
    pub powers: Vec<(&'static str, Result<Powers, StoreError>)>,
    /// Whether overwritten objects are kept.
    pub versions: Versions,
    /// The rules by which the store itself removes objects.
    pub expiry: Result<Vec<ExpiryRule>, StoreError>,
    /// How far the store's clock is ahead, in seconds, where its answers said.
    pub clock_ahead_seconds: Option<i64>,
    /// The labels that the store knows.
    pub candidates: Vec<Candidate>,
    /// What is there under this box's own label, or why that is not known.
    pub own: Result<Vec<Publication>, String>,
    /// Whether the box reports could be listed, where there is a status store.
    pub reports: Option<Result<usize, String>>,
}

/// The largest current snapshot.
#[derive(Debug)]
pub struct Largest {
    /// Its key.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// Whether a byte of it could be asked for.
    pub readable: Result<(), StoreError>,
}

/// What may be written.
#[derive(Debug)]
pub enum Permissions {
    /// It was not tried.
    NotTried,
    /// It was.
    Tried(Result<Capabilities, StoreError>),
}

/// Whether overwritten objects are kept.
#[derive(Debug)]
pub enum Versions {
    /// They are.
    Kept,
    /// They are not: the version that is there has no id of its own.
    NotKept,
    /// This kind of store has none.
    Unsupported,
    /// There is nothing to look at, or it may not be looked at.
    Unknown(String),
}

/// A label that the store knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The label.
    #[serde(rename = "box")]
    pub label: Label,
    /// Whether it has a record in `control/edges/`.
    pub edges_record: bool,
    /// Whether it has a current snapshot.
    pub current_snapshot: bool,
}

/// Something that is there under this box's own label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// Its key.
    pub key: String,
}

/// Who is at the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtWork {
    /// Whether it is a box half; else a restore or an undo.
    pub box_half: bool,
    /// In the words of the refusal that a restore would get.
    pub who: String,
}

/// This machine.
#[derive(Debug)]
pub struct Host {
    /// What systemd says.
    pub units: UnitsAnswer,
    /// What is at the registry's path, or why that could not be looked at.
    pub target: Result<Target, String>,
    /// Who has the registry open.
    pub holders: Holders,
    /// Who is at the registry: a restore, an undo or a box half; or why that is not known.
    pub at_work: Result<Option<AtWork>, String>,
    /// What the registry holds now: nothing, what is in it, or why it does not read.
    pub content: Option<Result<Census, String>>,
    /// What was done last to it by a restore that can be taken back, or by an undo.
    pub(crate) last: Option<Last>,
    /// How the filesystem replaces a file in one step, where it was tried.
    pub replacing: Option<Result<Replacing, String>>,
    /// Bytes that an install of the largest current snapshot takes.
    pub install_bytes: u64,
    /// The service user's id; `None` where there is no such user.
    pub service_uid: Option<u32>,
}
