//! Retention: which versions stay, which may go, and why.
//!
//! The rules are those of the platform's own pass, to the letter, and some of ours on top that can only keep more. Unknown is
//! never unprotected: what could not be read is a value in the [`evidence`] (`Seen::Unreadable`), not an absence, and it
//! refuses the app that it matters to, or every app.
//!
//! | room | what it does |
//! |---|---|
//! | [`evidence`] | everything that a decision rests on, each item with its key and etag; serializable, so that it can be replayed |
//! | [`mod@decide`] | evidence in, decision out: pure, the same bytes for the same evidence in any order |
//! | [`decision`] | the verdicts, with every reason and what would unblock a refusal |
//!
//! A large deployment is judged app by app: a [`decide::Judge`] holds what is common to all, and is asked about one app at a
//! time, so that only one app's releases are in memory.

pub mod decide;
pub mod decision;
pub mod evidence;

pub use decide::{Judge, decide};
pub use decision::Decision;
pub use evidence::Evidence;
