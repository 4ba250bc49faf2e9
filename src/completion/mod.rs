//! What a shell offers while a command is typed.
//!
//! | file | what it does |
//! |---|---|
//! | `script` | the scripts: clap's own, with a question where it would offer file names |
//! | `line` | the half command that was typed so far |
//! | `values` | the answer: labels and stamps, from a listing |
//!
//! clap's own way to complete from values of the moment (`unstable-dynamic`) is not used: it is declared unstable, and its
//! scripts run the program at every key, where these run it only for what a store alone knows.
//!
//! A shell waits while it is answered, in the middle of what an operator types. So an answer takes a second at most, nothing is
//! asked and nothing is written, whatever is wrong is silence, and only parsed labels and stamps are ever printed.

mod line;
mod script;
mod values;

use clap::Arg;
use clap::builder::ValueParser;

use crate::platform::{Label, Stamp};
use crate::snapshot::Selector;

pub(crate) use script::script;
pub(crate) use values::Question;

/// What only the store knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The labels of boxes that have snapshots.
    Boxes,
    /// The snapshots of the box on the line.
    Snapshots,
    /// The holds of the box on the line.
    Holds,
}

impl Wanted {
    const ALL: [Self; 3] = [Self::Boxes, Self::Snapshots, Self::Holds];

    /// As the scripts ask for it.
    fn word(self) -> &'static str {
        match self {
            Self::Boxes => "boxes",
            Self::Snapshots => "snapshots",
            Self::Holds => "holds",
        }
    }
}

/// What an argument takes that only the store knows: its type says it, so that a new argument needs no thought.
fn wanted(arg: &Arg) -> Option<Wanted> {
    let is = |parser: ValueParser| arg.get_value_parser().type_id() == parser.type_id();
    if is(clap::value_parser!(Label).into()) {
        Some(Wanted::Boxes)
    } else if is(clap::value_parser!(Selector).into()) {
        Some(Wanted::Snapshots)
    } else if is(clap::value_parser!(Stamp).into()) {
        Some(Wanted::Holds)
    } else {
        None
    }
}
