//! The exit codes: one table, printed by `carlosctl help exit-codes` and checked against `runbooks/exit-codes.md`.
//!
//! Codes are a promise to scripts. They never change their meaning; a code that is not in the table is a failure.

/// How a run ended. The numbers are the contract's (section 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Everything that was asked for was done.
    Done = 0,
    /// Something nobody planned for.
    Unexpected = 1,
    /// The command line or a setting does not make sense.
    Usage = 2,
    /// Some of it was done and some was not.
    Partly = 3,
    /// The check ran, and found something.
    Found = 4,
    /// A safety check refused; nothing was changed.
    Refused = 5,
    /// Consent was needed and not given.
    NotConfirmed = 6,
    /// The world is no longer as the plan saw it.
    Changed = 7,
    /// The thing named does not exist.
    NotFound = 10,
    /// Another operator's run holds the lock.
    Locked = 11,
    /// Credentials are missing, expired or not allowed to do this.
    Credentials = 12,
    /// This machine's clock and the store's disagree.
    Clocks = 13,
    /// The store did not answer, or not completely.
    Unavailable = 14,
    /// Interrupted by the operator.
    Interrupted = 130,
}

impl Exit {
    /// Every code, in the order of the table.
    pub const ALL: [Self; 14] = [
        Self::Done,
        Self::Unexpected,
        Self::Usage,
        Self::Partly,
        Self::Found,
        Self::Refused,
        Self::NotConfirmed,
        Self::Changed,
        Self::NotFound,
        Self::Locked,
        Self::Credentials,
        Self::Clocks,
        Self::Unavailable,
        Self::Interrupted,
    ];

    /// The number handed to the operating system.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The short name, as `kind` in a JSON error line.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unexpected => "unexpected",
            Self::Usage => "usage",
            Self::Partly => "partly-done",
            Self::Found => "found",
            Self::Refused => "refused",
            Self::NotConfirmed => "not-confirmed",
            Self::Changed => "changed",
            Self::NotFound => "not-found",
            Self::Locked => "locked",
            Self::Credentials => "credentials",
            Self::Clocks => "clocks",
            Self::Unavailable => "unavailable",
            Self::Interrupted => "interrupted",
        }
    }

    /// What it means, in words for an operator.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unexpected => "unexpected: a fault nobody planned for; the message says what was left as it was",
            Self::Usage => "usage: the command line or a setting is wrong; nothing was asked of the store",
            Self::Partly => "partly done: some of it was done and some was not; the output names both",
            Self::Found => "the check found something: the tool worked, and the answer is not good",
            Self::Refused => "refused by a safety check: nothing was changed; the findings say why and what to do",
            Self::NotConfirmed => "not confirmed: consent was needed and not given; nothing was changed",
            Self::Changed => "the world changed since the plan: nothing was changed; look again",
            Self::NotFound => "not found: the box, object, bucket or file that was named does not exist",
            Self::Locked => "locked by another operator: a second restore holds the interlock",
            Self::Credentials => "credentials or permission: missing, expired or not allowed",
            Self::Clocks => "clocks disagree: this machine's clock and the store's are too far apart",
            Self::Unavailable => "store unavailable: no answer, an incomplete answer, or a timeout",
            Self::Interrupted => "interrupted: nothing was left half done",
        }
    }

    /// The table as text: what `help exit-codes` prints.
    #[must_use]
    pub fn table() -> String {
        let mut text = String::from("CODE  MEANING\n");
        for exit in Self::ALL {
            text.push_str(&format!("{:>4}  {}\n", exit.code(), exit.meaning()));
        }
        text.push_str("Any other code is a failure.\n");
        text
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
