//! Being told to stop, and when that is heard.

use tokio::sync::watch;

use crate::error::CommandError;

/// Whether a loop was told to stop. Cloning shares the signal.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

/// Tells it.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// Why a pass did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassError {
    /// It was told to stop, at a point where nothing is half done.
    Stopped,
    /// Something failed; the whole pass is tried again at the next one.
    Failed(CommandError),
}

impl From<CommandError> for PassError {
    fn from(error: CommandError) -> Self {
        Self::Failed(error)
    }
}

impl Stopper {
    /// A signal, and the one who gives it.
    #[must_use]
    pub fn pair() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(receiver))
    }

    /// Stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether it was said already.
    #[must_use]
    pub fn is_said(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is said. A stopper that is gone never says it.
    pub async fn said(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|said| *said).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Does the work, unless told to stop before it is done. Only for work that may be dropped half-way.
    ///
    /// # Errors
    /// [`PassError::Stopped`].
    pub async fn unless_said<T>(&self, work: impl Future<Output = T>) -> Result<T, PassError> {
        tokio::select! {
            biased;
            () = self.said() => Err(PassError::Stopped),
            done = work => Ok(done),
        }
    }
}
