//! Small random worlds for retention: few versions, hosts and boxes, and times right at every bound.

use std::collections::BTreeMap;

use carlosctl::platform::pointer::{ChannelPointer, FoundPointer, Promotion, Signature};
use carlosctl::platform::{
    BoxMetrics, BoxReport, HostBuilds, Manifest, Pipeline, PipelineChannel, ProvisionRecord, ReleaseKind,
};
use carlosctl::retention::evidence::*;
use carlosctl::store::ObjectMeta;
use jiff::{SignedDuration, Timestamp};

pub(crate) const ACCOUNT: &str = "ops";
pub(crate) const APP: &str = "shop";

/// A small generator of its own, so that a seed names a world for good.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("small")
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn version(&mut self) -> String {
        format!("v{}", self.below(7))
    }

    fn host(&mut self) -> String {
        format!("h{}", self.below(3))
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

pub(crate) fn as_of() -> Timestamp {
    // 2026-11-30T12:00:00Z
    Timestamp::constant(1_796_040_000, 0)
}

/// `nanoseconds` and `hours` before the instant of judgement.
pub(crate) fn ago(hours: i64, nanoseconds: i64) -> Timestamp {
    as_of() - SignedDuration::from_hours(hours) - SignedDuration::from_nanos(nanoseconds)
}

/// When a report may have been made: fresh, at both bounds to the nanosecond, old, ahead, and unknown.
fn report_time(dice: &mut Dice) -> Option<Timestamp> {
    let minutes_ahead = SignedDuration::from_mins(5);
    Some(match dice.below(24) {
        0 => ago(6, 0),
        1 => ago(6, 1),
        2 => ago(6, -1),
        3 => ago(72, 0),
        4 => as_of() + minutes_ahead,
        5 => as_of() + minutes_ahead + SignedDuration::from_nanos(1),
        6 => return None,
        7..=10 => ago(1, 0),
        other => ago(0, i64::try_from(other).expect("small")),
    })
}

fn found<T>(key: String, content: T) -> Found<T> {
    Found { etag: format!("etag of {key}"), key, content: Seen::Read(content) }
}

fn route(dice: &mut Dice) -> RouteEvidence {
    let mut version = || if dice.once_in(3) { String::new() } else { dice.version() };
    let pins = RoutePins { version: version(), prev_version: version(), good_version: version() };
    let app = if dice.once_in(5) { "other" } else { APP };
    let pins = if dice.once_in(60) { Seen::Unreadable("not UTF-8".to_owned()) } else { Seen::Read(pins) };
    RouteEvidence { host: dice.host(), account: ACCOUNT.to_owned(), app: app.to_owned(), pins }
}

fn registry(dice: &mut Dice) -> Registry {
    let routes: Vec<_> = (0..dice.below(3)).map(|_| route(dice)).collect();
    Registry { bytes: 20_480, rows: routes.len() as u64 + dice.below(2) as u64, routes }
}

fn boxed(dice: &mut Dice, label: &str) -> BoxEvidence {
    let key = format!("control/registry-snapshot/{label}.db");
    let mut current = Some(found(key, registry(dice)));
    match dice.below(40) {
        0 => current = None,
        1 => current = current.map(|found| Found { content: Seen::Unreadable("not a database".to_owned()), ..found }),
        _ => {}
    }
    let newest_other = dice.once_in(10).then(|| GenerationEvidence {
        key: format!("control/registry-snapshots/{label}/20261130T100000Z.db"),
        etag: "other".to_owned(),
        bytes: dice.pick(&[20_480, 40_960, 40_961]),
        rows: dice.pick(&[None, Some(0), Some(1), Some(4)]),
        hosts: dice.pick(&[None, None, Some(vec![]), Some(vec!["h0".to_owned()])]),
    });
    BoxEvidence { label: label.to_owned(), left_out: dice.once_in(40), known_from: vec![], current, newest_other }
}

fn report(dice: &mut Dice) -> ReportEvidence {
    let label = dice.pick(&["edge-a", "edge-b", "edge-c"]).to_owned();
    let source = dice.pick(&[ReportSource::Platform, ReportSource::StatusFleet, ReportSource::DeploymentFleet]);
    let fleet = if source == ReportSource::Platform { "" } else { dice.pick(&["fleets/x/", "fleets/y/"]) };
    let mut build_states = BTreeMap::new();
    for _ in 0..dice.below(3) {
        let builds = (0..dice.below(3)).map(|_| if dice.once_in(6) { String::new() } else { dice.version() }).collect();
        let app = if dice.once_in(6) { "other" } else { APP };
        let account = if dice.once_in(10) { "acme" } else { ACCOUNT };
        let host = HostBuilds { account: account.to_owned(), app: app.to_owned(), builds, complete: !dice.once_in(10) };
        build_states.insert(dice.host(), host);
    }
    let build_states_err = if dice.once_in(20) { "database is locked".to_owned() } else { String::new() };
    let metrics = (!dice.once_in(10)).then_some(BoxMetrics { build_states, build_states_err });
    let report = BoxReport { label: label.clone(), generated_at: report_time(dice), metrics };
    let mut report = found(format!("{fleet}status/boxes/{label}.json"), report);
    report.etag = format!("etag {}", dice.below(1_000_000));
    if dice.once_in(60) {
        report.content = Seen::Unreadable("EOF while parsing".to_owned());
    }
    ReportEvidence { source, report }
}

fn reports(dice: &mut Dice) -> ReportsEvidence {
    if dice.once_in(60) {
        return ReportsEvidence::Unavailable("no status store".to_owned().into());
    }
    let unlisted = Unlisted { prefix: "fleets/".to_owned(), because: "500".to_owned() };
    ReportsEvidence::Listed {
        unlisted: if dice.once_in(60) { vec![unlisted] } else { vec![] },
        reports: (0..dice.below(5)).map(|_| report(dice)).collect(),
    }
}

fn release(dice: &mut Dice, version: &str) -> ReleaseEvidence {
    let key = format!("apps/{ACCOUNT}/{APP}/releases/{version}/manifest.json");
    let shipped_at = match dice.below(10) {
        0 => ago(72, 0),
        1 => ago(72, -1),
        2 => ago(72, 1),
        3 => ago(1, 0),
        other => ago(100 + i64::try_from(other).expect("small"), 0),
    };
    let manifest =
        Manifest { version: version.to_owned(), kind: ReleaseKind::Binary, shipped_at, label: None, artifacts: vec![] };
    let mut manifest = (!dice.once_in(8)).then(|| found(key.clone(), manifest));
    if dice.once_in(80) {
        manifest = manifest.map(|found| Found { content: Seen::Unreadable("EOF".to_owned()), ..found });
    }
    let last_modified = dice.pick(&[ago(24, 0), ago(24, 1), ago(24, -1), ago(200, 0)]);
    let object = ObjectMeta { key, bytes: 7, etag: "o".to_owned(), last_modified, version_id: None };
    ReleaseEvidence { version: version.to_owned(), manifest, objects: vec![object] }
}

fn pointer(dice: &mut Dice, channel: &str) -> Found<FoundPointer> {
    let mut promoted_at = || dice.pick(&[Some(ago(72, 0)), Some(ago(72, -1)), Some(ago(300, 0)), None]);
    let (at, before) = (promoted_at(), promoted_at());
    let history = (0..dice.below(2)).map(|_| Promotion { version: dice.version(), promoted_at: before }).collect();
    let pointer = ChannelPointer {
        account: ACCOUNT.to_owned(),
        app: APP.to_owned(),
        channel: channel.to_owned(),
        version: dice.version(),
        promoted_at: at,
        history,
        lease_expires_at: None,
    };
    let signature = if dice.once_in(40) {
        Signature::Unverified("no signature of it verifies".to_owned())
    } else {
        Signature::Verified("root".to_owned())
    };
    found(format!("apps/{ACCOUNT}/{APP}/channels/{channel}.json"), FoundPointer { pointer, signature })
}

fn record(dice: &mut Dice, host: &str) -> Found<ProvisionRecord> {
    let record = ProvisionRecord {
        host: host.to_owned(),
        kind: dice.pick(&["instance", "instance", "service"]).to_owned(),
        unit: dice.pick(&["", "", "", "a.service"]).to_owned(),
        hibernate: !dice.once_in(4),
        pin: dice.once_in(3).then(|| dice.version()),
    };
    found(format!("apps/{ACCOUNT}/{APP}/instances/{host}.json"), record)
}

fn bake(dice: &mut Dice) -> Pipeline {
    let bake = dice.pick(&[SignedDuration::ZERO, SignedDuration::from_hours(72), SignedDuration::from_hours(104)]);
    let channel = |bake, name: &str| PipelineChannel { name: name.to_owned(), bake, spelled: "spelled".to_owned() };
    Pipeline { channels: vec![channel(SignedDuration::ZERO, "edge"), channel(bake, "stable")] }
}

fn app(dice: &mut Dice) -> AppEvidence {
    let prefix = format!("apps/{ACCOUNT}/{APP}/");
    let keep = u32::try_from(1 + dice.below(3)).expect("small");
    let mut retention = (!dice.once_in(40)).then(|| found(format!("{prefix}retention.json"), keep));
    if dice.once_in(60) {
        retention = retention.map(|found| Found { content: Seen::Unreadable("is 0".to_owned()), ..found });
    }
    let pipeline = dice.once_in(2).then(|| found(format!("{prefix}pipeline.json"), bake(dice)));
    let releases = (0..7).filter(|_| !dice.once_in(6)).map(|n| format!("v{n}")).collect::<Vec<_>>();
    let releases = releases.iter().map(|version| release(dice, version)).collect();
    let records = (0..3).filter(|_| dice.once_in(3)).map(|n| format!("h{n}")).collect::<Vec<_>>();
    let records = records.iter().map(|host| record(dice, host)).collect();
    let pointers = if dice.once_in(3) { vec![] } else { vec![pointer(dice, "edge")] };
    let tag = found(format!("{prefix}tags/t.json"), dice.version());
    AppEvidence {
        account: ACCOUNT.to_owned(),
        app: APP.to_owned(),
        retention,
        pipeline,
        releases: Seen::Read(releases),
        records: Seen::Read(records),
        pointers: Seen::Read(pointers),
        tags: Seen::Read(if dice.once_in(3) { vec![tag] } else { vec![] }),
    }
}

/// The world of a seed.
pub(crate) fn world(seed: u64) -> Evidence {
    let mut dice = Dice::new(seed);
    let local = dice.once_in(4).then(|| LocalRegistry {
        label: dice.pick(&[None, Some("edge-a".to_owned()), Some("edge-z".to_owned())]),
        path: "/data/registry.db".to_owned(),
        content: if dice.once_in(30) { Seen::Unreadable("busy".to_owned()) } else { Seen::Read(registry(&mut dice)) },
    });
    let unlisted = Unlisted { prefix: "control/registry-snapshot/".to_owned(), because: "403".to_owned() };
    let fleet = FleetEvidence {
        as_of: as_of(),
        view: View::Fleet,
        what_if_keep: None,
        boxes: ["edge-a", "edge-b", "edge-c"].iter().map(|label| boxed(&mut dice, label)).collect(),
        local,
        unlisted: if dice.once_in(80) { vec![unlisted] } else { vec![] },
        reports: reports(&mut dice),
    };
    Evidence { fleet, apps: vec![app(&mut dice)] }
}
