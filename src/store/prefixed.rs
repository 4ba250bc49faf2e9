//! A store seen from below a prefix: the seed's `NewPrefixStore`, for a status prefix or one fleet.

use async_trait::async_trait;

use super::key::check_prefix;
use super::{ExpiryRule, Object, ObjectMeta, ObjectReader, ObjectVersion, ReadStore, StoreError};

/// Reads another store's objects as if `prefix` were its root. Keys in answers are below the prefix, keys in errors are
/// whole: an error is read by someone who looks into the real bucket.
pub struct Prefixed<'s> {
    inner: &'s dyn ReadStore,
    prefix: String,
}

impl<'s> Prefixed<'s> {
    /// The part of `inner` below `prefix`, which ends in `/` or is empty.
    ///
    /// # Errors
    /// `BadKey` where the prefix would match half a name.
    pub fn new(inner: &'s dyn ReadStore, prefix: impl Into<String>) -> Result<Self, StoreError> {
        let prefix = prefix.into();
        check_prefix(&prefix)?;
        Ok(Self { inner, prefix })
    }

    fn whole(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn below(&self, mut meta: ObjectMeta) -> Result<ObjectMeta, StoreError> {
        meta.key = self.rest(&meta.key)?;
        Ok(meta)
    }

    /// A store that answers with a key from elsewhere did not answer what was asked.
    fn rest(&self, key: &str) -> Result<String, StoreError> {
        key.strip_prefix(&self.prefix).map(str::to_owned).ok_or_else(|| StoreError::Incomplete {
            subject: self.prefix.clone(),
            detail: format!("the store answered with {key:?}, which is not below it"),
        })
    }
}

#[async_trait]
impl ReadStore for Prefixed<'_> {
    fn describe(&self) -> String {
        format!("{} below {}", self.inner.describe(), self.prefix)
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        let objects = self.inner.list(&self.whole(prefix)).await?;
        objects.into_iter().map(|meta| self.below(meta)).collect()
    }

    async fn list_dirs(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let directories = self.inner.list_dirs(&self.whole(prefix)).await?;
        directories.iter().map(|key| self.rest(key)).collect()
    }

    async fn list_versions(&self, prefix: &str) -> Result<Vec<ObjectVersion>, StoreError> {
        let versions = self.inner.list_versions(&self.whole(prefix)).await?;
        versions.into_iter().map(|version| Ok(ObjectVersion { object: self.below(version.object)?, ..version })).collect()
    }

    async fn get(&self, key: &str, limit_bytes: u64) -> Result<Object, StoreError> {
        let object = self.inner.get(&self.whole(key), limit_bytes).await?;
        Ok(Object { meta: self.below(object.meta)?, body: object.body })
    }

    async fn open(&self, key: &str, version_id: Option<&str>) -> Result<ObjectReader, StoreError> {
        let reader = self.inner.open(&self.whole(key), version_id).await?;
        Ok(ObjectReader { meta: self.below(reader.meta)?, chunks: reader.chunks })
    }

    async fn head(&self, key: &str) -> Result<ObjectMeta, StoreError> {
        self.below(self.inner.head(&self.whole(key)).await?)
    }

    async fn expiry_rules(&self) -> Result<Vec<ExpiryRule>, StoreError> {
        let rules = self.inner.expiry_rules().await?;
        Ok(rules.into_iter().filter_map(|rule| rule.below(&self.prefix)).collect())
    }

    fn clock_ahead_seconds(&self) -> Option<i64> {
        self.inner.clock_ahead_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[tokio::test]
    async fn keys_are_rebased_in_both_directions() {
        let store = MemoryStore::new("dep");
        store.insert("fleets/north/status/boxes/a.json", "{}");
        store.insert("fleets/northern/status/boxes/b.json", "{}");
        let fleet = Prefixed::new(&store, "fleets/north/").expect("a prefix");
        let keys: Vec<String> = fleet.list("status/boxes/").await.expect("a listing").into_iter().map(|m| m.key).collect();
        assert_eq!(keys, ["status/boxes/a.json"]);
        assert_eq!(fleet.list_dirs("").await.expect("a listing"), ["status/"]);
        assert_eq!(fleet.get("status/boxes/a.json", 9).await.expect("it is there").meta.key, "status/boxes/a.json");
        let missing = fleet.head("status/boxes/b.json").await.expect_err("it is in another fleet");
        assert_eq!(missing, StoreError::NotFound { key: "fleets/north/status/boxes/b.json".into() });
        assert!(matches!(Prefixed::new(&store, "fleets/north"), Err(StoreError::BadKey { .. })));

        let rule = |prefix: &str| ExpiryRule { id: "r".into(), prefix: prefix.into(), narrowed: false, effects: vec![] };
        store.set_expiry_rules(vec![rule("fleets/north/status/"), rule("fleets/south/"), rule("")]);
        assert_eq!(fleet.expiry_rules().await.expect("rules"), [rule("status/"), rule("")]);
    }
}
