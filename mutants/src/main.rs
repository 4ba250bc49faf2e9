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
//! the sources that begin with PREFIX, the quick one first, until one fails: then the mutant is killed. Each is printed, with
//! the test that killed it and the seconds that it took. PREFIX may also be numbers of mutants, with commas between them.

mod plant;
mod switch;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// A mutant that makes a command last this many times as long as without any, and a while, hangs: it is killed as well.
const PATIENCE: u32 = 6;
const A_WHILE: Duration = Duration::from_secs(10);

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
    let mut usual = Vec::new();
    for command in commands {
        let started = Instant::now();
        if let Some(failed) = failure_of(directory, command, Duration::from_secs(600))? {
            return Err(format!("without any mutant, this fails already: {command}: {failed}").into());
        }
        usual.push(started.elapsed());
    }
    let (mut tried, mut survived) = (0, 0);
    let numbers: Option<Vec<usize>> = prefix.split(',').map(|number| number.parse().ok()).collect();
    let chosen = |number: &usize, name: &str| match &numbers {
        Some(numbers) => numbers.contains(number),
        None => name.starts_with(prefix),
    };
    for (number, name) in (1..).zip(names.lines()).filter(|(number, name)| chosen(number, name)) {
        tried += 1;
        switch::choose(directory, number)?;
        let started = Instant::now();
        let mut killer = None;
        for (command, usual) in commands.iter().zip(&usual) {
            killer = failure_of(directory, command, *usual * PATIENCE + A_WHILE)?;
            if killer.is_some() {
                break;
            }
        }
        survived += u32::from(killer.is_none());
        let verdict = killer.map_or_else(|| "SURVIVED".to_owned(), |test| format!("killed by {test}"));
        println!("{number} {verdict} ({:.1} s) {name}", started.elapsed().as_secs_f64());
    }
    switch::choose(directory, 0)?;
    println!("{tried} mutants, {survived} survived");
    Ok(())
}

/// What of the command failed: the first test, where it is one that says so. None where it passes.
fn failure_of(directory: &Path, command: &str, patience: Duration) -> Result<Option<String>, Failure> {
    let output = tempfile::NamedTempFile::new()?;
    let mut child = Command::new("setsid")
        .args(["--wait", "sh", "-c", command])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(output.reopen()?)
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    while started.elapsed() <= patience {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(None),
            Some(status) => {
                let text = String::from_utf8_lossy(&fs::read(output.path())?).into_owned();
                let test = text.lines().find_map(|line| line.strip_prefix("test ")?.split_once(" ... FAILED"));
                return Ok(Some(test.map_or_else(|| status.to_string(), |(test, _)| test.to_owned())));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    // And what it started.
    Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status()?;
    child.wait()?;
    Ok(Some("a hang".to_owned()))
}
