//! Where everything is read: the stores, and what is needed to understand them.

use std::sync::Arc;

use super::Turns;
use super::manifests::Manifests;
use crate::context::Context;
use crate::error::CommandError;
use crate::platform::pointer::RootKey;
use crate::retention::evidence::NoReports;
use crate::settings::{Settings, StoreChoice};
use crate::store::ReadStore;

/// The stores of one run.
pub(crate) struct Sources {
    /// The deployment store.
    pub(crate) deployment: Arc<dyn ReadStore>,
    /// Where the boxes report.
    pub(crate) status: Status,
    /// The account of a route that names none.
    pub(crate) default_account: String,
    /// The deployment's public key, or why there is none.
    pub(crate) release_key: Result<RootKey, String>,
    /// How much may be asked at once.
    pub(crate) turns: Turns,
    /// Manifests that were read before; absent where everything is to be read from the store itself.
    pub(crate) manifests: Option<Manifests>,
}

/// Where the boxes report (seed `retentionReports`).
pub(crate) enum Status {
    /// A store.
    Store {
        /// The store.
        store: Arc<dyn ReadStore>,
        /// What rebases the platform's own reports in it.
        prefix: String,
        /// Whether it is the deployment store itself, whose fleets are read once.
        is_deployment: bool,
    },
    /// A directory-backed deployment of one box, which publishes no status.
    SoleHousekeeper,
    /// It cannot be read, because of this.
    Unavailable(NoReports),
}

impl Status {
    /// Where the reports are, for people.
    pub(crate) fn describe(&self, deployment: &dyn ReadStore) -> String {
        match self {
            Self::Store { store, prefix, .. } if prefix.is_empty() => store.describe(),
            Self::Store { store, prefix, .. } => format!("{} below {prefix}", store.describe()),
            Self::SoleHousekeeper | Self::Unavailable(_) => deployment.describe(),
        }
    }
}

impl Sources {
    /// The stores of the settings, to look at. Manifests that an earlier look has read are not read again, unless listing
    /// them means reading them, as in a directory.
    ///
    /// # Errors
    /// Usage when no deployment store is named; else the deployment store's.
    pub(crate) async fn of(context: &Context<'_>) -> Result<Self, CommandError> {
        let deployment = context.deployment().await?;
        let mut sources = Self::with(context, deployment).await;
        if matches!(context.settings.deployment, Some(StoreChoice::Bucket(_))) {
            sources.manifests = Manifests::of(&context.world.env, sources.deployment.describe());
        }
        Ok(sources)
    }

    /// The stores of the settings, with a deployment store that is open already.
    pub(crate) async fn with(context: &Context<'_>, deployment: Arc<dyn ReadStore>) -> Self {
        let settings = &context.settings;
        let status = match context.status_store().await {
            Err(error) => Status::Unavailable(NoReports { because: error.message, exit: error.exit }),
            Ok(None) => Status::SoleHousekeeper,
            Ok(Some(store)) => Status::Store {
                store,
                prefix: settings.status_prefix.clone(),
                is_deployment: settings.status.is_none() || is_same(settings),
            },
        };
        Self::new(settings, deployment, status)
    }

    /// These stores, and the rest from the settings.
    pub(crate) fn new(settings: &Settings, deployment: Arc<dyn ReadStore>, status: Status) -> Self {
        let release_key = match &settings.release_pubkey {
            None => Err("CARLOS_RELEASE_PUBKEY is not set".to_owned()),
            Some(text) => RootKey::parse(text).map_err(|error| format!("CARLOS_RELEASE_PUBKEY: {error}")),
        };
        Self {
            deployment,
            status,
            default_account: settings.default_account.clone(),
            release_key,
            turns: Turns::new(settings.concurrency),
            manifests: None,
        }
    }
}

/// Whether both stores are one: the seed compares the names of buckets; of directories the real paths are compared.
fn is_same(settings: &Settings) -> bool {
    match (&settings.status, &settings.deployment) {
        (Some(StoreChoice::Bucket(status)), Some(StoreChoice::Bucket(deployment))) => status == deployment,
        (Some(StoreChoice::Directory(status)), Some(StoreChoice::Directory(deployment))) => {
            match (status.canonicalize(), deployment.canonicalize()) {
                (Ok(status), Ok(deployment)) => status == deployment,
                _ => false,
            }
        }
        _ => false,
    }
}
