//! What must hold of every retention decision, over random worlds.

use std::collections::BTreeSet;

use carlosctl::platform::{BoxMetrics, BoxReport, HostBuilds, ProvisionRecord};
use carlosctl::retention::decide;
use carlosctl::retention::decision::{AppDecision, Citation, Decision, ReasonCode, Status, Verdict};
use carlosctl::retention::evidence::*;

use crate::retention_worlds::{ACCOUNT, APP, Dice, as_of, world};

const WORLDS: u64 = 1_500;

fn bytes(decision: &Decision) -> String {
    serde_json::to_string(decision).expect("json")
}

fn eligible(app: &AppDecision) -> BTreeSet<&str> {
    let versions = app.versions.iter().filter(|version| version.verdict == Verdict::Eligible);
    versions.map(|version| version.version.as_str()).collect()
}

/// Shuffles a list and repeats some of it.
fn stir<T: Clone>(dice: &mut Dice, list: &mut Vec<T>) {
    for at in 0..list.len() {
        if dice.once_in(2) {
            list.push(list[at].clone());
        }
    }
    dice.shuffle(list);
}

fn stir_seen<T: Clone>(dice: &mut Dice, seen: &mut Seen<Vec<T>>) {
    if let Seen::Read(list) = seen {
        stir(dice, list);
    }
}

#[test]
fn order_and_repeats_never_change_a_byte() {
    for seed in 0..WORLDS {
        let mut evidence = world(seed);
        let before = bytes(&decide(&evidence));
        let replayed: Evidence =
            serde_json::from_str(&serde_json::to_string(&evidence).expect("json")).expect("evidence reads back");
        assert_eq!(replayed, evidence, "seed {seed}");
        let dice = &mut Dice::new(seed ^ 0x5EED);
        stir(dice, &mut evidence.fleet.boxes);
        for one in &mut evidence.fleet.boxes {
            if let Some(Found { content: Seen::Read(registry), .. }) = &mut one.current {
                stir(dice, &mut registry.routes);
            }
        }
        if let ReportsEvidence::Listed { unlisted, reports } = &mut evidence.fleet.reports {
            stir(dice, unlisted);
            stir(dice, reports);
        }
        let app = &mut evidence.apps[0];
        stir_seen(dice, &mut app.releases);
        stir_seen(dice, &mut app.records);
        stir_seen(dice, &mut app.pointers);
        stir_seen(dice, &mut app.tags);
        evidence.apps.extend_from_within(..);
        assert_eq!(bytes(&decide(&evidence)), before, "seed {seed}");
    }
}

fn key(name: &str) -> String {
    format!("apps/{ACCOUNT}/{APP}/{name}")
}

fn spoilt<T>() -> Seen<T> {
    Seen::Unreadable("spoilt".to_owned())
}

fn spoil<T>(found: &mut Option<Found<T>>) {
    if let Some(found) = found {
        found.content = spoilt();
    }
}

/// One more thing that holds on to a version. Never a report: a report may lift a refusal.
fn add(dice: &mut Dice, evidence: &mut Evidence) -> &'static str {
    let version = format!("v{}", dice.below(7));
    let app = &mut evidence.apps[0];
    match dice.below(3) {
        0 => {
            let pins = Seen::Read(RoutePins { version, ..RoutePins::default() });
            let route = RouteEvidence { host: "new".into(), account: ACCOUNT.into(), app: APP.into(), pins };
            let registries = evidence.fleet.boxes.iter_mut().filter_map(|one| one.current.as_mut());
            if let Some(Seen::Read(registry)) = registries.map(|found| &mut found.content).next() {
                // The count of rows stays: one more could tell that the registry did not lose any.
                registry.routes.push(route);
            }
            "a pin"
        }
        1 => {
            let (host, kind, unit) = ("new".to_owned(), "service".to_owned(), String::new());
            let content = Seen::Read(ProvisionRecord { host, kind, unit, hibernate: true, pin: Some(version) });
            if let Seen::Read(records) = &mut app.records {
                records.push(Found { key: key("instances/new.json"), etag: "new".into(), content });
            }
            "a record"
        }
        _ => {
            if let Seen::Read(tags) = &mut app.tags {
                tags.push(Found { key: key("tags/new.json"), etag: "new".into(), content: Seen::Read(version) });
            }
            "a tag"
        }
    }
}

/// One thing less that can be read.
fn make_unreadable(dice: &mut Dice, evidence: &mut Evidence) -> &'static str {
    let app = &mut evidence.apps[0];
    let fleet = &mut evidence.fleet;
    match dice.below(11) {
        0 => app.records = spoilt(),
        1 => app.pointers = spoilt(),
        2 => app.tags = spoilt(),
        3 => app.releases = spoilt(),
        4 => app.pipeline = Some(Found { key: key("pipeline.json"), etag: "x".into(), content: spoilt() }),
        5 => {
            if let Seen::Read(releases) = &mut app.releases {
                releases.iter_mut().take(1).for_each(|release| spoil(&mut release.manifest));
            }
        }
        6 => fleet.reports = ReportsEvidence::Unavailable("spoilt".to_owned().into()),
        7 => {
            if let ReportsEvidence::Listed { reports, .. } = &mut fleet.reports {
                reports.iter_mut().take(1).for_each(|one| one.report.content = spoilt());
            }
        }
        8 => fleet.boxes[0].current = None,
        9 => spoil(&mut fleet.boxes[0].current),
        _ => fleet.local = Some(LocalRegistry { label: None, path: "/x".into(), content: spoilt() }),
    }
    "something unreadable"
}

#[test]
fn knowing_more_or_reading_less_never_makes_anything_eligible() {
    let mut shrunk = 0;
    for seed in 0..WORLDS * 6 {
        let evidence = world(seed);
        let before = decide(&evidence);
        if !matches!(before.apps[0].status, Status::Evaluated | Status::Refused) {
            // A first pin makes an app hosted, which is another matter than keeping more of it.
            continue;
        }
        let mut changed = evidence.clone();
        let dice = &mut Dice::new(seed ^ 0xADD);
        let what = if dice.once_in(3) { add(dice, &mut changed) } else { make_unreadable(dice, &mut changed) };
        let after = decide(&changed);
        let (was, is) = (eligible(&before.apps[0]), eligible(&after.apps[0]));
        assert!(is.is_subset(&was), "seed {seed}: {what} made {:?} eligible", &is - &was);
        shrunk += u64::from(is.len() < was.len());
    }
    assert!(shrunk > WORLDS / 10, "{shrunk}");
}

#[test]
fn one_more_report_never_makes_anything_eligible_that_was_decided_without_it() {
    let mut decided = 0;
    for seed in 0..WORLDS * 2 {
        let mut evidence = world(seed);
        let before = decide(&evidence);
        if before.apps[0].status != Status::Evaluated {
            continue;
        }
        let dice = &mut Dice::new(seed ^ 0x4E9);
        let builds = HostBuilds {
            account: ACCOUNT.into(),
            app: APP.into(),
            builds: vec![format!("v{}", dice.below(7))],
            complete: !dice.once_in(5),
        };
        let metrics = BoxMetrics { build_states: [(format!("h{}", dice.below(4)), builds)].into(), ..Default::default() };
        let generated_at = dice.pick(&[Some(as_of()), None]);
        let report = BoxReport { label: "edge-b".into(), generated_at, metrics: Some(metrics) };
        let report = Found { key: "status/boxes/edge-b.json".into(), etag: "new".into(), content: Seen::Read(report) };
        if let ReportsEvidence::Listed { reports, .. } = &mut evidence.fleet.reports {
            reports.push(ReportEvidence { source: ReportSource::Platform, report });
        }
        let after = decide(&evidence);
        let (was, is) = (eligible(&before.apps[0]), eligible(&after.apps[0]));
        assert!(is.is_subset(&was), "seed {seed}: {:?}", &is - &was);
        decided += 1;
    }
    assert!(decided > WORLDS / 20, "{decided}");
}

#[test]
fn keeping_more_never_makes_anything_eligible_and_a_what_if_says_what_is_new() {
    for seed in 0..WORLDS {
        let mut evidence = world(seed);
        let recorded = decide(&evidence);
        for keep in [1, 2, 3, 9] {
            evidence.fleet.what_if_keep = Some(keep);
            let less = decide(&evidence);
            evidence.fleet.what_if_keep = Some(keep + 1);
            let more = decide(&evidence);
            assert!(eligible(&more.apps[0]).is_subset(&eligible(&less.apps[0])), "seed {seed} keep {keep}");
            if recorded.apps[0].status == Status::Evaluated {
                let newly: BTreeSet<&str> =
                    less.apps[0].versions.iter().filter(|version| version.newly).map(|version| &*version.version).collect();
                assert_eq!(newly, &eligible(&less.apps[0]) - &eligible(&recorded.apps[0]), "seed {seed} keep {keep}");
            }
        }
    }
}

/// Takes exactly this value out of the evidence. False where the value is one that cannot be taken out alone.
fn take_out(evidence: &mut Evidence, code: ReasonCode, cited: &Citation) -> bool {
    let app = &mut evidence.apps[0];
    let steps: Vec<&str> = cited.pointer.split('/').collect();
    match code {
        ReasonCode::Adopted | ReasonCode::Previous | ReasonCode::Good => {
            let registries = evidence.fleet.boxes.iter_mut().filter_map(|one| one.current.as_mut());
            let registries = registries.filter(|found| found.key == cited.key).map(|found| &mut found.content);
            let local = evidence.fleet.local.iter_mut().filter(|local| local.path == cited.key).map(|local| &mut local.content);
            for content in registries.chain(local) {
                let Seen::Read(registry) = content else { continue };
                for route in registry.routes.iter_mut().filter(|route| route.host == steps[2] && route.app == APP) {
                    let Seen::Read(pins) = &mut route.pins else { continue };
                    let pin = match steps[3] {
                        "version" => &mut pins.version,
                        "prev_version" => &mut pins.prev_version,
                        _ => &mut pins.good_version,
                    };
                    if *pin == cited.value {
                        pin.clear();
                    }
                }
            }
            true
        }
        ReasonCode::BuildState => {
            let ReportsEvidence::Listed { reports, .. } = &mut evidence.fleet.reports else { return false };
            for one in reports.iter_mut().filter(|one| one.report.key == cited.key && one.report.etag == cited.etag) {
                let Seen::Read(BoxReport { metrics: Some(metrics), .. }) = &mut one.report.content else { continue };
                let host = metrics.build_states.get_mut(steps[3]).expect("the host that was cited");
                host.builds[steps[5].parse::<usize>().expect("an index")].clear();
            }
            true
        }
        ReasonCode::RecordPin => {
            let Seen::Read(records) = &mut app.records else { return false };
            for found in records.iter_mut().filter(|found| found.key == cited.key) {
                let Seen::Read(record) = &mut found.content else { continue };
                record.pin = None;
            }
            true
        }
        ReasonCode::Tag => {
            let Seen::Read(tags) = &mut app.tags else { return false };
            tags.retain(|found| found.key != cited.key);
            true
        }
        ReasonCode::ChannelPointer => {
            let Seen::Read(pointers) = &mut app.pointers else { return false };
            pointers.retain(|found| found.key != cited.key);
            true
        }
        ReasonCode::RollbackHistory => {
            let Seen::Read(pointers) = &mut app.pointers else { return false };
            for found in pointers.iter_mut().filter(|found| found.key == cited.key) {
                let Seen::Read(found) = &mut found.content else { continue };
                found.pointer.history.remove(steps[2].parse::<usize>().expect("an index"));
            }
            true
        }
        _ => false,
    }
}

#[test]
fn without_exactly_what_is_cited_for_its_only_reason_a_version_is_eligible() {
    let mut flipped = std::collections::BTreeMap::new();
    for seed in 0..WORLDS * 2 {
        let evidence = world(seed);
        let decision = decide(&evidence);
        if decision.apps[0].status != Status::Evaluated {
            continue;
        }
        for version in &decision.apps[0].versions {
            let [reason] = version.reasons.as_slice() else { continue };
            let mut without = evidence.clone();
            if !reason.evidence.iter().all(|cited| take_out(&mut without, reason.code, cited)) {
                continue;
            }
            let after = decide(&without);
            let same = after.apps[0].versions.iter().find(|one| one.version == version.version).expect("still there");
            assert_eq!(same.verdict, Verdict::Eligible, "seed {seed}: {} by {:?}, then {same:?}", version.version, reason);
            *flipped.entry(reason.code).or_insert(0) += 1;
        }
    }
    assert!(flipped.len() == 8 && flipped.values().all(|count| *count > 5), "{flipped:?}");
}
