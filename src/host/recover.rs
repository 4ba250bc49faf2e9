//! What a killed restore or undo left beside the registry, and how it ends.
//!
//! | left | the path holds | it ends as |
//! |---|---|---|
//! | a staging directory whose maker is gone | the old registry | removed |
//! | a swap name with the inode that it says | the old registry | the staged registry is removed, or a kept one gets its name back |
//! | a swap name with another inode | the new registry | the old one gets its kept name |
//! | a kept name that is a second name of the registry at the path | the old registry | the second name is removed |
//!
//! So a run that comes again finds the registry either wholly old or wholly new, and nothing half-way.

use std::path::Path;

use super::exchange::Exchange;
use super::install::InstallError;
use super::interlock::Interlock;
use super::names::{self, Beside};
use super::{stage, steps};

/// Ends what killed runs left beside the registry of `interlock`. Does nothing where nothing was left.
///
/// # Errors
/// Something could not be ended; coming again goes on from there.
pub fn recover(interlock: &Interlock) -> Result<(), InstallError> {
    let path = interlock.path();
    let directory = path.parent().unwrap_or(Path::new("/"));
    let base = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let at = || InstallError::at("ending what an interrupted run left", path);
    let left = names::list(directory, base).map_err(at())?;
    for (_, beside) in &left {
        if let Beside::Swap { kept, incoming, origin } = *beside {
            let exchange = Exchange { path: path.to_owned(), kept, incoming, origin };
            exchange.settle().map_err(at())?;
        }
    }
    let registry = steps::identity(path).map_err(at())?;
    for (name, beside) in left {
        let name = directory.join(name);
        let kept = matches!(beside, Beside::Kept { side: false, .. });
        if kept && registry.is_some() && steps::identity(&name).map_err(at())? == registry {
            steps::remove(&name).map_err(at())?;
        }
    }
    stage::clean(interlock).map_err(|error| at()(error.source))?;
    steps::sync_directory(directory).map_err(at())
}
