//! This machine: units, holders of the registry, the interlock, and the atomic exchange (contract section 3, formats.md
//! section 8).
//!
//! | module | question |
//! |---|---|
//! | [`units`] | does systemd run, start, or stand ready to start the agent? |
//! | [`holders`] | which process has the registry open? |
//! | [`target`] | what is at the registry's path? |
//! | [`interlock`] | is anybody else at it, and who may go on? |
//! | [`stage`] | where is a registry received and checked before anybody sees it? |
//! | [`install`] | how does it take the old one's place, at every instant the one or the other? |
//! | [`undo`] | how does the old one come back? |
//! | [`recover`] | what did a killed run leave, and how does it end? |
//! | [`private`] | where is what nobody else may look into? |
//! | [`trial`] | can the filesystem do what an install needs? |
//! | [`names`] | which files beside the registry are ours? |
//!
//! Nothing here decides whether a restore may go on: these modules give facts, guards and mechanisms, and the restore's
//! `decide` weighs them. Nothing here talks to a store or to a terminal.

pub mod holders;
pub mod install;
pub mod interlock;
pub mod names;
pub mod private;
pub mod recover;
pub mod stage;
pub mod target;
pub mod trial;
pub mod undo;
pub mod units;

mod exchange;
mod fold;
mod lock_file;
mod steps;

#[cfg(test)]
mod bench;
#[cfg(test)]
mod waiting;
