//! What was typed. The doc comments here are the help text.
#![expect(clippy::doc_markdown, reason = "the comments are shown to operators as they stand")]

pub mod box_half;
pub mod demo;
pub mod doctor;
pub mod drill;
mod examples;
pub mod generate;
mod parse;
pub mod report;
pub mod restore;
pub mod retention;
pub mod runbook;
pub mod snapshot;

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

/// Disaster recovery for CARLOS platform deployments
///
/// Lists the registry snapshots of dead boxes, proves them, and restores one into a cold standby before the agent is
/// started there.
#[derive(Debug, Parser)]
#[command(name = "carlosctl", version, disable_help_subcommand = true, max_term_width = 120, after_help = examples::PROGRAM)]
pub struct Cli {
    /// Settings that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look at, check and protect snapshots
    #[command(subcommand)]
    Snapshot(snapshot::SnapshotCommand),
    /// Install a dead box's registry on this standby, before its agent is started
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = examples::RESTORE)]
    Restore(restore::RestoreArgs),
    /// See why each version stays or goes, and delete what nothing needs
    #[command(subcommand)]
    Retention(retention::RetentionCommand),
    /// Look at the box reports that retention rests on
    #[command(subcommand)]
    Report(report::ReportCommand),
    /// The box half: what the platform's agent does on each box, for deployments without it
    #[command(subcommand)]
    Box(box_half::BoxCommand),
    /// Rehearse a restore of every box, without touching any registry
    ///
    /// Each box's snapshot is fetched, proved, and installed by the same steps as a restore into a scratch directory that is
    /// removed again. The ladder: bytes-intact, opens, content-plausible, restored-equals-source, and with --boot-cmd also
    /// boots. A box that fails a rung is bad, one that could not be rehearsed is unknown, and either ends with exit 4.
    ///
    /// A receipt is written to control/carlosctl/drills/ in the bucket, where snapshot list finds the last drill of each box.
    Drill(drill::DrillArgs),
    /// Tell whether this machine could do a restore right now
    ///
    /// Looks at everything that can be known before the night: settings and where each came from, the deployment store and
    /// what may be done in it, both clocks, this box's label, the agent's units, who has the registry open, and the place that
    /// the registry would be installed at. Ends with a verdict: ready (exit 0), not-ready or unknown (exit 4).
    ///
    /// Two things are tried on scratch objects, which are removed again: one object below control/carlosctl/probe/ in the
    /// store, and two files in a hidden directory beside the registry. Whether this identity may overwrite or delete snapshots,
    /// which a restore does not need, is asked with conditions that cannot hold, of names that nothing has.
    Doctor(doctor::DoctorArgs),
    /// The disaster recovery runbooks: read one, or walk through one
    #[command(subcommand)]
    Runbook(runbook::RunbookCommand),
    /// Build a throwaway deployment and walk through a restore on it
    Demo(demo::DemoArgs),
    /// Print the completions of a shell
    Completions(generate::CompletionsArgs),
    /// Print the manual page, or write one for every command
    Man(generate::ManArgs),
    /// Print help: of the program, a command, a topic (exit-codes, findings), or one code of a topic
    Help {
        /// A command, a topic, a finding's code or an exit code
        topic: Vec<String>,
    },
}

/// Settings that every command takes. Precedence: flag, environment, host.env, default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub struct Global {
    /// The deployment bucket [env: CARLOS_DEPLOYMENT_BUCKET]
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub bucket: Option<String>,
    /// The deployment directory, where there is no bucket [env: CARLOS_DEPLOYMENT_DIR]
    #[arg(long, global = true, value_name = "PATH", conflicts_with = "bucket", hide_short_help = true)]
    pub dir: Option<PathBuf>,
    /// An S3 endpoint that is not AWS [env: CARLOS_S3_ENDPOINT]
    #[arg(long, global = true, value_name = "URL", hide_short_help = true)]
    pub endpoint_url: Option<String>,
    /// The S3 region [env: CARLOS_AWS_REGION, then the SDK's own chain]
    #[arg(long, global = true, value_name = "REGION", hide_short_help = true)]
    pub region: Option<String>,
    /// The bucket that boxes report to, where it is not the deployment bucket [env: CARLOS_STATUS_BUCKET]
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub status_bucket: Option<String>,
    /// The directory that boxes report to [env: CARLOS_STATUS_DIR]
    #[arg(long, global = true, value_name = "PATH", conflicts_with = "status_bucket", hide_short_help = true)]
    pub status_dir: Option<PathBuf>,
    /// Where in the status store the platform's own reports are [env: CARLOS_STATUS_PREFIX]
    #[arg(long, global = true, value_name = "PREFIX", hide_short_help = true)]
    pub status_prefix: Option<String>,
    /// This box's own label [env: CARLOS_BOX_LABEL]
    #[arg(long, global = true, value_name = "LABEL", hide_short_help = true)]
    pub this_box: Option<String>,
    /// The live registry [default: $CARLOS_DATA_DIR/registry.db, else /data/registry.db]
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    pub registry: Option<PathBuf>,
    /// A unit that must be stopped before a restore, besides carlosctl-box.service; repeatable [env: CARLOS_AGENT_UNITS]
    #[arg(long, global = true, value_name = "UNIT", hide_short_help = true)]
    pub agent_unit: Vec<String>,
    /// The file that has settings which the environment lacks [default: /etc/carlos/host.env]
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    pub host_env: Option<PathBuf>,
    // These have no default here, so that it is known whether they were typed; Settings has it.
    /// How many requests may be under way at once [default: 32]
    #[arg(long, global = true, value_name = "N", value_parser = parse::at_once, hide_short_help = true)]
    pub concurrency: Option<NonZeroU16>,
    /// How long one request may take, or a transfer may stand still [default: 9s]
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse::duration, hide_short_help = true)]
    pub timeout: Option<Duration>,
    /// Print one JSON document instead of a table
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colour [default: auto]
    #[arg(long, global = true, value_name = "WHEN", hide_short_help = true)]
    pub color: Option<Color>,
    /// Never ask; refuse where consent is needed and not given by a flag
    #[arg(long, global = true, hide_short_help = true)]
    pub no_input: bool,
    /// Say less on standard error
    #[arg(short, long, global = true, hide_short_help = true)]
    pub quiet: bool,
    /// Say where each setting came from
    #[arg(short, long, global = true, hide_short_help = true)]
    pub verbose: bool,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// At a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether colour was asked for or refused; `None` where the terminal decides.
    #[must_use]
    pub fn asked(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::Always => Some(true),
            Self::Never => Some(false),
        }
    }
}

/// The instant at which a read-only command judges ages.
#[derive(Debug, Clone, Args)]
pub struct AsOf {
    /// Judge ages at this instant (RFC 3339) instead of now
    #[arg(long, value_name = "TIME", value_parser = parse::instant)]
    pub as_of: Option<Timestamp>,
}
