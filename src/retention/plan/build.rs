//! One app's part of a plan.

use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::inputs::app_inputs;
use super::{AppPlan, PlannedVersion};
use crate::error::CommandError;
use crate::retention::AppName;
use crate::retention::decide::Judge;
use crate::retention::decision::AppDecision;
use crate::retention::evidence::AppEvidence;
use crate::retention::gather::{self, Reader, Sources};
use crate::retention::victims::{Victim, victims};
use crate::store::{ObjectMeta, StoreError};

/// Reads one app, decides about it, and plans what was decided.
///
/// # Errors
/// The store's.
pub(crate) async fn read_and_plan(
    sources: &Sources,
    judge: &Judge<'_>,
    name: &AppName,
) -> Result<(AppEvidence, AppPlan), CommandError> {
    let app = gather::app(sources, judge, name).await;
    let decision = judge.app(&app);
    let plan = build(Reader::new(sources.deployment.as_ref(), &sources.turns), &app, decision).await?;
    Ok((app, plan))
}

/// Plans what was decided, and looks up each artifact that would go.
///
/// # Errors
/// The store's.
async fn build(reader: Reader<'_>, app: &AppEvidence, decision: AppDecision) -> Result<AppPlan, CommandError> {
    let wanted = victims(app, &decision);
    let inputs = app_inputs(app);
    let planned = stream::iter(wanted).map(|victim| plan(reader, victim)).buffered(reader.turns().number);
    let victims = planned.try_collect().await?;
    Ok(AppPlan { decision, inputs, victims })
}

async fn plan(reader: Reader<'_>, victim: Victim) -> Result<PlannedVersion, StoreError> {
    let looks = stream::iter(victim.artifacts.into_keys()).map(|key| async move {
        match reader.head(&key).await {
            Ok(object) => Ok(Ok(object)),
            Err(error) if error.is_missing() => Ok(Err(key)),
            Err(error) => Err(error),
        }
    });
    let looked: Vec<Result<ObjectMeta, String>> = looks.buffered(reader.turns().number).try_collect().await?;
    let (mut artifacts, mut absent) = (Vec::new(), Vec::new());
    for one in looked {
        match one {
            Ok(object) => artifacts.push(object),
            Err(key) => absent.push(key),
        }
    }
    Ok(PlannedVersion { version: victim.version, objects: victim.objects, artifacts, absent, manifest: victim.manifest })
}
