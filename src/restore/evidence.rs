//! Everything a restore is decided on. Gathered once; the decision reads nothing else.

use jiff::{SignedDuration, Timestamp};

use super::last::Last;
use crate::finding::{Code, Finding};
use crate::platform::Label;
use crate::registry::Census;
use crate::snapshot::{BoxEvidence, Chosen, Proof};

/// What the operator asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dead box.
    pub from_box: Label,
    /// This box, where its label is known.
    pub this_box: Option<Label>,
    /// Whether this box is the dead one, rebuilt under its label.
    pub same_label: bool,
    /// The codes that were allowed by name.
    pub allowed: Vec<Code>,
    /// Older snapshots are refused.
    pub max_age: Option<SignedDuration>,
}

/// What was seen.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The instant at which ages are judged: the real clock.
    pub as_of: Timestamp,
    /// What was asked for.
    pub request: Request,
    /// The dead box in the bucket.
    pub dead: BoxEvidence,
    /// This box in the bucket, where its label is known and another one.
    pub own: Option<BoxEvidence>,
    /// The object that would be installed, and why that one.
    pub chosen: Chosen,
    /// What is in it.
    pub proof: Proof,
    /// When it is of.
    pub of: Option<Timestamp>,
    /// The rung that it is compared with: its selector and content, or why that could not be had.
    pub neighbour: Option<Neighbour>,
    /// Whether it changed while it was read.
    pub changed_while_read: bool,
    /// How far the store's clock is ahead, in seconds.
    pub clock_ahead_seconds: Option<i64>,
    /// What this machine has to say: units, holders, the interlock, the target's directory and space. Already findings,
    /// because their weight does not depend on anything else.
    pub host: Vec<Finding>,
    /// What the target holds now.
    pub target: TargetContent,
    /// What was done last to the target by a restore that can be taken back, or by an undo.
    pub(crate) last: Option<Last>,
}

/// An older rung to compare with.
#[derive(Debug, Clone)]
pub struct Neighbour {
    /// Its selector.
    pub at: String,
    /// Its content.
    pub content: Result<Census, String>,
}

/// What the target holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetContent {
    /// There is no file.
    Absent,
    /// It is byte for byte what was chosen.
    Equal,
    /// A registry.
    Registry(Box<Census>),
    /// Something that does not read as a registry.
    Unreadable(String),
}
