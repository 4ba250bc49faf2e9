//! `carlosctl doctor`

use clap::Args;

use super::examples;

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = examples::DOCTOR)]
pub struct DoctorArgs {
    /// Try nothing out: write no scratch object and no scratch file. What was not tried is not known, and so is the verdict
    #[arg(long)]
    pub read_only: bool,
}
