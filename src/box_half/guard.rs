//! The one improvement over the seed: what is worth having is held before it is overwritten.
//!
//! The seed only logs. A freshly bootstrapped standby that reuses the dead box's label would overwrite the last good snapshot
//! a minute after it starts, and push its last generation out within the hour; nothing but content can tell.

use super::snapshot_pass::{Copy, SnapshotPass};
use super::stop::PassError;
use super::{live, replacing};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::platform::{Sidecar, Stamp, keys};
use crate::registry::{Census, HeaderFault, Registry, RegistryError};
use crate::snapshot::{Chosen, Landing, Private, Reports, Scope, Source, collapse, fetch, gather, hold};
use crate::store::ObjectMeta;
use crate::terminal::Progress;

/// The snapshot that is about to be overwritten.
#[derive(Debug)]
pub(super) struct Prior {
    pub(super) object: ObjectMeta,
    pub(super) census: Result<Census, RegistryError>,
}

impl Prior {
    /// Why it must be held before `copy` takes its place; `None` when nothing is lost with it.
    fn worth_holding(&self, copy: &Copy, foreign: Option<&Sidecar>) -> Option<String> {
        let census = match &self.census {
            Ok(census) if census.routes == 0 => return None,
            Err(RegistryError::Header(HeaderFault::Empty)) => return None,
            // What cannot be read may be of something newer.
            Err(error) => return Some(format!("what is there cannot be read ({error})")),
            Ok(census) => census,
        };
        if let Some(sidecar) = foreign {
            return Some(format!("it was written by box {:?}", sidecar.label));
        }
        if copy.census.routes == 0 {
            return Some("this registry has no routes".to_owned());
        }
        collapse("this registry", &copy.census, "the prior snapshot", census)
    }
}

impl SnapshotPass<'_> {
    /// Reads what is there now, in whole: only content tells what would be lost. What this process has written itself is known.
    pub(super) async fn prior(&self, known: Option<&(String, Census)>) -> Result<Option<Prior>, PassError> {
        let key = keys::current(self.label);
        let object = self.stop.unless_said(replacing::there(self.store, &key)).await?;
        let Some(object) = object.map_err(|error| replacing::failed("snapshot", "get", &error))? else { return Ok(None) };
        if let Some((_, census)) = known.filter(|(etag, _)| *etag == object.etag) {
            return Ok(Some(Prior { object, census: Ok(census.clone()) }));
        }
        let chosen = Chosen { at: "current".to_owned(), source: Source::Object(object), because: String::new() };
        let fetched = self.stop.unless_said(fetch(self.store, &chosen, Private::create()?, None)).await?;
        let fetched = match fetched {
            Ok(fetched) => fetched,
            // Deleted between the two requests.
            Err(error) if error.exit == Exit::NotFound => return Ok(None),
            Err(mut error) => {
                error.message = format!("snapshot: get {}", error.message);
                return Err(error.into());
            }
        };
        let object = fetched.meta.clone();
        let default_account = self.default_account.to_owned();
        let census = live::interruptible(self.stop, move |interrupter| {
            Registry::open_snapshot(fetched.landing.path())?.interrupted_by(interrupter)?.census(&default_account)
        });
        let census = census.await?;
        Ok(Some(Prior { object, census }))
    }

    /// Takes a hold where something would be lost, and answers it. Where it cannot be taken, the pass goes no further.
    pub(super) async fn hold_first(
        &self,
        prior: Option<&Prior>,
        copy: &Copy,
        foreign: Option<&Sidecar>,
        stamp: Stamp,
    ) -> Result<Option<Stamp>, PassError> {
        let Some(prior) = prior else { return Ok(None) };
        let Some(because) = prior.worth_holding(copy, foreign) else { return Ok(None) };
        let taken = self.stop.unless_said(self.take_hold(&prior.object, stamp)).await?;
        let held = taken.map_err(|mut error| {
            error.message = format!(
                "snapshot: {because}, so a hold of the prior snapshot comes first, and it could not be taken; nothing was \
                 overwritten: {}",
                error.message
            );
            error
        })?;
        self.log.warning(format!(
            "agent: registry snapshot: HELD the prior snapshot of {label} first, because {because}; to restore it: carlosctl \
             restore --from-box {label} --at hold:{held}",
            label = self.label
        ));
        Ok(Some(held))
    }

    async fn take_hold(&self, current: &ObjectMeta, stamp: Stamp) -> Result<Stamp, CommandError> {
        let reports = Reports { store: self.store, prefix: "" };
        let scope = Scope { boxes: vec![self.label.clone()], all_versions: false, doubtful: false, concurrency: 4 };
        let mut scene = gather(self.store, &reports, &scope).await?;
        let seen = scene.boxes.remove(self.label);
        let seen = seen.ok_or_else(|| CommandError::new(Exit::Changed, "the snapshots are gone meanwhile"))?;
        let (hold, _) = hold::take(self.store, &seen, free_stamp(&seen, stamp), &Progress::hidden()).await?;
        let has_it = hold.objects.iter().any(|copy| copy.from == current.key && copy.from_etag == current.etag);
        if !has_it {
            return Err(CommandError::new(Exit::Changed, "the prior snapshot changed while it was held"));
        }
        Ok(hold.hold)
    }

    /// The prior sidecar where it names another box. Advisory, as in the seed: one that cannot be read names nobody.
    pub(super) async fn foreign(&self) -> Result<Option<Sidecar>, PassError> {
        let key = keys::sidecar(self.label);
        let read = self.stop.unless_said(self.store.get(&key, crate::platform::document::MAX_BYTES as u64)).await?;
        let sidecar = read.ok().and_then(|object| Sidecar::read(&key, &object.body).ok());
        Ok(sidecar.filter(|sidecar| !sidecar.label.is_empty() && sidecar.label != self.label.as_str()))
    }
}

/// `stamp`, or the next second that no hold of the box has: a clock may have stepped back, and an unsealed hold may be there.
fn free_stamp(seen: &crate::snapshot::BoxEvidence, stamp: Stamp) -> Stamp {
    let taken = |stamp: &Stamp| seen.holds.iter().any(|hold| hold.stamp == *stamp);
    let later = |seconds: i64| {
        let at = stamp.instant();
        Stamp::at(at.saturating_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(at))
    };
    (0..).map(later).take(seen.holds.len() + 1).find(|stamp| !taken(stamp)).unwrap_or(stamp)
}

/// The registry's own refusal in the words of the pass.
pub(super) fn refused(doing: &str, error: &RegistryError) -> PassError {
    PassError::Failed(live::refused(doing, error))
}
