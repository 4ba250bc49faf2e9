//! What an operator sees and types: escaped text, tables, progress and the one prompt.

mod bar;
mod consent;
mod escape;
mod nearest;
mod paint;
mod paper;
mod progress;
mod table;
mod words;
mod wrap;

pub use bar::Bars;
pub use consent::{Consent, ConsentError, Prompt, TerminalPrompt};
pub use escape::escape;
pub use nearest::nearest;
pub use paint::{asked, paint, state};
pub use paper::{Paper, shows_colour};
pub use progress::Progress;
pub use table::Table;
pub use words::{age, ago, bytes, count, duration, instant, instant_and_age};
pub use wrap::{wrap, wrap_under};

/// What is known of the terminal when the run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Whether standard input is a terminal.
    pub stdin: bool,
    /// Whether standard output is a terminal.
    pub stdout: bool,
    /// Whether standard error is a terminal.
    pub stderr: bool,
    /// Columns of standard output's terminal; `None` when it is none.
    pub columns: Option<u16>,
}

/// How many columns standard output's terminal has; `None` where it is none, or does not say.
#[must_use]
pub fn columns() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col).filter(|columns| *columns > 0)
}
