//! Kind: an answer that a script cannot trust: half a document, other words in it, or a look that writes.

use crate::common::deployment::{Deployment, registry};
use crate::common::pty::Terminal;
use crate::common::scripted::Reply;
use crate::common::{Outcome, carlosctl};
use crate::restore::Standby;

use super::bucket::{Bucket, Manner, SECRETS};

const WHEN: &str = "2026-11-30T10:00:00Z";

/// The one error line of a `--json` run.
fn error_line(outcome: &Outcome) -> serde_json::Value {
    let lines: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with('{')).collect();
    let [line] = lines.as_slice() else { panic!("one error line in {outcome}") };
    serde_json::from_str(line).expect("JSON")
}

/// Row 39: something failed on the way, and the document was cut, or did not say so, or the exit was 0.
#[test]
fn what_could_not_be_looked_at_is_in_the_document_and_in_the_exit() {
    let deployment = Deployment::new();
    for label in ["edge-a1", "edge-b2"] {
        deployment.pass(label, WHEN, &registry(20, "v5"));
    }
    for (fault, subject) in [("control/registry-snapshot/edge-b2.json", "edge-b2"), ("status/boxes/", "status/boxes/")] {
        let bucket = Bucket::of(&deployment, Manner::default(), move |asked, _| {
            (asked.key == fault || asked.prefix == fault).then(|| Reply::error(500, "InternalError", "broken"))
        });
        let outcome = bucket.run(["snapshot", "list", "--json"]).run();
        assert_eq!(outcome.code, 3, "{outcome}");
        let document = outcome.json();
        assert_eq!(document["boxes"].as_array().expect("boxes").len(), 2, "{outcome}");
        let found = [&document["findings"], &document["boxes"][1]["findings"]];
        let found = found.iter().flat_map(|findings| findings.as_array().expect("findings"));
        assert!(found.clone().any(|finding| finding["subject"] == subject && finding["severity"] != "note"), "{outcome}");
        assert_eq!(error_line(&outcome)["kind"], "partly-done");
        let text = bucket.run(["snapshot", "list"]).run();
        assert_eq!(text.code, 3, "{text}");
        assert!(text.stdout.contains("InternalError") && text.stderr.contains("not everything could be looked at"), "{text}");
    }
}

/// Row 39: progress, warnings and words of a conversation stood inside the document.
#[test]
fn a_refusal_is_one_document_and_one_error_line() {
    let standby = Standby::new();
    standby.deployment.pass("edge-a1", &crate::restore::ago(20), &registry(0, ""));
    let refused = standby.restore(["--json", "-v"]).run();
    assert_eq!(refused.code, 5, "{refused}");
    assert_eq!((&refused.json()["outcome"], &error_line(&refused)["code"]), (&"refused".into(), &5.into()));
    assert!(!refused.to_string().contains('\u{1b}'), "{refused:?}");

    let asked = standby.restore(["--json", "--at", "good"]).run();
    assert_eq!(asked.code, 6, "{asked}");
    assert_eq!((&asked.json()["outcome"], &error_line(&asked)["kind"]), (&"not-confirmed".into(), &"not-confirmed".into()));
    assert_eq!(asked.json()["rows"]["routes"], 200);
    assert_eq!(standby.versions(), Vec::<String>::new());

    // A command line that does not make sense has no document, and its error line.
    let usage = carlosctl(["snapshot", "lst", "--json"]).run();
    assert_eq!((usage.code, usage.stdout.as_str(), &error_line(&usage)["kind"]), (2, "", &"usage".into()));
}

/// Row 41: a preview wrote. The bucket here refuses everything but reading, and remembers what it was asked.
#[test]
fn what_only_looks_asks_for_nothing_that_writes() {
    let standby = Standby::new();
    let out = standby.deployment.beside("pulled.db");
    let out = out.to_str().expect("UTF-8");
    let bucket = Bucket::of(&standby.deployment, Manner::default(), |asked, _| {
        let reads = ["GET", "HEAD"].contains(&asked.request.method.as_str());
        (!reads).then(|| Reply::error(500, "InternalError", "this is a look"))
    });
    for args in [
        &["snapshot", "list"][..],
        &["snapshot", "show", "--box", "edge-a1"],
        &["snapshot", "show", "--box", "edge-a1", "--at", "good"],
        &["snapshot", "verify", "--all-generations"],
        &["snapshot", "diff", "--box", "edge-a1", "good", "2h"],
        &["snapshot", "pull", "--box", "edge-a1", "--out", out],
        &["snapshot", "hold", "list"],
    ] {
        let outcome = bucket.run(args.iter().copied()).run();
        assert_eq!(outcome.code, 0, "{args:?}: {outcome}");
    }
    let before = standby.files();
    let outcome = bucket.restore(&standby, ["--dry-run"]).run();
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(standby.files() == before);
    let requests = bucket.server.requests();
    assert!(requests.len() > 20);
    for request in requests {
        assert!(["GET", "HEAD"].contains(&request.method.as_str()), "{} {}", request.method, request.path);
    }
}

/// The same instant gives the same bytes: every command that only looks takes it.
#[test]
fn every_look_is_judged_at_the_instant_that_was_given() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    for args in [
        &["snapshot", "list"][..],
        &["snapshot", "show", "--box", "edge-a1"],
        &["snapshot", "verify"],
        &["snapshot", "diff", "--box", "edge-a1", "good", "4h"],
        &["snapshot", "hold", "list"],
    ] {
        let run =
            || carlosctl(args.iter().copied()).dir(&deployment.dir()).arg("--json").arg("--as-of=2026-11-30T12:00:00Z").run();
        let outcome = run();
        assert_eq!(outcome.code, 0, "{args:?}: {outcome}");
        assert_eq!(outcome.json()["as_of"], "2026-11-30T12:00:00Z", "{args:?}");
        assert_eq!(outcome.stdout, run().stdout);
    }
}

/// Less is said with `-q`; refusals and what is consented to are not less.
#[test]
fn quiet_leaves_out_what_is_only_worth_knowing() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    let show = carlosctl(["snapshot", "show", "--box", "edge-a1", "-q"]).dir(&deployment.dir()).run();
    assert_eq!((show.code, show.stderr.as_str()), (0, ""), "{show}");
    let standby = Standby::new();
    standby.deployment.put("status/boxes/edge-a1.json", b"{}", &crate::restore::ago(30));
    let loud = standby.restore([]).run();
    let quiet = standby.restore(["-q"]).run();
    assert!(loud.stderr.contains("note data-at-risk") && loud.stderr.contains("chose current"), "{loud}");
    assert!(!quiet.stderr.contains("note ") && !quiet.stderr.contains("chose current"), "{quiet}");
    assert!(quiet.stderr.contains("dead box      edge-a1") && quiet.stderr.contains("--confirm edge-a1"), "{quiet}");
}

/// Where a setting came from is said with `-v`, and a secret never is.
#[test]
fn verbose_names_the_origin_and_no_secret() {
    let deployment = Deployment::new();
    let file = deployment.beside("host.env");
    std::fs::write(&file, "CARLOS_BOX_LABEL=edge-b2\nCARLOS_DATA_DIR='/srv/carlos'\n").expect("a file");
    let invocation =
        carlosctl(["snapshot", "list", "-v", "--timeout", "1s", "--endpoint-url", "http://ops:canarypassword@127.0.0.1:9/p"]);
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
    let invocation = names.iter().zip(SECRETS).fold(invocation, |invocation, (name, value)| invocation.env(name, value));
    let outcome = invocation
        .env("CARLOS_DEPLOYMENT_BUCKET", "dep")
        .env("CARLOS_RELEASE_KEY", "canarykey")
        .arg("--host-env")
        .arg(&file)
        .run();
    assert_eq!(outcome.code, 14, "{outcome}");
    for line in [
        "setting bucket = dep (environment CARLOS_DEPLOYMENT_BUCKET)",
        "setting this-box = edge-b2 (host.env CARLOS_BOX_LABEL)",
        "setting registry = /srv/carlos/registry.db (data-dir)",
        "setting endpoint-url = http://[redacted]@127.0.0.1:9/p (flag --endpoint-url)",
        "setting status-prefix = - (default)",
        "setting timeout = 1s (flag --timeout)",
        "setting concurrency = 32 (default)",
        "setting color = auto (default)",
        "setting json = no (default)",
    ] {
        assert!(outcome.stderr.lines().any(|said| said == line), "{line} in {outcome}");
    }
    assert!(!outcome.to_string().to_lowercase().contains("canary"), "{outcome}");
}

/// Help goes to standard output and ends with 0; a mistyped command goes to standard error, ends with 2 and names the near one.
#[test]
fn help_is_an_answer_and_a_mistyped_command_a_fault() {
    for args in [&["help"][..], &["help", "snapshot", "list"], &["snapshot", "list", "--help"], &["help", "restore", "undo"]] {
        let outcome = carlosctl(args.iter().copied()).run();
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
        assert!(outcome.stdout.contains("Usage: carlosctl"), "{outcome}");
    }
    for (args, near) in [
        (&["snapsot", "list"][..], "'snapshot'"),
        (&["snapshot", "lst"], "'list'"),
        (&["restore", "--form-box", "x"], "'--from-box'"),
        (&["help", "snapsot"], "did you mean snapshot?"),
        (&["help", "snapshot", "verfy"], "did you mean verify?"),
        (&["help", "exit-code"], "did you mean exit-codes?"),
    ] {
        let outcome = carlosctl(args.iter().copied()).run();
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
        assert!(outcome.stderr.contains(near), "{near} in {outcome}");
    }
    let bare = carlosctl([]).run();
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""), "{bare}");
    assert!(bare.stderr.contains("Usage: carlosctl"), "{bare}");
}

/// A stamp is copied into the next command, so no terminal is so narrow that it is broken in two.
#[test]
fn nothing_that_is_copied_is_broken_whatever_the_width() {
    let deployment = Deployment::new();
    deployment.healthy_box("edge-a1", WHEN);
    deployment.pass("edge-a1", "2026-11-30T11:01:00Z", &registry(1, "v1"));
    for columns in [0, 30, 60, 80, 250] {
        let command = carlosctl(["snapshot", "list", "--as-of", "2026-11-30T12:00:00Z"]).dir(&deployment.dir());
        let (_, said) = Terminal::wide(columns, &command.into_terminal_command()).end();
        assert!(said.contains("  20261130T100000Z "), "{columns}: {said}");
        assert!(said.contains("but first hold what there is: carlosctl snapshot hold --box edge-a1"));
        match columns {
            60 | 80 => {
                let fits = |line: &str| line.starts_with("  hint:") || line.trim_end().len() <= usize::from(columns);
                assert!(said.lines().all(fits), "{columns}: {said}");
            }
            // Too narrow to be folded better than the terminal does it, or wide enough.
            _ => assert!(said.contains("probably because a standby that was not restored wrote over it"), "{columns}: {said}"),
        }
    }
}
