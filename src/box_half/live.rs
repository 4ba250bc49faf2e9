//! The live registry, asked off the runtime.

use std::path::{Path, PathBuf};

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

    /// Asks it. The question is given the handle that interrupts it, for other registries that it opens.
    ///
    /// # Errors
    /// The outer one is `Stopped` only; the inner one is what the registry said.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        stop: &Stop,
        question: impl FnOnce(&Registry, &Interrupter) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<Result<T, RegistryError>, PassError> {
        let _turn = stop.unless_said(self.one_at_a_time.lock()).await?;
        let path = self.path.clone();
        interruptible(stop, move |interrupter| question(&Registry::open_live(&path)?.interrupted_by(interrupter)?, interrupter))
            .await
    }
}

/// Asks registries off the runtime. Told to stop, the question is interrupted, and waited for: it cleans up behind itself.
///
/// # Errors
/// As [`LiveRegistry::ask`].
pub(super) async fn interruptible<T: Send + 'static>(
    stop: &Stop,
    question: impl FnOnce(&Interrupter) -> Result<T, RegistryError> + Send + 'static,
) -> Result<Result<T, RegistryError>, PassError> {
    let interrupter = Interrupter::default();
    let given = interrupter.clone();
    let mut asked = tokio::task::spawn_blocking(move || question(&given));
    let answer = tokio::select! {
        answer = &mut asked => answer,
        () = stop.said() => {
            interrupter.interrupt();
            asked.await
        }
    };
    match answer {
        _ if stop.is_said() => Err(PassError::Stopped),
        Ok(answer) => Ok(answer),
        Err(error) => Ok(Err(RegistryError::Other(error.to_string()))),
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
