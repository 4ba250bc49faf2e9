//! What can go wrong with a store, by what the caller can do about it.

use jiff::Timestamp;

use crate::exit::Exit;

/// A store's refusal or failure. The message says what was found and where; never a credential, never a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Nothing is there.
    #[error("{key}: not found")]
    NotFound {
        /// The key asked for.
        key: String,
    },
    /// The newest version is a delete marker: it was there once, and an older version may be.
    #[error("{key}: deleted; an older version may exist")]
    Deleted {
        /// The key asked for.
        key: String,
    },
    /// The bucket or directory itself is not there.
    #[error("{store}: no such bucket or directory")]
    NoStore {
        /// What was asked for.
        store: String,
    },
    /// A conditional write's condition did not hold.
    #[error("{key}: the object is not as expected: {detail}")]
    Conflict {
        /// The key written to.
        key: String,
        /// What was expected.
        detail: String,
    },
    /// Another write of the same key is under way; this one was not done and may be tried again.
    #[error("{key}: another write of it is under way; nothing was written")]
    Busy {
        /// The key written to.
        key: String,
    },
    /// Permission is missing. For a read, the object may also not exist: some stores do not say which.
    #[error("{subject}: {detail}")]
    Denied {
        /// The key or store asked for.
        subject: String,
        /// What the store said.
        detail: String,
    },
    /// No credentials, wrong ones or expired ones.
    #[error("credentials: {detail}")]
    Credentials {
        /// What was tried and what was said, without any secret.
        detail: String,
    },
    /// The store refused because the clocks are too far apart.
    #[error("clocks disagree: this machine says {local}, the store says {}", store.map_or_else(|| "-".to_owned(), |at| at.to_string()))]
    ClockSkew {
        /// This machine's time at the answer.
        local: Timestamp,
        /// The store's time at the answer, where it gave one.
        store: Option<Timestamp>,
    },
    /// The bucket is in another region.
    #[error("{store}: the bucket is in region {region}")]
    WrongRegion {
        /// What was asked for.
        store: String,
        /// The region that the store named, or `-`.
        region: String,
    },
    /// No answer in time, no connection, or an answer that says "later".
    #[error("{subject}: {detail}")]
    Unavailable {
        /// The key, prefix or endpoint.
        subject: String,
        /// What happened.
        detail: String,
    },
    /// A listing or body that ended early, or contradicts itself. Never used as if it were whole.
    #[error("{subject}: incomplete answer: {detail}")]
    Incomplete {
        /// The key or prefix.
        subject: String,
        /// What was missing.
        detail: String,
    },
    /// The store cannot do this, or cannot be trusted to.
    #[error("{store}: {capability} is not supported or not enforced")]
    Unsupported {
        /// Which store.
        store: String,
        /// The missing capability, as `Capabilities` names it.
        capability: String,
    },
    /// The object is larger than the reader allows.
    #[error("{key}: {bytes} bytes, more than the {limit_bytes} that are read of such an object")]
    TooLarge {
        /// The key asked for.
        key: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// A key that this store cannot hold (a directory and names with `..`, say).
    #[error("{key:?}: not a usable key: {because}")]
    BadKey {
        /// The key.
        key: String,
        /// Why.
        because: String,
    },
    /// Anything else, with what the store or the system said.
    #[error("{subject}: {detail}")]
    Other {
        /// The key, path or operation.
        subject: String,
        /// What was said.
        detail: String,
    },
}

impl StoreError {
    /// The code that a command ends with when this is why.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::NotFound { .. } | Self::Deleted { .. } | Self::NoStore { .. } => Exit::NotFound,
            Self::Conflict { .. } => Exit::Changed,
            Self::Denied { .. } | Self::Credentials { .. } => Exit::Credentials,
            Self::ClockSkew { .. } => Exit::Clocks,
            Self::Unavailable { .. } | Self::Busy { .. } | Self::Incomplete { .. } | Self::WrongRegion { .. } => {
                Exit::Unavailable
            }
            Self::Unsupported { .. } | Self::TooLarge { .. } => Exit::Refused,
            Self::BadKey { .. } | Self::Other { .. } => Exit::Unexpected,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        let hint: &str = match self {
            Self::Deleted { .. } => "look for older versions: carlosctl snapshot list --all-versions",
            Self::NoStore { .. } => "check --bucket or --dir, and --endpoint-url",
            Self::Denied { .. } => "check the permissions of this identity: carlosctl doctor",
            Self::Credentials { .. } => "set AWS_PROFILE, or renew the session, and try again",
            Self::ClockSkew { .. } => "set this machine's clock and try again; it is shown by: timedatectl",
            Self::WrongRegion { region, .. } => return vec![format!("use --region {region}")],
            Self::Unavailable { .. } | Self::Incomplete { .. } => {
                "check network and --endpoint-url; a larger --timeout may help"
            }
            Self::Unsupported { .. } => "this store cannot do it safely; nothing was changed",
            _ => return Vec::new(),
        };
        vec![hint.to_owned()]
    }

    /// Whether this says that an object is not there, and nothing else.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::Deleted { .. })
    }
}
