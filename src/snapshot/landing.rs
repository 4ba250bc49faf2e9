//! Where an object lands: pieces are written where they belong, in whatever order they arrive, and hashed in theirs.
//!
//! What arrives at the place up to which everything is hashed already is hashed as it passes. What arrives ahead of it is read
//! back when its turn comes, from the kernel's memory in all likelihood. So memory is flat, however far ahead the network is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::Receiver;

use super::fetch::disk;
use crate::error::CommandError;
use crate::host::private;
use crate::platform::hex;

/// After how many bytes the disk is put to work.
const SETTLED_AT_ONCE_BYTES: u64 = 64 * 1024 * 1024;
/// How much is read back at once.
const READ_BACK_BYTES: usize = 256 * 1024;

/// Where an object lands: an empty file, open for writing and reading, and where it can be looked at afterwards.
pub trait Landing: Send + 'static {
    /// The file's path.
    fn path(&self) -> &Path;

    /// The file.
    fn file(&self) -> &File;

    /// Told now and then, and at the end: what was written so far may begin its way to the disk, where the file is to last.
    /// Nobody waits for it here, and whoever needs it there makes sure of it later.
    fn settle(&self) {}
}

/// What is larger than this is not fetched only to be compared: some stores give every object an etag of its own.
const COMPARED_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// A private directory of its own, removed when dropped.
#[derive(Debug)]
pub struct Private {
    file: File,
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl Private {
    /// An empty file that nobody else can open.
    ///
    /// # Errors
    /// The local disk's.
    pub fn create() -> Result<Self, CommandError> {
        let fault = |error: io::Error| disk(&std::env::temp_dir(), &error);
        let directory = private::directory("carlosctl-").map_err(fault)?;
        let path = directory.path().join("registry.db");
        let file = private::create_file(&path).map_err(fault)?;
        Ok(Self { file, path, _directory: directory })
    }

    /// For an object of so many bytes that is fetched only to compare another one with it.
    ///
    /// # Errors
    /// Why that is not done: it is too large, or the local disk's reason.
    pub fn to_compare(bytes: u64) -> Result<Self, String> {
        if bytes > COMPARED_LIMIT_BYTES {
            return Err("it is too large to be fetched only for that".to_owned());
        }
        Self::create().map_err(|error| error.message)
    }
}

impl Landing for Private {
    fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self) -> &File {
        &self.file
    }
}

/// Writes pieces (where each begins, and its bytes) until there are no more, and answers the sha256 of the whole in hex.
///
/// # Errors
/// The local disk's; `UnexpectedEof` where the pieces do not make one whole.
pub(super) fn receive(mut pieces: Receiver<(u64, Bytes)>, landing: &impl Landing) -> io::Result<String> {
    let mut hashing = Hashing { file: landing.file(), hash: Sha256::new(), hashed: 0, ahead: BTreeMap::new() };
    let mut unsettled = 0;
    while let Some((at, piece)) = pieces.blocking_recv() {
        landing.file().write_all_at(&piece, at)?;
        hashing.take(at, &piece)?;
        unsettled += piece.len() as u64;
        if unsettled >= SETTLED_AT_ONCE_BYTES {
            landing.settle();
            unsettled = 0;
        }
    }
    if !hashing.ahead.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("nothing arrived for byte {}", hashing.hashed)));
    }
    landing.settle();
    Ok(hex(&hashing.hash.finalize()))
}

/// A hash that has come so far.
struct Hashing<'f> {
    file: &'f File,
    hash: Sha256,
    hashed: u64,
    /// What is written beyond that: where each stretch begins, and the byte after its end.
    ahead: BTreeMap<u64, u64>,
}

impl Hashing<'_> {
    fn take(&mut self, at: u64, piece: &[u8]) -> io::Result<()> {
        let end = at + piece.len() as u64;
        if at != self.hashed {
            // Pieces of one stretch arrive one after the other.
            match self.ahead.range_mut(..at).next_back() {
                Some((_, before)) if *before == at => *before = end,
                _ => drop(self.ahead.insert(at, end)),
            }
            return Ok(());
        }
        self.hash.update(piece);
        self.hashed = end;
        while let Some(end) = self.ahead.remove(&self.hashed) {
            self.read_back(end)?;
        }
        Ok(())
    }

    fn read_back(&mut self, end: u64) -> io::Result<()> {
        let mut buffer = vec![0; READ_BACK_BYTES];
        while self.hashed < end {
            let most = usize::try_from(end - self.hashed).unwrap_or(READ_BACK_BYTES).min(READ_BACK_BYTES);
            self.file.read_exact_at(&mut buffer[..most], self.hashed)?;
            self.hash.update(&buffer[..most]);
            self.hashed += most as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256_hex(content: &[u8]) -> String {
        hex(&Sha256::digest(content))
    }

    fn received(pieces: &[(u64, &'static [u8])]) -> io::Result<(String, Vec<u8>)> {
        let landing = Private::create().expect("a private file");
        let (sender, receiver) = tokio::sync::mpsc::channel(pieces.len().max(1));
        for (at, piece) in pieces {
            sender.try_send((*at, Bytes::from_static(piece))).expect("there is room");
        }
        drop(sender);
        let sha256 = receive(receiver, &landing)?;
        Ok((sha256, std::fs::read(landing.path())?))
    }

    #[test]
    fn the_hash_is_of_the_whole_in_whatever_order_it_arrives() {
        let orders: [&[(u64, &'static [u8])]; 5] = [
            &[(0, b"ab"), (2, b"cd"), (4, b"ef"), (6, b"gh")],
            &[(6, b"gh"), (4, b"ef"), (2, b"cd"), (0, b"ab")],
            &[(4, b"ef"), (6, b"gh"), (0, b"ab"), (2, b"cd")],
            &[(2, b"cd"), (6, b"gh"), (4, b"ef"), (0, b"ab")],
            &[(0, b"abcd"), (6, b"g"), (7, b"h"), (4, b"ef")],
        ];
        for order in orders {
            assert_eq!(received(order).expect("it is whole"), (sha256_hex(b"abcdefgh"), b"abcdefgh".to_vec()), "{order:?}");
        }
        assert_eq!(received(&[]).expect("nothing is whole"), (sha256_hex(b""), Vec::new()));
    }

    #[test]
    fn a_hole_is_no_whole() {
        let holes: [&[(u64, &'static [u8])]; 3] = [&[(1, b"b")], &[(0, b"a"), (2, b"c")], &[(0, b"a"), (2, b"c"), (4, b"e")]];
        for holes in holes {
            assert_eq!(received(holes).expect_err("it is not whole").kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
