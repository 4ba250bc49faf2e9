//! Everything outside the program, in one struct: environment, clock, terminal, output and prompt.
//!
//! Only `main` and the tests build one. Nothing else asks the process for its environment, its streams or the time.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::OwnedMutexGuard;

use crate::terminal::{Facts, Prompt};

/// An interrupted transfer gives its staged file up before the process ends.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// What a run may ask of the outside, and where it may speak.
pub struct World {
    /// The environment. Values are never printed, except those of named settings.
    pub env: BTreeMap<String, String>,
    /// The machine's clock.
    pub now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// Where the answer goes.
    pub out: Box<dyn Write + Send>,
    /// Where the conversation goes.
    pub err: Box<dyn Write + Send>,
    /// What is known of the terminal.
    pub terminal: Facts,
    /// How consent is asked for.
    pub prompt: Box<dyn Prompt + Send>,
    /// Whether something is being done that is not left half done.
    pub acting: Acting,
    /// How long the end of the program waits for what is still under way.
    pub patience: Duration,
}

/// What is between a consent and its answer. Whoever wants to end the program waits until nobody acts. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Acting(Arc<tokio::sync::Mutex<()>>);

impl Acting {
    /// Acts until the value is dropped.
    pub async fn begin(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.0).lock_owned().await
    }

    /// Whether somebody acts now.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.0.try_lock().is_err()
    }

    /// Returns when Ctrl-C was pressed and nothing is being done that is not left half done; at a second one in any case.
    pub async fn interrupted(&self) {
        let _ = tokio::signal::ctrl_c().await;
        if self.is_under_way() {
            let _ = writeln!(io::stderr(), "finishing what was begun first; press Ctrl-C again to stop at once");
            tokio::select! {
                _ = self.begin() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
    }
}

impl World {
    /// A world without a terminal that writes to `out` and `err`: a command run by this program itself, or by a test.
    #[must_use]
    pub fn scripted(
        env: BTreeMap<String, String>,
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        out: &Recorder,
        err: &Recorder,
    ) -> Self {
        Self {
            env,
            now: Box::new(now),
            out: Box::new(out.clone()),
            err: Box::new(err.clone()),
            terminal: Facts { stdin: false, stdout: false, stderr: false, columns: None },
            prompt: Box::new(Nobody),
            acting: Acting::default(),
            patience: PATIENCE,
        }
    }
}

/// Keeps what is written to it. Clones share it, so output and conversation can be kept in the order in which they were said.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Arc<Mutex<Vec<u8>>>);

impl Recorder {
    /// Everything written so far.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Recorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where nobody can be asked.
struct Nobody;

impl Prompt for Nobody {
    fn ask(&mut self, _question: &str) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
