//! Digests of what is sent, stored or found: one reading, whichever digest.

use std::fs::File;
use std::io::{self, Read};

use sha2::Digest;
use sha2::digest::Output;

use super::{Body, StoreError};

/// How much is read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// The digest and the length of all that is still to be read.
///
/// # Errors
/// The reader's.
pub(crate) fn digest_of<D: Digest>(reader: &mut impl Read) -> io::Result<(Output<D>, u64)> {
    let (mut hash, mut bytes) = (D::new(), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok((hash.finalize(), bytes)),
            length => {
                hash.update(&chunk[..length]);
                bytes += length as u64;
            }
        }
    }
}

/// The digest and the length of what is to be written. A file is read where that blocks nobody.
pub(super) async fn digest_of_body<D: Digest>(body: &Body) -> Result<(Output<D>, u64), StoreError>
where
    Output<D>: Send + 'static,
{
    let path = match body {
        Body::Bytes(bytes) => return Ok((D::digest(bytes), bytes.len() as u64)),
        Body::File(path) => path.clone(),
    };
    let subject = path.display().to_string();
    let read = tokio::task::spawn_blocking(move || digest_of::<D>(&mut File::open(path)?));
    let digest = read.await.map_err(io::Error::other).flatten();
    digest.map_err(|error| StoreError::Other { subject, detail: error.to_string() })
}
