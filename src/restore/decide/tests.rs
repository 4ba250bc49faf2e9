//! Each rule alone, and its edges: a whole command takes seconds for what takes microseconds here.

use jiff::{SignedDuration, Timestamp};

use super::super::evidence::Neighbour;
use super::*;
use crate::platform::{Sidecar, Stamp};
use crate::registry::Census;
use crate::snapshot::{Chosen, Generation, Proof, SidecarRead};
use crate::store::ObjectMeta;

fn at(text: &str) -> Timestamp {
    format!("2026-11-30T{text}Z").parse().expect("an instant")
}

fn label(text: &str) -> Label {
    text.parse().expect("a label")
}

fn census(routes: u64) -> Census {
    Census { routes, ..Census::default() }
}

fn generation(of: &str, time: &str) -> Generation {
    let stamp = Stamp::at(at(time));
    let key = keys::generation(&label(of), stamp);
    Generation {
        stamp,
        object: ObjectMeta { key, bytes: 90_000, etag: time.into(), last_modified: at(time), version_id: None },
    }
}

/// A dead box whose snapshot of two hours ago is whole, and a standby that has never published.
fn evidence() -> Evidence {
    let mut dead = BoxEvidence::new(label("edge-a1"));
    dead.generations = vec![generation("edge-a1", "10:00:00"), generation("edge-a1", "09:00:00")];
    let current = ObjectMeta { key: keys::current(&dead.label), ..dead.generations[0].object.clone() };
    dead.current = Some(current.clone());
    let (fingerprint, created_at) = ("ab12".into(), Some(at("10:00:00")));
    dead.sidecar = SidecarRead::Read(Sidecar { label: "edge-a1".into(), fingerprint, created_at, bytes: 90_000 });
    dead.reported_at = Some(at("09:59:00"));
    Evidence {
        as_of: at("12:00:00"),
        request: Request {
            from_box: label("edge-a1"),
            this_box: Some(label("edge-b2")),
            same_label: false,
            allowed: vec![],
            max_age: None,
        },
        dead,
        own: Some(BoxEvidence::new(label("edge-b2"))),
        chosen: Chosen { at: "current".into(), source: Source::Object(current), because: String::new() },
        proof: Proof { sha256: "aa".into(), census: Some(census(10)), findings: vec![] },
        of: Some(at("10:00:00")),
        neighbour: Some(Neighbour { at: "20261130T090000Z".into(), content: Ok(census(10)) }),
        changed_while_read: false,
        clock_ahead_seconds: Some(0),
        host: vec![],
        target: TargetContent::Absent,
        last: None,
    }
}

/// Of the generation before the current one.
fn older() -> Evidence {
    let mut older = evidence();
    let object = older.dead.generations[1].object.clone();
    older.chosen = Chosen { at: "20261130T090000Z".into(), source: Source::Object(object), because: String::new() };
    older.of = Some(at("09:00:00"));
    older.neighbour = None;
    older
}

fn seen(mut evidence: Evidence, change: impl FnOnce(&mut Evidence)) -> Evidence {
    change(&mut evidence);
    evidence
}

/// The codes of what is found, in their order: `!` before one that blocks, nothing before a warning, `i` before a note.
fn codes(evidence: &Evidence) -> String {
    let said = |finding: &Finding| {
        let weight = match finding.severity {
            Severity::Blocking => "!",
            Severity::Warning => "",
            Severity::Note => "i ",
        };
        format!("{weight}{}", finding.code)
    };
    decide(evidence).findings.iter().map(said).collect::<Vec<_>>().join(", ")
}

fn with(change: impl FnOnce(&mut Evidence)) -> String {
    codes(&seen(evidence(), change))
}

fn outcome_of(change: impl FnOnce(&mut Evidence)) -> Outcome {
    decide(&seen(evidence(), change)).outcome
}

/// What the finding of that code says, and its hint.
fn text(evidence: &Evidence, code: Code) -> String {
    let found = decide(evidence).findings.into_iter().find(|finding| finding.code == code).expect("it is found");
    format!("{} | {}", found.because, found.hint.unwrap_or_default())
}

#[test]
fn a_whole_snapshot_of_a_dead_box_is_installed_and_one_that_is_there_is_finished() {
    assert_eq!((with(|_| ()).as_str(), outcome_of(|_| ())), ("", Outcome::Install));
    assert_eq!(codes(&older()), "data-at-risk");
    assert_eq!(with(|seen| seen.target = TargetContent::Equal), "i already-restored");
    assert_eq!(outcome_of(|seen| seen.target = TargetContent::Equal), Outcome::Finish);
    let empty = || TargetContent::Registry(Box::new(census(0)));
    assert_eq!(with(|seen| seen.target = empty()), "");
}

#[test]
fn what_is_on_the_target_is_replaced_only_with_leave() {
    for (content, code, said) in [
        (TargetContent::Registry(Box::new(census(3))), Code::TargetNotEmpty, "the registry here has 3 routes of its own"),
        (TargetContent::Unreadable("torn".into()), Code::TargetUnreadable, "what is there is no readable registry: torn"),
    ] {
        let found = seen(evidence(), |seen| seen.target = content);
        assert_eq!(codes(&found), format!("!{code}"));
        assert!(text(&found, code).starts_with(said));
        assert_eq!(decide(&found).outcome, Outcome::Refuse(Exit::Refused));
        assert_eq!(decide(&seen(found, |seen| seen.request.allowed = vec![code])).outcome, Outcome::Install);
    }
}

#[test]
fn another_restore_and_clocks_are_the_cause_that_is_named() {
    let host = |codes: &[Code]| codes.iter().map(|code| Finding::blocking(*code, "here", "found")).collect::<Vec<_>>();
    let refused = |codes: &[Code]| outcome_of(|seen| seen.host = host(codes));
    assert_eq!(refused(&[Code::SameBox]), Outcome::Refuse(Exit::Refused));
    assert_eq!(refused(&[Code::SameBox, Code::ClockSkew]), Outcome::Refuse(Exit::Clocks));
    assert_eq!(refused(&[Code::SameBox, Code::ClockSkew, Code::RestoreInProgress]), Outcome::Refuse(Exit::Locked));
    // What is found is shown by weight, whatever found it first.
    let found = with(|seen| {
        seen.host = vec![Finding::note(Code::NotRead, "here", "found"), Finding::blocking(Code::NoSpace, "here", "found")];
        seen.changed_while_read = true;
    });
    assert_eq!(found, "!no-space, !still-writing, i not-read");
}

#[test]
fn under_the_same_label_content_is_demanded_and_nothing_else_is() {
    let codes = [Code::NoRows, Code::TornPair, Code::RowsCollapsed, Code::SizeCollapsed];
    let request = Request { allowed: codes.to_vec(), ..evidence().request };
    assert_eq!(allowed(&request), codes);
    assert_eq!(allowed(&Request { same_label: true, ..request }), [Code::TornPair]);
}

#[test]
fn which_box_is_which_must_be_known() {
    let labels = |own: Option<&str>, same: bool| {
        with(|seen| {
            (seen.request.this_box, seen.request.same_label, seen.own) = (own.map(label), same, None);
        })
    };
    assert_eq!(labels(None, false), "!own-label-unknown");
    assert_eq!(labels(None, true), "");
    assert_eq!(labels(Some("edge-a1"), false), "!same-box");
    assert_eq!(labels(Some("edge-a1"), true), "");
    assert_eq!(labels(Some("edge-b2"), false), "");
}

#[test]
fn a_standby_that_has_published_is_told_everything_that_it_published() {
    type Change = fn(&mut BoxEvidence);
    let current: Change = |own| {
        let object = generation("edge-b2", "11:00:00").object;
        own.current = Some(ObjectMeta { key: keys::current(&own.label), ..object });
    };
    let stamp: Change = |own| own.generations = vec![generation("edge-b2", "11:00:00")];
    let report: Change = |own| own.reported_at = Some(at("11:00:00"));
    let unread: Change = |own| own.reports_unread = Some("denied".into());
    let found = |changes: &[Change]| {
        seen(evidence(), |seen| changes.iter().for_each(|change| change(seen.own.as_mut().expect("a box of its own"))))
    };
    let published = |what: &str| format!("this box has already published {what}: its agent has run | ");
    for (change, what) in [
        (current, "control/registry-snapshot/edge-b2.db"),
        (stamp, "control/registry-snapshots/edge-b2/20261130T110000Z.db"),
        (report, "a report of 2026-11-30T11:00:00Z"),
    ] {
        assert_eq!(codes(&found(&[change])), "!box-already-published", "{what}");
        assert_eq!(text(&found(&[change]), Code::BoxAlreadyPublished), published(what));
        // What cannot be known does not matter any more.
        assert_eq!(text(&found(&[change, unread]), Code::BoxAlreadyPublished), published(what));
        assert_eq!(codes(&found(&[change, unread])), "!box-already-published", "{what}");
    }
    let unknown = "the box reports could not be listed, so it is not known whether this box has published one: denied | ";
    assert_eq!(text(&found(&[unread]), Code::BoxAlreadyPublished), unknown);
    let same_label = seen(found(&[current, stamp, report, unread]), |seen| seen.request.same_label = true);
    assert_eq!(codes(&same_label), "", "a rebuilt box finds what the dead one published");
}

#[test]
fn what_is_wrong_with_current_stops_only_who_takes_it() {
    type Change = fn(&mut BoxEvidence);
    let torn: Change = |dead| dead.current.as_mut().expect("current").bytes = 91_000;
    let empty: Change = |dead| dead.current.as_mut().expect("current").bytes = 0;
    let missing: Change = |dead| dead.current = None;
    let timeless: Change = |dead| {
        let SidecarRead::Read(sidecar) = &mut dead.sidecar else { panic!("a sidecar") };
        sidecar.created_at = None;
    };
    let foreign: Change = |dead| {
        let SidecarRead::Read(sidecar) = &mut dead.sidecar else { panic!("a sidecar") };
        sidecar.label = "edge-c3".into();
    };
    for (change, code) in [
        (torn, Code::TornPair),
        (empty, Code::EmptyObject),
        (missing, Code::CurrentMissing),
        (timeless, Code::SidecarTimeUnknown),
        (foreign, Code::LabelMismatch),
    ] {
        let weight = |evidence: Evidence| {
            let found = decide(&seen(evidence, |seen| change(&mut seen.dead))).findings;
            found.into_iter().find(|finding| finding.code == code).map(|finding| finding.severity)
        };
        assert_eq!(weight(evidence()), Some(Severity::Blocking), "{code}");
        // Whose box it is matters to every one of its generations.
        let other = if code == Code::LabelMismatch { Severity::Blocking } else { Severity::Warning };
        assert_eq!(weight(older()), Some(other), "{code}");
        let file = Source::File("/data/registry.db".into());
        assert_eq!(weight(seen(evidence(), |seen| seen.chosen.source = file)), Some(Severity::Note), "{code}");
    }
}

#[test]
fn a_fall_in_size_stops_only_where_no_content_could_be_compared() {
    let weight = |evidence: Evidence| {
        let small = |seen: &mut Evidence| {
            seen.dead.current.as_mut().expect("current").bytes = 20_000;
            let SidecarRead::Read(sidecar) = &mut seen.dead.sidecar else { panic!("a sidecar") };
            sidecar.bytes = 20_000;
        };
        let found = decide(&seen(evidence, small)).findings;
        found.into_iter().find(|finding| finding.code == Code::SizeCollapsed).map(|finding| finding.severity)
    };
    assert_eq!(weight(evidence()), Some(Severity::Warning));
    let unread = Neighbour { at: "20261130T090000Z".into(), content: Err("torn".into()) };
    assert_eq!(weight(seen(evidence(), |seen| seen.neighbour = Some(unread))), Some(Severity::Blocking));
    assert_eq!(weight(seen(evidence(), |seen| seen.neighbour = None)), Some(Severity::Blocking));
    assert_eq!(weight(older()), Some(Severity::Warning));
}

#[test]
fn a_file_of_ones_own_has_no_sidecar() {
    let found = seen(evidence(), |seen| {
        seen.chosen = Chosen {
            at: "file:/data/registry.db".into(),
            source: Source::File("/data/registry.db".into()),
            because: String::new(),
        };
    });
    assert_eq!(codes(&found), "!sidecar-missing");
    assert!(text(&found, Code::SidecarMissing).contains("nothing but its content says that it is of edge-a1"));
}

#[test]
fn clocks_may_be_five_minutes_apart() {
    for (ahead, direction) in [(301, "5 min ahead of"), (-301, "5 min behind")] {
        let found = seen(evidence(), |seen| seen.clock_ahead_seconds = Some(ahead));
        assert_eq!(codes(&found), "!clock-skew");
        assert_eq!(text(&found, Code::ClockSkew), format!("the store's clock is {direction} this machine's | "));
    }
    for near in [Some(300), Some(-300), None] {
        assert_eq!(with(|seen| seen.clock_ahead_seconds = near), "");
    }
}

#[test]
fn content_is_compared_with_its_neighbour() {
    let routes = |own: u64, older: u64| {
        seen(evidence(), |seen| {
            seen.proof.census = Some(census(own));
            seen.neighbour = Some(Neighbour { at: "20261130T090000Z".into(), content: Ok(census(older)) });
        })
    };
    assert_eq!(codes(&routes(10, 20)), "");
    assert_eq!(codes(&routes(10, 21)), "!rows-collapsed");
    assert_eq!(codes(&routes(0, 21)), "", "that it has none is the proof's to say");
    let hint = "| carlosctl restore --from-box edge-a1 --at 20261130T090000Z";
    assert!(text(&routes(10, 21), Code::RowsCollapsed).ends_with(hint));
    let same_label = seen(routes(10, 21), |seen| seen.request.same_label = true);
    assert!(text(&same_label, Code::RowsCollapsed).ends_with(&format!("{hint} --same-label")));
    let unread = with(|seen| seen.neighbour.as_mut().expect("a neighbour").content = Err("torn".into()));
    assert_eq!(unread, "not-read");
    assert_eq!(with(|seen| seen.proof.census = None), "");
    assert_eq!(with(|seen| seen.changed_while_read = true), "!still-writing");
}

/// What proves the content wrong says where a right one is; what only warns does not.
#[test]
fn what_is_wrong_with_the_content_names_the_last_good_one() {
    let named = |change: &dyn Fn(&mut Evidence)| {
        let wrong = seen(evidence(), |seen| {
            seen.proof.findings = vec![
                Finding::blocking(Code::NoRows, "current", "none"),
                Finding::warning(Code::SchemaUnknown, "current", "newer"),
            ];
            change(seen);
        });
        assert_eq!(text(&wrong, Code::SchemaUnknown), "newer | ");
        text(&wrong, Code::NoRows)
    };
    let restore = |at: &str| format!("carlosctl restore --from-box edge-a1 --at {at}");
    let compared = format!("none; last good is 20261130T090000Z | {}", restore("20261130T090000Z"));
    assert_eq!(named(&|_| ()), compared);
    let look = "none | look for an older version or a hold: carlosctl snapshot list --box edge-a1 --all-versions";
    let neighbour = |seen: &mut Evidence, content: Result<Census, String>| {
        seen.neighbour = Some(Neighbour { at: "20261130T090000Z".into(), content });
    };
    assert_eq!(named(&|seen| neighbour(seen, Err("torn".into()))), format!("none | {}", restore("good")));
    // The listing alone thinks that current is good, which is what was just found not to be.
    assert_eq!(named(&|seen| neighbour(seen, Ok(census(0)))), look);
    assert_eq!(named(&|seen| seen.neighbour = None), look);
    let without_current = |seen: &mut Evidence| (seen.neighbour, seen.dead.current) = (None, None);
    let judged = format!("none; last good is 20261130T100000Z | {}", restore("20261130T100000Z"));
    assert_eq!(named(&without_current), judged);
    let that_one = |seen: &mut Evidence| {
        without_current(seen);
        seen.chosen.at = "20261130T100000Z".into();
    };
    assert_eq!(named(&that_one), look);
    let an_older_one = |seen: &mut Evidence| (seen.neighbour, seen.chosen.at) = (None, "20261130T100000Z".into());
    assert_eq!(named(&an_older_one), "none; last good is current | carlosctl restore --from-box edge-a1");
}

#[test]
fn an_older_one_than_the_last_good_is_told_what_it_costs() {
    let found = seen(older(), |seen| seen.of = Some(at("09:00:00")));
    assert!(text(&found, Code::DataAtRisk).starts_with(
        "it is of 2026-11-30T09:00:00Z, 1 h before the last good one (current): changes in between are lost by taking it"
    ));
    assert_eq!(codes(&seen(older(), |seen| seen.of = Some(at("10:00:00")))), "");
    assert_eq!(codes(&seen(older(), |seen| seen.of = Some(at("10:00:01")))), "");
    assert_eq!(codes(&seen(older(), |seen| seen.of = None)), "");
}

#[test]
fn an_age_that_is_not_known_is_not_below_a_limit() {
    let limited = |seconds: i64, of: Option<Timestamp>| {
        with(|seen| (seen.request.max_age, seen.of) = (Some(SignedDuration::from_secs(seconds)), of))
    };
    assert_eq!(limited(7200, Some(at("10:00:00"))), "");
    assert_eq!(limited(7199, Some(at("10:00:00"))), "!snapshot-too-old");
    assert_eq!(limited(7200, None), "!snapshot-too-old");
}

#[test]
fn ten_minutes_without_a_sign_of_life_are_a_dead_box() {
    let written = |time: &str| {
        let object = ObjectMeta { last_modified: at(time), ..evidence().dead.current.expect("current") };
        with(|seen| seen.dead.current = Some(object))
    };
    assert_eq!(written("11:50:00"), "");
    assert_eq!(written("11:50:01"), "!still-writing");
    // The later of both counts: a pass writes its generation first.
    let begun = seen(evidence(), |seen| seen.dead.generations[0].object.last_modified = at("11:55:00"));
    assert!(codes(&begun).contains("!still-writing"));
    let said = "control/registry-snapshots/edge-a1/20261130T100000Z.db was written 5 min ago";
    assert!(text(&begun, Code::StillWriting).starts_with(said));
    let reported = |time: &str| codes(&seen(evidence(), |seen| seen.dead.reported_at = Some(at(time))));
    assert_eq!(reported("11:50:00"), "i data-at-risk");
    assert_eq!(reported("11:50:01"), "!dead-box-reporting, i data-at-risk");
    assert_eq!(with(|seen| seen.dead.reports_unread = Some("denied".into())), "!dead-box-reporting");
    let neither = |seen: &mut Evidence| (seen.dead.reports_unread, seen.dead.reported_at) = (Some("denied".into()), None);
    assert_eq!(with(neither), "!dead-box-reporting");
    // A store without any report of it is perhaps not the one that it reports to.
    assert_eq!(with(|seen| seen.dead.reported_at = None), "dead-box-reporting");
}
