//! Keys as file names, and what the system says as a [`StoreError`].

use std::io;

use rustix::io::Errno;

use crate::store::StoreError;
use crate::store::key::{check_key, check_prefix};

/// Our own scratch and lock files live below this name in the root; it is no key and no listing shows it.
pub(super) const OWN: &str = ".carlosctl";
/// The longest file name of common file systems, in bytes.
const NAME_LIMIT_BYTES: usize = 255;

/// The file names that a key stands for: the directories, and the file. Refuses before any I/O what is no such path.
pub(super) fn of_key(key: &str) -> Result<(Vec<&str>, &str), StoreError> {
    check_key(key)?;
    let mut names = checked(key, key)?;
    let file = names.pop().unwrap_or_default();
    Ok((names, file))
}

/// The directory names that a prefix stands for.
pub(super) fn of_prefix(prefix: &str) -> Result<Vec<&str>, StoreError> {
    check_prefix(prefix)?;
    prefix.strip_suffix('/').map_or_else(|| Ok(Vec::new()), |path| checked(prefix, path))
}

fn checked<'k>(key: &str, path: &'k str) -> Result<Vec<&'k str>, StoreError> {
    let bad = |because: String| StoreError::BadKey { key: key.to_owned(), because };
    let names: Vec<&str> = path.split('/').collect();
    for name in &names {
        match *name {
            "" => return Err(bad("a directory cannot hold an empty name between two \"/\"".to_owned())),
            "." | ".." => return Err(bad(format!("a directory cannot hold the name {name:?}"))),
            name if name.len() > NAME_LIMIT_BYTES => {
                return Err(bad(format!(
                    "a part has {} bytes, more than the {NAME_LIMIT_BYTES} of a file name in a directory",
                    name.len()
                )));
            }
            _ => {}
        }
    }
    if names.first() == Some(&OWN) {
        return Err(bad(format!("{OWN:?} holds this program's own locks and unfinished writes")));
    }
    Ok(names)
}

/// What the system said about `key`.
pub(super) fn fault(key: &str, error: &io::Error) -> StoreError {
    let key = key.to_owned();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => StoreError::NotFound { key },
        Some(Errno::NAMETOOLONG) => StoreError::BadKey { key, because: error.to_string() },
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => StoreError::Denied { subject: key, detail: error.to_string() },
        _ => StoreError::Other { subject: key, detail: error.to_string() },
    }
}

/// The refusal of something that is there and is no plain file.
pub(super) fn not_an_object(key: &str, what: &str) -> StoreError {
    StoreError::Other {
        subject: key.to_owned(),
        detail: format!("is {what}, which is no object of a directory store; links are never followed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_refused_before_any_io() {
        for key in [
            "..",
            "a/../b",
            "./a",
            "a/.",
            "/a",
            "a//b",
            "a/",
            "",
            "a\0",
            ".carlosctl/lock",
            ".carlosctl",
            &"n".repeat(256),
            &format!("a/{}/b", "é".repeat(128)),
        ] {
            assert!(matches!(of_key(key), Err(StoreError::BadKey { .. })), "{key:?}");
        }
        for prefix in ["../", "a/../", "/", "a//", ".carlosctl/", "a"] {
            assert!(matches!(of_prefix(prefix), Err(StoreError::BadKey { .. })), "{prefix:?}");
        }
    }

    #[test]
    fn odd_keys_are_file_names_as_they_are() {
        assert_eq!(of_key("a b/c+d%2F/é…x").expect("a key"), (vec!["a b", "c+d%2F"], "é…x"));
        assert_eq!(of_key("x/.carlosctl").expect("a key"), (vec!["x"], ".carlosctl"));
        assert_eq!(of_prefix("").expect("the root"), Vec::<&str>::new());
        assert_eq!(of_prefix("a/b/").expect("a prefix"), vec!["a", "b"]);
        let long = format!("{}/{}", "d/".repeat(400).trim_end_matches('/'), "n".repeat(223));
        assert!(of_key(&long).is_ok());
    }
}
