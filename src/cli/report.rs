//! `carlosctl report …`

use clap::{Args, Subcommand};

use super::{AsOf, examples};
use crate::platform::Label;

/// Look at the box reports that retention rests on
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// List every box's report, and what it refuses
    List(ListArgs),
    /// Show what one box reports of each of its hosts
    Show(ShowArgs),
}

/// Arguments of `report list`.
#[derive(Debug, Args)]
#[command(after_help = examples::REPORT_LIST)]
pub struct ListArgs {
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}

/// Arguments of `report show`.
#[derive(Debug, Args)]
#[command(after_help = examples::REPORT_SHOW)]
pub struct ShowArgs {
    /// The box
    #[arg(long = "box", value_name = "LABEL")]
    pub label: Label,
    /// At which instant ages are judged.
    #[command(flatten)]
    pub as_of: AsOf,
}
