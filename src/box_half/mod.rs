//! The box half (contract section 5): what the platform's agent does on each box, for deployments without it and for tests.
//!
//! | file | what it does |
//! |---|---|
//! | `snapshot_pass` | one pass of seed 000: gate, copy, generation, current, sidecar, prune |
//! | `guard` | the one improvement: a hold before something worth having is overwritten |
//! | `report` | this box's build states as its report (seed 002) |
//! | `retention_pass` | what this box's own view says may go (seed 002) |
//! | `cadence` | a pass again and again, until told to stop |
//! | `live` | the registry, asked off the runtime and one question at a time |
//! | `replacing` | writing over whatever is there, by compare-and-swap |
//! | `run`, `answers` | the commands, and what they answer |
//! | `log`, `stop`, `notify` | how a loop speaks, ends, and tells systemd |
//!
//! Absent on purpose: consent. These are unattended passes; what protects the bucket is the hold, the conditions of every
//! write, and the interlock, under which no pass starts.

mod answers;
mod cadence;
mod guard;
mod live;
mod log;
mod notify;
mod replacing;
mod report;
mod retention_pass;
mod run;
mod snapshot_pass;
mod stop;

#[cfg(test)]
mod tests;

pub use cadence::{Cadence, Passes};
pub use live::LiveRegistry;
pub use log::{Line, Log};
pub use report::{ReportPass, Reported, collect};
pub use run::run;
pub use snapshot_pass::{Memory, Outcome, Published, SnapshotPass};
pub use stop::{PassError, Stop, Stopper};
