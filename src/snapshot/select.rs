//! A selector to exactly one object, and why that one. Pure.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use super::evidence::{BoxEvidence, Generation};
use super::judge::{Rung, judge};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::Code;
use crate::platform::{Stamp, keys};
use crate::store::ObjectMeta;
use crate::terminal;

/// Which snapshot is meant (contract section 2, "Selectors").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The current snapshot.
    Current,
    /// The newest that verifies and did not collapse.
    Good,
    /// The generation of this stamp.
    Stamp(Stamp),
    /// The newest at or before this instant.
    Time(Timestamp),
    /// The newest at or before this long ago.
    Ago(SignedDuration),
    /// A noncurrent version of current.
    Version(String),
    /// An object of a hold: its current, or one of its generations.
    Hold(Stamp, Option<Stamp>),
    /// A local file.
    File(PathBuf),
}

/// Exactly one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The selector that names it for ever: `current`, a stamp, `version:…`, `hold:…`, `file:…`.
    pub at: String,
    /// Where it is.
    pub source: Source,
    /// Why this one.
    pub because: String,
}

/// Where a chosen object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// In the store. `version_id` is set only where a version was asked for.
    Object(ObjectMeta),
    /// On this machine.
    File(PathBuf),
}

impl Chosen {
    /// How large it is; 0 for a file that is not there.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.source {
            Source::Object(object) => object.bytes,
            Source::File(path) => std::fs::metadata(path).map(|facts| facts.len()).unwrap_or_default(),
        }
    }
}

impl Chosen {
    /// When the hold was taken that it is a copy in.
    #[must_use]
    pub fn held_at(&self) -> Option<Timestamp> {
        match keys::read_snapshot_key(&self.source.object()?.key) {
            keys::SnapshotKey::Hold(_, hold, _) => Some(hold.instant()),
            _ => None,
        }
    }
}

impl Source {
    /// The object's facts as listed, when it is in the store.
    #[must_use]
    pub fn object(&self) -> Option<&ObjectMeta> {
        match self {
            Self::Object(object) => Some(object),
            Self::File(_) => None,
        }
    }

    /// The key or path, for people.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Object(object) => object.key.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// What a selector means among what was seen. Several only for `good`: candidates, newest first, of which the first that
/// proves is meant.
///
/// # Errors
/// Not found (exit 10), with what exists.
pub fn select(seen: &BoxEvidence, selector: &Selector, as_of: Timestamp) -> Result<Vec<Chosen>, CommandError> {
    match selector {
        Selector::Current => current(seen, "the current snapshot".to_owned()).map(|chosen| vec![chosen]),
        Selector::Good => good(seen, as_of),
        Selector::Stamp(stamp) => stamped(seen, *stamp).map(|chosen| vec![chosen]),
        Selector::Time(at) => at_or_before(seen, *at).map(|chosen| vec![chosen]),
        Selector::Ago(ago) => {
            let at = as_of.checked_sub(*ago).map_err(|_| CommandError::usage(format!("{ago:#} ago is before all time")))?;
            at_or_before(seen, at).map(|chosen| vec![chosen])
        }
        Selector::Version(id) => version(seen, id).map(|chosen| vec![chosen]),
        Selector::Hold(hold, stamp) => held(seen, *hold, *stamp).map(|chosen| vec![chosen]),
        Selector::File(path) => Ok(vec![Chosen {
            at: selector.to_string(),
            source: Source::File(path.clone()),
            because: "a local file was asked for".to_owned(),
        }]),
    }
}

fn not_found(seen: &BoxEvidence, what: &str) -> CommandError {
    let mut have: Vec<String> = Vec::new();
    if seen.current.is_some() {
        have.push("current".to_owned());
    }
    have.extend(seen.generations.iter().map(|generation| generation.stamp.to_string()));
    have.extend(seen.holds.iter().map(|hold| format!("hold:{}", hold.stamp)));
    let have = if have.is_empty() { "nothing".to_owned() } else { have.join(", ") };
    CommandError::new(Exit::NotFound, format!("box {}: {what}; there is: {have}", seen.label))
        .hint(format!("what there is: carlosctl snapshot list --box {}", seen.label))
}

fn current(seen: &BoxEvidence, because: String) -> Result<Chosen, CommandError> {
    let object = seen
        .current
        .clone()
        .ok_or_else(|| not_found(seen, &format!("no current snapshot ({})", keys::current(&seen.label))))?;
    Ok(Chosen { at: "current".to_owned(), source: Source::Object(object), because })
}

fn generation(found: &Generation, because: String) -> Chosen {
    Chosen { at: found.stamp.to_string(), source: Source::Object(found.object.clone()), because }
}

fn stamped(seen: &BoxEvidence, stamp: Stamp) -> Result<Chosen, CommandError> {
    seen.generation(stamp)
        .map(|found| generation(found, format!("generation {stamp} was asked for")))
        .ok_or_else(|| not_found(seen, &format!("no generation {stamp}")))
}

/// Current counts as of its sidecar's time; a generation as of its stamp.
fn at_or_before(seen: &BoxEvidence, at: Timestamp) -> Result<Chosen, CommandError> {
    let newest = seen.generations.iter().find(|generation| generation.stamp.instant() <= at);
    let current_at = seen.current_at().filter(|current| *current <= at);
    match (newest, current_at) {
        (Some(found), current_at) if current_at.is_none_or(|current| Stamp::at(current) < found.stamp) => {
            Ok(generation(found, format!("the newest at or before {}", terminal::instant(at))))
        }
        (_, Some(of)) => {
            current(seen, format!("the newest at or before {}: current is of {}", terminal::instant(at), terminal::instant(of)))
        }
        (found, None) => found
            .map(|found| generation(found, format!("the newest at or before {}", terminal::instant(at))))
            .ok_or_else(|| not_found(seen, &format!("nothing at or before {}", terminal::instant(at)))),
    }
}

/// Current first, then the generations, without what listings already show to be collapsed, empty or poisoned. A torn current is
/// passed over where there are generations: the newest is of the pass that was cut, or equals it.
fn good(seen: &BoxEvidence, as_of: Timestamp) -> Result<Vec<Chosen>, CommandError> {
    let judgement = judge(seen, as_of);
    let torn = judgement.findings.iter().any(|found| found.code == Code::TornPair) && !seen.generations.is_empty();
    let takes_current = judgement.last_good == Some(Rung::Current) && !torn;
    let mut candidates = Vec::new();
    if takes_current {
        candidates.push(current(seen, "current did not collapse and is the newest that proves".to_owned())?);
    }
    for found in &seen.generations {
        let stamp = found.stamp;
        let skipped = judgement.collapsed.contains(&stamp) || judgement.ahead.contains(&stamp) || found.object.bytes == 0;
        let repeated = takes_current && seen.same_as_current(found);
        if !skipped && !repeated {
            candidates.push(generation(found, format!("generation {stamp} is the newest that proves and did not collapse")));
        }
    }
    if candidates.is_empty() { Err(not_found(seen, "no snapshot that did not collapse")) } else { Ok(candidates) }
}

fn version(seen: &BoxEvidence, id: &str) -> Result<Chosen, CommandError> {
    let key = keys::current(&seen.label);
    let found =
        seen.versions.iter().find(|version| version.object.key == key && version.object.version_id.as_deref() == Some(id));
    match found {
        Some(version) if version.is_delete_marker => Err(not_found(seen, &format!("version {id} of {key} is a delete marker"))),
        Some(version) => Ok(Chosen {
            at: format!("version:{id}"),
            source: Source::Object(version.object.clone()),
            because: format!("version {id}, written {}, was asked for", terminal::instant(version.object.last_modified)),
        }),
        None => Err(not_found(seen, &format!("no version {id} of {key}"))),
    }
}

fn held(seen: &BoxEvidence, hold: Stamp, stamp: Option<Stamp>) -> Result<Chosen, CommandError> {
    let found = seen
        .holds
        .iter()
        .find(|candidate| candidate.stamp == hold)
        .ok_or_else(|| not_found(seen, &format!("no hold {hold}")))?;
    let name = stamp.map_or_else(|| "current.db".to_owned(), |stamp| format!("{stamp}.db"));
    let key = format!("{}{name}", keys::hold(&seen.label, hold));
    let object = found.objects.iter().find(|object| object.key == key).ok_or_else(|| {
        let names: Vec<&str> = found.objects.iter().filter_map(|object| object.key.rsplit('/').next()).collect();
        not_found(seen, &format!("hold {hold} has no {name} (it has {})", names.join(", ")))
    })?;
    let at = stamp.map_or_else(|| format!("hold:{hold}"), |stamp| format!("hold:{hold}/{stamp}"));
    Ok(Chosen { because: format!("{at} was asked for"), at, source: Source::Object(object.clone()) })
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(id) = text.strip_prefix("version:") {
            return if id.is_empty() {
                Err("version: wants a version id".to_owned())
            } else {
                Ok(Self::Version(id.to_owned()))
            };
        }
        if let Some(path) = text.strip_prefix("file:") {
            return if path.is_empty() { Err("file: wants a path".to_owned()) } else { Ok(Self::File(path.into())) };
        }
        if let Some(hold) = text.strip_prefix("hold:") {
            let (hold, stamp) = hold.split_once('/').map_or((hold, None), |(hold, stamp)| (hold, Some(stamp)));
            let stamp = stamp.map(str::parse).transpose().map_err(|error: crate::platform::StampError| error.to_string())?;
            return Ok(Self::Hold(hold.parse().map_err(|error: crate::platform::StampError| error.to_string())?, stamp));
        }
        match text {
            "current" => return Ok(Self::Current),
            "good" => return Ok(Self::Good),
            _ => {}
        }
        if let Ok(stamp) = text.parse() {
            return Ok(Self::Stamp(stamp));
        }
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::Time(at));
        }
        match terminal::duration(text) {
            Some(ago) if ago.is_positive() => Ok(Self::Ago(ago)),
            _ => Err("not current, good, a stamp (20261130T100000Z), a time (2026-11-30T10:00:00Z, 2h), version:ID, hold:STAMP[/STAMP] or file:PATH".to_owned()),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current => f.write_str("current"),
            Self::Good => f.write_str("good"),
            Self::Stamp(stamp) => write!(f, "{stamp}"),
            Self::Time(at) => write!(f, "{at}"),
            Self::Ago(ago) => write!(f, "{ago:#}"),
            Self::Version(id) => write!(f, "version:{id}"),
            Self::Hold(hold, None) => write!(f, "hold:{hold}"),
            Self::Hold(hold, Some(stamp)) => write!(f, "hold:{hold}/{stamp}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

impl Chosen {
    /// One line: what was chosen, and why.
    #[must_use]
    pub fn line(&self) -> String {
        match &self.source {
            Source::Object(object) => {
                format!("chose {} ({}, {}): {}", self.at, object.key, terminal::bytes(object.bytes), self.because)
            }
            Source::File(path) => format!("chose {} ({}): {}", self.at, path.display(), self.because),
        }
    }
}

/// Up to this size what a clobber left can be half as large as what it wrote over, because the schema alone takes some 50 KiB: a
/// listing cannot show it.
pub const SMALL_BYTES: u64 = 256 * 1024;

/// The rungs among which the one is that a current snapshot, a generation or a held copy of one is compared with: the older
/// ones of another content that did not collapse as far as the listing tells, newest first. The newest suffices, unless it is
/// small: then only the rows of all small ones show which of them a standby clobbered (see [`Reference`](super::Reference)).
#[must_use]
pub fn neighbours(seen: &BoxEvidence, chosen: &Chosen, as_of: Timestamp) -> Vec<Chosen> {
    let Some(object) = chosen.source.object() else { return Vec::new() };
    let of_current = seen.current.as_ref().is_some_and(|current| current.key == object.key && object.version_id.is_none());
    let own = seen.generations.iter().find(|found| found.object.key == object.key).map(|found| found.stamp);
    // A held copy is compared as what it is a copy of: a hold keeps what a clobber left, too. A held current is older than its hold.
    let held = chosen.at.strip_prefix("hold:").map(|held| held.split_once('/').map_or(held, |(_, stamp)| stamp));
    let own = held.and_then(|stamp| stamp.parse().ok()).or(own);
    if !of_current && own.is_none() {
        return Vec::new();
    }
    let judgement = judge(seen, as_of);
    // Current and the generation of its pass are one content, also in a store that gives every object an etag of its own.
    let twin = seen.own_pass().filter(|_| of_current);
    let older: Vec<&Generation> = seen
        .generations
        .iter()
        .filter(|found| own.is_none_or(|own| found.stamp < own) && twin != Some(found.stamp))
        .filter(|found| !judgement.collapsed.contains(&found.stamp) && !judgement.ahead.contains(&found.stamp))
        .filter(|found| found.object.bytes > 0 && (found.object.etag != object.etag || found.object.bytes != object.bytes))
        .collect();
    let small = older.iter().take_while(|found| found.object.bytes <= SMALL_BYTES).count();
    let because = || format!("what {} is compared with", chosen.at);
    older.into_iter().take(small.max(1)).map(|found| generation(found, because())).collect()
}

#[cfg(test)]
mod tests;
