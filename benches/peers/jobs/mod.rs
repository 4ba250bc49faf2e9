//! The jobs, one file each: what they work on, ours, the peers', and the target.

mod box_snapshot;
mod explain;
mod list;
mod restore;
mod retention_run;
mod start;
mod verify;

use std::process::Command;
use std::time::Duration;

use super::Failure;
use super::args::Args;
use super::measure::{Contender, Taken, in_turn, peak_mib};
use super::place::Place;
use super::proxy::{Counts, Proxy};
use super::server::Server;
use super::tools::{Tools, clean};

/// Everything that a job needs.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) args: Args,
    pub(crate) place: Place,
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) tools: Tools,
    pub(crate) server: Server,
}

/// Runs one.
pub(crate) fn run(job: &str, lab: &Lab) -> Result<(), Failure> {
    match job {
        "list" => list::run(lab),
        "restore" => restore::run(lab),
        "verify" => verify::run(lab),
        "explain" => explain::run(lab),
        "run" => retention_run::run(lab),
        "box" => box_snapshot::run(lab),
        _ => start::run(lab),
    }
}

/// The server as it is seen through one latency.
pub(crate) struct Road<'l> {
    lab: &'l Lab,
    latency: Duration,
    proxy: Proxy,
}

impl<'l> Road<'l> {
    /// The road to the server that costs so much a request.
    pub(crate) fn new(lab: &'l Lab, latency: Duration) -> Result<Self, Failure> {
        Ok(Self { lab, latency, proxy: Proxy::start(lab.runtime.handle(), &lab.server.address, latency)? })
    }

    /// Where the contenders ask. Without a latency there is nothing between them and the server.
    pub(crate) fn endpoint(&self) -> String {
        if self.latency.is_zero() { self.lab.server.endpoint() } else { self.proxy.endpoint.clone() }
    }

    /// Runs the contenders in turn.
    pub(crate) fn in_turn(&self, contenders: &mut [Contender<'_>]) -> Result<Vec<Taken>, Failure> {
        in_turn(contenders, |first| self.lab.args.rounds(first))
    }

    /// Runs a command of ours once more, past the counter: its requests, and the most memory that it had.
    pub(crate) fn counted(&self, command: impl Fn(&str) -> Command) -> Result<(Counts, Option<u64>), Failure> {
        let _ = self.proxy.take_counts();
        let peak = peak_mib(&command(&self.proxy.endpoint))?;
        Ok((self.proxy.take_counts(), peak))
    }
}

/// Our own binary on a bucket behind `endpoint`, which is its own status store.
pub(crate) fn carlosctl(endpoint: &str, bucket: &str, args: &[&str]) -> Command {
    let mut command = clean(Place::binary());
    command.args(args).env("CARLOS_S3_ENDPOINT", endpoint).env("CARLOS_DEPLOYMENT_BUCKET", bucket);
    command.env("CARLOS_DATA_DIR", "/nonexistent");
    command
}

/// The label of box `number`.
pub(crate) fn label(number: u64) -> String {
    format!("edge-{number:05}")
}
