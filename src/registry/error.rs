//! Why a registry could not be asked, by what the caller can do about it.

use crate::finding::Code;

use super::HeaderFault;

/// A registry's refusal. Messages name no path: the caller knows which box, key or file it asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The first bytes say that SQLite cannot read it, or would read it as something else.
    #[error(transparent)]
    Header(#[from] HeaderFault),
    /// The file could not be opened or read at all.
    #[error("{0}")]
    Io(String),
    /// SQLite met damage while it read.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A writer was killed in the middle of a change, and undoing it would mean writing.
    #[error("a killed writer left an unfinished change beside it (a -journal or -wal that has to be recovered first): {0}")]
    Unfinished(String),
    /// Another process holds it, and still did after the waiting time.
    #[error("the registry is busy: {0}")]
    Busy(String),
    /// The file changed while it was read.
    #[error("the registry changed while it was read")]
    Changed,
    /// A database, and not a registry.
    #[error("not a registry: {0}")]
    NotARegistry(String),
    /// A registry that lacks something which this question rests on.
    #[error("{0}")]
    Lacking(String),
    /// [`Interrupter::interrupt`](super::Interrupter::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
    /// Anything else, with what SQLite said.
    #[error("{0}")]
    Other(String),
}

impl RegistryError {
    /// The finding that says this of a snapshot.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Header(HeaderFault::Empty) => Code::EmptyObject,
            Self::Header(HeaderFault::Short { .. }) => Code::ShortObject,
            Self::Header(HeaderFault::NotSqlite { .. } | HeaderFault::Newer { .. }) => Code::NotSqlite,
            Self::Damaged(_) => Code::IntegrityFailed,
            Self::NotARegistry(_) => Code::NoRoutes,
            Self::Io(_)
            | Self::Unfinished(_)
            | Self::Busy(_)
            | Self::Changed
            | Self::Lacking(_)
            | Self::Interrupted
            | Self::Other(_) => Code::NotRead,
        }
    }
}

// Extended codes of a hot journal, and of a WAL without its index: a reader may repair neither.
const READONLY_RECOVERY: i32 = rusqlite::ffi::SQLITE_READONLY_RECOVERY;
const READONLY_ROLLBACK: i32 = rusqlite::ffi::SQLITE_READONLY_ROLLBACK;

impl From<rusqlite::Error> for RegistryError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let text = error.to_string();
        if let Some(READONLY_RECOVERY | READONLY_ROLLBACK) = error.sqlite_error().map(|failure| failure.extended_code) {
            return Self::Unfinished(text);
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(text),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(text),
            Some(ErrorCode::OperationInterrupted) => Self::Interrupted,
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure) => Self::Io(text),
            _ => Self::Other(text),
        }
    }
}
