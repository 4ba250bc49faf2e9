//! What retention decided (contract `carlosctl.retention/1`): the verdict on every version, with every reason.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::evidence::{ReportSource, View};
use crate::finding::Finding;

/// What releases are ordered by; shown wherever a rank is.
pub const ORDER: &str = "shipped_at of the manifest, newest first";

/// The whole decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Whose pins counted.
    pub view: View,
    /// The instant at which everything was judged.
    pub as_of: Timestamp,
    /// Boxes whose pins were left out because an operator said so.
    pub without_boxes: Vec<String>,
    /// The apps, by account and name.
    pub apps: Vec<AppDecision>,
    /// What is worth knowing and concerns no app's decision.
    pub findings: Vec<Finding>,
}

/// The decision on one app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppDecision {
    /// Its account.
    pub account: String,
    /// Its name.
    pub app: String,
    /// How many of the newest releases were kept: the what-if number where there is one, else the record's.
    pub keep: Option<u32>,
    /// How many the record keeps, where it reads.
    pub recorded_keep: Option<u32>,
    /// What came out.
    pub status: Status,
    /// Why nothing may be deleted, every cause, sorted; each hint says what would unblock it.
    pub refusals: Vec<Finding>,
    /// Every release: by rank, then the incomplete ones, then those whose manifest does not read.
    pub versions: Vec<VersionDecision>,
    /// How many versions that something names were compared with the releases, by reason: none of them is an eligible one.
    pub compared: BTreeMap<ReasonCode, u64>,
    /// Versions that some box's own pass would delete while another box holds on to them.
    pub hazards: Vec<Hazard>,
}

/// What came out for an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every version is kept or eligible.
    Evaluated,
    /// Nothing may be deleted; see the refusals.
    Refused,
    /// There is no retention record, so nothing is enforced.
    NoPolicy,
    /// No registry of the view has a route of the app, so nothing is enforced.
    NotHosted,
}

/// The decision on one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionDecision {
    /// The version.
    pub version: String,
    /// When it was shipped; `None` where no manifest says so.
    pub shipped_at: Option<Timestamp>,
    /// What may happen to it.
    pub verdict: Verdict,
    /// How many releases are newer, plus one; releases shipped at the same instant share a rank. `None` without a manifest.
    pub rank: Option<u64>,
    /// When its bake window ends, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bakes_until: Option<Timestamp>,
    /// Under a what-if `keep`: whether it is eligible only because of that number.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub newly: bool,
    /// Why it is kept, every reason, in the order of [`ReasonCode`].
    pub reasons: Vec<Reason>,
}

/// What may happen to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It stays.
    Kept,
    /// It may go.
    Eligible,
    /// Nothing is known that keeps it, and it stays, because the app is refused.
    Undetermined,
}

/// Why a version is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Which kind.
    pub code: ReasonCode,
    /// In words, with the first few names.
    pub because: String,
    /// Everything that shows it.
    pub evidence: Vec<Citation>,
}

/// The kinds of reasons. The list is closed: scripts may match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonCode {
    /// A channel is at it.
    ChannelPointer,
    /// A channel was at it, and may be rolled back to it.
    RollbackHistory,
    /// A tag names it.
    Tag,
    /// It was shipped or promoted too recently.
    BakeWindow,
    /// A box runs it.
    Adopted,
    /// A box ran it before.
    Previous,
    /// A box falls back to it.
    Good,
    /// A provision record pins it.
    RecordPin,
    /// A box reports that an instance's build state names it.
    BuildState,
    /// It is one of the newest.
    Newest,
    /// It was shipped at the same instant as the last of the newest.
    TieAtBoundary,
    /// It has no manifest, and something was written to it recently.
    IncompleteRelease,
}

impl ReasonCode {
    /// The code as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChannelPointer => "channel-pointer",
            Self::RollbackHistory => "rollback-history",
            Self::Tag => "tag",
            Self::BakeWindow => "bake-window",
            Self::Adopted => "adopted",
            Self::Previous => "previous",
            Self::Good => "good",
            Self::RecordPin => "record-pin",
            Self::BuildState => "build-state",
            Self::Newest => "newest",
            Self::TieAtBoundary => "tie-at-boundary",
            Self::IncompleteRelease => "incomplete-release",
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One value in one object that shows something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Citation {
    /// The object's key, or the path of this machine's registry.
    pub key: String,
    /// Its etag as of the read; empty for a file of this machine.
    pub etag: String,
    /// Where in it: a JSON pointer in formats.md's spelling, into the payload of a signed pointer, and of the form
    /// `/routes/<host>/<column>` into a registry; `/last_modified` for a fact of the listing.
    pub pointer: String,
    /// The value found there.
    pub value: String,
    /// For a box report, where it was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<ReportSource>,
}

/// A version that a box's own pass would delete, while another box holds on to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hazard {
    /// Whose own pass would delete it.
    pub r#box: String,
    /// The version.
    pub version: String,
    /// Who holds on to it.
    pub because: String,
}
