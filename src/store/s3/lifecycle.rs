//! The bucket's lifecycle configuration, as [`ExpiryRule`]s.

use aws_sdk_s3::error::ProvideErrorMetadata;
use aws_sdk_s3::types::{ExpirationStatus, LifecycleRule, TransitionStorageClass};

use super::S3Store;
use super::errors::Asked;
use crate::store::{Expiry, ExpiryRule, StoreError};

/// What S3 says of a bucket that has no rules.
const NO_RULES: &str = "NoSuchLifecycleConfiguration";

impl S3Store {
    /// Every rule that is switched on.
    pub(super) async fn lifecycle(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        let _permit = self.permit().await;
        match self.client().get_bucket_lifecycle_configuration().bucket(self.bucket()).send().await {
            Ok(answer) => {
                Ok(answer.rules().iter().filter(|rule| rule.status() == &ExpirationStatus::Enabled).map(read).collect())
            }
            Err(error) if error.code() == Some(NO_RULES) => Ok(Vec::new()),
            Err(error) => Err(self.words().fault(Asked::Read("lifecycle rules"), &error)),
        }
    }
}

fn read(rule: &LifecycleRule) -> ExpiryRule {
    let filter = rule.filter();
    let all = filter.and_then(|filter| filter.and());
    // The place of the prefix has moved twice; what names none applies to the whole bucket.
    #[expect(deprecated, reason = "buckets keep rules in the form in which they were written")]
    let whole = rule.prefix();
    let prefix = whole.or_else(|| filter?.prefix()).or_else(|| all?.prefix()).unwrap_or_default();
    let narrowed = filter.is_some_and(|filter| {
        filter.tag().is_some() || filter.object_size_greater_than().is_some() || filter.object_size_less_than().is_some()
    }) || all.is_some_and(|all| {
        !all.tags().is_empty() || all.object_size_greater_than().is_some() || all.object_size_less_than().is_some()
    });
    ExpiryRule { id: rule.id().unwrap_or("-").to_owned(), prefix: prefix.to_owned(), narrowed, effects: effects(rule) }
}

fn effects(rule: &LifecycleRule) -> Vec<Expiry> {
    // A number that makes no sense counts as the one that removes most.
    let days = |days: Option<i32>| u32::try_from(days.unwrap_or_default()).unwrap_or_default();
    let mut effects = Vec::new();
    if let Some(expiration) = rule.expiration() {
        match (expiration.days(), expiration.date()) {
            (None, Some(_)) => effects.push(Expiry::Current { days: None }),
            (Some(number), _) => effects.push(Expiry::Current { days: Some(days(Some(number))) }),
            // Only delete markers that hide nothing are removed.
            (None, None) => {}
        }
    }
    if let Some(noncurrent) = rule.noncurrent_version_expiration() {
        effects.push(Expiry::Noncurrent { days: days(noncurrent.noncurrent_days()) });
    }
    let is_archive = |class: Option<&TransitionStorageClass>| {
        matches!(class, Some(TransitionStorageClass::Glacier | TransitionStorageClass::DeepArchive))
    };
    if rule.transitions().iter().any(|transition| is_archive(transition.storage_class()))
        || rule.noncurrent_version_transitions().iter().any(|transition| is_archive(transition.storage_class()))
    {
        effects.push(Expiry::Archived);
    }
    effects
}
