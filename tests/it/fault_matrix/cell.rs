//! One command under one fault, as a real process: what it said, and what it left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use aws_sdk_s3::Client;

use super::columns::Column;
use super::world::{WORLD, etags, reset};
use crate::common::proxy::{Kind, Proxy, Rule, Seen};

/// What every command is told about patience.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// What a command that hangs is killed after.
const KILLED_AFTER: &str = "60";
/// When a command that repeats itself is told to stop, however little it did.
const STOPPED_AFTER: Duration = Duration::from_secs(20);

/// A bucket that cells may change, one after the other.
pub(crate) struct Place {
    client: Client,
    bucket: String,
    was: BTreeMap<String, String>,
    shared_was: BTreeMap<String, String>,
}

/// A cell that ran.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    pub(crate) seen: Vec<Seen>,
    /// Objects that were made, replaced and deleted, without those that the proxy changed itself.
    pub(crate) added: BTreeSet<String>,
    pub(crate) replaced: BTreeMap<String, String>,
    pub(crate) deleted: BTreeSet<String>,
    /// Files that were made, changed or removed, with what is in them now.
    pub(crate) files: BTreeMap<String, Option<Vec<u8>>>,
    /// What is particular to this run, in its answer: the place of its bucket, and of its files.
    particular: [String; 3],
}

impl Place {
    pub(crate) fn new() -> Self {
        let server = WORLD.server;
        let bucket = server.bucket();
        WORLD.seed(&bucket);
        let client = server.client();
        let was = etags(&client, &bucket);
        let shared_was = etags(&client, &WORLD.shared);
        Self { client, bucket, was, shared_was }
    }

    /// Runs a command under these rules. Whoever changes nothing does so in the bucket that all share.
    pub(crate) fn run(&self, column: &Column, rules: Vec<Rule>, meddles: bool) -> Ran {
        let (bucket, was) =
            if column.only_looks() && !meddles { (&WORLD.shared, &self.shared_was) } else { (&self.bucket, &self.was) };
        let files = WORLD.files();
        let proxy = Proxy::start(WORLD.server, bucket);
        proxy.rules(rules);
        let mut line = column.line();
        let timeout = format!("{}s", TIMEOUT.as_secs());
        line.extend(["--timeout", &timeout]);
        let before = contents(files.path());
        let command = WORLD.command(&proxy.endpoint, bucket, files.path(), &line).into_command();
        let begin = Instant::now();
        let output = if column.repeats {
            passes(limited(&command))
        } else {
            limited(&command).stdin(Stdio::null()).output().expect("it starts")
        };
        let took = begin.elapsed();
        let after = contents(files.path());
        let now = etags(&self.client, bucket);
        let meddled = proxy.meddled();
        let ours = |key: &&String| !meddled.contains(key);
        let changed_files = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name));
        let ran = Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took,
            seen: proxy.seen(),
            added: now.keys().filter(|key| !was.contains_key(*key)).cloned().collect(),
            replaced: now
                .iter()
                .filter(|(key, etag)| ours(key) && was.get(*key).is_some_and(|was| was != *etag))
                .map(|(key, etag)| (key.clone(), etag.clone()))
                .collect(),
            deleted: was.keys().filter(|key| !now.contains_key(*key)).cloned().collect(),
            files: changed_files.map(|name| (name.clone(), after.get(name).cloned())).collect(),
            particular: [proxy.endpoint.clone(), bucket.clone(), files.path().display().to_string()],
        };
        if bucket == &self.bucket {
            reset(&self.client, bucket, was);
        }
        ran
    }
}

/// The command, killed from outside when it does not end by itself.
fn limited(command: &Command) -> Command {
    let mut limited = Command::new("timeout");
    // In the foreground it passes on what it is told.
    limited.args(["--foreground", "--signal", "KILL", KILLED_AFTER]);
    limited.arg(command.get_program()).args(command.get_args()).env_clear();
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}

/// Runs a command that repeats its passes, and tells it to stop when each of them was made twice: the second heals what a
/// single fault did to the first.
fn passes(mut command: Command) -> Output {
    let said = tempfile::NamedTempFile::new().expect("a file");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(said.reopen().expect("a file"));
    let child = command.spawn().expect("it starts");
    let lines = || std::fs::read_to_string(said.path()).unwrap_or_default();
    let made = |pass: &str| lines().lines().filter(|line| line.starts_with(pass) && !line.contains("armed")).count();
    let begin = Instant::now();
    while begin.elapsed() < STOPPED_AFTER
        && ["agent: registry snapshot", "agent: box report", "agent: retention pass"].iter().any(|pass| made(pass) < 2)
    {
        std::thread::sleep(Duration::from_millis(100));
    }
    let pid = rustix::process::Pid::from_child(&child);
    // It may have ended by itself; its code says so.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    let mut output = child.wait_with_output().expect("it ends");
    output.stderr = lines().into_bytes();
    output
}

/// Every file below a directory, but locks.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            if path.is_dir() {
                walk(root, &path, found);
            } else if !name.ends_with("carlosctl-lock") {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(directory, directory, &mut found);
    found
}

impl Ran {
    /// How many requests of these kinds were made.
    pub(crate) fn asked(&self, kinds: &[Kind]) -> usize {
        self.seen.iter().filter(|seen| kinds.contains(&seen.asked.kind)).count()
    }

    /// The keys and prefixes that requests of these kinds were about, each once, sorted; without those of the run itself.
    pub(crate) fn keys(&self, kinds: &[Kind]) -> Vec<&str> {
        let is_there = |key: &&str| Kind::LISTS.contains(&kinds[0]) || WORLD.objects.contains_key(*key);
        let keys = self.seen.iter().filter(|seen| kinds.contains(&seen.asked.kind)).map(|seen| seen.asked.key.as_str());
        let keys: BTreeSet<&str> = keys.filter(is_there).collect();
        keys.into_iter().collect()
    }

    /// What was struck: keys and prefixes.
    pub(crate) fn struck(&self) -> impl Iterator<Item = &str> {
        self.seen.iter().filter(|seen| seen.struck).map(|seen| seen.asked.key.as_str())
    }

    /// The answer without what is particular to this run.
    pub(crate) fn answer(&self, exact: bool) -> String {
        let [endpoint, bucket, files] = &self.particular;
        let answer = self.stdout.replace(endpoint, "ENDPOINT").replace(bucket, "BUCKET").replace(files, "FILES");
        if exact {
            return answer;
        }
        // Whether some process of another user may be looked into, and a second of rounding, are the machine's.
        let lines: Vec<&str> = answer.lines().filter(|line| !line.contains("could not be looked into")).collect();
        plain(&lines.join("\n")).replace("# s ahead of", "# s behind")
    }

    /// Where the store was, as the command calls it.
    pub(crate) fn endpoint(&self) -> &str {
        &self.particular[0]
    }

    /// Every change of the bucket, without times and nonces.
    pub(crate) fn changes(&self) -> Vec<String> {
        let added = self.added.iter().map(|key| format!("+ {}", plain(key)));
        let replaced = self.replaced.keys().map(|key| format!("~ {key}"));
        let deleted = self.deleted.iter().map(|key| format!("- {key}"));
        let mut changes: Vec<String> = added.chain(replaced).chain(deleted).collect();
        changes.sort();
        changes
    }

    /// Every file that is another one now, without times.
    pub(crate) fn files(&self) -> Vec<String> {
        self.files
            .iter()
            .map(|(name, content)| format!("{}{}", if content.is_some() { "" } else { "-" }, plain(name)))
            .collect()
    }
}

/// A text without what differs from run to run: times, ages, nonces, and the blanks that line up columns.
fn plain(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split([' ', '\n', '/', '-']) {
        let nonce = word.len() >= 16 && word.trim_end_matches(".json").bytes().all(|byte| byte.is_ascii_hexdigit());
        let word: String = if nonce { "#".to_owned() } else { word.replace(|c: char| c.is_ascii_digit(), "#") };
        let mut short = String::new();
        for character in word.chars() {
            if character != '#' || !short.ends_with('#') {
                short.push(character);
            }
        }
        if !short.is_empty() {
            words.push(short);
        }
    }
    words.join(" ")
}
