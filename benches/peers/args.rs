//! What was typed.

use std::time::Duration;

use super::Failure;

/// Every job, in the order in which they are run.
pub(crate) const JOBS: [&str; 7] = ["start", "list", "restore", "verify", "explain", "run", "box"];

/// What is to be measured.
#[derive(Debug, Default)]
pub(crate) struct Args {
    named: Vec<String>,
    extent: Extent,
    sizes: Vec<u64>,
    latencies: Vec<Duration>,
    rounds: Option<usize>,
}

/// How much of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Short,
    #[default]
    Ordinary,
    Full,
}

impl Args {
    /// Reads the command line. Cargo itself adds `--bench`.
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut read = Self::default();
        let mut args = args.filter(|arg| arg != "--bench");
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
            match arg.as_str() {
                "--short" => read.extent = Extent::Short,
                "--full" => read.extent = Extent::Full,
                "--sizes" => read.sizes = numbers(&value()?)?,
                "--latency" => read.latencies = numbers(&value()?)?.into_iter().map(Duration::from_millis).collect(),
                "--rounds" => read.rounds = Some(value()?.parse()?),
                job if JOBS.contains(&job) => read.named.push(arg),
                other => return Err(format!("{other}: not one of {} and no option", JOBS.join(", ")).into()),
            }
        }
        Ok(read)
    }

    /// The jobs that are meant.
    pub(crate) fn jobs(&self) -> Vec<&'static str> {
        JOBS.into_iter().filter(|job| self.named.is_empty() || self.named.iter().any(|named| named == job)).collect()
    }

    /// The sizes that were named, else those of the extent.
    pub(crate) fn sizes(&self, short: &[u64], ordinary: &[u64], full: &[u64]) -> Vec<u64> {
        let sizes = match self.extent {
            Extent::Short => short,
            Extent::Ordinary => ordinary,
            Extent::Full => full,
        };
        if self.sizes.is_empty() { sizes.to_vec() } else { self.sizes.clone() }
    }

    /// The latencies that were named, else 0, 10 and 50 ms, of which a short run has only the ends.
    pub(crate) fn latencies(&self) -> Vec<Duration> {
        let ordinary: &[u64] = if self.extent == Extent::Short { &[0, 50] } else { &[0, 10, 50] };
        if self.latencies.is_empty() {
            ordinary.iter().map(|latency| Duration::from_millis(*latency)).collect()
        } else {
            self.latencies.clone()
        }
    }

    /// How many times each is run; where one run takes long, fewer will do.
    pub(crate) fn rounds(&self, first: Duration) -> usize {
        let ordinary = match self.extent {
            Extent::Short => 3,
            Extent::Ordinary => 5,
            Extent::Full => 9,
        };
        self.rounds.unwrap_or(if first > Duration::from_secs(20) { 3 } else { ordinary })
    }
}

fn numbers(text: &str) -> Result<Vec<u64>, Failure> {
    text.split(',').map(|number| Ok(number.trim().parse()?)).collect()
}
