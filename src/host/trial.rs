//! Whether the registry's filesystem can do what an install needs, found by trying it on two files of our own in a hidden
//! directory beside the registry. Nothing else there is touched, and nothing is left.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::steps;

/// What a filesystem can do to replace a file in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacing {
    /// It exchanges two names at once: the best there is.
    Exchange,
    /// It cannot exchange, and gives a file a second name: the old registry gets one, and is then replaced at once.
    SecondName,
    /// It can do neither, so an install would be refused.
    Neither,
}

/// Tries it out in `directory`.
///
/// # Errors
/// The directory does not take our files, or an answer contradicts what was done.
pub fn replacing(directory: &Path) -> io::Result<Replacing> {
    let scratch = super::private::directory_in(directory, ".carlosctl-doctor-")?;
    let (one, other) = (scratch.path().join("one"), scratch.path().join("other"));
    std::fs::write(&one, "one")?;
    std::fs::write(&other, "other")?;
    let found = if steps::exchange(&one, &other)? {
        if std::fs::read(&one)? != b"other" || std::fs::read(&other)? != b"one" {
            return Err(io::Error::other("two names were exchanged, and the files are not"));
        }
        Replacing::Exchange
    } else if steps::link(&one, &scratch.path().join("second")).is_ok() {
        Replacing::SecondName
    } else {
        Replacing::Neither
    };
    scratch.close()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_filesystem_exchanges_and_is_left_as_it_was() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_ne!(replacing(directory.path()).expect("it can be tried"), Replacing::Neither);
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
        assert!(replacing(&directory.path().join("missing")).is_err());
    }
}
