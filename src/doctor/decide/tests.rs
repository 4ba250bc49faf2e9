use super::*;
use crate::doctor::evidence::{Host, Largest, Permissions, Store, StoreFacts, Versions};
use crate::host::holders::Holders;
use crate::host::target::Target;
use crate::host::trial::Replacing;
use crate::host::units::{Standing, Unit, UnitsAnswer};
use crate::store::{Expiry, ExpiryRule, MemoryStore, Powers, StoreError, probe};

/// A cold standby on which everything is as it should be.
async fn standby() -> (tempfile::TempDir, Evidence) {
    let directory = tempfile::tempdir().expect("a directory");
    let target = Target::look(&directory.path().join("registry.db")).expect("facts");
    let uid = target.directory.as_ref().map(|directory| directory.uid);
    let capabilities = probe(&MemoryStore::new("dep")).await;
    let facts = StoreFacts {
        name: "dep".into(),
        listed: Ok(2),
        generations_listed: Ok(()),
        largest: Some(Largest { key: "k".into(), bytes: 1000, readable: Ok(()) }),
        permissions: Permissions::Tried(capabilities),
        powers: vec![("control/registry-snapshot/", Ok(NOTHING))],
        versions: Versions::Kept,
        expiry: Ok(vec![]),
        clock_ahead_seconds: Some(1),
        candidates: vec![],
        own: Ok(vec![]),
        reports: Some(Ok(2)),
    };
    let unit = |name: &str| Unit {
        name: name.into(),
        starts: None,
        state: "inactive (dead)".into(),
        standing: Standing::Stopped,
        enabled: false,
    };
    let host = Host {
        units: UnitsAnswer { units: vec![unit("carlos-edge.service")], unknown: None },
        target: Ok(target),
        holders: Holders { locked: Some(false), ..Holders::default() },
        at_work: Ok(None),
        content: None,
        last: None,
        replacing: Some(Ok(Replacing::Exchange)),
        install_bytes: 1000,
        service_uid: uid,
    };
    let evidence = Evidence {
        store: Store::Open(Box::new(facts)),
        host,
        this_box: Some("edge-b2".parse().expect("a label")),
        units_named: vec!["carlos-edge.service".into()],
        read_only: false,
    };
    (directory, evidence)
}

fn facts(evidence: &mut Evidence) -> &mut StoreFacts {
    match &mut evidence.store {
        Store::Open(facts) => facts,
        _ => panic!("a store that is open"),
    }
}

/// The verdict after a change, and the codes that are not `ready`.
async fn after(change: impl FnOnce(&mut Evidence)) -> (Verdict, Vec<(Code, Severity)>) {
    let (_directory, mut evidence) = standby().await;
    change(&mut evidence);
    let (checks, verdict) = decide(&evidence);
    let odd = checks.iter().filter(|check| check.code != Code::Ready).map(|check| (check.code, check.severity)).collect();
    (verdict, odd)
}

const NOTHING: Powers = Powers { overwrite: false, delete: false, delete_versions: Some(false) };

fn rule(prefix: &str, effect: Expiry) -> ExpiryRule {
    ExpiryRule { id: "nightly".into(), prefix: prefix.into(), narrowed: false, effects: vec![effect] }
}

/// What the checks of one subject say.
async fn said(subject: &str, change: impl FnOnce(&mut Evidence)) -> Vec<String> {
    let (_directory, mut evidence) = standby().await;
    change(&mut evidence);
    let (checks, _) = decide(&evidence);
    checks.into_iter().filter(|check| check.subject == subject).map(|check| check.because).collect()
}

fn denied() -> StoreError {
    StoreError::Denied { subject: "k".into(), detail: "Access Denied".into() }
}

#[tokio::test]
async fn a_cold_standby_is_ready() {
    assert_eq!(after(|_| {}).await, (Verdict::Ready, vec![]));
}

#[tokio::test]
async fn what_would_stop_a_restore_is_not_ready() {
    type Change = fn(&mut Evidence);
    let changes: [(Change, Code); 12] = [
        (|e| e.store = Store::NotNamed, Code::NotReady),
        (|e| facts(e).listed = Err(denied()), Code::NotReady),
        (|e| facts(e).listed = Ok(0), Code::NotReady),
        (|e| facts(e).generations_listed = Err(denied()), Code::NotReady),
        (|e| facts(e).largest = Some(Largest { key: "k".into(), bytes: 1, readable: Err(denied()) }), Code::NotReady),
        (|e| facts(e).permissions = Permissions::Tried(Err(denied())), Code::NotReady),
        (|e| facts(e).clock_ahead_seconds = Some(-301), Code::ClockSkew),
        (|e| e.this_box = None, Code::OwnLabelUnknown),
        (|e| e.host.units.units[0].standing = Standing::Stops, Code::AgentActive),
        (|e| e.host.install_bytes = u64::MAX / 2, Code::NoSpace),
        (|e| e.host.replacing = Some(Ok(Replacing::Neither)), Code::NotReady),
        (|e| e.host.target = Err("a loop of links".into()), Code::NotReady),
    ];
    for (number, (change, code)) in changes.into_iter().enumerate() {
        assert_eq!(after(change).await, (Verdict::NotReady, vec![(code, Severity::Blocking)]), "{number}");
    }
}

#[tokio::test]
async fn what_is_not_known_is_never_ready() {
    type Change = fn(&mut Evidence);
    let changes: [(Change, Code); 6] = [
        (|e| facts(e).clock_ahead_seconds = None, Code::NotRead),
        (|e| facts(e).own = Err("denied".into()), Code::NotRead),
        (|e| facts(e).permissions = Permissions::NotTried, Code::NotRead),
        (|e| e.host.at_work = Err("denied".into()), Code::NotRead),
        (|e| e.host.holders.some_hidden = true, Code::HoldersUnknown),
        (
            |e| {
                e.read_only = true;
                e.host.replacing = None;
            },
            Code::NotRead,
        ),
    ];
    for (number, (change, code)) in changes.into_iter().enumerate() {
        assert_eq!(after(change).await, (Verdict::Unknown, vec![(code, Severity::Blocking)]), "{number}");
    }
}

#[tokio::test]
async fn what_a_restore_goes_on_with_is_a_warning() {
    type Change = fn(&mut Evidence);
    let changes: [(Change, Code); 13] = [
        (|e| facts(e).powers = vec![("apps/", Ok(Powers { delete: true, ..NOTHING }))], Code::MoreThanNeeded),
        (|e| facts(e).expiry = Err(denied()), Code::NotRead),
        (|e| facts(e).expiry = Ok(vec![rule("control/", Expiry::Current { days: Some(90) })]), Code::NotReady),
        (|e| facts(e).expiry = Ok(vec![rule("", Expiry::Noncurrent { days: 29 })]), Code::NotReady),
        (|e| facts(e).expiry = Ok(vec![rule("control/carlosctl/holds/edge-a1/", Expiry::Archived)]), Code::NotReady),
        (|e| facts(e).versions = Versions::NotKept, Code::NotReady),
        (|e| facts(e).versions = Versions::Unknown("denied".into()), Code::NotRead),
        (|e| facts(e).reports = Some(Err("denied".into())), Code::NotRead),
        (|e| facts(e).reports = Some(Ok(0)), Code::DeadBoxReporting),
        (|e| e.host.units.units[0].standing = Standing::NotFound, Code::NotReady),
        (|e| e.host.units = UnitsAnswer { units: vec![], unknown: Some("no systemctl".into()) }, Code::UnitsUnknown),
        (|e| e.host.service_uid = None, Code::NotReady),
        (|e| e.host.service_uid = Some(u32::MAX), Code::NotReady),
    ];
    for (number, (change, code)) in changes.into_iter().enumerate() {
        assert_eq!(after(change).await, (Verdict::Ready, vec![(code, Severity::Warning)]), "{number}");
    }
}

#[tokio::test]
async fn a_store_that_lets_a_create_overwrite_is_not_ready() {
    let fault = crate::store::Effect::ChangeBefore("second".into());
    let liar = crate::store::FaultyStore::new(MemoryStore::new("m"))
        .with(crate::store::Fault::new(fault).on(crate::store::Operation::Put).nth(2));
    let capabilities = probe(&liar).await;
    let found = after(|evidence| facts(evidence).permissions = Permissions::Tried(capabilities)).await;
    assert_eq!(found.0, Verdict::NotReady);
    assert_eq!(found.1[0], (Code::NotReady, Severity::Blocking));
}

#[tokio::test]
async fn a_store_that_refuses_for_its_clock_has_the_code_of_clocks() {
    let (_directory, mut evidence) = standby().await;
    facts(&mut evidence).listed = Err(StoreError::ClockSkew { local: jiff::Timestamp::UNIX_EPOCH, store: None });
    let (checks, _) = decide(&evidence);
    assert_eq!(checks[0].code, Code::ClockSkew);
}

#[tokio::test]
async fn rules_that_leave_what_is_restored_from_are_fine_and_say_how_long() {
    let harmless = vec![
        rule("control/carlosctl/drills/", Expiry::Current { days: Some(1) }),
        rule("apps/", Expiry::Current { days: None }),
        rule("control/carlosctl/holds/", Expiry::Noncurrent { days: 1 }),
        rule("control/", Expiry::Noncurrent { days: 45 }),
        ExpiryRule { effects: vec![], ..rule("", Expiry::Archived) },
    ];
    let told = said("lifecycle", |evidence| facts(evidence).expiry = Ok(harmless)).await;
    assert_eq!(told, ["no rule removes snapshots or holds; what was overwritten is kept for 45 days"]);
    let none = said("lifecycle", |evidence| {
        facts(evidence).expiry = Err(StoreError::Unsupported { store: "d".into(), capability: "rules".into() });
    });
    assert_eq!(none.await, ["this kind of store has no rules that remove objects by themselves"]);
}

#[tokio::test]
async fn a_rule_that_would_take_the_last_good_one_is_told_with_what_it_reaches() {
    let narrowed = ExpiryRule { narrowed: true, ..rule("control/registry-snap", Expiry::Current { days: Some(1) }) };
    let told = said("lifecycle", |evidence| facts(evidence).expiry = Ok(vec![narrowed])).await;
    assert_eq!(
        told,
        [
            "rule \"nightly\" removes objects below control/registry-snapshot/, control/registry-snapshots/ (only some, by tag or \
          size) 1 day after they were written; a box whose registry rests writes no new snapshot"
        ]
    );
    let old = said("lifecycle", |evidence| facts(evidence).expiry = Ok(vec![rule("", Expiry::Noncurrent { days: 7 })])).await;
    assert_eq!(
        old,
        ["rule \"nightly\" removes what was overwritten below control/registry-snapshot/, control/registry-snapshots/ after \
          7 days: the last good version may be gone before a clobber is found"]
    );
}

#[tokio::test]
async fn what_may_be_done_beyond_need_is_told_and_what_is_not_known_too() {
    const SUBJECT: &str = "permissions beyond need";
    let unavailable = || Err(StoreError::Unavailable { subject: "k".into(), detail: "no answer".into() });
    let all = Powers { overwrite: true, delete: true, delete_versions: Some(true) };
    let told = said(SUBJECT, |evidence| {
        facts(evidence).powers =
            vec![("a/", Ok(all)), ("b/", Ok(Powers { overwrite: true, ..NOTHING })), ("c/", unavailable())];
    });
    assert_eq!(
        told.await,
        [
            "this identity may overwrite, delete, delete older versions below a/; overwrite below b/; a restore needs none of that",
            "not known what this identity may do below c/: k: no answer"
        ]
    );
    for (tried, because) in [
        (vec![], "not tried: it is safe only on a store that was seen to honour If-Match"),
        (vec![("a/", Ok(NOTHING)), ("c/", unavailable())], "not known what this identity may do below c/: k: no answer"),
    ] {
        let (_directory, mut evidence) = standby().await;
        facts(&mut evidence).powers = tried;
        let (checks, verdict) = decide(&evidence);
        let check = checks.iter().find(|check| check.subject == SUBJECT).expect("a check");
        assert_eq!((verdict, check.code, check.severity), (Verdict::Ready, Code::NotRead, Severity::Note));
        assert_eq!(check.because, because);
    }
}
