//! What this identity may do, learned from requests that cannot do it: permission is looked at before the object is.

use aws_sdk_s3::config::retry::RetryConfig;
use bytes::Bytes;

use super::S3Store;
use super::errors::Asked;
use crate::store::key::random_name;
use crate::store::{Body, Powers, Put, StoreError, WriteStore};

/// An etag that no object has: nothing is as it says.
const NO_ETAG: &str = "00000000000000000000000000000000";
/// The version of an object that was written while no versions were kept. Of a key that never was there is none.
const NO_VERSION: &str = "null";

impl S3Store {
    /// Asks to overwrite and to delete an object that is not there. The caller has seen that this store honours conditions.
    pub(super) async fn powers_below(&self, prefix: &str, versions: bool) -> Result<Powers, StoreError> {
        // No label begins with a dot, so nobody else's object has this name.
        let key = format!("{prefix}.carlosctl-{}", random_name()?);
        let overwrite = match self.put(&key, &Body::Bytes(Bytes::new()), &Put::Replace(NO_ETAG.to_owned())).await {
            Ok(_) => {
                // The store took a condition that cannot hold. What it wrote is ours and goes again.
                self.delete(&key).await?;
                true
            }
            result => permitted(result.map(|_| ()))?,
        };
        let delete = permitted(self.delete_if_match(&key, NO_ETAG).await)?;
        let delete_versions = if versions { Some(permitted(self.delete_version(&key).await)?) } else { None };
        Ok(Powers { overwrite, delete, delete_versions })
    }

    async fn delete_version(&self, key: &str) -> Result<(), StoreError> {
        let _permit = self.permit().await;
        let request = self.client().delete_object().bucket(self.bucket()).key(key).version_id(NO_VERSION);
        let once = aws_sdk_s3::config::Config::builder().retry_config(RetryConfig::disabled());
        let answer = request.customize().config_override(once).send().await;
        answer.map(|_| ()).map_err(|error| self.words().fault(Asked::Write(key), &error))
    }
}

/// Whether the store came as far as to look for the object.
fn permitted(result: Result<(), StoreError>) -> Result<bool, StoreError> {
    match result {
        Ok(()) | Err(StoreError::Conflict { .. } | StoreError::NotFound { .. } | StoreError::Deleted { .. }) => Ok(true),
        Err(StoreError::Denied { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
