//! `runbook run` where the world is not as the page says: what differs, what is said about it, and every way on.

use std::fs;

use crate::common::scene::{Ended, Scene, plain};
use crate::runbook_run::{TIMERS, at_a_terminal, exit_code, standby, transcript, unattended};

/// The line behind the hint that begins like this.
fn hint<'s>(said: &'s str, begins: &str) -> &'s str {
    let line = said.lines().find_map(|line| line.strip_prefix(&format!("hint: {begins}")));
    line.unwrap_or_else(|| panic!("no hint {begins:?} in {said}"))
}

#[test]
fn what_a_command_says_is_compared_and_not_only_how_it_ends() {
    // Whatever is masked, the unit stays as it is.
    let scene = standby("standby");
    let systemctl =
        "#!/bin/sh\n[ \"$1\" = show ] && printf 'Id=carlos-edge.service\\nLoadState=loaded\\nActiveState=active\\n'\nexit 0\n";
    scene.script("systemctl", systemctl);
    let before = scene.everything();
    let (code, said) = unattended(&scene, "edge-a1");
    assert_eq!(code, 3, "{said}");
    for line in [
        "0.2: exit 0, as the runbook says\n",
        "  the runbook shows  LoadState=masked\n  it said            LoadState=loaded\n",
        "0.3 ended with exit 0, and did not say what the runbook shows; nothing after it was run\n",
        "none of the runbook's cases of step 0 looks like this (The mask is refused because the unit file exists; There is no systemd)",
        "dr-cold-standby: stopped; 2 of 18 commands as the runbook says\n",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(!said.contains("0.3: exit 0, as the runbook says") && !said.contains("systemctl disable"), "{said}");
    let written = transcript(&scene);
    let differs = "exit 0: the runbook shows another output\n! not printed: LoadState=masked; in its place: LoadState=loaded\n";
    assert!(written.contains(differs), "{written}");
    assert!(scene.everything() == before);
}

#[test]
fn a_box_that_is_not_good_is_not_as_the_runbook_says_and_its_case_is_shown() {
    let scene = standby("standby");
    let (code, said) = unattended(&scene, "edge-c3");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("1.1 ended with exit 0, and did not say what the runbook shows"), "{said}");
    assert!(said.contains("  the runbook shows  edge-c3  current  "), "{said}");
    let it_said = said.lines().find(|line| line.starts_with("  it said            edge-c3  20"));
    assert!(it_said.is_some_and(|line| line.contains("suspect: size-collapsed")), "{said}");
    // The case that it is, and no other; with columns as wide as what is in them.
    assert!(said.contains("It is suspect\n~~~~~~~~~~~~~\n"), "{said}");
    assert!(
        !said.contains("It is bad") && !said.contains("There is no such box") && !said.contains("The store does not answer"),
        "{said}"
    );
    for line in [
        "    BOX      LAST GOOD  AGE  SIZE  GENERATIONS  STATE       …\n    edge-c3  …          …    …     …            suspect: …  …\n",
        "    BOX      LAST GOOD  AGE  SIZE  GENERATIONS  STATE  …\n    edge-c3  current    …    …     …            good   …\n",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
}

#[test]
fn a_drill_that_was_good_does_not_make_a_bad_box_good() {
    let scene = standby("standby");
    // The list has a column more; nothing is wrong with that.
    assert_eq!(scene.run("carlosctl drill --box edge-a1").0, 0);
    let (code, said) = unattended(&scene, "edge-a1");
    assert_eq!(code, 0, "{said}");
    let scene = standby("standby");
    assert_eq!(scene.run("carlosctl drill --box edge-a1").0, 0);
    let current = scene.object("control/registry-snapshot/edge-a1.db");
    fs::write(&current, vec![0; 4096]).expect("an object");
    let (code, said) = unattended(&scene, "edge-a1");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("1.1 ended with exit 0, and did not say what the runbook shows"), "{said}");
    assert!(said.contains("good, "), "the drill is listed: {said}");
}

#[test]
fn settings_that_were_typed_reach_values_commands_and_the_walk_that_goes_on() {
    let mut scene = standby("no-secrets-key");
    let settings = format!(
        "CARLOS_DEPLOYMENT_DIR={0}\nCARLOS_STATUS_DIR={0}\nCARLOS_DATA_DIR={1}\nCARLOS_BOX_LABEL=edge-d4\n\
         CARLOS_AGENT_UNITS=carlos-edge.service,carlos-adopt.timer,carlos-ops.timer\n",
        scene.path("bucket"),
        scene.path("standby")
    );
    fs::write(scene.path("its settings"), &settings).expect("settings");
    fs::write(scene.path("host.env"), &settings).expect("settings");
    scene.env.retain(|name, _| !name.starts_with("CARLOS_"));
    // The agent has settings of its own.
    scene.agent(
        "sleep 0.1; cd $(dirname $0)/../..; @BIN@ --host-env host.env box snapshot; @BIN@ --host-env host.env box report",
    );
    // The file is not named from the root on, and is still the same one from another directory.
    let walk = "carlosctl --host-env host.env runbook run dr-cold-standby --unattended --set DEAD=edge-a1 --confirm edge-a1 \
                --transcript 'a transcript'";
    let (code, said) = scene.run(walk);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains(&format!("6.2  $ grep -c '^CARLOS_SECRETS_KEY=.' {}\n", scene.path("host.env"))), "{said}");
    assert!(said.contains("0.2  $ systemctl mask --now carlos-edge.service carlos-adopt.timer carlos-ops.timer\n"), "{said}");
    // What is printed works as it stands, and without the settings, which the transcript knows.
    let typed = hint(&said, "when its cause is gone: ");
    let flag = format!("--host-env={} ", scene.path("host.env"));
    let resume = typed.replacen(&flag, "", 1);
    assert_eq!(resume, "carlosctl runbook run --resume 'a transcript' --unattended --confirm edge-a1");
    for line in [typed, &resume] {
        let (code, said) = scene.run(line);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("6.2 ended with exit 1"), "{said}");
    }
    fs::write(scene.path("host.env"), format!("{settings}CARLOS_SECRETS_KEY=x\n")).expect("settings");
    let (code, said) = scene.run(&format!("mkdir elsewhere; mv 'a transcript' elsewhere; cd elsewhere; {resume}"));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("8.1: exit 0, as the runbook says"), "{said}");
    // Another one may be typed.
    fs::remove_file(scene.path("host.env")).expect("a file");
    let another =
        scene.run(&format!("cd elsewhere; carlosctl --host-env '../its settings' {}", resume.split_once(' ').expect("it").1));
    assert_eq!(another.0, 0, "{}", another.1);
    // The one that was typed last is missed.
    fs::remove_file(scene.path("its settings")).expect("a file");
    let (code, said) = scene.run(&format!("cd elsewhere; {resume}"));
    assert_eq!((code, said.contains("No such file")), (2, true), "{said}");
}

#[test]
fn a_password_that_was_typed_is_not_kept_and_is_asked_for() {
    let scene = standby("store-down");
    let endpoint = "--endpoint-url http://user:canary@127.0.0.1:9";
    let (code, said) = scene.run(&format!(
        "carlosctl {endpoint} --timeout 2s runbook run dr-cold-standby --from 1 --unattended --set DEAD=edge-a1 --transcript transcript"
    ));
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("1.1 ended with exit 14"), "{said}");
    let written = transcript(&scene);
    assert!(written.contains("\nsetting --endpoint-url\nsetting --timeout=2000ms\n"), "{written}");
    assert!(!written.contains("canary") && !said.contains("canary"), "{said}{written}");
    let resume = hint(&said, "when its cause is gone: ");
    let (code, refused) = scene.run(resume);
    assert_eq!(code, 2, "{refused}");
    assert!(refused.contains("type it again: carlosctl --endpoint-url=… runbook run --resume …"), "{refused}");
    assert_eq!(transcript(&scene), written);
    let (code, said) = scene.run(&resume.replacen("carlosctl", &format!("carlosctl {endpoint}"), 1));
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("1.1 ended with exit 14"), "{said}");
}

#[test]
fn what_a_command_says_is_kept_in_the_order_in_which_it_was_said() {
    let scene = standby("restored");
    scene.script("stat", "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do echo out $n; echo err $n >&2; done\n");
    let begin = "carlosctl runbook run dr-cold-standby --from 6 --unattended --set DEAD=edge-a1";
    let (code, said) = scene.run(&format!("{begin} --transcript transcript"));
    assert_eq!(code, 3, "{said}");
    let lines: Vec<String> = (1..=9).flat_map(|n| [format!("out {n}"), format!("err {n}")]).collect();
    assert!(said.contains(&format!("\n{}\n", lines.join("\n"))), "{said}");
    let kept: Vec<String> = lines.iter().map(|line| format!("| {line}")).collect();
    assert!(transcript(&scene).contains(&format!("\n{}\n", kept.join("\n"))), "{}", transcript(&scene));
    // Standard output has the answer alone.
    let (code, said) = scene.run(&format!("{begin} --transcript another 2>/dev/null"));
    assert_eq!(
        (code, said.as_str()),
        (3, "dr-cold-standby: stopped; 0 of 18 commands as the runbook says, 8 passed over by --from\ntranscript  another\n")
    );
}

#[test]
fn at_a_terminal_sentences_are_folded_between_words_and_what_the_restore_asks_is_kept() {
    let scene = standby("standby");
    let line = format!(
        "sh -c 'stty cols 70; exec @BIN@ --this-box edge-d4 runbook run dr-cold-standby --from 4 --set DEAD=edge-a1 --set {} --transcript transcript'",
        TIMERS.replace('\'', "\"")
    );
    let mut session = at_a_terminal(&scene, &line.replace("@BIN@", env!("CARGO_BIN_EXE_carlosctl")));
    let mut screen = String::new();
    let mut answer = |session: &mut rexpect::session::PtySession, question: &str, typed: &str| {
        screen.push_str(&session.exp_string(question).unwrap_or_else(|error| panic!("{question}: {error}")));
        screen.push_str(question);
        session.send_line(typed).expect("typed");
    };
    answer(&mut session, "Enter runs it, or type stop, or skip", "");
    // What comes after the restore rests on it.
    answer(&mut session, "Enter runs it, or type stop; it asks for edge-a1 itself", "skip");
    answer(&mut session, "Enter runs it, or type stop; it asks for edge-a1 itself", "");
    answer(&mut session, "type edge-a1 to go on", "edge-a1");
    answer(&mut session, "Enter runs it, or type stop, or skip", "stop");
    screen.push_str(&session.exp_eof().expect("the end"));
    assert!(exit_code(&mut session).contains(", 6)"));
    let screen = plain(&screen);
    assert!(
        screen.contains("5.1 cannot be skipped")
            && screen.contains("\n  carlosctl --this-box=edge-d4 runbook run dr-cold-standby --from 6\n"),
        "{screen}"
    );
    // Every question stands there with its answer.
    for line in [
        "Enter runs it, or type stop, or skip: \n",
        "it asks for edge-a1 itself: skip\n",
        "type edge-a1 to go on: edge-a1\n",
        "or skip: stop\n",
    ] {
        assert!(screen.contains(line), "{line:?} in {screen}");
    }
    let rehearsed = screen.split("4.1  $ ").nth(1).and_then(|said| said.split("4.1: exit 0").next()).expect("the rehearsal");
    let is_long = |line: &&str| line.chars().count() > 70 && !line.contains("carlosctl ") && !line.contains("systemctl ");
    let long: Vec<&str> = rehearsed.lines().filter(is_long).filter(|line| line.trim().contains(' ')).collect();
    assert_eq!(long, Vec::<&str>::new());
    assert!(rehearsed.contains("would install current of edge-a1 into\n    "), "{rehearsed}");
    // The last line is folded too.
    assert!(screen.contains("as the runbook says, 6\n    passed over by --from\n"), "{screen}");
    assert!(screen.contains("5.1: exit 0, as the runbook says"), "{screen}");
    // The whole conversation is in the transcript, in its order and without what only moves a cursor.
    let written = transcript(&scene);
    let restore = written.split("$ carlosctl restore --from-box edge-a1\n").nth(1).expect("the restore");
    let places: Vec<usize> =
        ["| dead box", "| type edge-a1 to go on: edge-a1\n", "| installed current of edge-a1 ", "| before ", "exit 0 as the"]
            .iter()
            .map(|part| restore.find(part).unwrap_or_else(|| panic!("{part} in {restore}")))
            .collect();
    assert!(places.is_sorted() && !written.contains('\u{1b}') && !written.contains('\r'), "{written}");
}

#[test]
fn a_restore_that_ended_well_and_says_something_else_is_for_the_operator_to_judge() {
    let scene = standby("restored");
    scene.run("systemctl mask --now carlos-edge.service");
    // That it was done already is nothing else.
    let (code, said) = scene.run(&format!(
        "carlosctl runbook run dr-cold-standby --from 5 --unattended --set DEAD=edge-a1 --confirm edge-a1 --set {TIMERS} \
         --set HOST_ENV={} --transcript transcript",
        scene.path("host.env")
    ));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(" already: ") && said.contains("5.1: exit 0, as the runbook says"), "{said}");
    let scene = standby("clobbered");
    let mut session = at_a_terminal(
        &scene,
        "carlosctl runbook run clobbered-snapshot --from 5 --set DEAD=edge-c3 --set GOOD=good --transcript transcript",
    );
    for (question, typed) in [
        ("Enter runs it, or type stop, or skip", ""),
        ("type run to run it again, or stop, or skip to go on without it", "skip"),
        ("why? it is written into the transcript", "good is a generation"),
        ("Enter runs it, or type stop; it asks for edge-c3 itself", ""),
        ("type edge-c3 to go on", "edge-c3"),
        ("  the runbook shows  installed good of edge-c3 into", ""),
        ("type run to run it again, or stop, or skip to go on without it", "skip"),
        ("why? it is written into the transcript", "it is the right one"),
    ] {
        session.exp_string(question).unwrap_or_else(|error| panic!("{question}: {error}"));
        if !question.starts_with("  ") {
            session.send_line(typed).expect("typed");
        }
    }
    let end = "clobbered-snapshot: done; 0 of 7 commands as the runbook says, 5 passed over by --from, skipped 5.1, 5.2";
    session.exp_string(end).expect("the end");
    session.exp_eof().expect("the end");
    assert!(exit_code(&mut session).contains(", 0)"));
    assert!(transcript(&scene).contains("\nskipped 5.2: it is the right one\n"));
}

#[test]
fn only_what_did_as_the_runbook_says_is_counted() {
    let scene = standby("store-down");
    let (code, said) = scene.run(&format!(
        "carlosctl runbook run dr-cold-standby --from 1 --unattended --set DEAD=edge-a1 --set {TIMERS} --transcript t --timeout 2s"
    ));
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("dr-cold-standby: stopped; 0 of 18 commands as the runbook says, 3 passed over by --from\n"),
        "{said}"
    );
    assert!(said.contains("note: DEAD: whether there is a box edge-a1 is not known: "), "{said}");
    assert!(said.contains("The store does not answer\n") && !said.contains("There is no such box"), "{said}");
}

#[test]
fn a_label_that_no_box_has_is_asked_for_again_unless_it_is_meant() {
    let scene = standby("standby");
    let mut session =
        at_a_terminal(&scene, "carlosctl runbook run clobbered-snapshot --set DEAD=edge-x9 --transcript transcript");
    session.exp_string("DEAD: no snapshot of box edge-x9").expect("what was typed is looked up");
    session.exp_string("DEAD, the box whose snapshots were overwritten").expect("the question");
    session.send_line("edge-c4").expect("typed");
    session.exp_string("hint: did you mean edge-c3?").expect("a near one");
    session.exp_string("type another, or edge-c4 once more to go on with it").expect("the way on");
    // Blanks around it do not count.
    session.send_line(" edge-c3 ").expect("typed");
    session.exp_string("$ carlosctl snapshot list --box edge-c3\r\n").expect("the command");
    session.exp_string("Enter runs it").expect("the question");
    session.send_line(" stop ").expect("typed");
    session.exp_string("hint: to go on: carlosctl runbook run --resume transcript").expect("how to go on");
    session.exp_eof().expect("the end");
    assert!(exit_code(&mut session).contains(", 6)"));
    assert!(!transcript(&scene).contains("edge-c4"));
    let mut session = at_a_terminal(&scene, "carlosctl runbook run clobbered-snapshot --transcript another");
    for _ in 0..2 {
        session.exp_string("DEAD, the box whose snapshots were overwritten").expect("the question");
        session.send_line("edge-c4").expect("typed");
    }
    session.exp_string("$ carlosctl snapshot list --box edge-c4\r\n").expect("it is taken");
    session.send_control('c').expect("typed");
    session.exp_eof().expect("the end");
}

#[test]
fn a_wrong_value_is_corrected_and_what_rests_on_it_is_run_again() {
    let scene = standby("standby");
    let (code, said) = unattended(&scene, "edge-a2");
    assert_eq!(code, 3, "{said}");
    let resume = hint(&said, "if DEAD is not edge-a2: ").to_owned();
    assert_eq!(
        resume,
        format!("carlosctl runbook run --resume {} --unattended --confirm edge-a2 --set DEAD=VALUE", scene.path("transcript"))
    );
    // Restored, and stopped for want of a key.
    fs::write(scene.path("host.env"), "").expect("settings");
    let resume = resume.replace("edge-a2", "edge-a1").replace("VALUE", "edge-a1");
    let (code, said) = scene.run(&resume);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("6.2 ended with exit 1"), "{said}");
    let first = transcript(&scene);
    assert!(!first.contains("again "), "nothing was run with the other label: {first}");
    // It was the wrong box after all: the hold and the restore of another one prove nothing for it.
    let (code, said) = scene.run(&resume.replace("DEAD=edge-a1", "DEAD=edge-b2"));
    assert_eq!(code, 3, "{said}");
    let written = transcript(&scene);
    let second = written.strip_prefix(&first).expect("it is only added to");
    for line in [
        "again 1.1\n",
        "again 3.1\n",
        "again 5.1\n",
        "again 6.1\n",
        "forgot HOLD\n",
        "step 1.1 at ",
        "step 3.1 at ",
        "value HOLD=20",
    ] {
        assert!(second.contains(line), "{line} in {second}");
    }
    assert!(!second.contains("again 0.1") && !second.contains("step 0.1"), "{second}");
    // The living box is not restored.
    assert!(said.contains("4.1 ended with exit 5"), "{said}");
}

/// Walks without systemd up to the list, and answers what was on the screen.
fn skipping(scene: &Scene) -> Ended {
    let mut session = at_a_terminal(
        scene,
        &format!("carlosctl runbook run dr-cold-standby --set DEAD=edge-a1 --set {TIMERS} --transcript transcript"),
    );
    let mut screen = String::new();
    for (question, typed) in [
        ("Enter runs it, or type stop, or skip", ""),
        ("type run to run it again, or stop, or skip to go on without it", ""),
        ("type run to run it again, or stop, or skip to go on without it", "run"),
        ("type run to run it again, or stop, or skip to go on without it", "skip"),
        ("why? it is written into the transcript", " "),
        ("type run to run it again, or stop, or skip to go on without it", "skip"),
        ("why? it is written into the transcript", "a container"),
        ("type run to run it, or stop, or skip", "skip"),
        ("why? it is written into the transcript", "exit 0 as the runbook says"),
        ("Enter runs it, or type stop, or skip", "skip"),
        ("why? it is written into the transcript", "a container"),
        ("Enter runs it, or type stop, or skip", ""),
        ("Enter runs it, or type stop, or skip", "stop"),
    ] {
        screen.push_str(&session.exp_string(question).unwrap_or_else(|error| panic!("{question}: {error}")));
        screen.push_str(question);
        session.send_line(typed).expect("typed");
    }
    screen.push_str(&session.exp_eof().expect("the end"));
    assert!(exit_code(&mut session).contains(", 6)"));
    (6, plain(&screen))
}

#[test]
fn what_cannot_be_done_here_is_skipped_for_a_reason() {
    let scene = standby("no-systemd");
    let (_, screen) = skipping(&scene);
    assert!(screen.contains("There is no systemd\n~~~") && !screen.contains("The mask is refused"), "{screen}");
    assert!(screen.contains("0.1 is not skipped without a reason"), "{screen}");
    assert!(screen.contains("1.1: exit 0, as the runbook says"), "{screen}");
    assert!(screen.contains("stopped; 1 of 18 commands as the runbook says, skipped 0.1, 0.2, 0.3\n"), "{screen}");
    let written = transcript(&scene);
    assert_eq!(written.matches("step 0.1 at ").count(), 2, "{written}");
    assert!(!written.contains("step 0.2 at ") && !written.contains("step 0.3 at "), "{written}");
    for line in ["skipped 0.1: a container\n", "skipped 0.2: exit 0 as the runbook says\n", "skipped 0.3: a container\n"] {
        assert!(written.contains(line), "{line} in {written}");
    }
    // What was skipped stays skipped, and is not counted as done.
    let (code, said) = scene.run("carlosctl runbook run --resume transcript --unattended --json 2>/dev/null");
    assert_eq!(code, 6, "{said}");
    let document: serde_json::Value = serde_json::from_str(&said).expect("one document");
    assert_eq!(document["skipped"], serde_json::json!(["0.1", "0.2", "0.3"]));
    assert_eq!(document["commands"][0]["id"], "2.1");
}

#[test]
fn nothing_that_is_for_authors_is_shown_to_readers() {
    let scene = standby("standby");
    let list: serde_json::Value = serde_json::from_str(&scene.run("carlosctl runbook list --json").1).expect("a list");
    for runbook in list["runbooks"].as_array().expect("runbooks") {
        let name = runbook["name"].as_str().expect("a name");
        let (code, piped) = scene.run(&format!("carlosctl runbook show {name}"));
        assert_eq!(code, 0, "{piped}");
        assert!(piped.starts_with("# ") && !piped.contains("\n\n\n"), "{piped}");
        let (_, json) = scene.run(&format!("carlosctl runbook show {name} --json"));
        let document: serde_json::Value = serde_json::from_str(&json).expect("one document");
        assert_eq!(document["text"], piped.as_str());
        for mark in ["<!--", "-->", "console changes", "console example"] {
            assert!(!piped.contains(mark), "{name}: {mark}");
        }
    }
}
