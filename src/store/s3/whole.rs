//! Whether a page of a listing arrived to its last byte.
//!
//! The SDK's XML reader takes a document that breaks off between two entries for a whole one, and an answer whose end is
//! the end of the connection may break off anywhere.

use aws_sdk_s3::config::interceptors::{AfterDeserializationInterceptorContextRef, InterceptorContext};
use aws_sdk_s3::config::retry::{ClassifyRetry, RetryAction};
use aws_sdk_s3::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_s3::error::BoxError;

/// The roots of the listings that are asked for.
const ROOTS: [&str; 2] = ["ListBucketResult", "ListVersionsResult"];

/// A listing without its end.
#[derive(Debug, thiserror::Error)]
#[error("the answer breaks off")]
pub(super) struct BrokenOff;

/// Refuses such a listing, and has it asked for again.
#[derive(Debug)]
pub(super) struct WholeListings;

impl Intercept for WholeListings {
    fn name(&self) -> &'static str {
        "WholeListings"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // The body of an object is not here: it is read later, by whoever asked for it.
        match context.response().body().bytes() {
            Some(body) if breaks_off(body) => Err(BrokenOff.into()),
            _ => Ok(()),
        }
    }
}

impl ClassifyRetry for WholeListings {
    fn name(&self) -> &'static str {
        "WholeListings"
    }

    /// A page that broke off is asked for again, as one whose connection broke.
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        match context.response().and_then(|response| response.body().bytes()) {
            Some(body) if breaks_off(body) => RetryAction::transient_error(),
            _ => RetryAction::NoActionIndicated,
        }
    }
}

fn breaks_off(body: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&body[..body.len().min(512)]);
    let body = body.trim_ascii_end();
    ROOTS.iter().any(|root| head.contains(&format!("<{root}")) && !body.ends_with(format!("</{root}>").as_bytes()))
        && !body.ends_with(b"/>")
}

#[cfg(test)]
mod tests {
    use super::breaks_off;

    #[test]
    fn a_listing_ends_with_its_root() {
        assert!(!breaks_off(b"<?xml?><ListBucketResult xmlns=\"x\"><IsTruncated>false</IsTruncated></ListBucketResult>\n"));
        assert!(breaks_off(b"<ListBucketResult><IsTruncated>false</IsTruncated>"));
        assert!(breaks_off(b"<ListVersionsResult><Version></Version>"));
        assert!(!breaks_off(b"<Error></Error>"));
        assert!(!breaks_off(b""));
    }
}
