//! Mutation testing of the modules that guard: every small fault of them, compiled into one program and switched on one at a
//! time.
//!
//! `cargo mutants` builds the program anew for each mutant, which takes hours for the modules at stake; this builds it once.
//! A mutant is chosen by a number in a file, which the tests' child processes read as well.
//!
//!     cargo run --manifest-path mutants/Cargo.toml -- prepare DIRECTORY SOURCE...
//!     (cd DIRECTORY && cargo test --no-run)
//!     cargo run --manifest-path mutants/Cargo.toml -- run DIRECTORY PREFIX 'COMMAND' 'COMMAND'...
//!
//! `prepare` copies the repository's files to DIRECTORY with the mutants in. `run` runs the commands in DIRECTORY for each mutant of
//! the sources that begin with PREFIX, the quick one first, until one fails: then the mutant is killed. Each is printed.

mod plant;
mod switch;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// A mutant that makes a command last so much longer than usual hangs, and is killed as well.
const PATIENCE: Duration = Duration::from_secs(240);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["prepare", directory, sources @ ..] if !sources.is_empty() => prepare(Path::new(directory), sources),
        ["run", directory, prefix, commands @ ..] if !commands.is_empty() => run(Path::new(directory), prefix, commands),
        _ => Err("usage: prepare DIRECTORY SOURCE... | run DIRECTORY PREFIX COMMAND...".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("mutants: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Copies the repository and plants the mutants.
fn prepare(directory: &Path, sources: &[&str]) -> Result<(), Failure> {
    let listed = Command::new("git").args(["ls-files", "-z"]).output()?;
    for name in String::from_utf8(listed.stdout)?.split('\0').filter(|name| Path::new(name).is_file()) {
        let copy = directory.join(name);
        fs::create_dir_all(copy.parent().ok_or("a file without a directory")?)?;
        fs::copy(name, copy)?;
    }
    let mut planted = plant::Planter::default();
    for source in sources {
        let text = fs::read_to_string(source)?;
        fs::write(directory.join(source), planted.plant(source, &text)?)?;
    }
    let library = directory.join("src/lib.rs");
    let text = fs::read_to_string(&library)?;
    fs::write(&library, format!("{text}\nmod mutant;\n"))?;
    fs::write(directory.join("src/mutant.rs"), switch::module(&directory.canonicalize()?))?;
    switch::choose(directory, 0)?;
    fs::write(directory.join("mutants.txt"), planted.names().join("\n"))?;
    println!("{} mutants", planted.names().len());
    Ok(())
}

/// Runs the commands against each mutant of some sources.
fn run(directory: &Path, prefix: &str, commands: &[&str]) -> Result<(), Failure> {
    let names = fs::read_to_string(directory.join("mutants.txt"))?;
    switch::choose(directory, 0)?;
    for command in commands {
        if !passes(directory, command)? {
            return Err(format!("without any mutant, this fails already: {command}").into());
        }
    }
    let (mut tried, mut survived) = (0, 0);
    for (number, name) in (1..).zip(names.lines()).filter(|(_, name)| name.starts_with(prefix)) {
        tried += 1;
        switch::choose(directory, number)?;
        let mut killed = false;
        for command in commands {
            if !passes(directory, command)? {
                killed = true;
                break;
            }
        }
        println!("{number} {} {name}", if killed { "killed" } else { "SURVIVED" });
        survived += u32::from(!killed);
    }
    switch::choose(directory, 0)?;
    println!("{tried} mutants, {survived} survived");
    Ok(())
}

fn passes(directory: &Path, command: &str) -> Result<bool, Failure> {
    let mut child = Command::new("setsid")
        .args(["--wait", "sh", "-c", command])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if started.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
