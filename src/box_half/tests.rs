//! Passes against a store that fails, a registry that is written, and being stopped or killed at every step.

mod bench;
mod faults;
mod guard;
mod pass;
mod report;
