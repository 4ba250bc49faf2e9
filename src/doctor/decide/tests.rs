use super::*;
use crate::doctor::evidence::{Host, Largest, Permissions, Store, StoreFacts, Versions};
use crate::host::holders::Holders;
use crate::host::target::Target;
use crate::host::trial::Replacing;
use crate::host::units::{Standing, Unit, UnitsAnswer};
use crate::store::{MemoryStore, StoreError, probe};

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
        versions: Versions::Kept,
        clock_ahead_seconds: Some(1),
        candidates: vec![],
        own: vec![],
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
    let changes: [(Change, Code); 5] = [
        (|e| facts(e).clock_ahead_seconds = None, Code::NotRead),
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
    let changes: [(Change, Code); 7] = [
        (|e| facts(e).versions = Versions::NotKept, Code::NotReady),
        (|e| facts(e).versions = Versions::Unknown("denied".into()), Code::NotRead),
        (|e| facts(e).reports = Some(Err("denied".into())), Code::NotRead),
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
