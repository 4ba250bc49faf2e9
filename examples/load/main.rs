//! A deployment far larger than any that exists, and what each command costs on it.
//!
//!     cargo build --release && cargo run --release --example load -- [BOXES] [APPS] [VERSIONS] [MIB]
//!
//! Builds a quarter of the deployment and all of it in a directory store, runs the commands on both with the program that was
//! built beside this one, and prints seconds and peak memory. Four times as much may take a little more than four times as
//! long; were something quadratic, it would take sixteen times as long. Then one registry of so many MiB goes through a pass of
//! the box half, a list, a verify and a restore.

mod build;
mod measure;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use jiff::Timestamp;

use build::{Size, build, build_registry};
use measure::{Cost, Program};

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let numbers: Result<Vec<u64>, _> = std::env::args().skip(1).map(|arg| arg.parse()).collect();
    let Ok(numbers) = numbers else {
        say("usage: load [BOXES] [APPS] [VERSIONS] [MIB]");
        return ExitCode::from(2);
    };
    let number = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);
    let size = Size { boxes: number(0, 2_000), apps: number(1, 2_000), versions: number(2, 200) };
    match fleet(size).and_then(|()| one_registry(number(3, 1_024))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&format!("failed: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "load: {text}");
}

fn row(cells: &[String]) {
    let _ = writeln!(io::stdout(), "| {} |", cells.join(" | "));
}

/// The commands that look at the whole deployment, on a quarter of it and on all of it.
fn fleet(size: Size) -> Result<(), Failure> {
    const COMMANDS: [&[&str]; 5] = [
        &["snapshot", "list"],
        &["snapshot", "verify"],
        &["report", "list"],
        &["retention", "explain"],
        &["retention", "plan", "--out", "PLAN"],
    ];
    let quarter = Size { boxes: size.boxes / 4, apps: size.apps / 4, versions: size.versions };
    let mut costs: Vec<Vec<Cost>> = Vec::new();
    for part in [quarter, size] {
        let directory = tempfile::tempdir()?;
        say(&format!("building {part}"));
        let key = build(&directory.path().join("bucket"), part, now())?;
        let program = Program::on(&directory.path().join("bucket"), &key)?;
        let plan = directory.path().join("plan").display().to_string();
        let mut of_part = Vec::new();
        for command in COMMANDS {
            let args = command.iter().map(|word| if *word == "PLAN" { plan.as_str() } else { word });
            say(&command.join(" "));
            of_part.push(program.run(args, &[])?);
        }
        costs.push(of_part);
    }
    row(&["command".to_owned(), quarter.to_string(), size.to_string(), "ratio of seconds".to_owned()]);
    row(&["---".to_owned(), "---".to_owned(), "---".to_owned(), "---".to_owned()]);
    for (at, command) in COMMANDS.iter().enumerate() {
        let (small, large) = (&costs[0][at], &costs[1][at]);
        let ratio = large.seconds / small.seconds;
        row(&[command[..2].join(" "), small.to_string(), large.to_string(), format!("{ratio:.1}")]);
    }
    Ok(())
}

/// One registry of `mib` MiB, from the live one to the restored one.
fn one_registry(mib: u64) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let bucket = directory.path().join("bucket");
    fs::create_dir(&bucket)?;
    let (live, standby) = (directory.path().join("live"), directory.path().join("standby"));
    fs::create_dir(&live)?;
    fs::create_dir(&standby)?;
    say(&format!("building a registry of {mib} MiB"));
    build_registry(&live.join("registry.db"), mib)?;
    let program = Program::on(&bucket, "")?;
    let of = |home: &Path, label: &str| {
        vec![("CARLOS_DATA_DIR", home.display().to_string()), ("CARLOS_BOX_LABEL", label.to_owned())]
    };
    row(&[format!("one registry of {mib} MiB"), "cost".to_owned()]);
    row(&["---".to_owned(), "---".to_owned()]);
    for (args, home, label) in [
        (&["box", "snapshot"][..], &live, "edge-a1"),
        (&["box", "snapshot"], &live, "edge-a1"),
        (&["snapshot", "list"], &standby, "edge-d4"),
        (&["snapshot", "verify", "--box", "edge-a1"], &standby, "edge-d4"),
        (&["restore", "--from-box", "edge-a1", "--confirm", "edge-a1", "--allow", "still-writing"], &standby, "edge-d4"),
    ] {
        say(&args.join(" "));
        let cost = program.run(args.iter().copied(), &of(home, label))?;
        row(&[args.join(" "), cost.to_string()]);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "reports are fresh or stale on the machine's clock")]
fn now() -> Timestamp {
    Timestamp::now()
}
