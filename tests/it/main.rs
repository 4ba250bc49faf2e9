//! One test binary: one file a feature, and the shared bench in `common`.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test panics, looks at the clock, reads its own environment, and says what it measured"
)]

mod box_half;
#![expect(clippy::expect_used, reason = "a test whose world cannot be set up has failed")]

mod common;
mod demo;
mod install_bench;
mod install_full_disk;
mod install_sweep;
mod on_s3;
mod restore;
mod retention_golden;
mod retention_oracle;
mod retention_properties;
mod retention_oracle;
mod retention_worlds;
mod shell;
mod snapshot_content;
mod snapshot_hold;
mod snapshot_list;
mod store_bodies;
mod store_conformance;
mod store_directory;
mod store_errors;
mod store_process;
mod terminal;
