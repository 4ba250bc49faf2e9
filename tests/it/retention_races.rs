//! Two runs of `retention run` at once, beside a promoter, a shipper and a reporter: real processes on a real server.
//!
//! `CARLOSCTL_RACES=N` makes N rounds; the seed is printed, and `CARLOSCTL_SEED` gives it again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use carlosctl::platform::keys::app as keys;
use carlosctl::platform::pointer::{self, ChannelPointer};
use carlosctl::store::{Body, Put, ReadStore, S3Store, WriteStore, create};
use jiff::Timestamp;
use serde_json::json;

use crate::common::apps::{Bench, release_key, route, sha256};
use crate::common::proxy::{Action, Kind, Proxy, Rule, Seen};
use crate::common::servers::{Server, seaweedfs, settings};
use crate::common::{carlosctl, child};

const NAME: &str = "retention_races::a_release_that_a_pointer_names_when_its_deletion_begins_is_never_lost";
const ROUNDS: u64 = 4;
/// How long everybody is at it in a round.
const ROUND: Duration = Duration::from_secs(6);
/// Releases at the beginning of a round, of which one is kept.
const RELEASES: u64 = 12;

/// What came of some rounds.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    promotions: usize,
    shipped: usize,
    deletions: usize,
    lost: usize,
    /// Promoted after the look and before the first deletion: nobody could have seen it.
    in_the_gap: usize,
}

#[test]
fn a_release_that_a_pointer_names_when_its_deletion_begins_is_never_lost() {
    if let Some(role) = child::role() {
        tokio::runtime::Runtime::new().expect("a runtime").block_on(part(&role));
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seed = number("CARLOSCTL_SEED").unwrap_or(nanos() % 1_000_000);
    let rounds = number("CARLOSCTL_RACES").unwrap_or(ROUNDS);
    let mut tally = Tally::default();
    for round in 0..rounds {
        play(seed * 1000 + round, &mut tally);
    }
    println!("seed {seed}, {rounds} rounds: {tally:?}");
    assert_eq!(tally.lost, 0, "seed {seed}: {tally:?}");
    assert!(tally.deletions > 0 && tally.promotions > 0 && tally.shipped > 0, "nothing raced: {tally:?}");
}

fn nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_nanos()).expect("before 2554")
}

/// One round, in a bucket of its own.
fn play(seed: u64, tally: &mut Tally) {
    let server = seaweedfs();
    let bench = Bench::live();
    let shop = bench.app("shop").keep(1);
    for version in 1..=RELEASES {
        shop.release(&format!("v{version}"), i64::try_from(500 - version).expect("small"));
    }
    let newest = format!("v{RELEASES}");
    bench.boxed("edge-a1", &[route("shop-1.example", "shop", &newest, "", "")]);
    let bucket = server.bucket();
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let store = server.store(&bucket).await;
        for (key, body) in bench.deployment.everything() {
            create(&store as &dyn WriteStore, &key, &body.into()).await.expect("an object");
        }
    });
    let until = (nanos() + u64::try_from(ROUND.as_nanos()).expect("short")).to_string();
    let seed = seed.to_string();
    let start = |part: &str| child::spawn(NAME, &[part, &server.endpoint, &bucket, &seed, &until], &[]);
    let parts = ["promoter", "shipper", "reporter"].map(start);
    // Deletions take a while, so that there is something left to race for.
    let slow = || Rule::on(&[Kind::Delete], Action::Delay(Duration::from_millis(150))).of("apps/");
    let proxies = [(); 2].map(|()| Proxy::start(server, &bucket));
    for proxy in &proxies {
        proxy.rules(vec![slow()]);
    }
    std::thread::scope(|scope| {
        let runners = proxies.each_ref().map(|proxy| scope.spawn(|| runs(proxy, server, &bucket, &until)));
        tally.runs += runners.into_iter().map(|runner| runner.join().expect("no runner panics")).sum::<usize>();
    });
    let [promoter, shipper, reporter] = parts.map(child::said);
    tally.shipped += shipper.len();
    assert!(!reporter.is_empty(), "the reporter reported");
    let promotions: Vec<Promotion> = promoter.iter().map(|line| Promotion::read(line)).collect();
    tally.promotions += promotions.len();
    for proxy in &proxies {
        count(&proxy.seen(), &promotions, tally);
    }
}

/// Runs again and again; how often.
fn runs(proxy: &Proxy, server: &Server, bucket: &str, until: &str) -> usize {
    let until: u64 = until.parse().expect("a number");
    let mut number = 0;
    while nanos() < until {
        let mut run = carlosctl(["retention", "run", "--json", "--timeout", "30s", "--confirm", bucket, "--bucket", bucket]);
        for (name, value) in server.env() {
            run = run.env(name, if name == "CARLOS_S3_ENDPOINT" { &proxy.endpoint } else { &value });
        }
        let outcome =
            run.env("CARLOS_DATA_DIR", "/nonexistent").env("CARLOS_RELEASE_PUBKEY", release_key().public_text()).run();
        // Done, left something, refused, or the world changed.
        assert!([0, 3, 4, 7].contains(&outcome.code), "{outcome}");
        number += 1;
    }
    number
}

/// A pointer named `version` from when the store said so until the next move was sent.
struct Promotion {
    version: String,
    sent: u64,
    stored: u64,
}

impl Promotion {
    fn read(line: &str) -> Self {
        let mut words = line.split(' ');
        let mut next = || words.next().expect("three words").to_owned();
        let version = next();
        let mut time = || next().parse().expect("a time");
        Self { version, sent: time(), stored: time() }
    }
}

/// Looks for the first deletion of each release, and what the pointer named when the run looked before it.
fn count(seen: &[Seen], promotions: &[Promotion], tally: &mut Tally) {
    let mut begun: Vec<&str> = Vec::new();
    let channels = keys::channels("ops", "shop");
    for (number, request) in seen.iter().enumerate().filter(|(_, seen)| seen.asked.kind == Kind::Delete) {
        let rest = request.asked.key.strip_prefix(&keys::releases("ops", "shop"));
        let Some(version) = rest.and_then(|rest| rest.split('/').next()).filter(|version| !begun.contains(version)) else {
            continue;
        };
        begun.push(version);
        tally.deletions += 1;
        let looked = seen[..number].iter().rev().find(|seen| seen.asked.kind == Kind::List && seen.asked.key == channels);
        let looked = looked.expect("it looks before it deletes").at;
        for (promotion, next) in promotions.iter().zip(promotions.iter().skip(1).map(Some).chain([None])) {
            let names = promotion.version == version;
            let until = next.map_or(u64::MAX, |next| next.sent);
            tally.lost += usize::from(names && promotion.stored <= looked && until >= looked);
            tally.in_the_gap += usize::from(names && promotion.stored > looked && promotion.stored <= request.at);
        }
    }
}

/// One of the processes beside the runs.
async fn part(role: &[String]) {
    let [part, endpoint, bucket, seed, until] = role else { panic!("five words") };
    let store = S3Store::open(settings(endpoint, bucket, ("testkey", "testsecret"))).await.expect("it opens");
    let mut dice = Dice(seed.parse::<u64>().expect("a number") * 2 + 1);
    let until: u64 = until.parse().expect("a number");
    let mut number = RELEASES;
    while nanos() < until {
        match part.as_str() {
            "promoter" => promote(&store, &mut dice).await,
            "shipper" => {
                number += 1;
                ship(&store, number).await;
            }
            _ => report(&store, &mut dice).await,
        }
        tokio::time::sleep(Duration::from_millis(100 + dice.below(600))).await;
    }
}

/// Points to a release that is there, over whatever is there.
async fn promote(store: &S3Store, dice: &mut Dice) {
    let version = format!("v{}", 1 + dice.below(RELEASES));
    if store.head(&keys::manifest("ops", "shop", &version)).await.is_err() {
        return;
    }
    let pointer = ChannelPointer {
        account: "ops".to_owned(),
        app: "shop".to_owned(),
        channel: "edge".to_owned(),
        version: version.clone(),
        promoted_at: Some(Timestamp::now()),
        history: Vec::new(),
        lease_expires_at: None,
    };
    let body: Body = pointer::sign(&release_key(), &pointer).expect("an envelope").into();
    let key = format!("{}edge.json", keys::channels("ops", "shop"));
    let condition = store.head(&key).await.map_or(Put::Create, |there| Put::Replace(there.etag));
    let sent = nanos();
    if store.put(&key, &body, &condition).await.is_ok() {
        child::say(format!("{version} {sent} {}", nanos()));
    }
}

/// A new release: its artifact, its notes, its manifest.
async fn ship(store: &S3Store, number: u64) {
    let (version, content) = (format!("v{number}"), format!("artifact of v{number}"));
    let manifest = json!({
        "v": 1, "account": "ops", "app": "shop", "version": version, "kind": "binary", "shipped_at": Timestamp::now(),
        "artifacts": [{"target": "linux-arm64", "sha256": sha256(&content), "bytes": content.len()}],
    });
    let directory = format!("{}{version}/", keys::releases("ops", "shop"));
    let artifact = format!("apps/ops/shop/artifacts/{}", sha256(&content));
    let objects = [
        (artifact, content),
        (format!("{directory}notes.txt"), format!("notes on {version}")),
        (format!("{directory}manifest.json"), manifest.to_string()),
    ];
    for (key, body) in objects {
        create(store as &dyn WriteStore, &key, &body.into_bytes().into()).await.expect("it is shipped");
    }
    child::say(version);
}

/// A fresh report, now and then of an older build.
async fn report(store: &S3Store, dice: &mut Dice) {
    let key = "status/boxes/edge-a1.json";
    let build = format!("v{}", 1 + dice.below(RELEASES));
    let hosts = json!({"shop-1.example": {"account": "ops", "app": "shop", "builds": [build], "complete": true}});
    let body = json!({"label": "edge-a1", "generated_at": Timestamp::now(), "metrics": {"build_states": hosts}});
    let etag = store.head(key).await.expect("it is there").etag;
    if store.put(key, &Body::from(body.to_string().into_bytes()), &Put::Replace(etag)).await.is_ok() {
        child::say(build);
    }
}

/// Numbers that look random and can be had again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
