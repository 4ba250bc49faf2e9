//! Which builds a row's build state names (seed 002: `ParseBuildStateCopy`, `buildStateBuilds`, `keepsBuildState`,
//! `buildStatePins`).

use std::collections::BTreeMap;

use crate::platform::{Document, HostBuilds};

use super::{Registry, RegistryError, Route};

/// The copy of a build state that the agent keeps in a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildStateCopy {
    /// What the instance last ran, and where a resolved request wants it to go. `None`: there is no build state.
    pub state: Option<BuildState>,
    /// Whether the agent has read the build state at all.
    pub known: bool,
    /// Why it could not; empty when it could.
    pub read_err: String,
}

/// A build state, as far as it names builds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildState {
    /// The build that last ran; empty when none did.
    pub last_executed: String,
    /// The target of a resolved request; empty without one.
    pub target: String,
}

impl BuildStateCopy {
    /// Reads the text of the column `build_state`.
    ///
    /// # Errors
    /// Why it does not read, with the field where one is to blame. An empty text is no copy, and does not read either.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document = Document::parse("build_state", text.as_bytes()).map_err(|error| error.without_key())?;
        let read = || {
            let root = document.root();
            let state = match root.optional_object("state")? {
                None => None,
                Some(state) => Some(BuildState {
                    last_executed: state.optional_text("last_executed")?.unwrap_or_default(),
                    target: match state.optional_object("resolved")? {
                        Some(resolved) => resolved.optional_text("target")?.unwrap_or_default(),
                        None => String::new(),
                    },
                }),
            };
            Ok(Self {
                state,
                known: root.optional_boolean("known")?.unwrap_or(false),
                read_err: root.optional_text("read_err")?.unwrap_or_default(),
            })
        };
        read().map_err(|error: crate::platform::DocumentError| error.without_key())
    }

    /// The builds that it names: what last ran, and a resolved request's target when it differs. The target of a request
    /// that failed or was completed is named too: it may still be what the instance runs or recovers onto.
    #[must_use]
    pub fn builds(&self) -> Vec<String> {
        let Some(state) = &self.state else { return Vec::new() };
        let mut builds = Vec::new();
        if !state.last_executed.is_empty() {
            builds.push(state.last_executed.clone());
        }
        if !state.target.is_empty() && state.target != state.last_executed {
            builds.push(state.target.clone());
        }
        builds
    }
}

/// Whether a row keeps a build state: an instance that the activator manages (formats.md section 4).
#[must_use]
pub fn keeps_build_state(route: &Route) -> bool {
    matches!(route.kind.as_str(), "" | "instance")
        && route.unit.is_empty()
        && route.hibernate
        && route.addr.is_empty()
        && !route.tunnel
}

/// What the box reports of one row: an unreadable copy shows as incomplete, never as nothing to protect.
#[must_use]
pub fn host_builds(route: &Route) -> HostBuilds {
    let copy = BuildStateCopy::parse(&route.build_state);
    HostBuilds {
        account: route.account.clone(),
        app: route.app.clone(),
        builds: copy.as_ref().map(BuildStateCopy::builds).unwrap_or_default(),
        complete: copy.is_ok_and(|copy| copy.known && copy.read_err.is_empty()),
    }
}

impl Registry {
    /// The builds of every row that keeps a build state, by host: this box's contribution to retention.
    ///
    /// # Errors
    /// Where any row cannot be read, or it cannot be told which rows keep a build state. The caller reports the error, and
    /// never an empty map.
    pub fn build_state_pins(&self, default_account: &str) -> Result<BTreeMap<String, HostBuilds>, RegistryError> {
        let otherwise = "which rows keep a build state is not known";
        let routes = self.routes_with(default_account, &["hibernate"], otherwise)?;
        if let Some(row) = routes.unreadable.first() {
            return Err(RegistryError::Lacking(format!(
                "the row of host {:?} cannot be read: {} is {}",
                row.host, row.column, row.because
            )));
        }
        let keeping = routes.rows.iter().filter(|route| keeps_build_state(route));
        Ok(keeping.map(|route| (route.host.clone(), host_builds(route))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::registry::{RouteSpec, build};

    fn builds_of(text: &str) -> (Vec<String>, bool) {
        let builds = host_builds(&Route { build_state: text.to_owned(), ..Route::default() });
        (builds.builds, builds.complete)
    }

    #[test]
    fn a_copy_names_what_ran_and_where_it_was_to_go() {
        let of = |builds: &[&str]| builds.iter().map(|build| (*build).to_owned()).collect::<Vec<_>>();
        for (text, builds, complete) in [
            (r#"{"state":{"last_executed":"v1","resolved":null},"known":true,"read_err":""}"#, &["v1"][..], true),
            (r#"{"state":{"last_executed":"v1","resolved":{"target":"v2"}},"known":true}"#, &["v1", "v2"], true),
            (r#"{"state":{"last_executed":"v1","resolved":{"target":"v1"}},"known":true}"#, &["v1"], true),
            (r#"{"state":{"last_executed":"","resolved":{"target":"v2"}},"known":true}"#, &["v2"], true),
            (r#"{"State":{"LastExecuted":"v1"},"Known":true,"ReadErr":""}"#, &["v1"], true),
            (r#"{"state":null,"known":true,"read_err":""}"#, &[], true),
            // Not known, or read with an error: what is named is protected, and more may be.
            (r#"{"state":{"last_executed":"v1"},"known":false}"#, &["v1"], false),
            (r#"{"state":{"last_executed":"v1"}}"#, &["v1"], false),
            (r#"{"state":{"last_executed":"v1"},"known":true,"read_err":"EIO"}"#, &["v1"], false),
            ("", &[], false),
            ("null", &[], false),
            (r#"{"state":{"last_executed":7},"known":true}"#, &[], false),
            (r#"{"state":{"last_executed":"v1"},"known":true,"Known":true}"#, &[], false),
            (r#"{"state":{"last_executed":"v1"},"known":"yes"}"#, &[], false),
        ] {
            assert_eq!(builds_of(text), (of(builds), complete), "{text}");
        }
    }

    #[test]
    fn only_instances_that_the_activator_manages_keep_one() {
        let kept = Route { kind: "instance".into(), hibernate: true, ..Route::default() };
        assert!(keeps_build_state(&kept));
        assert!(keeps_build_state(&Route { kind: String::new(), ..kept.clone() }));
        for other in [
            Route { kind: "service".into(), ..kept.clone() },
            Route { unit: "app.service".into(), ..kept.clone() },
            Route { hibernate: false, ..kept.clone() },
            Route { addr: "10.0.0.1:80".into(), ..kept.clone() },
            Route { tunnel: true, ..kept },
        ] {
            assert!(!keeps_build_state(&other), "{other:?}");
        }
    }

    fn pins_after(sql: &str) -> Result<BTreeMap<String, HostBuilds>, RegistryError> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("registry.db");
        let mut unread = RouteSpec::new("h2").app("acme", "shop");
        unread.build_state = "{".to_owned();
        let mut service = RouteSpec::new("h3").app("acme", "shop").versions("v9", "", "");
        service.kind = "service".to_owned();
        let no_app = RouteSpec::new("h4").versions("v5", "", "");
        build(&path, &[RouteSpec::new("h1").app("", "blog").versions("v1", "", ""), unread, service, no_app])
            .expect("a registry");
        rusqlite::Connection::open(&path).expect("it opens").execute_batch(sql).expect("it runs");
        Registry::open_snapshot(&path).expect("it opens").build_state_pins("ops")
    }

    #[test]
    fn every_row_that_keeps_one_is_named_and_an_unreadable_one_is_incomplete() {
        let pins = pins_after("").expect("pins");
        let seen: Vec<_> = pins
            .iter()
            .map(|(host, pins)| (host.as_str(), pins.account.as_str(), pins.app.as_str(), pins.builds.len(), pins.complete))
            .collect();
        assert_eq!(seen, [("h1", "ops", "blog", 1, true), ("h2", "acme", "shop", 0, false), ("h4", "ops", "", 1, true)]);
        // A release without the column: named, and not known.
        let pins = pins_after("ALTER TABLE routes DROP COLUMN build_state").expect("pins");
        assert!(pins.len() == 3 && pins.values().all(|pins| !pins.complete), "{pins:?}");
    }

    #[test]
    fn what_cannot_be_told_is_an_error_and_not_an_empty_map() {
        for sql in [
            "ALTER TABLE routes DROP COLUMN hibernate",
            "UPDATE routes SET version = X'00' WHERE host = 'h3'",
            "DROP TABLE routes",
        ] {
            assert!(pins_after(sql).is_err(), "{sql}");
        }
    }
}
