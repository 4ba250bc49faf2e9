//! Uploading what a job works on: many small objects at once, and only once where they stay.

use std::time::Instant;

use aws_sdk_s3::Client;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::Failure;
use super::jobs::Lab;

/// How many uploads are under way at once.
const AT_ONCE: usize = 48;

/// Makes a bucket and fills it, unless that was done before.
pub(crate) fn once<I>(lab: &Lab, bucket: &str, objects: impl FnOnce() -> I) -> Result<(), Failure>
where
    I: IntoIterator<Item = (String, Bytes)>,
{
    let done = format!("bucket-{bucket}");
    if lab.place.is_done(&done) {
        return Ok(());
    }
    let begin = Instant::now();
    eprintln!("peers: filling {bucket}");
    let number = fill(lab, bucket, objects())?;
    eprintln!("peers: filled {bucket} with {number} objects in {:.1} s", begin.elapsed().as_secs_f64());
    lab.place.done(&done)
}

/// Makes a bucket where there is none, and puts these objects into it.
pub(crate) fn fill(lab: &Lab, bucket: &str, objects: impl IntoIterator<Item = (String, Bytes)>) -> Result<u64, Failure> {
    let client = lab.server.client();
    lab.runtime.block_on(async {
        // It may be there already; whether it is good for anything, the first upload will tell.
        client.create_bucket().bucket(bucket).send().await.ok();
        let uploads = stream::iter(objects).map(|(key, body)| put(&client, bucket, key, body));
        uploads.buffer_unordered(AT_ONCE).try_fold(0, async |number, ()| Ok(number + 1)).await
    })
}

async fn put(client: &Client, bucket: &str, key: String, body: Bytes) -> Result<(), Failure> {
    let sent = client.put_object().bucket(bucket).key(&key).body(body.into()).send().await;
    sent.map(|_| ()).map_err(|error| format!("{key}: {}", aws_sdk_s3::error::DisplayErrorContext(error)).into())
}

/// How many keys a bucket has below a prefix.
pub(crate) fn count(lab: &Lab, bucket: &str, prefix: &str) -> Result<usize, Failure> {
    let client = lab.server.client();
    lab.runtime.block_on(async {
        let mut pages = client.list_objects_v2().bucket(bucket).prefix(prefix).into_paginator().send();
        let mut number = 0;
        while let Some(page) = pages.next().await {
            number += page.map_err(|error| format!("{}", aws_sdk_s3::error::DisplayErrorContext(error)))?.contents().len();
        }
        Ok(number)
    })
}

/// Deletes everything below a prefix.
pub(crate) fn clear(lab: &Lab, bucket: &str, prefix: &str) -> Result<(), Failure> {
    let client = lab.server.client();
    let fail = |error: &dyn std::error::Error| format!("{bucket}: {}", aws_sdk_s3::error::DisplayErrorContext(error));
    lab.runtime.block_on(async {
        let mut pages = client.list_objects_v2().bucket(bucket).prefix(prefix).into_paginator().send();
        while let Some(page) = pages.next().await {
            for object in page.map_err(|error| fail(&error))?.contents() {
                let key = object.key().unwrap_or_default();
                client.delete_object().bucket(bucket).key(key).send().await.map_err(|error| fail(&error))?;
            }
        }
        Ok(())
    })
}
