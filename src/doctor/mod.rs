//! Could this machine do a restore right now? Everything that can be known before the night, each line with what to do.
//!
//! | file | what it does |
//! |---|---|
//! | `evidence` | what was seen of the store and of this machine |
//! | `gather_store` | asks the store, and tries out what may be done there |
//! | `gather_host` | looks at this machine |
//! | `decide` | one finding a check, and the verdict; pure |
//! | `view` | the checks, and the verdict last |
//!
//! Absent on purpose: anything that would have to be repaired afterwards. What is tried is tried on scratch objects, which
//! are removed again, or under conditions that cannot hold.

mod decide;
mod evidence;
mod gather_host;
mod gather_store;
mod view;

use crate::cli::doctor::DoctorArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::settings::{Origin, Settings};

pub use decide::{Verdict, decide};
pub use evidence::{AtWork, Candidate, Evidence, Host, Largest, Permissions, Publication, Store, StoreFacts, Versions};

/// Runs `carlosctl doctor`.
///
/// # Errors
/// Only when the answer cannot be printed; whatever else is wrong is the answer.
pub async fn run(args: &DoctorArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let progress = context.progress_listing();
    let store = gather_store::gather(args.read_only, context).await;
    drop(progress);
    let largest_bytes = store.facts().and_then(|facts| facts.largest.as_ref()).map_or(0, |largest| largest.bytes);
    let host = gather_host::gather(args.read_only, largest_bytes, context).await?;
    let settings = &context.settings;
    let evidence = Evidence {
        store,
        host,
        this_box: settings.this_box.clone(),
        units_named: settings.agent_units.clone(),
        read_only: args.read_only,
    };
    let (checks, verdict) = decide(&evidence);
    let candidates = evidence.store.facts().map(|facts| facts.candidates.clone()).unwrap_or_default();
    let diagnosis = view::Diagnosis { settings: origins(settings), checks, verdict, labels: candidates };
    context.answer(&diagnosis, context.now())?;
    Ok(if verdict == Verdict::Ready { Exit::Done } else { Exit::Found })
}

/// Every setting but those of how this very command talks, without the user and password that an endpoint may carry.
fn origins(settings: &Settings) -> Vec<Origin> {
    let mut origins = settings.origins.clone();
    origins.retain(|origin| !["color", "json", "no-input", "quiet"].contains(&origin.name));
    for origin in origins.iter_mut().filter(|origin| origin.name == "endpoint-url") {
        if let Some((scheme, rest)) = origin.value.split_once("://")
            && let Some((_, host)) = rest.rsplit_once('@')
        {
            origin.value = format!("{scheme}://{host}");
        }
    }
    origins
}
