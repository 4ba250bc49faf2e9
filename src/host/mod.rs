//! This machine: units, holders of the registry, the interlock, and the atomic exchange (contract section 3, formats.md
//! section 8).
//!
//! | module | question |
//! |---|---|
//! | [`units`] | does systemd run, start, or stand ready to start the agent? |
//! | [`holders`] | which process has the registry open? |
//! | [`target`] | what is at the registry's path? |
//! | [`interlock`] | is anybody else at it, and who may go on? |
//! | [`names`] | which files beside the registry are ours? |
//!
//! Nothing here decides whether a restore may go on: these modules give facts, guards and mechanisms, and the restore's
//! `decide` weighs them. Nothing here talks to a store or to a terminal.

pub mod holders;
pub mod interlock;
pub mod names;
pub mod target;
pub mod units;

mod lock_file;
