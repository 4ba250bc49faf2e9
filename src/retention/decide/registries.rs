//! Which registries count, whose pins are not known, and what is pinned (seed `retentionPass`; formats.md sections 3 and 4).

use std::collections::{BTreeMap, BTreeSet};

use super::super::decision::{Citation, ReasonCode};
use super::super::evidence::{
    AppEvidence, BoxEvidence, FleetEvidence, GenerationEvidence, Registry, RouteEvidence, RoutePins, Seen, View,
};
use super::claims::Claims;
use super::reports::Reports;
use super::{Refusal, words};
use crate::finding::Code;
use crate::platform::Label;
use crate::platform::keys;
use crate::terminal;

/// What a local registry is called when this box's label is not known.
const THIS_BOX: &str = "this box";

/// Every registry that was read, and what is not known of the others.
pub(super) struct Registries<'a> {
    view: &'a View,
    /// Whether the view's box has a local registry, which then is the only one of its that counts.
    local_is_of_view: bool,
    by_app: BTreeMap<(&'a str, &'a str), Vec<Row<'a>>>,
    /// Why pins are not known, for every app.
    refusals: Vec<Refusal>,
}

/// One route, and where it was read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row<'a> {
    /// The box's label, or `this box`.
    pub(super) owner: &'a str,
    /// Whether it is this machine's registry and not a snapshot.
    pub(super) is_local: bool,
    key: &'a str,
    etag: &'a str,
    pub(super) route: &'a RouteEvidence,
}

impl<'a> Registries<'a> {
    pub(super) fn new(fleet: &'a FleetEvidence, reports: &Reports<'a>) -> Self {
        let local_label = fleet.local.as_ref().and_then(|local| local.label.as_deref());
        let local_is_of_view = matches!(&fleet.view, View::Box(label) if local_label == Some(label));
        let mut registries = Self { view: &fleet.view, local_is_of_view, by_app: BTreeMap::new(), refusals: Vec::new() };
        for one in fleet.boxes.iter().filter(|one| !one.left_out) {
            if let Some(current) = &one.current
                && let Seen::Read(registry) = &current.content
            {
                registries.add(registry, &one.label, false, &current.key, &current.etag);
            }
        }
        if let Some(local) = &fleet.local
            && let Seen::Read(registry) = &local.content
        {
            registries.add(registry, local_label.unwrap_or(THIS_BOX), true, &local.path, "");
        }
        for rows in registries.by_app.values_mut() {
            rows.sort_unstable();
            rows.dedup();
        }
        registries.refusals = match &fleet.view {
            View::Fleet => fleet_refusals(fleet, reports),
            View::Box(label) => box_refusals(fleet, label, local_is_of_view),
        };
        registries
    }

    fn add(&mut self, registry: &'a Registry, owner: &'a str, is_local: bool, key: &'a str, etag: &'a str) {
        for route in registry.routes.iter().filter(|route| !route.app.is_empty()) {
            let row = Row { owner, is_local, key, etag, route };
            self.by_app.entry((route.account.as_str(), route.app.as_str())).or_default().push(row);
        }
    }

    /// Every app with a route in some registry, whether or not that counts in this view.
    pub(super) fn apps(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.by_app.keys().copied()
    }

    /// Every row of the app, of every registry.
    pub(super) fn rows<'b>(&'b self, app: &'b AppEvidence) -> &'b [Row<'b>] {
        self.rows_of(&app.account, &app.app)
    }

    fn rows_of<'b>(&'b self, account: &'b str, app: &'b str) -> &'b [Row<'b>] {
        self.by_app.get(&(account, app)).map_or(&[], Vec::as_slice)
    }

    /// Whether a registry that counts has a route of the app.
    pub(super) fn hosts(&self, account: &str, app: &str) -> bool {
        self.rows_of(account, app).iter().any(|row| self.counts(row))
    }

    /// Whether there is no registry that counts and is not known.
    pub(super) fn are_all_known(&self) -> bool {
        self.refusals.is_empty()
    }

    fn counts(&self, row: &Row<'_>) -> bool {
        match self.view {
            View::Fleet => true,
            View::Box(label) => row.owner == label && row.is_local == self.local_is_of_view,
        }
    }

    /// Claims what the registries of this view pin, and refuses what they leave unknown.
    pub(super) fn judge(&self, app: &AppEvidence, claims: &mut Claims<'_>, refusals: &mut Vec<Refusal>) {
        refusals.extend(self.refusals.iter().cloned());
        for row in self.rows(app).iter().filter(|row| self.counts(row)) {
            match &row.route.pins {
                Seen::Read(pins) => row.claim(pins, claims),
                Seen::Unreadable(because) => refusals.push(row.refusal(because)),
            }
        }
    }
}

impl Row<'_> {
    fn claim(&self, pins: &RoutePins, claims: &mut Claims<'_>) {
        for (version, code, column) in columns(pins) {
            claims.claim(
                version,
                code,
                || format!("{} ({})", self.owner, self.route.host),
                || {
                    vec![Citation {
                        key: self.key.to_owned(),
                        etag: self.etag.to_owned(),
                        pointer: format!("/routes/{}/{column}", words::step(&self.route.host)),
                        value: version.to_owned(),
                        source: None,
                    }]
                },
            );
        }
    }

    fn refusal(&self, because: &str) -> Refusal {
        Refusal::seed(
            Code::RegistryUnreadable,
            self.key,
            format!("the pins of {} on {} cannot be told: {because}", self.route.host, self.owner),
            format!("repair that row on {}; its next snapshot unblocks", self.owner),
        )
    }
}

/// The versions of a row that are not empty, each with its reason and its column.
pub(super) fn columns(pins: &RoutePins) -> impl Iterator<Item = (&str, ReasonCode, &'static str)> {
    [
        (pins.version.as_str(), ReasonCode::Adopted, "version"),
        (pins.prev_version.as_str(), ReasonCode::Previous, "prev_version"),
        (pins.good_version.as_str(), ReasonCode::Good, "good_version"),
    ]
    .into_iter()
    .filter(|(version, ..)| !version.is_empty())
}

/// What is not known in the fleet view: any box's pins that are missing, unreadable, or perhaps overwritten.
fn fleet_refusals(fleet: &FleetEvidence, reports: &Reports<'_>) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = fleet
        .unlisted
        .iter()
        .map(|unlisted| {
            let because = format!("could not be listed, so it is not known which boxes there are: {}", unlisted.because);
            Refusal::ours(Code::RegistryUnreadable, &unlisted.prefix, because, "repair the listing and look again")
        })
        .collect();
    refusals.extend(fleet.boxes.iter().filter(|one| !one.left_out).filter_map(box_refusal));
    let listed: BTreeSet<&str> = fleet.boxes.iter().map(|one| one.label.as_str()).collect();
    refusals
        .extend(reports.platform_boxes().filter(|(label, _)| !listed.contains(label)).map(|(label, key)| missing(label, key)));
    if let Some(local) = &fleet.local
        && let Seen::Unreadable(because) = &local.content
    {
        refusals.push(local_refusal(&local.path, because));
    }
    refusals
}

/// What is not known when only one box's own registry counts.
fn box_refusals(fleet: &FleetEvidence, label: &str, local_is_of_view: bool) -> Vec<Refusal> {
    if local_is_of_view {
        return match fleet.local.as_ref().map(|local| (&local.path, &local.content)) {
            Some((path, Seen::Unreadable(because))) => vec![local_refusal(path, because)],
            _ => Vec::new(),
        };
    }
    let current = fleet.boxes.iter().find(|one| one.label == label && !one.left_out).and_then(|one| one.current.as_ref());
    match current.map(|current| (&current.key, &current.content)) {
        Some((_, Seen::Read(_))) => Vec::new(),
        Some((key, Seen::Unreadable(because))) => vec![unreadable(label, key, because)],
        None => {
            let because =
                format!("nobody has a registry of {label}: there is no current snapshot, and this machine's is not its");
            let hint = "the boxes that have one: carlosctl snapshot list";
            vec![Refusal::ours(Code::RegistryUnreadable, &current_key(label), because, hint)]
        }
    }
}

/// Why one box's pins are not known from its current snapshot, if they are not.
fn box_refusal(one: &BoxEvidence) -> Option<Refusal> {
    let Some(current) = &one.current else {
        let known = one.known_from.iter().min().map_or("elsewhere", String::as_str);
        return Some(missing(&one.label, known));
    };
    match &current.content {
        Seen::Unreadable(because) => Some(unreadable(&one.label, &current.key, because)),
        Seen::Read(registry) => {
            let because = collapsed(registry, one.newest_other.as_ref()?)?;
            Some(Refusal::ours(
                Code::RegistryUnreadable,
                &current.key,
                format!("the current snapshot of {} looks overwritten: {because}; pins may be missing from it", one.label),
                format!(
                    "a snapshot of {0} that has its routes again unblocks; leave it out with --without-box {0} when it is decommissioned",
                    one.label
                ),
            ))
        }
    }
}

/// Why `current` looks as if it had lost rows that `other` has: less than half of them, or of the hosts, is left. Without
/// either the sizes are compared, and a registry without any row is never taken to have always been so.
pub(in crate::retention) fn collapsed(current: &Registry, other: &GenerationEvidence) -> Option<String> {
    let key = &other.key;
    if let Some(hosts) = &other.hosts {
        let left: BTreeSet<&String> = current.routes.iter().map(|route| &route.host).collect();
        let hosts: BTreeSet<&String> = hosts.iter().collect();
        let left = hosts.intersection(&left).count();
        if left.saturating_mul(2) < hosts.len() {
            return Some(format!("it has {left} of the {} hosts that {key} has", hosts.len()));
        }
    }
    match other.rows {
        Some(rows) if current.rows.saturating_mul(2) < rows => {
            Some(format!("it has {}, and {key} has {rows}", terminal::count(current.rows, "route")))
        }
        None if other.hosts.is_some() => None,
        None if current.rows == 0 => Some(format!("it has no routes, and it is not known how many {key} has")),
        None if current.bytes.saturating_mul(2) < other.bytes => {
            Some(format!("it has {} bytes, and {key} has {}", current.bytes, other.bytes))
        }
        _ => None,
    }
}

/// The key of a box's current snapshot; the name itself where it could not be part of a key.
fn current_key(label: &str) -> String {
    label.parse::<Label>().map_or_else(|_| label.to_owned(), |label| keys::current(&label))
}

fn missing(label: &str, known_from: &str) -> Refusal {
    Refusal::ours(
        Code::RegistryUnreadable,
        &current_key(label),
        format!("there is no current snapshot of {label}, which is known from {known_from}, so its pins are not known"),
        format!("a snapshot of {label} unblocks; leave it out with --without-box {label} when it is decommissioned"),
    )
}

fn unreadable(label: &str, key: &str, because: &str) -> Refusal {
    Refusal::ours(
        Code::RegistryUnreadable,
        key,
        format!("the registry of {label} does not read, so its pins are not known: {because}"),
        format!("a readable snapshot of {label} unblocks; leave it out with --without-box {label} when it is decommissioned"),
    )
}

fn local_refusal(path: &str, because: &str) -> Refusal {
    Refusal::ours(
        Code::RegistryUnreadable,
        path,
        format!("this machine's registry does not read, so its pins are not known: {because}"),
        "repair it, or name another with --registry",
    )
}
