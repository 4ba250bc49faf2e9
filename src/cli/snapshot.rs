//! `carlosctl snapshot …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{AsOf, examples};
use crate::platform::{Label, Stamp};
use crate::snapshot::Selector;

/// Look at, check and protect snapshots
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// List each box's snapshots, and which is the last good one
    List(ListArgs),
    /// Show what is in one snapshot
    Show(ShowArgs),
    /// Download snapshots and prove them
    Verify(VerifyArgs),
    /// Compare two snapshots of a box row by row
    Diff(DiffArgs),
    /// Save a verified copy of one snapshot to a file
    Pull(PullArgs),
    /// Freeze a box's snapshots out of reach of the agent's pruning
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = examples::SNAPSHOT_HOLD)]
    Hold(HoldArgs),
}

/// Arguments of `snapshot list`.
#[derive(Debug, Args)]
#[command(after_help = examples::SNAPSHOT_LIST)]
pub struct ListArgs {
    /// Only this box; repeatable
    #[arg(long = "box", value_name = "LABEL")]
    pub boxes: Vec<Label>,
    /// Also show older versions and delete markers, where the bucket keeps them
    #[arg(long)]
    pub all_versions: bool,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `snapshot show`.
#[derive(Debug, Args)]
#[command(after_help = examples::SNAPSHOT_SHOW)]
pub struct ShowArgs {
    /// The box
    #[arg(long = "box", value_name = "LABEL")]
    pub label: Label,
    /// Which snapshot: current, good, a stamp, a time (RFC 3339, or 2h), version:ID, hold:STAMP[/STAMP], file:PATH
    #[arg(long, value_name = "SEL", default_value = "current")]
    pub at: Selector,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `snapshot verify`.
#[derive(Debug, Args)]
#[command(after_help = examples::SNAPSHOT_VERIFY)]
pub struct VerifyArgs {
    /// Only this box; repeatable
    #[arg(long = "box", value_name = "LABEL")]
    pub boxes: Vec<Label>,
    /// Every generation, not only current
    #[arg(long)]
    pub all_generations: bool,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `snapshot diff`.
#[derive(Debug, Args)]
#[command(after_help = examples::SNAPSHOT_DIFF)]
pub struct DiffArgs {
    /// The box
    #[arg(long = "box", value_name = "LABEL")]
    pub label: Label,
    /// The snapshot to come from
    #[arg(value_name = "FROM")]
    pub from: Selector,
    /// The snapshot to go to
    #[arg(value_name = "TO")]
    pub to: Selector,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `snapshot pull`.
#[derive(Debug, Args)]
#[command(after_help = examples::SNAPSHOT_PULL)]
pub struct PullArgs {
    /// The box
    #[arg(long = "box", value_name = "LABEL")]
    pub label: Label,
    /// Which snapshot; as for snapshot show
    #[arg(long, value_name = "SEL", default_value = "current")]
    pub at: Selector,
    /// The file to write; it must not exist
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `snapshot hold`.
#[derive(Debug, Args)]
pub struct HoldArgs {
    /// The box to hold
    #[arg(long = "box", value_name = "LABEL", required = true)]
    pub label: Option<Label>,
    /// Also hold the last good older version of current
    #[arg(long)]
    pub all_versions: bool,
    /// List or release holds.
    #[command(subcommand)]
    pub command: Option<HoldCommand>,
}

/// What to do with holds that exist.
#[derive(Debug, Subcommand)]
pub enum HoldCommand {
    /// List the holds
    List {
        /// Only this box; repeatable
        #[arg(long = "box", value_name = "LABEL")]
        boxes: Vec<Label>,
        /// At which instant ages are judged.
        #[command(flatten)]
        as_of: AsOf,
    },
    /// Delete one hold
    Release {
        /// The box
        #[arg(long = "box", value_name = "LABEL")]
        label: Label,
        /// The hold
        #[arg(value_name = "STAMP")]
        hold: Stamp,
        /// Consent: the box's label
        #[arg(long, value_name = "LABEL")]
        confirm: Option<String>,
    },
}
