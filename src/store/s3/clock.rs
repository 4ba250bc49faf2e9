//! What the store's clock says: the `Date` of every answer, against this machine's time when it arrived.

use std::sync::atomic::{AtomicI64, Ordering};

use aws_sdk_s3::config::interceptors::BeforeDeserializationInterceptorContextRef;
use aws_sdk_s3::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_s3::error::BoxError;
use aws_sdk_s3::primitives::{DateTime, DateTimeFormat};
use jiff::Timestamp;
use std::sync::Arc;

/// No answer carried a clock yet.
const UNKNOWN: i64 = i64::MIN;

/// Remembers the difference that the latest answer showed.
#[derive(Debug, Clone)]
pub(super) struct Clock(Arc<AtomicI64>);

impl Clock {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(UNKNOWN)))
    }

    /// How far the store is ahead, in seconds.
    pub(super) fn ahead_seconds(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|seconds| *seconds != UNKNOWN)
    }
}

impl Intercept for Clock {
    fn name(&self) -> &'static str {
        "Clock"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(store) = context.response().headers().get("date").and_then(parse_date) {
            self.0.store(store.as_second() - now().as_second(), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// A `Date` header.
pub(super) fn parse_date(text: &str) -> Option<Timestamp> {
    let date = DateTime::from_str(text, DateTimeFormat::HttpDate).ok()?;
    Timestamp::from_second(date.secs()).ok()
}

/// This machine's time, at an answer.
#[expect(clippy::disallowed_methods, reason = "a difference of clocks can only be taken at the moment of the answer")]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}
