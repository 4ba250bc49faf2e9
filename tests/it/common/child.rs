//! A test that runs part of itself in a process of its own: for what belongs to a whole process, such as its environment,
//! its memory, or being one of fifty.

use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Says to a test that it is the child.
const ROLE: &str = "CARLOSCTL_TEST_ROLE";

/// The words that the parent gave, when this process is the child.
pub(crate) fn role() -> Option<Vec<String>> {
    let role = std::env::var_os(ROLE)?.into_string().expect("a UTF-8 role");
    Some(role.split('\n').map(str::to_owned).collect())
}

/// Starts the test `name` (its whole path) in a child with an otherwise empty environment.
pub(crate) fn spawn(name: &str, role: &[&str], env: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("the test binary has a path"));
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env_clear();
    command.env(ROLE, role.join("\n")).envs(env.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the test binary starts")
}

/// Waits for a child and gives back what it said in lines that begin with `said:`.
pub(crate) fn said(child: Child) -> Vec<String> {
    let output = child.wait_with_output().expect("the child ends");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the child failed:\n{text}\n{errors}");
    // The harness may have begun the first line.
    text.lines().filter_map(|line| Some(line.split_once("said:")?.1.to_owned())).collect()
}

/// Says something to the parent.
pub(crate) fn say(words: impl std::fmt::Display) {
    writeln!(std::io::stdout(), "said:{words}").expect("the parent listens");
}

/// The most memory that this process ever had resident, in MiB.
pub(crate) fn peak_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it tells the peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}
