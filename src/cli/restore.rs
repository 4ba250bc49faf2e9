//! `carlosctl restore …`

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::parse;
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
}

/// Arguments of `restore undo`.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Do everything up to the question, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Consent: this box's label
    #[arg(long, value_name = "LABEL")]
    pub confirm: Option<String>,
}
