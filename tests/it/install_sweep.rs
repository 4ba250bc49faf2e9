//! Kill it anywhere: the install and the undo under `strace`, which kills the process or fails the call at every file-system
//! call below the registry's directory, one at a time. After each an ordinary open sees the complete old or the complete new
//! registry, side files are never mixed, nothing that was there is lost, and running it again converges.
//!
//! The test takes a sample. `CARLOSCTL_SWEEP=full cargo test --test it install_sweep -- --nocapture` takes every point and
//! prints how many there were.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use carlosctl::host::names::{Reason, SIDES};

use crate::install_bench::{Act, Content, State, bench, beside, child, content};

/// Calls that change names or cut files: a sample kills at all of them.
const DECISIVE: [&str; 6] = ["renameat2", "rename", "linkat", "unlink", "unlinkat", "ftruncate"];

/// How many of all other points and faults a sample takes.
const SAMPLED: usize = 60;

/// What is done to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Kill,
    Once(&'static str),
    FromThereOn(&'static str),
}

const FAULTS: [Fault; 6] = [
    Fault::Kill,
    Fault::Once("EIO"),
    Fault::Once("ENOSPC"),
    Fault::Once("EINTR"),
    Fault::FromThereOn("EIO"),
    Fault::FromThereOn("ENOSPC"),
];

/// One situation that is swept.
#[derive(Debug, Clone, Copy)]
struct Scene {
    act: Act,
    state: State,
    /// Whether the filesystem knows the flags of `renameat2`.
    exchange: bool,
}

const SCENES: [Scene; 8] = [
    Scene { act: Act::Install, state: State::Absent, exchange: true },
    Scene { act: Act::Install, state: State::Wal, exchange: true },
    Scene { act: Act::Install, state: State::HotJournal, exchange: true },
    Scene { act: Act::Install, state: State::Damaged, exchange: true },
    Scene { act: Act::Install, state: State::Unreadable, exchange: true },
    Scene { act: Act::Install, state: State::Orphans, exchange: true },
    Scene { act: Act::Install, state: State::Wal, exchange: false },
    Scene { act: Act::Undo, state: State::Restored, exchange: true },
];

/// One fault at one call of one scene.
#[derive(Debug, Clone)]
struct Point {
    scene: Scene,
    call: String,
    nth: usize,
    fault: Fault,
}

#[test]
fn at_every_point_the_path_holds_the_old_or_the_new_registry_and_a_second_run_converges() {
    let full = std::env::var_os("CARLOSCTL_SWEEP").is_some_and(|sweep| sweep == "full");
    let points = points(full);
    println!("{} points", points.len());
    let next = Mutex::new(points.iter());
    let violations = Mutex::new(Vec::new());
    let missed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(point) = next.lock().expect("a lock").next() else { break };
                    let (found, happened) = sweep(point);
                    missed.fetch_add(usize::from(!happened), Ordering::Relaxed);
                    for text in found {
                        println!("VIOLATION {point:?}: {text}");
                        violations.lock().expect("a lock").push(format!("{point:?}: {text}"));
                    }
                }
            });
        }
    });
    let violations = violations.into_inner().expect("a lock");
    let missed = missed.into_inner();
    println!("{} points swept, {missed} of them missed, {} violations", points.len(), violations.len());
    // The last few calls come after the scan of all processes, and so not always at the same place.
    assert!(missed <= points.len() / 20, "{missed} points were missed");
    assert!(points.len() >= SAMPLED, "the trace shows too few calls: {}", points.len());
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// Every point of every scene and fault, or a sample of them.
fn points(full: bool) -> Vec<Point> {
    let mut decisive = Vec::new();
    let mut other = Vec::new();
    for scene in SCENES {
        for (call, nth) in calls(scene) {
            for fault in FAULTS {
                let point = Point { scene, call: call.clone(), nth, fault };
                // Not knowing the flags is that scene's fault already, and what `close` answers says nothing on Linux.
                if !scene.exchange && call == "renameat2" || fault != Fault::Kill && call == "close" {
                    continue;
                }
                let kill = fault == Fault::Kill && DECISIVE.contains(&call.as_str());
                if full || kill { decisive.push(point) } else { other.push(point) }
            }
        }
    }
    let stride = other.len().div_ceil(SAMPLED).max(1);
    decisive.extend(other.into_iter().step_by(stride));
    decisive
}

/// The calls below the registry's directory, in order: which kind, and the how manyeth of it in that thread.
fn calls(scene: Scene) -> Vec<(String, usize)> {
    trace(scene).into_iter().map(|(call, nth, _)| (call, nth)).collect()
}

/// The same with the whole line.
fn trace(scene: Scene) -> Vec<(String, usize, String)> {
    let (base, directory) = bench(scene.state);
    let trace = base.path().join("trace");
    let said = run(scene, &directory, &["-y", "-s", "0", "-e", "trace=%file,%desc", "-o", trace.to_str().expect("a path")]);
    assert_eq!(said.as_deref(), Some("installed"), "{scene:?}");
    let trace = std::fs::read_to_string(&trace).expect("a trace");
    let below = directory.to_str().expect("a path");
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((call, _)) = line.split_once('(') else { continue };
        let count = counts.entry(call).or_default();
        *count += 1;
        if line.contains(below) {
            calls.push((call.to_owned(), *count, line.replace(below, "DATA")));
        }
    }
    calls
}

/// What a power cut would need, and no kill can show.
#[test]
fn everything_is_durable_in_order_and_nothing_of_the_new_registry_is_removed() {
    let lines: Vec<String> = trace(SCENES[1]).into_iter().map(|(_, _, line)| line).collect();
    let all = |call: &str, what: &str| -> Vec<usize> {
        let found = lines.iter().enumerate().filter(|(_, line)| line.starts_with(call) && line.contains(what));
        found.map(|(at, _)| at).collect()
    };
    let exchange = all("renameat2", "RENAME_EXCHANGE")[0];
    let kept = *all("renameat2", "RENAME_NOREPLACE").last().expect("a kept name");
    let unlinked = all("unlink", "registry.db-");
    let folded = *all("fsync", "DATA/registry.db>").last().expect("the fold is durable");
    assert!(all("fsync", "staged.db>").iter().any(|at| *at < exchange), "the new registry is durable first: {lines:#?}");
    assert!(folded < unlinked[unlinked.len() - 1], "the old one is whole before its side files go: {lines:#?}");
    let directory = all("fsync", "DATA>");
    assert!(
        directory.iter().any(|at| (unlinked[unlinked.len() - 1]..exchange).contains(at)),
        "side files are gone: {lines:#?}"
    );
    assert!(exchange < kept && directory.iter().any(|at| *at > kept), "the names are durable at the end: {lines:#?}");
    assert!(unlinked.iter().all(|at| *at < exchange), "nothing of the new registry is removed: {lines:#?}");
    let mode = all("fchmod", "staged.db>");
    assert!(mode.iter().all(|at| *at < exchange), "owner and mode are set before: {lines:#?}");
}

/// Whatever led to the step that puts the new registry at the path is durable before it: a power cut cannot keep the step and
/// lose what it rests on.
#[test]
fn every_name_that_leads_to_the_exchange_is_durable_before_it() {
    for scene in SCENES {
        let lines: Vec<String> = trace(scene).into_iter().map(|(_, _, line)| line).collect();
        let last = |part: &[String], is: &dyn Fn(&str) -> bool| part.iter().rposition(|line| is(line));
        let changes =
            |line: &str| ["rename", "link", "unlink"].iter().any(|call| line.starts_with(call)) && line.ends_with("= 0");
        let arrives =
            |line: &str| changes(line) && (line.contains("DATA/registry.db\")") || line.contains("DATA/registry.db\", RENAME"));
        let exchange = last(&lines, &|line| arrives(line) && !line.starts_with("link")).expect("the new registry arrives");
        let before = last(&lines[..exchange], &|line| changes(line) && !line.contains("carlosctl-lock"));
        let durable = last(&lines[..exchange], &|line| line.starts_with("fsync") && line.contains("DATA>"));
        assert!(before <= durable, "{scene:?}: {:#?}", &lines[before.unwrap_or_default()..=exchange]);
    }
}

/// Makes the scene, lets the fault happen, and looks at what is left: everything that is not as it must be, in words, and
/// whether a kill happened.
fn sweep(point: &Point) -> (Vec<String>, bool) {
    let scene = point.scene;
    let (_base, directory) = bench(scene.state);
    let judge = Judge::new(scene, &directory);
    let how = match point.fault {
        Fault::Kill => format!("inject={}:signal=KILL:when={}", point.call, point.nth),
        Fault::Once(error) => format!("inject={}:error={error}:when={}", point.call, point.nth),
        Fault::FromThereOn(error) => format!("inject={}:error={error}:when={}+", point.call, point.nth),
    };
    let trace = format!("trace=renameat2,{}", point.call);
    let said = run(scene, &directory, &["-e", &trace, "-e", &how, "-o", "/dev/null"]);
    let mut violations = judge.after_the_fault(&directory, said.as_deref());
    if point.fault != Fault::Kill && said.is_none() {
        violations.push("it ended without a word".to_owned());
    }
    let again = run(scene, &directory, &[]);
    violations.extend(judge.after_a_second_run(&directory, again.as_deref()).into_iter().map(|text| format!("again: {text}")));
    (violations, point.fault != Fault::Kill || said.is_none())
}

/// What was there before, and what must therefore be there after.
struct Judge {
    scene: Scene,
    old: Content,
    new: Content,
    /// Every file that was at the path or beside it, for what cannot be opened.
    files: Vec<Vec<u8>>,
}

impl Judge {
    fn new(scene: Scene, directory: &Path) -> Self {
        let path = directory.join("registry.db");
        let new = Content::complete(if scene.act == Act::Undo { "old" } else { "new" });
        Self { scene, old: content(&path), new, files: set(&path) }
    }

    fn after_the_fault(&self, directory: &Path, said: Option<&str>) -> Vec<String> {
        let mut violations = Vec::new();
        let path = directory.join("registry.db");
        let visible = content(&path);
        let is_new = visible == self.new;
        // What cannot be opened cannot be seen to be complete: then it must be the same file.
        let is_old = visible == self.old
            || self.scene.state == State::Unreadable && std::fs::read(&path).is_ok_and(|bytes| bytes == self.files[0]);
        if !is_new && !is_old {
            violations.push(format!("an ordinary open sees {visible:?}"));
        }
        let sides = SIDES.iter().filter(|side| directory.join(format!("registry.db{side}")).exists()).count();
        if is_new && sides > 0 {
            violations.push("the new registry has side files".to_owned());
        }
        if is_new && !self.old_is_somewhere(directory) {
            violations.push("the old registry is gone".to_owned());
        }
        match said {
            Some("installed") if !is_new => violations.push("it said installed, and the old one is there".to_owned()),
            Some(said) if said.starts_with("refused") && is_new => {
                violations.push(format!("it {said}, and the new one is there"));
            }
            Some(said) if said.starts_with("in place") && !is_new => violations.push(format!("it said {said}, and it is not")),
            _ => {}
        }
        violations.extend(too_open(directory));
        violations
    }

    fn after_a_second_run(&self, directory: &Path, said: Option<&str>) -> Vec<String> {
        let mut violations = Vec::new();
        // An undo that was complete has nothing left to undo.
        let nothing_left = self.scene.act == Act::Undo && said.is_some_and(|said| said.contains("no registry was kept"));
        if said != Some("installed") && !nothing_left {
            violations.push(format!("it said {said:?}"));
        }
        let visible = content(&directory.join("registry.db"));
        if visible != self.new {
            violations.push(format!("an ordinary open sees {visible:?}"));
        }
        let (kept, other) = beside(directory);
        if !other.is_empty() {
            violations.push(format!("left over: {other:?}"));
        }
        let reason = if self.scene.act == Act::Undo { Reason::Undone } else { Reason::Before };
        let olds = kept.iter().filter(|(why, what)| *why == reason && *what == self.old).count();
        let had_one = !matches!(self.scene.state, State::Absent | State::Orphans);
        if olds != usize::from(had_one) || !self.old_is_somewhere(directory) {
            violations.push(format!("the old registry is kept {olds} times: {kept:?}"));
        }
        violations
    }

    /// Whether the old registry is still there: as an ordinary open sees it, or at least each of its files. A shared-memory
    /// file says nothing that the WAL does not.
    fn old_is_somewhere(&self, directory: &Path) -> bool {
        let there = regular_files(directory);
        let bytes = || there.iter().map(|file| std::fs::read(file).expect("bytes")).collect::<Vec<_>>();
        match self.scene.state {
            State::Absent => true,
            State::Orphans => self.files.iter().all(|file| bytes().contains(file)),
            _ => there.iter().any(|file| content(file) == self.old) || self.files.iter().all(|file| bytes().contains(file)),
        }
    }
}

fn set(path: &Path) -> Vec<Vec<u8>> {
    let ends = ["", "-wal", "-journal"];
    ends.iter().filter_map(|end| std::fs::read(path.with_file_name(format!("registry.db{end}"))).ok()).collect()
}

fn regular_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect()
}

/// No registry may be readable by more than it was before.
fn too_open(directory: &Path) -> Option<String> {
    let mut files = regular_files(directory);
    files.retain(|file| file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o137 != 0));
    (!files.is_empty()).then(|| format!("readable by too many: {files:?}"))
}

/// Runs the child, with `strace` on the thread that does it where there is something for it to do. What the child said at
/// the end; none when it was killed.
fn run(scene: Scene, directory: &Path, strace: &[&str]) -> Option<String> {
    let mut child = child(scene.act, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let thread = lines.find_map(|line| line.strip_prefix("THREAD ").map(str::to_owned)).expect("a thread");
    let no_flags = ["-e", "inject=renameat2:error=EINVAL"];
    let tracer = (!strace.is_empty() || !scene.exchange).then(|| {
        let mut command = Command::new("strace");
        command.args(strace).args(if scene.exchange { &[] } else { &no_flags[..] }).args(["-p", &thread]);
        if strace.is_empty() {
            command.args(["-e", "trace=renameat2", "-o", "/dev/null"]);
        }
        let mut tracer = command
            .stderr(Stdio::piped())
            .spawn()
            .expect("strace is needed by this test: apt-get install strace (and run it as root)");
        let mut stderr = BufReader::new(tracer.stderr.take().expect("a pipe"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        assert!(line.contains("attached"), "strace needs to be allowed to attach (run this test as root): {line}");
        (tracer, stderr)
    });
    let _ = child.stdin.take().expect("a pipe").write_all(b"\n");
    let said = lines.find_map(|line| line.strip_prefix("RESULT ").map(str::to_owned));
    lines.for_each(drop);
    child.wait().expect("the child ends");
    if let Some((mut tracer, stderr)) = tracer {
        stderr.lines().map_while(Result::ok).for_each(drop);
        tracer.wait().expect("strace ends");
    }
    said
}
