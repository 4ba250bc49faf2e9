//! This machine's own registry, where there is one.

use std::collections::BTreeMap;
use std::path::Path;

use super::boxes::content;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::HostBuilds;
use crate::registry::{Registry as Database, RegistryError};
use crate::retention::evidence::{LocalRegistry, Registry, Seen};
use crate::snapshot::blocking;

/// What was read of this machine's registry, in one opening.
#[derive(Debug, Clone)]
pub(crate) struct LocalRead {
    /// Its routes.
    pub(crate) registry: LocalRegistry,
    /// Its build states (seed `buildStatePins`), or why they could not be collected.
    pub(crate) build_states: Result<BTreeMap<String, HostBuilds>, String>,
}

/// What a registry says: its routes, and its build states.
type Asked = (Result<Registry, RegistryError>, Result<BTreeMap<String, HostBuilds>, RegistryError>);

impl LocalRead {
    /// Reads the registry of the settings.
    ///
    /// # Errors
    /// Where one was named by the flag and is not there.
    pub(crate) async fn of(context: &Context<'_>) -> Result<Option<Self>, CommandError> {
        let path = context.settings.registry.clone();
        if !path.exists() {
            let is_typed = context.settings.origins.iter().any(|one| one.name == "registry" && one.from.starts_with("flag"));
            if is_typed {
                return Err(CommandError::new(Exit::NotFound, format!("{}: no such registry", path.display())));
            }
            return Ok(None);
        }
        let label = context.settings.this_box.as_ref().map(ToString::to_string);
        let account = context.settings.default_account.clone();
        let asked = {
            let path = path.clone();
            blocking(move || Database::open_live(&path).map(|database| Self::ask(&database, &path, &account))).await?
        };
        Ok(Some(Self::new(&path, label, asked)))
    }

    /// Both questions, of one open registry.
    pub(crate) fn ask(database: &Database, path: &Path, default_account: &str) -> Asked {
        let bytes = std::fs::metadata(path).map(|facts| facts.len()).unwrap_or_default();
        (content(database, bytes, default_account), database.build_state_pins(default_account))
    }

    /// What was answered, as evidence.
    pub(crate) fn new(path: &Path, label: Option<String>, asked: Result<Asked, RegistryError>) -> Self {
        let (content, build_states) = match asked {
            Ok(asked) => asked,
            Err(error) => (Err(error.clone()), Err(error)),
        };
        Self {
            registry: LocalRegistry {
                label,
                path: path.display().to_string(),
                content: content.map_or_else(|error| Seen::Unreadable(error.to_string()), Seen::Read),
            },
            build_states: build_states.map_err(|error| format!("listing routes for build states: {error}")),
        }
    }
}
