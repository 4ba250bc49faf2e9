//! Everything outside the program, in one struct: environment, clock, terminal, output and prompt.
//!
//! Only `main` and the tests build one. Nothing else asks the process for its environment, its streams or the time.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::Timestamp;

use crate::terminal::{Facts, Prompt};

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
}
