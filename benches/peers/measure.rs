//! Running contenders in turn, and what came of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Failure;

/// A contender that needs so many times as long as the fastest is not run again: it cannot become the fastest.
const HOPELESS: u32 = 4;

type Step<'a> = Box<dyn FnMut() -> Result<(), Failure> + 'a>;

/// One way to do the job.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    prepare: Step<'a>,
    command: Box<dyn Fn() -> Command + 'a>,
}

/// How long a contender took.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) name: &'static str,
    times: Vec<Duration>,
}

impl<'a> Contender<'a> {
    /// A command that leaves nothing behind that would help or hinder the next run.
    pub(crate) fn new(name: &'static str, command: impl Fn() -> Command + 'a) -> Self {
        Self { name, prepare: Box::new(|| Ok(())), command: Box::new(command) }
    }

    /// With something to do before each run, which is not measured.
    pub(crate) fn after(mut self, prepare: impl FnMut() -> Result<(), Failure> + 'a) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    fn run(&mut self) -> Result<Duration, Failure> {
        (self.prepare)()?;
        let mut command = (self.command)();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let begin = Instant::now();
        let output = command.spawn()?.wait_with_output()?;
        let taken = begin.elapsed();
        if output.status.success() {
            return Ok(taken);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = said.lines().take(5).collect();
        Err(format!("{}: {}: {}", self.name, output.status, first.join(" | ")).into())
    }
}

impl Taken {
    /// The middle one.
    pub(crate) fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    /// How many times it was run, the first one included that warmed everything up, where it is the only one.
    pub(crate) fn runs(&self) -> usize {
        self.times.len()
    }
}

/// Runs each once to warm up, then all in turn. The first contender is ours, and always runs.
pub(crate) fn in_turn(contenders: &mut [Contender<'_>], rounds: impl Fn(Duration) -> usize) -> Result<Vec<Taken>, Failure> {
    let mut first = Vec::new();
    for contender in contenders.iter_mut() {
        first.push(contender.run()?);
    }
    let fastest_peer = first.iter().skip(1).min().copied().unwrap_or_default();
    let rounds = rounds(first.iter().take(1).copied().sum::<Duration>().max(fastest_peer));
    let mut taken: Vec<Taken> = contenders.iter().map(|contender| Taken { name: contender.name, times: Vec::new() }).collect();
    for _ in 0..rounds {
        for (at, contender) in contenders.iter_mut().enumerate() {
            if at == 0 || first[at] <= fastest_peer * HOPELESS {
                taken[at].times.push(contender.run()?);
            }
        }
    }
    for (taken, first) in taken.iter_mut().zip(first) {
        if taken.times.is_empty() {
            taken.times.push(first);
        }
    }
    Ok(taken)
}

/// The most memory that a command had resident, in MiB, by GNU time; `None` where that is not installed.
pub(crate) fn peak_mib(command: &Command) -> Result<Option<u64>, Failure> {
    let time = Path::new("/usr/bin/time");
    if !time.exists() {
        return Ok(None);
    }
    let mut timed = Command::new(time);
    timed.args(["-f", "peak %M"]).arg(command.get_program()).args(command.get_args()).env_clear();
    timed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = timed.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let kib: Option<u64> = said.lines().rev().find_map(|line| line.strip_prefix("peak ")?.parse().ok());
    match kib {
        Some(kib) if output.status.success() => Ok(Some(kib / 1024)),
        _ => Err(format!("{command:?}: {}: {said}", output.status).into()),
    }
}
