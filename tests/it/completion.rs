//! What shells offer that only the store knows, asked by the scripts' own functions; and that a shell is never disturbed.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rexpect::session::{Options, spawn_with_options};

use crate::common::deployment::{Deployment, registry};
use crate::common::scripted::{Answer, Scripted};
use crate::common::{Outcome, carlosctl};

/// Two boxes, one of them with a hold, and names that are none.
fn deployment() -> Deployment {
    let deployment = Deployment::new();
    let body = registry(3, "v1");
    deployment.pass("edge-a1", "2026-11-30T09:00:00Z", &body);
    deployment.pass("edge-a1", "2026-11-30T10:00:00Z", &body);
    // Only generations are left of this one.
    deployment.generation("edge-b2", "2026-11-30T08:00:00Z", &body);
    for odd in ["\u{1b}]0;owned\u{7}", "a b", "$(touch pwned)", "-rf", "\u{202e}evil"] {
        deployment.put(&format!("control/registry-snapshot/{odd}.db"), &body, "2026-11-30T10:00:00Z");
        deployment.put(&format!("control/registry-snapshots/edge-a1/{odd}.db"), &body, "2026-11-30T10:00:00Z");
    }
    deployment.put("control/carlosctl/holds/edge-a1/20261130T101500Z/hold.json", b"{}", "2026-11-30T10:15:00Z");
    deployment
}

fn ask(wanted: &str, line: &str) -> Outcome {
    carlosctl(["__complete", wanted, line]).run()
}

fn offered(wanted: &str, line: &str) -> Vec<String> {
    let outcome = ask(wanted, line);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn labels_and_stamps_are_offered_newest_first_and_nothing_that_is_none() {
    let deployment = deployment();
    let before = deployment.everything();
    let dir = deployment.dir().display().to_string();
    let line = |rest: &str| format!("carlosctl --dir '{dir}' {rest}");
    assert_eq!(offered("boxes", &line("restore --from-box ")), ["edge-a1", "edge-b2"]);
    assert_eq!(
        offered("snapshots", &line("restore --from-box edge-a1 --at 2026")),
        ["current", "good", "20261130T100000Z", "20261130T090000Z"]
    );
    assert_eq!(offered("holds", &line("snapshot hold release --box edge-a1 ")), ["20261130T101500Z"]);
    assert_eq!(offered("snapshots", &line("snapshot diff ")), Vec::<String>::new());
    assert_eq!(offered("snapshots", &line("snapshot show --box '../x' --at ")), Vec::<String>::new());
    let assigned = format!("CARLOS_DEPLOYMENT_DIR={dir} carlosctl snapshot list --box ");
    assert_eq!(offered("boxes", &assigned), ["edge-a1", "edge-b2"]);
    assert!(deployment.everything() == before);
}

#[test]
fn whatever_goes_wrong_is_silence() {
    for line in [
        "",
        "carlosctl",
        "cat x",
        "carlosctl restore --from-box ",
        "carlosctl --dir /nonexistent restore --from-box ",
        "carlosctl --host-env /nonexistent restore --from-box ",
        "carlosctl --this-box ../x --dir /tmp -v --json restore --from-box ",
        "carlosctl --bucket b --endpoint-url http://127.0.0.1:9 restore --from-box ",
    ] {
        assert_eq!(offered("boxes", line), Vec::<String>::new(), "{line}");
    }
    assert_eq!(ask("nonsense", "carlosctl ").code, 2);
}

#[test]
fn a_shell_is_never_kept_waiting() {
    let server = Scripted::always(Answer::Hang);
    let place = Deployment::new();
    let pipe = place.beside("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for line in [
        format!("carlosctl --bucket dep --endpoint-url {} restore --from-box ", server.endpoint),
        // Opening it hangs until somebody writes.
        format!("carlosctl --host-env {} restore --from-box ", pipe.display()),
    ] {
        let begun = Instant::now();
        let outcome = carlosctl(["__complete", "boxes", line.as_str()])
            .env("AWS_ACCESS_KEY_ID", "id")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", "us-east-1")
            .run();
        // The second that is promised, and what a machine under load adds to the start of a process.
        assert!(begun.elapsed() < Duration::from_secs(2), "{line}: {:?}", begun.elapsed());
        assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""), "{line}");
    }
}

/// A directory with this program in it, for `PATH`.
fn path(deployment: &Deployment) -> String {
    let bin = deployment.beside("bin");
    std::fs::create_dir_all(&bin).expect("a directory");
    let _ = symlink(env!("CARGO_BIN_EXE_carlosctl"), bin.join("carlosctl"));
    format!("{}:/usr/bin:/bin", bin.display())
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/carlosctl.bash")
}

/// What bash has in `COMPREPLY` after a line, without an `=` or `:` that it would split at.
fn in_bash(deployment: &Deployment, rest: &str) -> Vec<String> {
    let dir = deployment.dir();
    let driver = "source \"$1\"; COMP_LINE=$2; COMP_POINT=${#2}; read -ra COMP_WORDS <<<\"$2\"; \
                  [[ $2 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); \
                  _carlosctl carlosctl \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
                  for reply in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$reply\"; done";
    let line = format!("carlosctl --dir {} {rest}", dir.display());
    let output = Command::new("bash")
        .args(["--norc", "-c", driver, "bash"])
        .arg(script())
        .arg(line)
        .env_clear()
        .env("PATH", path(deployment))
        .current_dir(deployment.beside(""))
        .output()
        .expect("bash");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_labels_and_stamps_where_they_belong() {
    let deployment = deployment();
    let offers = |rest: &str| in_bash(&deployment, rest);
    assert_eq!(offers("restore --from-box "), ["edge-a1", "edge-b2"]);
    assert_eq!(offers("snapshot verify --box edge-b"), ["edge-b2"]);
    assert_eq!(offers("snapshot show --box edge-a1 --at 20261130T09"), ["20261130T090000Z"]);
    assert_eq!(offers("snapshot diff --box edge-a1 current 2026"), ["20261130T100000Z", "20261130T090000Z"]);
    assert_eq!(offers("snapshot hold release --box edge-a1 2"), ["20261130T101500Z"]);
    assert_eq!(offers("retention plan --without-box edge-"), ["edge-a1", "edge-b2"]);
    assert_eq!(offers("drill --at g"), ["good"], "what is known without a store is not asked for");
    // Consent is typed, and this box's own label is no other box's.
    assert_eq!(offers("restore --from-box edge-a1 --confirm edge"), Vec::<String>::new());
    assert_eq!(offers("--this-box edge"), Vec::<String>::new());
}

#[test]
fn at_a_real_prompt_a_tab_completes_the_dead_boxs_label() {
    let deployment = deployment();
    let mut command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-i"]).env_clear().env("PATH", path(&deployment)).env("PS1", "ready> ");
    command.env("TERM", "dumb").env("CARLOS_DEPLOYMENT_DIR", deployment.dir()).env("INPUTRC", "/dev/null");
    let options = Options::new().timeout_ms(Some(20_000));
    let mut session = spawn_with_options(command, options).expect("bash starts");
    session.exp_string("ready> ").expect("a prompt");
    session.send_line(&format!("source '{}'", script().display())).expect("it is read");
    session.exp_string("ready> ").expect("a prompt");
    // The terminal does not show what is typed; a key of our own does.
    session.send_line(r#"bind -x '"\C-t": printf "<%s>\n" "$READLINE_LINE"'"#).expect("it is bound");
    session.exp_string("ready> ").expect("a prompt");
    session.send("carlosctl restore --from-box edge-b\t\u{14}").expect("it is typed");
    session.flush().expect("it is sent");
    session.exp_string("<carlosctl restore --from-box edge-b2 >").expect("the label, and a blank behind it");
    session.send("--at 2\t\u{14}").expect("it is typed");
    session.flush().expect("it is sent");
    session.exp_string("<carlosctl restore --from-box edge-b2 --at 20261130T080000Z >").expect("the only stamp");
}
