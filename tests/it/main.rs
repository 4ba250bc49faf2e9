//! One test binary: one file a feature, and the shared bench in `common`.

mod common;
mod shell;
