//! The habits that every command shares: help, usage, errors (contract section 1).

use crate::common::carlosctl;

#[test]
fn help_goes_to_stdout_with_0_and_a_bare_call_prints_usage_to_stderr_with_2() {
    let help = carlosctl(["help"]).run();
    assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{help}");
    assert!(help.stdout.contains("Usage: carlosctl"), "{help}");

    let bare = std::process::Command::new(env!("CARGO_BIN_EXE_carlosctl")).output().expect("the binary starts");
    assert_eq!(bare.status.code(), Some(2));
    assert!(bare.stdout.is_empty());
    assert!(String::from_utf8_lossy(&bare.stderr).contains("Usage: carlosctl"));
}

#[test]
fn with_json_a_fault_adds_one_line_on_stderr() {
    let outcome = carlosctl(["help", "nonsense", "--json"]).run();
    insta::assert_snapshot!(outcome, @r#"
    ------- stderr -------
    {"code":2,"hints":["topics: exit-codes, findings, or any command: carlosctl help"],"kind":"usage","message":"no help on \"nonsense\"","schema":"carlosctl.error/1"}
    [exit 2]
    "#);
}

#[test]
fn help_explains_one_code_as_it_was_printed() {
    let finding = carlosctl(["help", "size-collapsed"]).run();
    assert_eq!((finding.code, finding.stderr.as_str()), (0, ""), "{finding}");
    assert!(
        finding.stdout.starts_with("size-collapsed   (where it blocks a restore: --allow size-collapsed)\n  means ")
            && finding.stdout.lines().count() == 4,
        "{finding}"
    );
    assert_eq!(carlosctl(["help", "findings", "size-collapsed"]).run().stdout, finding.stdout);

    let exit = carlosctl(["help", "5"]).run();
    assert_eq!((exit.code, exit.stderr.as_str()), (0, ""), "{exit}");
    assert!(exit.stdout.starts_with("5  refused by a safety check"), "{exit}");
    assert_eq!(carlosctl(["help", "exit-codes", "5"]).run().stdout, exit.stdout);

    for (topic, near) in [("size-colapsed", "did you mean size-collapsed?"), ("99", "topics: exit-codes")] {
        let unknown = carlosctl(["help", topic]).run();
        assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{unknown}");
        assert!(unknown.stderr.contains(near), "{unknown}");
    }
    let unknown = carlosctl(["help", "exit-codes", "9"]).run();
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{unknown}");
    assert!(unknown.stderr.contains("no \"9\" in exit-codes"), "{unknown}");
}

#[test]
fn a_host_file_that_was_named_must_exist() {
    let outcome = carlosctl(["--host-env", "/nonexistent/host.env", "snapshot", "list"]).run();
    assert_eq!(outcome.code, 2, "{outcome}");
    assert!(outcome.stderr.contains("/nonexistent/host.env"), "{outcome}");
}

#[test]
fn commands_that_are_proposed_have_the_settings_that_were_typed() {
    let standby = crate::restore::Standby::new();
    let host_env = standby.deployment.beside("host file.env");
    let settings = format!(
        "CARLOS_DEPLOYMENT_DIR={}\nCARLOS_DATA_DIR={}\nCARLOS_BOX_LABEL=edge-b2\n",
        standby.deployment.dir().display(),
        standby.deployment.beside("data").display()
    );
    std::fs::write(&host_env, settings).expect("a file");
    let typed = format!("carlosctl '--host-env={}' ", host_env.display());
    let call =
        |args: &[&str]| carlosctl(args.iter().copied()).arg("--host-env").arg(&host_env).env("PATH", standby.path()).run();

    let restored = call(&["restore", "--from-box", "edge-a1", "--confirm", "edge-a1"]);
    assert_eq!(restored.code, 0, "{restored}");
    for proposed in [format!("prove it: {typed}restore watch"), format!("once the agent is stopped: {typed}restore undo")] {
        assert!(restored.stdout.contains(&proposed), "{proposed} in {restored}");
    }
    // An error's hint too, and what names no deployment stays as it is.
    let unknown = call(&["snapshot", "list", "--box", "edge-a2"]);
    assert!(unknown.stderr.contains(&format!("every box: {typed}snapshot list\n")), "{unknown}");
    let refused = call(&["restore", "--from-box", "edge-a1", "--confirm", "edge-a1", "--at", "2h"]);
    // Each code that stops it by itself, and no more than are read.
    assert!(refused.stderr.contains("hint: what target-not-empty means: carlosctl help target-not-empty\n"), "{refused}");
    assert!(!refused.stderr.contains("help findings"), "{refused}");
}
