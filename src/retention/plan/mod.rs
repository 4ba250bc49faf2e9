//! A plan: the decision as it was shown, everything that it rests on, and exactly what would be deleted.
//!
//! | file | what it does |
//! |---|---|
//! | `inputs` | every object that a decision rests on, by key and etag |
//! | `build` | one app's part of a plan |
//! | `file` | a plan as a file of lines, one an app, so that none has to fit in memory |
//! | `drift` | what differs between what was shown and what is there now |
//! | `command` | `retention plan` |
//!
//! A plan can be made here only, out of a decision, and its fields are private: what is deleted is what was decided.

mod build;
mod command;
mod drift;
mod file;
mod inputs;

use std::ffi::OsStr;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::AppName;
use super::decision::AppDecision;
use super::evidence::View;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::word;
use crate::platform::{Label, hex};
use crate::store::{ObjectMeta, ReadStore};

pub(crate) use build::read_and_plan;
pub(super) use command::run;
pub(crate) use drift::{app_drift, fleet_drift};
pub(crate) use file::{Plan, PlanWriter};
pub(crate) use inputs::{Class, Input, fleet_inputs};

/// For how long a plan may be run.
const LIFETIME: SignedDuration = SignedDuration::from_hours(1);
/// The plan's own name and version.
const SCHEMA: &str = "carlosctl.retention-plan/1";

/// What a plan is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    schema: String,
    store: String,
    name: String,
    nonce: String,
    created_at: Timestamp,
    expires_at: Timestamp,
    as_of: Timestamp,
    view: View,
    without_boxes: Vec<Label>,
    selected: Vec<AppName>,
    inputs: Vec<Input>,
}

/// One app's part of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AppPlan {
    decision: AppDecision,
    inputs: Vec<Input>,
    victims: Vec<PlannedVersion>,
}

/// A version that would be deleted, object by object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlannedVersion {
    version: String,
    objects: Vec<ObjectMeta>,
    artifacts: Vec<ObjectMeta>,
    /// Artifacts that its manifest names and that are not there: an earlier run that was cut short may have deleted them.
    absent: Vec<String>,
    manifest: Option<ObjectMeta>,
}

impl Header {
    /// The head of a plan that is made now.
    ///
    /// # Errors
    /// Only without random numbers.
    pub(crate) fn new(
        store: &dyn ReadStore,
        now: Timestamp,
        question: &super::gather::Question,
        inputs: Vec<Input>,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            schema: SCHEMA.to_owned(),
            store: store.describe(),
            name: store.name(),
            nonce: random()?,
            created_at: now,
            expires_at: now.saturating_add(LIFETIME).unwrap_or(now),
            as_of: question.as_of,
            view: question.view.clone(),
            without_boxes: question.without_boxes.clone(),
            selected: question.apps.clone(),
            inputs,
        })
    }

    /// What makes the plan usable once.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Until when it may be run.
    pub(crate) fn expires_at(&self) -> Timestamp {
        self.expires_at.min(self.created_at.saturating_add(LIFETIME).unwrap_or(self.created_at))
    }

    /// When it was made.
    pub(crate) fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// The boxes that were left out.
    pub(crate) fn without_boxes(&self) -> &[Label] {
        &self.without_boxes
    }

    /// Whose pins counted.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// The arguments that ask the same again, with a space before each.
    pub(crate) fn question(&self) -> String {
        let mut words: Vec<String> = self.selected.iter().map(AppName::to_string).collect();
        for label in &self.without_boxes {
            words.extend(["--without-box".to_owned(), label.to_string()]);
        }
        words.iter().map(|text| " ".to_owned() + &word(OsStr::new(text)).to_string_lossy()).collect()
    }

    /// How to make such a plan again.
    pub(crate) fn again(&self) -> String {
        format!("make a new plan: carlosctl retention plan{} --out FILE", self.question())
    }

    /// What is common to all apps, by key and etag.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Refuses a plan that was made for another store.
    ///
    /// # Errors
    /// Refused (exit 5).
    pub(crate) fn is_for(&self, store: &dyn ReadStore) -> Result<(), CommandError> {
        if self.store == store.describe() && self.name == store.name() {
            return Ok(());
        }
        Err(CommandError::new(
            Exit::Refused,
            format!("the plan is for {}, and this is {}; nothing was deleted", self.store, store.describe()),
        )
        .hint("name that store, or make a plan for this one: carlosctl retention plan --out FILE"))
    }
}

impl AppPlan {
    /// Which app.
    pub(crate) fn name(&self) -> AppName {
        AppName::new(&self.decision.account, &self.decision.app)
    }

    /// The decision as it was shown.
    pub(crate) fn decision(&self) -> &AppDecision {
        &self.decision
    }

    /// Every document that it rests on.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What would be deleted, in this order.
    pub(crate) fn victims(&self) -> &[PlannedVersion] {
        &self.victims
    }
}

impl PlannedVersion {
    /// The version.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// What is deleted, in steps: each only when the one before it is done, the manifest last.
    pub(crate) fn steps(&self) -> [&[ObjectMeta]; 3] {
        [&self.objects, &self.artifacts, self.manifest.as_slice()]
    }

    /// How many objects go.
    pub(crate) fn objects(&self) -> u64 {
        self.steps().iter().map(|step| step.len() as u64).sum()
    }

    /// How many bytes go.
    pub(crate) fn bytes(&self) -> u64 {
        self.steps().iter().flat_map(|step| step.iter()).map(|object| object.bytes).sum()
    }

    /// How many objects were gone already.
    pub(crate) fn absent(&self) -> u64 {
        self.absent.len() as u64
    }
}

/// 16 random hex digits.
///
/// # Errors
/// Only without random numbers.
pub(crate) fn random() -> Result<String, CommandError> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| CommandError::new(Exit::Unexpected, format!("random number generator: {error}")))?;
    Ok(hex(&bytes))
}
