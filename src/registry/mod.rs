//! What is in a registry (formats.md section 4): opened without leaving a trace, judged, counted, compared.
//!
//! Synchronous, on purpose: SQLite blocks, so an async caller runs a whole question in `spawn_blocking`. Every question is
//! one read transaction, so its answer is of one moment even while the agent writes. Columns are probed, never assumed.
//! Absent on purpose: any statement that writes. A registry is changed by replacing its file, never through here.

mod build_state;
mod census;
mod check;
mod diff;
mod error;
mod fingerprint;
mod header;
mod hosts;
mod open;
mod order;
mod routes;
mod row_sum;
mod schema;
mod vacuum;
mod value;

#[cfg(test)]
mod tests;

pub use build_state::{BuildState, BuildStateCopy, host_builds, keeps_build_state};
pub use census::{AppHosts, Census, Unreadable};
pub use check::Check;
pub use diff::{Diff, Row, RowChange, TableDiff, ValueChange, diff};
pub use error::RegistryError;
pub use fingerprint::FINGERPRINT_PREFIX;
pub use header::{HEADER_BYTES, Header, HeaderFault, judge};
pub use hosts::Hosts;
pub use open::{Interrupter, Registry};
pub use routes::{Route, Routes, UnreadableRoute};
pub use schema::{Column, Table};
pub use value::{Value, shown};
