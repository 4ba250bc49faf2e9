//! `carlosctl retention …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{AsOf, examples};
use crate::platform::Label;
use crate::retention::AppName;

/// Why each version stays or goes, and deleting what may go
#[derive(Debug, Subcommand)]
pub enum RetentionCommand {
    /// Show why each version of each app stays or may go
    ///
    /// Deletes nothing. Pins of this machine's registry and of every box's current snapshot count together; what cannot be
    /// read refuses the apps that it may protect. Ends with 4 when an app is refused.
    Explain(ExplainArgs),
    /// Save exactly what a run would delete, to be looked at and then run within an hour
    ///
    /// Deletes nothing, and writes nothing but the file. Ends with 4 when an app is refused: the plan is then of the others.
    Plan(PlanArgs),
    /// Delete the versions that nothing needs
    ///
    /// Looks again before anything is deleted, and refuses (7) when anything differs from what was shown. Deletes only exact
    /// keys that were listed, the manifest of a version last, and writes a receipt.
    Run(RunArgs),
}

/// Arguments of `retention explain`.
#[derive(Debug, Args)]
#[command(after_help = examples::RETENTION_EXPLAIN)]
pub struct ExplainArgs {
    /// Only these apps; all without any
    #[arg(value_name = "ACCT/APP")]
    pub apps: Vec<AppName>,
    /// Print the whole proof of this version: rule, key, etag, field, value
    #[arg(long, value_name = "V")]
    pub version: Option<String>,
    /// Judge as if every app kept this many, and mark what that would newly delete
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub keep: Option<u32>,
    /// Judge as this box's own pass would, by its registry alone
    #[arg(long, value_name = "LABEL", conflicts_with = "without_boxes")]
    pub as_box: Option<Label>,
    /// Leave out a decommissioned box, whose pins do not count any more; repeatable
    #[arg(long = "without-box", value_name = "LABEL")]
    pub without_boxes: Vec<Label>,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
    /// Save everything that the decision rests on; the file must not exist
    #[arg(long, value_name = "FILE")]
    pub evidence_out: Option<PathBuf>,
    /// Decide again from saved evidence, without any store
    #[arg(long, value_name = "FILE", conflicts_with_all = ["as_box", "without_boxes", "as_of", "evidence_out"])]
    pub evidence: Option<PathBuf>,
}

/// Arguments of `retention plan`.
#[derive(Debug, Args)]
#[command(after_help = examples::RETENTION_PLAN)]
pub struct PlanArgs {
    /// Only these apps; all without any
    #[arg(value_name = "ACCT/APP")]
    pub apps: Vec<AppName>,
    /// The file to write; it must not exist
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Leave out a decommissioned box, whose pins do not count any more; repeatable
    #[arg(long = "without-box", value_name = "LABEL")]
    pub without_boxes: Vec<Label>,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `retention run`.
#[derive(Debug, Args)]
#[command(after_help = examples::RETENTION_RUN)]
pub struct RunArgs {
    /// Only these apps; all, or all of the plan, without any
    #[arg(value_name = "ACCT/APP")]
    pub apps: Vec<AppName>,
    /// Run this plan; a plan is used once
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Leave out a decommissioned box, whose pins do not count any more; repeatable
    #[arg(long = "without-box", value_name = "LABEL", conflicts_with = "plan")]
    pub without_boxes: Vec<Label>,
    /// Consent: the bucket, or the directory's own name
    #[arg(long, value_name = "NAME")]
    pub confirm: Option<String>,
}
