//! `carlosctl box …`

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{examples, parse};

/// The box half: what the platform's agent does on each box
#[derive(Debug, Subcommand)]
pub enum BoxCommand {
    /// Snapshot this box's registry into the deployment store, when it changed
    ///
    /// Writes a generation, then the current snapshot, then its sidecar, then prunes to 8 generations. Before a snapshot
    /// that has routes is overwritten by an empty or collapsed registry, or by another box, a hold of it is taken.
    /// Needs no consent: it is an unattended pass.
    Snapshot(SnapshotArgs),
    /// Publish this box's build states as its report, on which retention rests
    ///
    /// What could not be collected is said in the report, so that nothing is pruned meanwhile.
    Report,
    /// Delete the versions that this box's own view says nothing needs
    ///
    /// The pins of other boxes are not seen, as the platform's own pass does not see them; carlosctl retention run looks at
    /// all of them. TAKES NO CONSENT: it is the unattended agent's pass, and deletes at once.
    Retention(RetentionArgs),
    /// Snapshot, report and prune again and again, in one process, until it is told to stop
    ///
    /// Never starts while a restore of this registry is in progress, and no restore begins while it runs.
    #[command(after_help = examples::BOX_RUN)]
    Run(Pace),
}

/// Arguments of `box snapshot`.
#[derive(Debug, Args)]
#[command(after_help = examples::BOX_SNAPSHOT)]
pub struct SnapshotArgs {
    /// Go on until told to stop: 1 minute after the start, then every 5 to 6 minutes
    #[arg(long = "loop")]
    pub repeat: bool,
    /// How often.
    #[command(flatten)]
    pub pace: Pace,
}

/// Arguments of `box retention`.
#[derive(Debug, Args)]
#[command(after_help = examples::BOX_RETENTION)]
pub struct RetentionArgs {
    /// Go on until told to stop: 1 minute after the start, then every 5 to 6 minutes
    #[arg(long = "loop")]
    pub repeat: bool,
    /// How often.
    #[command(flatten)]
    pub pace: Pace,
}

/// How often a loop makes a pass.
#[derive(Debug, Clone, Copy, Args)]
pub struct Pace {
    /// Wait this long before every pass, instead of 1 minute and then 5 to 6 minutes
    #[arg(long, value_name = "DURATION", value_parser = parse::duration)]
    pub interval: Option<Duration>,
}
