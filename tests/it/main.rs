//! One test binary: one file a feature, and the shared bench in `common`.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test panics where its world cannot be set up, and looks at the clock"
)]

mod box_half;
mod box_retention;
mod common;
mod completion;
mod demo;
mod doctor;
mod drill;
mod fault_matrix;
mod fault_proxy;
mod generated;
mod hints;
mod install_bench;
mod install_full_disk;
mod install_sweep;
mod museum;
mod on_s3;
mod report;
mod requests;
mod restore;
mod restore_again;
mod restore_proof;
mod restore_watch;
mod retention_demo;
mod retention_explain;
mod retention_golden;
mod retention_manifests;
mod retention_oracle;
mod retention_properties;
mod retention_races;
mod retention_run;
mod retention_s3;
mod retention_worlds;
mod runbook_run;
mod runbook_scenes;
mod runbook_walk;
mod runbooks;
mod shell;
mod snapshot_content;
mod snapshot_hold;
mod snapshot_list;
mod store_bodies;
mod store_conformance;
mod store_directory;
mod store_errors;
mod store_pieces;
mod store_process;
mod terminal;
mod tidy;
