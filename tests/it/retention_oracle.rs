//! A second, deliberately naive evaluator, written line by line from the platform's own pass, against the real one.
//!
//! It goes through the evidence with loops over flat lists, in the order of the seed's statements, and shares no code with
//! `decide`. The rules of ours are at its end. Whatever it protects or refuses must never come out as eligible.

use std::collections::{BTreeMap, BTreeSet};

use carlosctl::platform::pointer::Signature;
use carlosctl::platform::{BoxReport, HostBuilds};
use carlosctl::retention::decide;
use carlosctl::retention::decision::{AppDecision, Status, Verdict};
use carlosctl::retention::evidence::*;
use jiff::{SignedDuration, Timestamp};

use crate::retention_worlds::world;

/// What a pass would delete, or why it deletes nothing.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    NotHosted,
    NoPolicy,
    Refused,
    Eligible(BTreeSet<String>),
}

/// `retentionPass` for one app, with the routes that `reg.List()` answered.
fn retention_pass(routes: &[RouteEvidence], evidence: &Evidence, app: &AppEvidence) -> Outcome {
    let mut protected = BTreeSet::new();
    let mut hosted = false;
    // `reg.List()` would fail as a whole; that only matters to an app with a policy.
    let mut listed = true;
    for route in routes {
        if route.app != app.app || route.account != app.account {
            continue;
        }
        hosted = true;
        match &route.pins {
            Seen::Unreadable(_) => listed = false,
            Seen::Read(pins) => {
                for version in [&pins.version, &pins.prev_version, &pins.good_version] {
                    protected.insert(version.clone());
                }
            }
        }
    }
    if !hosted {
        return Outcome::NotHosted;
    }
    let keep = match app.retention.as_ref().map(|found| &found.content) {
        None => return Outcome::NoPolicy,
        Some(Seen::Unreadable(_)) => return Outcome::Refused,
        Some(Seen::Read(keep)) => *keep,
    };
    if !listed {
        return Outcome::Refused;
    }
    let Some((boxes, complete)) = load(&evidence.fleet.reports) else { return Outcome::Refused };
    let Some(extra) = settings_protected(&boxes, complete, evidence.fleet.as_of, app) else { return Outcome::Refused };
    protected.extend(extra);
    prune_eligible(app, keep, evidence.fleet.as_of, &protected).map_or(Outcome::Refused, Outcome::Eligible)
}

/// `boxReports.load`: the reports in the order read, and whether all could be.
fn load(reports: &ReportsEvidence) -> Option<(Vec<BoxReport>, bool)> {
    let ReportsEvidence::Listed { unlisted, reports } = reports else { return None };
    let mut complete = unlisted.is_empty();
    let mut boxes = Vec::new();
    for source in
        [ReportSource::Platform, ReportSource::SoleHousekeeper, ReportSource::StatusFleet, ReportSource::DeploymentFleet]
    {
        let mut of_source: Vec<_> = reports.iter().filter(|one| one.source == source).collect();
        of_source.sort_by(|a, b| (&a.report.key, &a.report.etag).cmp(&(&b.report.key, &b.report.etag)));
        for one in of_source {
            match &one.report.content {
                Seen::Read(report) => boxes.push(report.clone()),
                Seen::Unreadable(_) => complete = false,
            }
        }
    }
    Some((boxes, complete))
}

/// `settingsProtected`, statement by statement.
fn settings_protected(boxes: &[BoxReport], complete: bool, now: Timestamp, app: &AppEvidence) -> Option<BTreeSet<String>> {
    let max_age = SignedDuration::from_hours(6);
    // Go's zero time is two thousand years ago.
    let age = |at: Option<Timestamp>| at.map_or(SignedDuration::MAX, |at| now.duration_since(at));
    let Seen::Read(records) = &app.records else { return None };
    let mut recs = Vec::new();
    for found in records {
        match &found.content {
            Seen::Read(record) => recs.push(record),
            Seen::Unreadable(_) => return None,
        }
    }
    if !complete {
        return None;
    }
    let mut out = BTreeSet::new();
    for r in &recs {
        out.extend(r.pin.clone());
    }
    let mut by_host: BTreeMap<String, (Option<Timestamp>, HostBuilds)> = BTreeMap::new();
    for b in boxes {
        let Some(metrics) = &b.metrics else { continue };
        if !metrics.build_states_err.is_empty() && age(b.generated_at) <= max_age {
            return None;
        }
        for (host, p) in &metrics.build_states {
            if p.account != app.account || p.app != app.app {
                continue;
            }
            for v in &p.builds {
                if !v.is_empty() {
                    out.insert(v.clone());
                }
            }
            let later = by_host.get(host).is_none_or(|(at, _)| match (b.generated_at, at) {
                (Some(new), Some(old)) => new > *old,
                (Some(_), None) => true,
                (None, _) => false,
            });
            if later {
                by_host.insert(host.clone(), (b.generated_at, p.clone()));
            }
        }
    }
    for r in &recs {
        if r.kind != "instance" || !r.unit.is_empty() || !r.hibernate {
            continue;
        }
        if !by_host.contains_key(&r.host) {
            return None;
        }
    }
    for (at, pins) in by_host.values() {
        if age(*at) > max_age {
            return None;
        }
        if !pins.complete {
            return None;
        }
    }
    Some(out)
}

/// `release.PruneEligible` as the contract has it: pointers, history, tags, bake, the newest, and what has no manifest.
fn prune_eligible(app: &AppEvidence, keep: u32, now: Timestamp, protected: &BTreeSet<String>) -> Option<BTreeSet<String>> {
    let (Seen::Read(releases), Seen::Read(pointers), Seen::Read(tags)) = (&app.releases, &app.pointers, &app.tags) else {
        return None;
    };
    let mut protected = protected.clone();
    let mut promoted: Vec<(String, Timestamp)> = Vec::new();
    for found in pointers {
        let Seen::Read(found) = &found.content else { return None };
        if let Signature::Unverified(_) = found.signature {
            return None;
        }
        protected.insert(found.pointer.version.clone());
        promoted.extend(found.pointer.promoted_at.map(|at| (found.pointer.version.clone(), at)));
        for one in &found.pointer.history {
            protected.insert(one.version.clone());
            promoted.extend(one.promoted_at.map(|at| (one.version.clone(), at)));
        }
    }
    for found in tags {
        let Seen::Read(version) = &found.content else { return None };
        protected.insert(version.clone());
    }
    let bake = match &app.pipeline {
        None => SignedDuration::from_hours(72),
        Some(Found { content: Seen::Unreadable(_), .. }) => return None,
        Some(Found { content: Seen::Read(pipeline), .. }) => pipeline.channels.iter().map(|channel| channel.bake).max()?,
    };
    let mut shipped = BTreeMap::new();
    for release in releases {
        match release.manifest.as_ref().map(|found| &found.content) {
            Some(Seen::Read(manifest)) => shipped.insert(release.version.clone(), manifest.shipped_at),
            Some(Seen::Unreadable(_)) => return None,
            None => None,
        };
    }
    let mut eligible = BTreeSet::new();
    for release in releases {
        let version = &release.version;
        if protected.contains(version) {
            continue;
        }
        if let Some(at) = shipped.get(version) {
            let newer = shipped.values().filter(|other| *other > at).count();
            // Among the newest, or at the same instant as the last of them.
            if newer < keep as usize {
                continue;
            }
            let since = promoted.iter().filter(|(of, _)| of == version).map(|(_, at)| *at).chain([*at]).max();
            if since.is_some_and(|since| now < since + bake) {
                continue;
            }
        } else {
            let newest = release.objects.iter().map(|object| object.last_modified).max();
            if newest.is_none_or(|newest| now < newest + SignedDuration::from_hours(24)) {
                continue;
            }
        }
        eligible.insert(version.clone());
    }
    // Without any release that has a manifest there is no newest one to leave.
    if shipped.is_empty() && !eligible.is_empty() { None } else { Some(eligible) }
}

fn eligible(app: &AppDecision) -> BTreeSet<String> {
    let versions = app.versions.iter().filter(|version| version.verdict == Verdict::Eligible);
    versions.map(|version| version.version.clone()).collect()
}

fn outcome(app: &AppDecision) -> Outcome {
    match app.status {
        Status::NotHosted => Outcome::NotHosted,
        Status::NoPolicy => Outcome::NoPolicy,
        Status::Refused => Outcome::Refused,
        Status::Evaluated => Outcome::Eligible(eligible(app)),
    }
}

/// The routes of a box's own registry: its live one where that is known, else its snapshot.
fn own_routes(evidence: &Evidence, label: &str) -> Option<Vec<RouteEvidence>> {
    if let Some(local) = evidence.fleet.local.as_ref().filter(|local| local.label.as_deref() == Some(label)) {
        return match &local.content {
            Seen::Read(registry) => Some(registry.routes.clone()),
            Seen::Unreadable(_) => None,
        };
    }
    let one = evidence.fleet.boxes.iter().find(|one| one.label == label && !one.left_out)?;
    match &one.current.as_ref()?.content {
        Seen::Read(registry) => Some(registry.routes.clone()),
        Seen::Unreadable(_) => None,
    }
}

fn all_routes(evidence: &Evidence) -> Vec<RouteEvidence> {
    let boxes = evidence.fleet.boxes.iter().filter(|one| !one.left_out);
    let snapshots = boxes.filter_map(|one| one.current.as_ref()).map(|found| &found.content);
    let registries = snapshots.chain(evidence.fleet.local.as_ref().map(|local| &local.content));
    let mut routes = Vec::new();
    for registry in registries {
        if let Seen::Read(registry) = registry {
            routes.extend(registry.routes.clone());
        }
    }
    routes
}

/// How many worlds are compared; a seed that fails is named, and is that world for good. `CARLOSCTL_WORLDS` asks for more.
fn worlds() -> u64 {
    std::env::var("CARLOSCTL_WORLDS").map_or(100_000, |asked| asked.parse().expect("a number of worlds"))
}

/// How often the two evaluators came out how.
type Tally = BTreeMap<(&'static str, &'static str), u64>;

fn kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Eligible(versions) if versions.is_empty() => "nothing owed",
        Outcome::Eligible(_) => "eligible",
        Outcome::Refused => "refused",
        Outcome::NotHosted => "not hosted",
        Outcome::NoPolicy => "no policy",
    }
}

/// The fleet view: ours may refuse more than the union of all boxes' pins would, and never allows more.
fn compare_as_fleet(seed: u64, evidence: &Evidence) -> (&'static str, &'static str) {
    let fleet = outcome(&decide(evidence).apps[0]);
    let naive = retention_pass(&all_routes(evidence), evidence, &evidence.apps[0]);
    match (&fleet, &naive) {
        (Outcome::Eligible(ours), Outcome::Eligible(theirs)) => assert_eq!(ours, theirs, "seed {seed}"),
        (Outcome::Eligible(ours), _) => panic!("seed {seed}: {ours:?} eligible, and the oracle says {naive:?}"),
        _ => {}
    }
    (kind(&fleet), kind(&naive))
}

/// A box's own view is exactly what its own pass would do.
fn compare_as_box(seed: u64, mut evidence: Evidence) {
    let label = ["edge-a", "edge-b", "edge-c"][usize::try_from(seed % 3).expect("small")];
    evidence.fleet.view = View::Box(label.to_owned());
    let own = outcome(&decide(&evidence).apps[0]);
    match own_routes(&evidence, label) {
        Some(routes) => {
            assert_eq!(own, retention_pass(&routes, &evidence, &evidence.apps[0]), "seed {seed} as {label}");
        }
        None => assert!(matches!(own, Outcome::Refused | Outcome::NoPolicy), "seed {seed} as {label}: {own:?}"),
    }
}

/// A box's own view is compared in every fifth world only, which keeps this within seconds.
fn compare(seeds: impl Iterator<Item = u64>) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds {
        let evidence = world(seed);
        *tally.entry(compare_as_fleet(seed, &evidence)).or_default() += 1;
        if seed % 10 < 2 {
            compare_as_box(seed, evidence);
        }
    }
    tally
}

#[test]
fn nothing_that_the_naive_evaluator_protects_or_refuses_is_ever_eligible() {
    let worlds = worlds();
    let tallies = std::thread::scope(|scope| {
        let halves = [0, 1].map(|first| scope.spawn(move || compare((first..worlds).step_by(2))));
        halves.map(|half| half.join().expect("a seed failed, see above"))
    });
    // The comparison says something only while worlds of every kind come up.
    for kinds in [
        ("eligible", "eligible"),
        ("nothing owed", "nothing owed"),
        ("refused", "eligible"),
        ("refused", "refused"),
        ("not hosted", "not hosted"),
        ("no policy", "no policy"),
    ] {
        let count: u64 = tallies.iter().filter_map(|tally| tally.get(&kinds)).sum();
        assert!(count > worlds / 1000, "{kinds:?}: {count} of {tallies:?}");
    }
    println!("{worlds} worlds: {tallies:?}");
}
