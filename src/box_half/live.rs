//! The live registry, asked off the runtime.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio::sync::Mutex;

use super::stop::{PassError, Stop};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::registry::{Interrupter, Registry, RegistryError};

/// This box's registry, which another process may be writing. One question at a time: within one process a second opening
/// would give back the first one's locks.
#[derive(Debug)]
pub struct LiveRegistry {
    path: PathBuf,
    one_at_a_time: Mutex<()>,
}

impl LiveRegistry {
    /// The registry at `path`. Nothing is opened yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), one_at_a_time: Mutex::new(()) }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks it. Told to stop, the question is interrupted.
    ///
    /// # Errors
    /// What the registry said, or `Stopped`. The outer error is `Stopped` only.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        stop: &Stop,
        question: impl FnOnce(&Registry) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<Result<T, RegistryError>, PassError> {
        let _turn = stop.unless_said(self.one_at_a_time.lock()).await?;
        let interrupter = Arc::new(OnceLock::<Interrupter>::new());
        let (path, slot, told) = (self.path.clone(), Arc::clone(&interrupter), stop.clone());
        let mut asked = tokio::task::spawn_blocking(move || {
            let registry = Registry::open_live(&path)?;
            let _ = slot.set(registry.interrupter());
            // Said before the slot was filled: then nobody else will interrupt it.
            if told.is_said() {
                return Err(RegistryError::Interrupted);
            }
            question(&registry)
        });
        let answer = tokio::select! {
            answer = &mut asked => answer,
            () = stop.said() => {
                if let Some(interrupter) = interrupter.get() {
                    interrupter.interrupt();
                }
                asked.await
            }
        };
        match answer {
            _ if stop.is_said() => Err(PassError::Stopped),
            Ok(answer) => Ok(answer),
            Err(error) => Ok(Err(RegistryError::Other(error.to_string()))),
        }
    }
}

/// A registry's refusal at the top.
pub(super) fn refused(doing: &str, error: &RegistryError) -> CommandError {
    let exit = match error {
        RegistryError::Io(_) => Exit::NotFound,
        RegistryError::Busy(_) | RegistryError::Changed => Exit::Unavailable,
        _ => Exit::Refused,
    };
    CommandError::new(exit, format!("{doing}: {error}"))
}
