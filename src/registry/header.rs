//! A registry judged by its first 100 bytes and its size, before SQLite is asked.
//!
//! SQLite opens an empty file as an empty database and calls it whole; a file of a newer format it calls corrupt. Both
//! answers would mislead an operator, so the header is read first.

use std::fmt;

/// How many bytes [`judge`] looks at.
pub const HEADER_BYTES: usize = 100;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What a header that this program can read says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The size of a page.
    pub page_bytes: u32,
    /// How many pages there are, where the header can be trusted to say.
    pub pages: Option<u32>,
    /// Whether it was last used in WAL mode. `VACUUM INTO` copies never were; hand-made ones may have been.
    pub wal: bool,
}

/// Why a file is not a database that this program reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderFault {
    /// No bytes at all.
    Empty,
    /// Shorter than the header itself, or than what the header says.
    Short {
        /// Its size.
        bytes: u64,
        /// The size that the header names; 100 where not even the header is whole.
        expected_bytes: u64,
    },
    /// Not a SQLite database.
    NotSqlite {
        /// Which part of the header says so.
        because: &'static str,
    },
    /// A SQLite database of a format that came after this program.
    Newer {
        /// Which field, at which value.
        field: &'static str,
        /// Its value.
        value: u32,
    },
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "it is empty"),
            Self::Short { bytes, expected_bytes } => {
                write!(f, "it is cut short: {bytes} bytes where its own header says {expected_bytes}")
            }
            Self::NotSqlite { because } => write!(f, "it is not a SQLite database: {because}"),
            Self::Newer { field, value } => {
                write!(f, "it was written by something newer than this program: {field} is {value}; it is not damaged by that")
            }
        }
    }
}

impl std::error::Error for HeaderFault {}

/// Judges a file by its first [`HEADER_BYTES`] bytes (fewer where it has fewer) and its whole size.
///
/// # Errors
/// What makes it unreadable, the plainest reason first.
pub fn judge(first: &[u8], file_bytes: u64) -> Result<Header, HeaderFault> {
    let header = identify(first, file_bytes)?;
    let page_bytes = u64::from(header.page_bytes);
    let expected_bytes = match header.pages {
        Some(pages) => page_bytes * u64::from(pages),
        // An old writer did not keep the count; then the size alone must be a whole number of pages.
        None => file_bytes.next_multiple_of(page_bytes),
    };
    if file_bytes < expected_bytes {
        return Err(HeaderFault::Short { bytes: file_bytes, expected_bytes });
    }
    Ok(header)
}

/// As [`judge`], without the size: a live database whose WAL is being folded in may be shorter than its header for a moment.
pub(super) fn identify(first: &[u8], file_bytes: u64) -> Result<Header, HeaderFault> {
    if file_bytes == 0 {
        return Err(HeaderFault::Empty);
    }
    let Some(header) = first.first_chunk::<HEADER_BYTES>() else {
        if MAGIC.starts_with(&first[..first.len().min(MAGIC.len())]) || first.starts_with(MAGIC) {
            return Err(HeaderFault::Short { bytes: file_bytes, expected_bytes: HEADER_BYTES as u64 });
        }
        return Err(HeaderFault::NotSqlite { because: "it does not start as one" });
    };
    if !header.starts_with(MAGIC) {
        return Err(HeaderFault::NotSqlite { because: "it does not start as one" });
    }
    // Newer before wrong: a format to come may use today's reserved fields.
    let newer = [
        ("the write version", u32::from(header[18]), 2),
        ("the read version", u32::from(header[19]), 2),
        ("the schema format", big_endian(header, 44), 4),
    ];
    for (field, value, newest) in newer {
        if value > newest {
            return Err(HeaderFault::Newer { field, value });
        }
    }
    let page_bytes = match u32::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        size => size,
    };
    if !page_bytes.is_power_of_two() || page_bytes < 512 {
        return Err(HeaderFault::NotSqlite { because: "its page size is none" });
    }
    if header[21..24] != [64, 32, 32] {
        return Err(HeaderFault::NotSqlite { because: "its fixed fields are not as they must be" });
    }
    if !(0..=3).contains(&big_endian(header, 56)) {
        return Err(HeaderFault::NotSqlite { because: "its text encoding is none" });
    }
    // The count is valid only when the last writer knew of it.
    let counted = big_endian(header, 24) == big_endian(header, 92);
    let pages = Some(big_endian(header, 28)).filter(|pages| counted && *pages > 0);
    Ok(Header { page_bytes, pages, wal: header[18] == 2 || header[19] == 2 })
}

fn big_endian(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::registry::{RouteSpec, snapshot_bytes};

    fn good() -> Vec<u8> {
        snapshot_bytes(&[RouteSpec::new("h1.example.org")]).expect("a registry")
    }

    fn of(bytes: &[u8]) -> Result<Header, HeaderFault> {
        judge(&bytes[..bytes.len().min(HEADER_BYTES)], bytes.len() as u64)
    }

    #[test]
    fn a_vacuumed_copy_is_whole_and_not_wal() {
        let bytes = good();
        let header = of(&bytes).expect("a good header");
        assert!(!header.wal);
        assert_eq!(u64::from(header.page_bytes) * u64::from(header.pages.expect("counted")), bytes.len() as u64);
    }

    #[test]
    fn empty_cut_and_foreign_files_are_told_apart() {
        let bytes = good();
        assert_eq!(of(&[]), Err(HeaderFault::Empty));
        assert_eq!(of(&bytes[..50]), Err(HeaderFault::Short { bytes: 50, expected_bytes: 100 }));
        assert_eq!(of(b"SQLi"), Err(HeaderFault::Short { bytes: 4, expected_bytes: 100 }));
        let short = of(&bytes[..bytes.len() - 1]);
        assert_eq!(short, Err(HeaderFault::Short { bytes: bytes.len() as u64 - 1, expected_bytes: bytes.len() as u64 }));
        for foreign in [&[0_u8; 16_384][..], b"<html>", b"PK\x03\x04"] {
            assert!(matches!(of(foreign), Err(HeaderFault::NotSqlite { .. })), "{foreign:?}");
        }
    }

    #[test]
    fn a_count_that_its_writer_did_not_keep_is_not_believed() {
        let mut bytes = good();
        bytes[28..32].copy_from_slice(&999_u32.to_be_bytes());
        assert!(matches!(of(&bytes), Err(HeaderFault::Short { .. })));
        bytes[92] ^= 1;
        assert_eq!(of(&bytes).expect("the size is a whole number of pages").pages, None);
        bytes.pop();
        assert!(matches!(of(&bytes), Err(HeaderFault::Short { .. })));
    }

    #[test]
    fn a_newer_format_is_not_called_corrupt() {
        for (at, value) in [(18, 3), (19, 3), (47, 5)] {
            let mut bytes = good();
            bytes[at] = value;
            let fault = of(&bytes).expect_err("newer");
            assert!(matches!(fault, HeaderFault::Newer { .. }), "byte {at}: {fault:?}");
            assert!(fault.to_string().contains("written by something newer"), "{fault}");
        }
    }

    #[test]
    fn the_wal_flag_is_seen() {
        let mut bytes = good();
        bytes[18] = 2;
        bytes[19] = 2;
        assert!(of(&bytes).expect("a good header").wal);
    }
}
