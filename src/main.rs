//! The program: builds the real [`World`], runs, and returns the exit code.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::process::ExitCode;

use carlosctl::exit::Exit;
use carlosctl::terminal::{Facts, TerminalPrompt};
use carlosctl::world::{Acting, PATIENCE, World};

#[expect(clippy::disallowed_methods, reason = "this is where time enters")]
fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return Exit::Unexpected.into() };
    let mut world = World {
        env: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        now: Box::new(jiff::Timestamp::now),
        out: Box::new(stdout()),
        err: Box::new(stderr()),
        terminal: Facts {
            stdin: stdin().is_terminal(),
            stdout: stdout().is_terminal(),
            stderr: stderr().is_terminal(),
            columns: carlosctl::terminal::columns(),
        },
        prompt: Box::new(TerminalPrompt),
        acting: Acting::default(),
        patience: PATIENCE,
    };
    let exit = runtime.block_on(carlosctl::run(std::env::args_os(), &mut world));
    runtime.shutdown_timeout(world.patience);
    exit.into()
}
