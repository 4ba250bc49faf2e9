//! Which apps there are.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::{Question, Reader, Sources};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::keys::{APPS, is_segment};
use crate::retention::app_name::AppName;
use crate::retention::decide::Judge;
use crate::store::StoreError;

/// Every app that the store knows, where all are asked about. Asked for beside the fleet: neither needs the other.
///
/// # Errors
/// The store's.
pub(crate) async fn listed(sources: &Sources, question: &Question) -> Result<BTreeSet<AppName>, CommandError> {
    if !question.apps.is_empty() {
        return Ok(BTreeSet::new());
    }
    let reader = Reader::new(sources.deployment.as_ref(), &sources.turns);
    let accounts = segments(APPS, reader.list_dirs(APPS).await?);
    let listed = stream::iter(accounts).map(|account| apps_of(reader, account)).buffered(sources.turns.number);
    let listed: Vec<BTreeSet<AppName>> = listed.try_collect().await?;
    Ok(listed.into_iter().flatten().collect())
}

/// The apps that are asked about, sorted: those named, or every app that a registry or the store knows.
///
/// # Errors
/// Not found (exit 10) for a named app that neither knows; the store's.
pub(crate) async fn names(
    sources: &Sources,
    judge: &Judge<'_>,
    question: &Question,
    listed: BTreeSet<AppName>,
) -> Result<Vec<AppName>, CommandError> {
    let reader = Reader::new(sources.deployment.as_ref(), &sources.turns);
    let hosted: BTreeSet<AppName> = judge.hosted_apps().map(|(account, app)| AppName::new(account, app)).collect();
    if question.apps.is_empty() {
        return Ok(hosted.into_iter().chain(listed).collect::<BTreeSet<AppName>>().into_iter().collect());
    }
    let mut known: BTreeMap<&str, BTreeSet<AppName>> = BTreeMap::new();
    for name in question.apps.iter().filter(|name| !hosted.contains(name)) {
        if !known.contains_key(name.account.as_str()) {
            known.insert(&name.account, apps_of(reader, name.account.clone()).await?);
        }
        let there = &known[name.account.as_str()];
        if !there.contains(name) {
            return Err(not_found(name, hosted.iter().chain(there)));
        }
    }
    let named: BTreeSet<AppName> = question.apps.iter().cloned().collect();
    Ok(named.into_iter().collect())
}

async fn apps_of(reader: Reader<'_>, account: String) -> Result<BTreeSet<AppName>, StoreError> {
    let prefix = format!("{APPS}{account}/");
    let apps = segments(&prefix, reader.list_dirs(&prefix).await?);
    Ok(apps.into_iter().map(|app| AppName::new(&account, &app)).collect())
}

/// The names of directories; what could not be part of a key is nobody's app.
fn segments(prefix: &str, directories: Vec<String>) -> Vec<String> {
    directories
        .into_iter()
        .filter_map(|whole| Some(whole.strip_prefix(prefix)?.strip_suffix('/')?.to_owned()))
        .filter(|name| is_segment(name))
        .collect()
}

fn not_found<'a>(name: &AppName, known: impl Iterator<Item = &'a AppName>) -> CommandError {
    const SHOWN: usize = 12;
    let known: BTreeSet<String> = known.filter(|one| one.account == name.account).map(ToString::to_string).collect();
    let error = CommandError::new(Exit::NotFound, format!("no app {name}: no route and no object of it"));
    if known.is_empty() {
        return error.hint(format!("account {} has no app; every app: carlosctl retention explain", name.account));
    }
    if let Some(near) = crate::terminal::nearest(&name.to_string(), known.iter().map(String::as_str)) {
        return error.hint(format!("did you mean {near}?"));
    }
    let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
    let more = known.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    error.hint(format!("apps there: {}{more}", shown.join(", ")))
}
