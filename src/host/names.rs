//! The names of our files beside the registry, in one place: what is written is what is recognised.
//!
//! | name (registry `registry.db`) | what it is |
//! |---|---|
//! | `registry.db.carlosctl-lock` | the interlock's lock file |
//! | `.registry.db.carlosctl-stage-<32 hex>` | a private directory with a registry being staged |
//! | `registry.db.before-<stamp>[.n]` | the registry that a restore replaced, with its side files if it kept any |
//! | `registry.db.undone-<stamp>[.n]` | the registry that an undo replaced |
//! | `registry.db.before-<stamp>.swap-<inode>` | one side of an exchange under way, see [`super::install`] |
//! | `registry.db.undone-<stamp>.swap-<inode>.from-before-<stamp>` | the same, for an undo |

use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::platform::Stamp;

/// What SQLite puts beside a database, by the end of its name.
pub const SIDES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Why a registry was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// A restore replaced it.
    Before,
    /// An undo replaced it.
    Undone,
}

/// A registry that was kept: when, and the how manyeth of that second.
///
/// Orders as the installs happened: a name is never given that sorts before an older one of its kind, even when the clock
/// was set back in between, because undo takes the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Kept {
    /// Why.
    pub reason: Reason,
    /// The stamp in its name.
    pub stamp: Stamp,
    /// 1, or more where the stamp was taken.
    pub nth: u32,
}

/// One of our files beside the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beside {
    /// The lock file.
    Lock,
    /// A private directory with a staged registry.
    Stage,
    /// A kept registry, or one of its side files.
    Kept {
        /// Which.
        kept: Kept,
        /// Whether it is a side file of it.
        side: bool,
    },
    /// One side of an exchange under way.
    Swap {
        /// What the replaced registry will be called.
        kept: Kept,
        /// The inode of the registry that was to be put in place.
        incoming: u64,
        /// Where that one came from, when it was a kept one; otherwise it was a staged one.
        origin: Option<Kept>,
    },
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Before => "before",
            Reason::Undone => "undone",
        };
        write!(f, "{reason}-{}", self.stamp)?;
        if self.nth > 1 { write!(f, ".{}", self.nth) } else { Ok(()) }
    }
}

impl Kept {
    /// The name for a registry that is replaced now, given what is there.
    #[must_use]
    pub fn next(reason: Reason, stamp: Stamp, there: &[(String, Beside)]) -> Self {
        let first = Self { reason, stamp, nth: 1 };
        let newest = there
            .iter()
            .flat_map(|(_, beside)| match *beside {
                Beside::Kept { kept, .. } => [Some(kept), None],
                Beside::Swap { kept, origin, .. } => [Some(kept), origin],
                Beside::Lock | Beside::Stage => [None, None],
            })
            .flatten()
            .filter(|kept| kept.reason == reason)
            .max();
        match newest {
            Some(newest) if newest >= first => Self { nth: newest.nth.saturating_add(1), ..newest },
            _ => first,
        }
    }

    fn read(text: &str) -> Option<Self> {
        let (reason, rest) = if let Some(rest) = text.strip_prefix("before-") {
            (Reason::Before, rest)
        } else {
            (Reason::Undone, text.strip_prefix("undone-")?)
        };
        let stamp = rest.get(..16)?.parse().ok()?;
        let nth = match rest.get(16..)?.strip_prefix('.') {
            None if rest.len() == 16 => 1,
            None => return None,
            Some(digits) => number(digits).and_then(|nth| u32::try_from(nth).ok()).filter(|nth| *nth > 1)?,
        };
        Some(Self { reason, stamp, nth })
    }
}

/// The lock file of the registry called `base`.
#[must_use]
pub fn lock(base: &str) -> String {
    format!("{base}.carlosctl-lock")
}

/// A private staging directory; `random` is what makes it unguessable.
#[must_use]
pub fn stage(base: &str, random: u128) -> String {
    format!("{}{random:032x}", stage_prefix(base))
}

/// A kept registry.
#[must_use]
pub fn kept(base: &str, kept: Kept) -> String {
    format!("{base}.{kept}")
}

/// One side of an exchange under way.
#[must_use]
pub fn swap(base: &str, kept: Kept, incoming: u64, origin: Option<Kept>) -> String {
    match origin {
        None => format!("{base}.{kept}.swap-{incoming}"),
        Some(origin) => format!("{base}.{kept}.swap-{incoming}.from-{origin}"),
    }
}

/// What a name beside the registry called `base` means to us, if anything.
#[must_use]
pub fn read(base: &str, name: &str) -> Option<Beside> {
    if name.strip_prefix(&stage_prefix(base)).is_some_and(|hex| hex.len() == 32 && hex.bytes().all(is_lower_hex)) {
        return Some(Beside::Stage);
    }
    let rest = name.strip_prefix(base)?.strip_prefix('.')?;
    if rest == "carlosctl-lock" {
        return Some(Beside::Lock);
    }
    if let Some((name, rest)) = rest.split_once(".swap-") {
        let (incoming, origin) = match rest.split_once(".from-") {
            Some((incoming, origin)) => (incoming, Some(Kept::read(origin)?)),
            None => (rest, None),
        };
        return Some(Beside::Swap { kept: Kept::read(name)?, incoming: number(incoming)?, origin });
    }
    let main = SIDES.iter().find_map(|side| rest.strip_suffix(side));
    Some(Beside::Kept { kept: Kept::read(main.unwrap_or(rest))?, side: main.is_some() })
}

/// Everything of ours beside the registry called `base`, sorted by name.
///
/// # Errors
/// The directory cannot be listed completely.
pub fn list(directory: &Path, base: &str) -> io::Result<Vec<(String, Beside)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        // A name that is not UTF-8 is none of ours.
        if let Some(name) = entry?.file_name().to_str()
            && let Some(beside) = read(base, name)
        {
            found.push((name.to_owned(), beside));
        }
    }
    found.sort();
    Ok(found)
}

fn stage_prefix(base: &str) -> String {
    format!(".{base}.carlosctl-stage-")
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// A decimal number written the one way we write it.
fn number(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(text: &str) -> Stamp {
        text.parse().expect("a stamp")
    }

    #[test]
    fn every_name_reads_back() {
        let before = Kept { reason: Reason::Before, stamp: stamp("20261130T100000Z"), nth: 1 };
        let undone = Kept { reason: Reason::Undone, stamp: stamp("20261130T100001Z"), nth: 12 };
        for base in ["registry.db", "r", "odd name.before-x.db"] {
            assert_eq!(read(base, &lock(base)), Some(Beside::Lock));
            assert_eq!(read(base, &stage(base, 7)), Some(Beside::Stage));
            for kept in [before, undone] {
                assert_eq!(read(base, &super::kept(base, kept)), Some(Beside::Kept { kept, side: false }));
                for side in SIDES {
                    assert_eq!(
                        read(base, &format!("{}{side}", super::kept(base, kept))),
                        Some(Beside::Kept { kept, side: true })
                    );
                }
                for origin in [None, Some(before)] {
                    let expected = Beside::Swap { kept, incoming: 42, origin };
                    assert_eq!(read(base, &swap(base, kept, 42, origin)), Some(expected));
                }
            }
        }
    }

    #[test]
    fn other_names_are_not_ours() {
        for name in [
            "registry.db",
            "registry.db-wal",
            "registry.db.before-20261130T100000",
            "registry.db.before-20260230T000000Z",
            "registry.db.before-20261130T100000Z.1",
            "registry.db.before-20261130T100000Z.02",
            "registry.db.before-20261130T100000Z.bak",
            "registry.db.before-20261130T100000Z.swap-x",
            "registry.db.before-20261130T100000Z.swap-+4",
            "registry.db.before-20261130T100000Z.swap-4.from-",
            "xregistry.db.before-20261130T100000Z",
            ".registry.db.carlosctl-stage-",
            ".registry.db.carlosctl-stage-0000000000000000000000000000000G",
            "registry.db.before-2026113öT100000Z",
        ] {
            assert_eq!(read("registry.db", name), None, "{name}");
        }
    }

    #[test]
    fn names_order_as_the_installs_happened_even_when_the_clock_goes_back() {
        let mut there = Vec::new();
        let mut given = Vec::new();
        for text in ["20261130T100000Z", "20261130T100000Z", "20261130T095900Z", "20261130T100001Z", "20251130T100001Z"] {
            let kept = Kept::next(Reason::Before, stamp(text), &there);
            there.push((super::kept("r", kept), Beside::Kept { kept, side: false }));
            given.push(kept);
        }
        assert!(given.is_sorted() && given.windows(2).all(|pair| pair[0] != pair[1]), "{given:?}");
        let undone = Kept::next(Reason::Undone, stamp("20251130T100001Z"), &there);
        assert_eq!(undone.to_string(), "undone-20251130T100001Z");
    }
}
