//! A pass again and again (seed 000, `registrySnapshotLoop`): after a minute, then every five minutes and a bit.

use std::time::Duration;

use super::log::Log;
use super::stop::{PassError, Stop};

const FIRST: Duration = Duration::from_mins(1);
const EVERY: Duration = Duration::from_mins(5);
const JITTER: Duration = Duration::from_mins(1);

/// How long to wait before each pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cadence {
    first: Duration,
    every: Duration,
    jitter: Duration,
}

/// How a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passes {
    /// Passes that came to their end.
    pub done: u64,
    /// Passes that failed.
    pub failed: u64,
}

impl Cadence {
    /// The agent's own, or the same pause every time.
    #[must_use]
    pub fn new(interval: Option<Duration>) -> Self {
        interval.map_or(Self { first: FIRST, every: EVERY, jitter: JITTER }, |interval| Self {
            first: interval,
            every: interval,
            jitter: Duration::ZERO,
        })
    }

    /// The pause before the pass that follows `passes` others; `random` spreads the boxes of a deployment.
    #[must_use]
    pub fn pause(&self, passes: u64, random: u32) -> Duration {
        if passes == 0 { self.first } else { self.every + self.jitter.mul_f64(f64::from(random) / (f64::from(u32::MAX) + 1.0)) }
    }

    /// Makes passes until told to stop. A pass that fails is said, and the next one is made all the same.
    pub async fn repeat<T: std::fmt::Display>(
        &self,
        name: &str,
        log: &Log,
        stop: &Stop,
        mut pass: impl AsyncFnMut() -> Result<T, PassError>,
    ) -> Passes {
        let mut passes = Passes::default();
        loop {
            // Without randomness all boxes would come at once; that is a pity and no reason to stop.
            let pause = self.pause(passes.done + passes.failed, getrandom::u32().unwrap_or_default());
            if stop.unless_said(tokio::time::sleep(pause)).await.is_err() {
                return passes;
            }
            match pass().await {
                Ok(outcome) => {
                    passes.done += 1;
                    log.plain(outcome.to_string());
                }
                Err(PassError::Failed(error)) => {
                    passes.failed += 1;
                    log.warning(format!("agent: {name} pass: {}", error.message));
                }
                Err(PassError::Stopped) => return passes,
            }
        }
    }
}

impl std::fmt::Display for Cadence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.jitter.is_zero() { write!(f, "every {:?}", self.every) } else { write!(f, "5min + jitter") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_own_cadence() {
        let cadence = Cadence::new(None);
        assert_eq!(cadence.pause(0, u32::MAX), FIRST);
        assert_eq!(cadence.pause(1, 0), EVERY);
        let latest = cadence.pause(7, u32::MAX);
        assert!(latest > Duration::from_secs(359) && latest < EVERY + JITTER, "{latest:?}");
        let fixed = Cadence::new(Some(Duration::from_millis(20)));
        assert_eq!((fixed.pause(0, 9), fixed.pause(1, u32::MAX)), (Duration::from_millis(20), Duration::from_millis(20)));
    }
}
