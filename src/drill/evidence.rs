//! What one rehearsal saw. Plain facts; judged in `decide`.

use std::time::Duration;

use jiff::Timestamp;

use super::boot::Boot;
use crate::finding::Finding;
use crate::registry::Census;
use crate::restore;
use crate::snapshot::BoxEvidence;

/// One box's rehearsal.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The instant at which ages are judged: the real clock.
    pub as_of: Timestamp,
    /// The box in the bucket.
    pub seen: BoxEvidence,
    /// What was restored, or why nothing could be.
    pub rehearsed: Result<Box<Rehearsed>, Obstacle>,
}

/// A snapshot that was fetched, and what came of installing it.
#[derive(Debug, Clone)]
pub struct Rehearsed {
    /// What a restore would be decided on.
    pub restore: restore::Evidence,
    /// The fingerprint of what was fetched, or why it could not be computed.
    pub fingerprint: Result<String, String>,
    /// The installed copy; or why there is none.
    pub copy: Result<Copy, String>,
    /// How long it took, from the first request to the last proof; without the boot command.
    pub recovery: Duration,
    /// The filesystem of the scratch directory.
    pub filesystem: String,
    /// What came of the boot command, where there is one and the copy could be installed.
    pub boot: Option<Boot>,
    /// Whether a boot command was given.
    pub boot_wanted: bool,
}

/// The installed copy, opened as the agent will open it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// The sha256 of the file, in hex.
    pub sha256: String,
    /// What is in it.
    pub census: Census,
    /// Our fingerprint of it.
    pub fingerprint: String,
    /// The first lines of `integrity_check`, where they are not `ok`.
    pub damage: Vec<String>,
}

/// Why nothing was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// There is no such snapshot.
    Missing(String),
    /// The snapshot, or this machine, did not let it come to a rehearsal.
    Hindered(Vec<Finding>),
}
