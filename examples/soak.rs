//! Snapshot, list, restore and compare, again and again, with random changes of the registry and random faults of the store.
//!
//!     cargo run --example soak -- [CYCLES] [SEED]
//!
//! A cycle changes the live registry, runs the box half's pass against a store that fails somewhere, runs it again until it
//! heals, wants `snapshot list` to call the box good, restores it, and compares the restored registry with the live one. Every
//! tenth cycle damages the current snapshot first, and wants the restore to refuse it and to leave the target alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use carlosctl::box_half::{LiveRegistry, Log, Memory, SnapshotPass, Stopper};
use carlosctl::demo::registry::{build_live, busy_box};
use carlosctl::exit::Exit;
use carlosctl::platform::{Label, keys};
use carlosctl::registry::Registry;
use carlosctl::store::{DirectoryStore, Effect, Fault, FaultyStore, Operation, StoreError};
use carlosctl::world::{Recorder, World};
use jiff::{SignedDuration, Timestamp};

type Failure = Box<dyn std::error::Error>;

/// What happened so far.
#[derive(Default)]
struct Tally {
    cycles: u32,
    faults_that_struck: u32,
    refusals_of_damage: u32,
}

/// Everything that a cycle works on.
struct Soak {
    directory: tempfile::TempDir,
    label: Label,
    store: FaultyStore<DirectoryStore>,
    dice: Dice,
    tally: Tally,
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let (Ok(cycles), Ok(seed)) = (numbers.next().unwrap_or(Ok(500)), numbers.next().unwrap_or(Ok(1))) else {
        say("usage: soak [CYCLES] [SEED]");
        return ExitCode::from(2);
    };
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    match runtime.block_on(soak(cycles, seed)) {
        Ok(tally) => {
            say(&format!(
                "{} cycles passed; {} faults struck a pass, {} damaged snapshots were refused",
                tally.cycles, tally.faults_that_struck, tally.refusals_of_damage
            ));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            say(&format!("failed with seed {seed}: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "soak: {text}");
}

async fn soak(cycles: u64, seed: u64) -> Result<Tally, Failure> {
    let directory = tempfile::tempdir()?;
    let bucket = directory.path().join("bucket");
    fs::create_dir(&bucket)?;
    fs::create_dir(directory.path().join("standby"))?;
    build_live(&directory.path().join("live.db"), &busy_box(120, "v0"))?;
    let store = FaultyStore::new(DirectoryStore::open(&bucket)?);
    let mut soak = Soak { directory, label: "edge-a1".parse()?, store, dice: Dice(seed.max(1)), tally: Tally::default() };
    let mut memory = Memory::default();
    for cycle in 0..cycles {
        soak.cycle(cycle, &mut memory).await.map_err(|failure| format!("cycle {cycle}: {failure}"))?;
        soak.tally.cycles += 1;
        if (cycle + 1) % 50 == 0 {
            say(&format!("{} of {cycles}", cycle + 1));
        }
    }
    Ok(soak.tally)
}

impl Soak {
    async fn cycle(&mut self, cycle: u64, memory: &mut Memory) -> Result<(), Failure> {
        self.change(cycle)?;
        self.publish(cycle, memory).await?;
        if cycle % 10 == 9 {
            self.damage_is_refused().await?;
            // A new process does not remember what it published, and heals what it finds.
            *memory = Memory::default();
            self.publish(cycle, memory).await?;
        }
        let listed = self.run(&["snapshot", "list", "--json"], Exit::Done).await?;
        let listed: serde_json::Value = serde_json::from_str(&listed)?;
        if listed["boxes"][0]["state"] != "good" || listed["boxes"][0]["last_good"] != "current" {
            return Err(format!("the list does not call it good: {}", listed["boxes"][0]).into());
        }
        let restore = [
            "restore",
            "--from-box",
            "edge-a1",
            "--confirm",
            "edge-a1",
            "--allow",
            "still-writing",
            "--allow",
            "target-not-empty",
            "--allow",
            "rows-collapsed",
        ];
        self.run(&restore, Exit::Done).await?;
        self.compare()?;
        self.tidy()
    }

    /// Some routes more, some less, some changed.
    fn change(&mut self, cycle: u64) -> Result<(), Failure> {
        let connection = rusqlite::Connection::open(self.live())?;
        for number in 0..=self.dice.below(6) {
            match self.dice.below(4) {
                0 => connection.execute("INSERT OR REPLACE INTO routes (host, app, version) VALUES (?1, 'shop', ?2)", (format!("new-{cycle}-{number}.example.org"), format!("v{cycle}")))?,
                1 => connection.execute("DELETE FROM routes WHERE rowid = (SELECT rowid FROM routes ORDER BY random() LIMIT 1) AND (SELECT count(*) FROM routes) > 60", [])?,
                2 => connection.execute("UPDATE routes SET caps = ?1 WHERE rowid IN (SELECT rowid FROM routes ORDER BY random() LIMIT 3)", [format!("c{cycle}")])?,
                _ => connection.execute("UPDATE routes SET version = ?1, prev_version = version WHERE rowid IN (SELECT rowid FROM routes ORDER BY random() LIMIT 9)", [format!("v{cycle}")])?,
            };
        }
        Ok(())
    }

    /// A pass that may fail, and then passes until one does not. After each failure the list has to work.
    async fn publish(&mut self, cycle: u64, memory: &mut Memory) -> Result<(), Failure> {
        let operations = [Operation::Get, Operation::Put, Operation::List, Operation::Delete, Operation::Open, Operation::Head];
        let operation = operations[self.dice.below(operations.len())];
        let effect = if self.dice.below(3) == 0 {
            Effect::LoseAcknowledgement
        } else {
            Effect::Fail(StoreError::Unavailable { subject: "soak".to_owned(), detail: "injected".to_owned() })
        };
        let nth = self.dice.below(5) + 1;
        self.store.add(Fault::new(effect).on(operation).nth(nth).times(1));
        let registry = LiveRegistry::new(self.live());
        let (log, _lines) = Log::new();
        let (_stopper, stop) = Stopper::pair();
        // Stamps a minute apart, all in the past: the order of time without waiting for it.
        let first = Timestamp::from_second(1_790_000_000)?;
        let mut last = String::new();
        // Faults that found nothing to strike in earlier cycles may strike together in one.
        for attempt in 0..10 {
            let now = first + SignedDuration::from_secs(i64::try_from(cycle * 60 + attempt * 5)?);
            let pass = SnapshotPass {
                store: &self.store,
                registry: &registry,
                label: &self.label,
                default_account: "ops",
                log: &log,
                stop: &stop,
            };
            match pass.run(now, memory).await {
                Ok(_) => return Ok(()),
                Err(error) => last = format!("{error:?}"),
            }
            self.tally.faults_that_struck += 1;
            self.run(&["snapshot", "list"], Exit::Done).await?;
        }
        Err(format!("the pass did not heal: {last}").into())
    }

    async fn damage_is_refused(&mut self) -> Result<(), Failure> {
        let path = self.directory.path().join("bucket").join(keys::current(&self.label));
        let body = fs::read(&path)?;
        fs::write(&path, &body[..body.len() / 2])?;
        let before = fs::read(self.target()).unwrap_or_default();
        self.run(
            &[
                "restore",
                "--from-box",
                "edge-a1",
                "--confirm",
                "edge-a1",
                "--allow",
                "torn-pair",
                "--allow",
                "still-writing",
                "--allow",
                "target-not-empty",
            ],
            Exit::Refused,
        )
        .await?;
        if fs::read(self.target()).unwrap_or_default() != before {
            return Err("a refused restore touched the target".into());
        }
        self.tally.refusals_of_damage += 1;
        Ok(())
    }

    /// The restored registry holds what the live one holds, and is whole.
    fn compare(&self) -> Result<(), Failure> {
        let (live, restored) = (Registry::open_live(&self.live())?, Registry::open_as_agent(&self.target())?);
        if !restored.check()?.is_clean() {
            return Err("the restored registry is damaged".into());
        }
        if live.fingerprint()? != restored.fingerprint()? {
            return Err("the restored registry is another one".into());
        }
        Ok(())
    }

    /// Kept registries of earlier cycles.
    fn tidy(&self) -> Result<(), Failure> {
        for entry in fs::read_dir(self.directory.path().join("standby"))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.contains(".before-") {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn live(&self) -> PathBuf {
        self.directory.path().join("live.db")
    }

    fn target(&self) -> PathBuf {
        self.directory.path().join("standby/registry.db")
    }

    async fn run(&self, args: &[&str], wanted: Exit) -> Result<String, Failure> {
        let said = Recorder::default();
        let heard = Recorder::default();
        let mut world = world(self.directory.path(), &said, &heard);
        let args = std::iter::once("carlosctl").chain(args.iter().copied()).map(OsString::from);
        let exit = Box::pin(carlosctl::run(args, &mut world)).await;
        drop(world);
        if exit == wanted {
            Ok(said.text())
        } else {
            Err(format!("ended with {exit:?}: {}{}", said.text(), heard.text()).into())
        }
    }
}

/// The standby's world: its own settings, no systemctl, no terminal.
#[expect(clippy::disallowed_methods, reason = "a soak runs on the machine's clock")]
fn world(root: &Path, out: &Recorder, err: &Recorder) -> World {
    let set = |name: &str, value: String| (name.to_owned(), value);
    let env = BTreeMap::from([
        set("CARLOS_DEPLOYMENT_DIR", root.join("bucket").display().to_string()),
        set("CARLOS_DATA_DIR", root.join("standby").display().to_string()),
        set("CARLOS_BOX_LABEL", "edge-b2".to_owned()),
    ]);
    World::scripted(env, Timestamp::now, out, err)
}

/// Numbers that look random and can be had again.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or_default()
    }
}
