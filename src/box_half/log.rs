//! One line a pass, in the platform's log style: `agent: …` on standard error.

use std::io::Write;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::terminal::escape;

/// What is said, and whether `--quiet` may swallow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// An ordinary pass.
    Plain(String),
    /// A warning or failure, which is always shown.
    Warning(String),
}

impl Line {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Warning(text) => text,
        }
    }
}

/// Where passes say what they did. Cloning speaks into the same log.
#[derive(Debug, Clone)]
pub struct Log(UnboundedSender<Line>);

impl Log {
    /// A log, and where its lines come out.
    #[must_use]
    pub fn new() -> (Self, UnboundedReceiver<Line>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Says what an ordinary pass did.
    pub fn plain(&self, text: impl Into<String>) {
        // Nobody listens any more only when the process ends.
        let _ = self.0.send(Line::Plain(text.into()));
    }

    /// Says what must not be missed.
    pub fn warning(&self, text: impl Into<String>) {
        let _ = self.0.send(Line::Warning(text.into()));
    }
}

/// Does `work` and writes its lines to `err` as they come.
pub(super) async fn written_to<T>(
    err: &mut (dyn Write + Send),
    quiet: bool,
    mut lines: UnboundedReceiver<Line>,
    work: impl Future<Output = T>,
) -> T {
    let mut write = |line: &Line| {
        if !(quiet && matches!(line, Line::Plain(_))) {
            // A log that cannot be written is no reason not to snapshot.
            let _ = writeln!(err, "{}", escape(line.text())).and_then(|()| err.flush());
        }
    };
    let mut work = Box::pin(work);
    loop {
        tokio::select! {
            biased;
            Some(line) = lines.recv() => write(&line),
            done = &mut work => {
                while let Ok(line) = lines.try_recv() {
                    write(&line);
                }
                return done;
            }
        }
    }
}
