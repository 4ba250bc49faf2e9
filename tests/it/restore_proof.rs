//! The proof after the exchange: what is at the path by then is opened as the agent will open it, and compared with what was
//! staged. `strace` makes the exchange itself last for a while, in which another one writes to the new registry.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::deployment::registry;
use crate::restore::Standby;

/// How long the exchange takes.
const EXCHANGE: Duration = Duration::from_secs(3);

/// Restores, and has `spoiled` at the path as soon as the new registry is there: its exit, standard output and standard error.
fn restored_and_spoiled(standby: &Standby, spoiled: &[u8]) -> (Option<i32>, String, String) {
    let restore = standby.restore(["--confirm", "edge-a1"]).into_terminal_command();
    let mut command = Command::new("strace");
    command.env_clear().args(["-f", "-qq", "-e", "trace=renameat2", "-o", "/dev/null"]);
    command.arg("-e").arg(format!("inject=renameat2:delay_exit={}", EXCHANGE.as_micros()));
    command.arg(restore.get_program()).args(restore.get_args());
    command.envs(restore.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let before = standby.registry().metadata().expect("facts").ino();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("strace is needed by this test: apt-get install strace");
    let begun = Instant::now();
    while standby.registry().metadata().is_ok_and(|facts| facts.ino() == before) {
        assert!(begun.elapsed().as_secs() < 120, "nothing was exchanged");
        std::thread::sleep(Duration::from_millis(5));
    }
    fs::write(standby.registry(), spoiled).expect("written over");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn what_is_not_what_was_staged_is_found_after_the_exchange() {
    for (spoiled, because) in [
        (registry(150, "v0"), "it does not hold what was staged"),
        (b"no database, and longer than the header of one, which is 100 bytes. ".repeat(3), "not a SQLite database"),
    ] {
        let standby = Standby::new();
        let (code, stdout, stderr) = restored_and_spoiled(&standby, &spoiled);
        let path = standby.registry();
        let proof = format!("{}: installed, and the proof failed: ", path.display());
        assert!(stderr.contains(&proof) && stderr.contains(because), "{stderr}");
        let hint = "do not start the agent; look at the file, or take it back: carlosctl --this-box=edge-b2";
        assert!(stderr.contains(hint) && stderr.contains("restore undo"), "{stderr}");
        assert_eq!((code, stdout.as_str()), (Some(4), ""), "{stderr}");
        let receipts = standby.deployment.everything().into_iter().filter(|(key, _)| key.contains("/restores/"));
        assert_eq!(receipts.count(), 0, "what was not proved has no receipt");
    }
}
