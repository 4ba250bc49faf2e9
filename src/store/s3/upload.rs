//! Uploads: under a time limit or under watch, and with a digest where the bucket wants one.

use std::sync::atomic::Ordering;

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::put_object::{PutObjectError, PutObjectOutput};
use aws_sdk_s3::primitives::ByteStream;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use md5::Md5;

use super::body::{Progress, Upload};
use super::errors::{Asked, seconds};
use super::listing::unquote;
use super::{ONE_REQUEST_LIMIT_BYTES, S3Store, client, quote};
use crate::store::digest::digest_of_body;
use crate::store::{Body, Put, StoreError};

/// From here on an upload is watched by the byte instead of given one time limit.
const WATCHED_FROM_BYTES: u64 = 1024 * 1024;

type Answer = Result<PutObjectOutput, SdkError<PutObjectError, HttpResponse>>;

impl S3Store {
    /// Sends an upload, and answers the etag under which it is stored. A request that was not refused is never sent again.
    ///
    /// A bucket that locks what is written to it for a time takes nothing without a digest, on AWS as on B2, and stores nothing
    /// when it says so. Then it gets one, from now on. Others get none: it would be one more reading of the file.
    pub(super) async fn send(&self, key: &str, body: &Body, condition: &Put) -> Result<String, StoreError> {
        let wants_digests = &self.inner.wants_digests;
        let with_digest = wants_digests.load(Ordering::Relaxed);
        let mut answer = self.send_once(key, body, condition, with_digest).await?;
        if !with_digest && answer.as_ref().is_err_and(lacks_digest) {
            wants_digests.store(true, Ordering::Relaxed);
            answer = self.send_once(key, body, condition, true).await?;
        }
        let answer = answer.map_err(|error| self.words().fault(Asked::Write(key), &error))?;
        // Without an etag it is not known what was stored; reading it back will tell.
        answer.e_tag().map(unquote).ok_or_else(|| StoreError::Unavailable {
            subject: key.to_owned(),
            detail: format!("{} did not say under which etag it was stored", self.words().store),
        })
    }

    /// Sends it once, under a time limit or, where it is large, under watch.
    async fn send_once(&self, key: &str, body: &Body, condition: &Put, with_digest: bool) -> Result<Answer, StoreError> {
        let timeout = self.words().timeout;
        let once = aws_sdk_s3::config::Config::builder().retry_config(RetryConfig::disabled());
        let progress = Progress::default();
        let (upload, bytes) = Upload::new(body, progress.clone())?;
        if bytes > ONE_REQUEST_LIMIT_BYTES {
            return Err(StoreError::TooLarge { key: key.to_owned(), bytes, limit_bytes: ONE_REQUEST_LIMIT_BYTES });
        }
        // MD5 is the digest that every server of the protocol knows; it protects from nothing but the refusal.
        let digest = if with_digest { Some(BASE64_STANDARD.encode(digest_of_body::<Md5>(body).await?.0)) } else { None };
        let length = i64::try_from(bytes).unwrap_or(i64::MAX);
        let request = self.client().put_object().bucket(self.bucket()).key(key).content_length(length).set_content_md5(digest);
        let request = match condition {
            Put::Create => request.if_none_match("*"),
            Put::Replace(etag) => request.if_match(quote(etag)),
        };
        let _permit = self.permit().await;
        if bytes < WATCHED_FROM_BYTES {
            let stream = ByteStream::from(upload.into_bytes().await?);
            return Ok(request.body(stream).customize().config_override(once).send().await);
        }
        let unlimited = once.timeout_config(client::upload_timeouts(timeout));
        let request = request.body(upload.into_stream());
        tokio::select! {
            answer = request.customize().config_override(unlimited).send() => Ok(answer),
            () = progress.stalled(timeout) => {
                let detail = format!("the upload stood still for {}; it may or may not have been stored", seconds(timeout));
                Err(StoreError::Unavailable { subject: key.to_owned(), detail })
            }
        }
    }
}

/// Whether nothing was stored because a digest was missing: "Content-MD5 OR x-amz-checksum- HTTP header is required for Put
/// Object requests with Object Lock parameters".
fn lacks_digest(error: &SdkError<PutObjectError, HttpResponse>) -> bool {
    let SdkError::ServiceError(refused) = error else { return false };
    let said = refused.err().message().unwrap_or_default();
    refused.raw().status().as_u16() == 400 && said.contains("Content-MD5") && said.contains("required")
}
