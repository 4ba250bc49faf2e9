//! `carlosctl runbook …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{examples, parse};

/// The disaster recovery runbooks, built into the program
#[derive(Debug, Subcommand)]
pub enum RunbookCommand {
    /// List the runbooks, and when each of them is used
    List,
    /// Read a runbook; needs no network
    #[command(after_help = examples::RUNBOOK_SHOW)]
    Show {
        /// The runbook, as runbook list names it
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Walk through a runbook, one command at a time
    ///
    /// Fills in this machine's values, shows each command, asks, runs it with sh, and stops at the first one that does not end
    /// as the runbook says, or does not print what it shows; at a terminal such a one can be run again, or skipped for a reason.
    /// What the commands say is on standard error, in the order in which it was said. Everything is written to a transcript with
    /// the settings that were typed, and --resume goes on where one ends.
    Run(RunArgs),
}

/// Arguments of `runbook run`.
#[derive(Debug, Args)]
#[command(after_help = examples::RUNBOOK_RUN)]
pub struct RunArgs {
    /// The runbook, as runbook list names it
    #[arg(value_name = "NAME", required_unless_present = "resume")]
    pub name: Option<String>,
    /// Begin at this step; the steps before it are passed over
    #[arg(long, value_name = "STEP", conflicts_with = "resume")]
    pub from: Option<u16>,
    /// A value of the runbook, such as DEAD=edge-a1; repeatable. With --resume, what rests on another value is run again
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::assignment)]
    pub set: Vec<(String, String)>,
    /// The transcript to write; it must not exist [default: NAME-STAMP.transcript in this directory]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub transcript: Option<PathBuf>,
    /// Go on where this transcript ends
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Run every command without asking; one that wants a name typed still wants its own --confirm
    #[arg(long)]
    pub unattended: bool,
    /// Consent to a command that wants this name typed; repeatable
    #[arg(long, value_name = "NAME")]
    pub confirm: Vec<String>,
}
