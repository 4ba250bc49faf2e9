//! carlosctl: disaster recovery for CARLOS platform deployments.
//!
//! # The map
//!
//! Three questions an operator asks (snapshot, restore, retention), and each question has the same four rooms:
//!
//! | room | what it does | what it holds |
//! |---|---|---|
//! | `gather` | reads the world, gets evidence | a read-only store handle; it cannot write |
//! | `decide` | evidence in, findings and plan out | nothing: no clock, no I/O, no order that varies |
//! | `apply` | plan and consent in, does it | the only rooms that change anything |
//! | `view` | decision in, table or JSON out | returns values, prints nothing |
//!
//! A command is those rooms in a row. Time enters once, as `as_of`.
//!
//! | module | who lives there |
//! |---|---|
//! | [`cli`] | what was typed; its doc comments are the help |
//! | [`world`], [`settings`], [`context`] | the outside, what was chosen, and both together for one run |
//! | [`platform`] | CARLOS's nouns and documents, exactly formats.md |
//! | [`registry`] | SQLite: what is in a registry |
//! | [`store`] | the bucket, or a directory that stands for it |
//! | [`retention`] | which versions stay, which may go, and why |
//! | [`report`] | the box reports that retention rests on |
//! | [`box_half`] | what the platform's agent does on each box: snapshots and reports |
//! | [`drill`] | rehearses a restore in a scratch directory |
//! | [`doctor`] | could this machine do a restore right now? |
//! | [`host`] | this machine: units, holders, the interlock, the atomic exchange |
//! | [`generate`] | completions, manual pages, and pages that are tables of the code |
//! | [`completion`] | the scripts of the shells, and the labels and stamps that they ask for |
//! | [`runbook`] | the runbooks, read and walked |
//! | [`terminal`] | what an operator sees and types |
//! | [`finding`], [`exit`], [`error`] | how anything that is not fine is said |
//!
//! Imports run one way: `platform` knows nothing of ours; `registry`, `store`, `host` and `terminal` know `platform`; a
//! feature's `decide` knows only `platform`, `finding` and plain evidence.

mod again;
pub mod box_half;
pub mod cli;
pub mod completion;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod drill;
pub mod error;
pub mod exit;
pub mod finding;
mod flags;
pub mod generate;
mod help;
pub mod host;
pub mod platform;
pub mod registry;
pub mod report;
pub mod restore;
pub mod retention;
pub mod runbook;
pub mod settings;
pub mod snapshot;
pub mod store;
pub mod terminal;
pub mod world;

mod run;

pub use run::run;
