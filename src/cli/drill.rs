//! `carlosctl drill`

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{examples, parse};
use crate::platform::Label;

/// Arguments of `drill`.
#[derive(Debug, Args)]
#[command(after_help = examples::DRILL)]
pub struct DrillArgs {
    /// Only this box; repeatable
    #[arg(long = "box", value_name = "LABEL")]
    pub boxes: Vec<Label>,
    /// Which snapshot of each box
    #[arg(long, value_name = "SEL", default_value = "current")]
    pub at: At,
    /// The directory for the scratch registries; a disk like the standby's makes the recovery time a true one
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// A command that starts something on the restored registry and ends with 0 when it works, run by sh -c
    ///
    /// It finds the registry's path in CARLOS_DRILL_REGISTRY and the box's label in CARLOS_DRILL_BOX. Of the environment it
    /// gets only PATH, HOME, USER, LANG, TZ and TMPDIR: no credentials and no setting of the deployment, so that what it
    /// starts cannot write to the bucket.
    #[arg(long, value_name = "CMD")]
    pub boot_cmd: Option<String>,
    /// How long the command may take; then it and whatever it started is killed, and the box has not booted
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse::duration, requires = "boot_cmd")]
    pub boot_timeout: Duration,
    /// Write no receipt, where this identity may only read
    #[arg(long)]
    pub no_receipt: bool,
}

/// Which snapshot of each box is rehearsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum At {
    /// The current snapshot: what a restore takes by default
    Current,
    /// The newest that proves and did not collapse
    Good,
}
