//! What is in a registry (formats.md section 4): opened without leaving a trace, judged, counted, compared.
//!
//! Synchronous, on purpose: SQLite blocks, so an async caller runs a whole question in `spawn_blocking`. Every question is
//! one read transaction, so its answer is of one moment even while the agent writes. Columns are probed, never assumed.
//! Absent on purpose: any statement that writes. A registry is changed by replacing its file, never through here.

mod census;
mod check;
mod error;
mod header;
mod open;
mod schema;
mod value;

#[cfg(test)]
mod tests;

pub use census::{AppHosts, Census, Unreadable};
pub use check::Check;
pub use error::RegistryError;
pub use header::{HEADER_BYTES, Header, HeaderFault, judge};
pub use open::{Interrupter, Registry};
pub use schema::{Column, Table};
pub use value::{Value, shown};
