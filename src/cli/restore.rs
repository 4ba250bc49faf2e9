//! `carlosctl restore …`

use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::{examples, parse};
use crate::finding::Code;
use crate::platform::Label;
use crate::snapshot::Selector;

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The dead box, whose snapshot is installed here
    #[arg(long, value_name = "DEAD", required = true)]
    pub from_box: Option<Label>,
    /// Which snapshot: current, good, a stamp, a time (RFC 3339, or 2h), version:ID, hold:STAMP[/STAMP], file:PATH
    #[arg(long, value_name = "SEL", default_value = "current")]
    pub at: Selector,
    /// Do everything up to the question, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// This box is the dead one, rebuilt under its label
    #[arg(long)]
    pub same_label: bool,
    /// Override one overridable finding, by its code; repeatable
    #[arg(long, value_name = "CODE", value_parser = parse::allowed)]
    pub allow: Vec<Code>,
    /// Refuse a snapshot older than this
    #[arg(long, value_name = "DURATION", value_parser = parse::age)]
    pub max_age: Option<SignedDuration>,
    /// Consent: the dead box's label
    #[arg(long, value_name = "DEAD")]
    pub confirm: Option<String>,
    /// What follows a restore.
    #[command(subcommand)]
    pub command: Option<RestoreCommand>,
}

/// What follows a restore.
#[derive(Debug, Subcommand)]
pub enum RestoreCommand {
    /// Put the registry back that the last restore replaced
    Undo(UndoArgs),
    /// Prove the restore after the agent was started: wait two of its passes and look at what it publishes
    Watch(WatchArgs),
}

/// Arguments of `restore watch`.
#[derive(Debug, Args)]
#[command(after_help = examples::RESTORE_WATCH)]
pub struct WatchArgs {
    /// How long to watch; two passes of an agent take up to 13 minutes
    #[arg(long = "for", value_name = "DURATION", default_value = "13m", value_parser = parse::duration)]
    pub window: Duration,
    /// How often to look
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = parse::duration)]
    pub interval: Duration,
}

/// Arguments of `restore undo`.
#[derive(Debug, Args)]
#[command(after_help = examples::RESTORE_UNDO)]
pub struct UndoArgs {
    /// Do everything up to the question, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Consent: this box's label
    #[arg(long, value_name = "LABEL")]
    pub confirm: Option<String>,
}
