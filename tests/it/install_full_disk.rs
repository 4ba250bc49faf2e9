//! A full disk, for real: the registry's directory is a small tmpfs in a mount namespace of its own. However many bytes are
//! free, the install is done or the old registry is untouched, and with room it converges.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::install_bench::{Act, Content, State, bench, beside, build, child, content};

/// A shell in a mount namespace, in which things can be mounted that nobody else sees.
struct Namespace(Child);

impl Namespace {
    fn new() -> Self {
        let mut child = Command::new("unshare")
            .args(["--mount", "sh", "-c", "echo ready; read line"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare is needed by this test: apt-get install util-linux");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n", "a mount namespace is needed: run this test as root");
        Self(child)
    }

    /// `command` inside.
    fn enter(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside.arg("--target").arg(self.0.id().to_string()).args(["--mount", "--"]);
        inside.arg(command.get_program()).args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside
    }

    fn mount(&self, words: &[&str], directory: &Path) {
        let mut mount = Command::new("mount");
        mount.args(words).arg(directory);
        assert!(self.enter(&mount).status().expect("nsenter starts").success(), "mount {words:?}");
    }

    /// What is at `path` inside, as a path outside.
    fn outside(&self, path: &Path) -> PathBuf {
        Path::new("/proc").join(self.0.id().to_string()).join("root").join(path.strip_prefix("/").expect("absolute"))
    }

    /// Runs the child inside; what it said.
    fn install(&self, directory: &Path) -> String {
        let mut child = self
            .enter(&child(Act::Install, directory))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("nsenter starts");
        child.stdin.take().expect("a pipe").write_all(b"\n").expect("written");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let said = lines.filter_map(|line| line.strip_prefix("RESULT ").map(str::to_owned)).last();
        child.wait().expect("the child ends");
        said.expect("a result")
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Every file in a directory with its bytes.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.clone(), std::fs::read(path).expect("bytes")))
        .collect();
    files.sort();
    files
}

#[test]
fn a_disk_that_fills_up_anywhere_leaves_the_old_registry_and_with_room_it_converges() {
    let (_base, directory) = bench(State::Absent);
    let (mut full, mut done) = (0, 0);
    // From no room for the staged registry, over no room for folding the WAL, to enough.
    for kib in (160..320).step_by(8) {
        let namespace = Namespace::new();
        namespace.mount(&["-t", "tmpfs", "-o", &format!("size={kib}k,mode=750"), "tmpfs"], &directory);
        let outside = namespace.outside(&directory);
        build(State::Wal, &outside);
        let before = files(&outside);
        let said = namespace.install(&directory);
        let visible = content(&outside.join("registry.db"));
        if said == "installed" {
            done += 1;
            assert_eq!(visible, Content::complete("new"), "{kib} KiB");
            continue;
        }
        full += 1;
        assert!(said.starts_with("refused: ") && said.contains("full") || said.contains("No space left"), "{kib} KiB: {said}");
        assert_eq!(visible, Content::complete("old"), "{kib} KiB: {said}");
        assert_eq!(beside(&outside), (vec![], vec![]), "{kib} KiB: {said}");
        if !said.contains("folded") {
            assert_eq!(files(&outside), before, "{kib} KiB: {said}");
        }
        namespace.mount(&["-o", "remount,size=2m"], &directory);
        assert_eq!(namespace.install(&directory), "installed", "{kib} KiB");
        assert_eq!(content(&outside.join("registry.db")), Content::complete("new"));
    }
    assert!(full >= 3 && done >= 1, "the sizes do not cover both: {full} full, {done} done");
}

#[test]
fn a_read_only_disk_is_refused_untouched() {
    let (_base, directory) = bench(State::Absent);
    let namespace = Namespace::new();
    namespace.mount(&["-t", "tmpfs", "-o", "mode=750", "tmpfs"], &directory);
    let outside = namespace.outside(&directory);
    build(State::Wal, &outside);
    let before = files(&outside);
    namespace.mount(&["-o", "remount,ro"], &directory);
    let said = namespace.install(&directory);
    assert!(said.starts_with("refused: ") && said.contains("Read-only file system"), "{said}");
    assert_eq!(files(&outside), before);
}

#[test]
fn the_staged_registry_is_beside_the_target_wherever_temporary_files_go() {
    let (_base, directory) = bench(State::Wal);
    let namespace = Namespace::new();
    let elsewhere = directory.with_file_name("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a directory");
    namespace.mount(&["-t", "tmpfs", "tmpfs"], &elsewhere);
    let mut command = child(Act::Install, &directory);
    command.env("TMPDIR", &elsewhere);
    let mut command = namespace.enter(&command);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("nsenter starts");
    child.stdin.take().expect("a pipe").write_all(b"\n").expect("written");
    child.wait().expect("the child ends");
    assert_eq!(content(&directory.join("registry.db")), Content::complete("new"));
}
