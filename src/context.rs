//! One run's world and settings together, and the few things every command does with them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::again::Again;
use crate::cli::Global;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Finding, Severity};
use crate::settings::{HOST_ENV, Settings, StoreChoice, parse_host_env};
use crate::store::{DirectoryStore, ReadStore, S3Settings, S3Store, StoreError, Tally, WriteStore};
use crate::terminal::{self, Consent, Paper, Progress, escape, paint};
use crate::world::World;

/// What a command is given.
pub struct Context<'w> {
    /// The outside.
    pub world: &'w mut World,
    /// What was chosen.
    pub settings: Settings,
    /// The buckets that were opened: one client each, and with it one pool of connections.
    buckets: Mutex<BTreeMap<String, S3Store>>,
    /// How much the stores have answered.
    tally: Tally,
    /// What commands that are proposed are typed with.
    again: Again,
}

/// Something that can be the answer of a command: text for people, one document for machines.
pub trait Answer: Serialize {
    /// The document's name and version, such as `carlosctl.snapshot-list/1`.
    const SCHEMA: &'static str;

    /// The answer for people, made for `paper`. Foreign text in it is already escaped.
    fn text(&self, paper: Paper) -> String;
}

impl<'w> Context<'w> {
    /// Resolves the settings of this run.
    ///
    /// # Errors
    /// A usage error for a setting or host file that does not make sense.
    pub fn new(global: &Global, world: &'w mut World) -> Result<Self, CommandError> {
        let host_env = host_env(global.host_env.as_deref())?;
        let settings = Settings::resolve(global, &world.env, &host_env)?;
        Ok(Self::with(settings, global, world))
    }

    /// Reads nothing but what was typed, for what has to work where settings are broken: the runbooks.
    ///
    /// # Errors
    /// A usage error for a flag that does not make sense.
    pub fn of_flags(global: &Global, world: &'w mut World) -> Result<Self, CommandError> {
        let settings = Settings::resolve(global, &BTreeMap::new(), &BTreeMap::new())?;
        Ok(Self::with(settings, global, world))
    }

    fn with(settings: Settings, global: &Global, world: &'w mut World) -> Self {
        let mut context =
            Self { world, settings, buckets: Mutex::default(), tally: Tally::default(), again: Again::of(global) };
        if context.settings.verbose {
            for origin in context.settings.origins.clone() {
                context.say(&format!("setting {} = {} ({})", origin.name, origin.value, origin.from));
            }
        }
        context
    }

    /// The deployment store, to look at. There is no way to change anything through it.
    ///
    /// # Errors
    /// Usage when no store is named; else the store's.
    pub async fn deployment(&self) -> Result<Arc<dyn ReadStore>, CommandError> {
        match self.deployment_choice()? {
            StoreChoice::Bucket(bucket) => Ok(Arc::new(self.bucket(bucket).await?)),
            StoreChoice::Directory(path) => Ok(Arc::new(self.directory(path)?)),
        }
    }

    /// The deployment store, for the rooms that apply a plan.
    ///
    /// # Errors
    /// As [`deployment`](Self::deployment).
    pub async fn deployment_for_writing(&self) -> Result<Arc<dyn WriteStore>, CommandError> {
        match self.deployment_choice()? {
            StoreChoice::Bucket(bucket) => Ok(Arc::new(self.bucket(bucket).await?)),
            StoreChoice::Directory(path) => Ok(Arc::new(self.directory(path)?)),
        }
    }

    /// The status store (formats.md section 6): its own, else the deployment store when that is a bucket, else none.
    ///
    /// # Errors
    /// The store's.
    pub async fn status_store(&self) -> Result<Option<Arc<dyn ReadStore>>, CommandError> {
        match (&self.settings.status, &self.settings.deployment) {
            (Some(StoreChoice::Bucket(bucket)), _) | (None, Some(StoreChoice::Bucket(bucket))) => {
                Ok(Some(Arc::new(self.bucket(bucket).await?)))
            }
            (Some(StoreChoice::Directory(path)), _) => Ok(Some(Arc::new(self.directory(path)?))),
            (None, _) => Ok(None),
        }
    }

    /// The status store, for the box half, which publishes there.
    ///
    /// # Errors
    /// The store's.
    pub async fn status_store_for_writing(&self) -> Result<Option<Arc<dyn WriteStore>>, CommandError> {
        match (&self.settings.status, &self.settings.deployment) {
            (Some(StoreChoice::Bucket(bucket)), _) | (None, Some(StoreChoice::Bucket(bucket))) => {
                Ok(Some(Arc::new(self.bucket(bucket).await?)))
            }
            (Some(StoreChoice::Directory(path)), _) => Ok(Some(Arc::new(self.directory(path)?))),
            (None, _) => Ok(None),
        }
    }

    fn deployment_choice(&self) -> Result<&StoreChoice, CommandError> {
        self.settings.deployment.as_ref().ok_or_else(|| {
            CommandError::usage("no deployment store is named")
                .hint("give --bucket NAME or --dir PATH, or set CARLOS_DEPLOYMENT_BUCKET or CARLOS_DEPLOYMENT_DIR")
                .hint(format!("or name a file that sets them, where it is not {HOST_ENV}: --host-env PATH"))
                .hint("to look around first: carlosctl demo")
        })
    }

    async fn bucket(&self, bucket: &str) -> Result<S3Store, CommandError> {
        let opened = self.buckets.lock().unwrap_or_else(PoisonError::into_inner).get(bucket).cloned();
        if let Some(store) = opened {
            return Ok(store);
        }
        let store = self.open_bucket(bucket).await?;
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner).insert(bucket.to_owned(), store.clone());
        Ok(store)
    }

    async fn open_bucket(&self, bucket: &str) -> Result<S3Store, CommandError> {
        let environment = S3Settings::new(bucket, &self.world.env);
        let settings = S3Settings {
            endpoint_url: self.settings.endpoint_url.clone().or(environment.endpoint_url),
            region: self.settings.region.clone().or(environment.region),
            timeout: self.settings.timeout,
            concurrency: self.settings.concurrency,
            tally: self.tally.clone(),
            ..environment
        };
        Ok(Box::pin(S3Store::open(settings)).await?)
    }

    fn directory(&self, path: &Path) -> Result<DirectoryStore, StoreError> {
        Ok(DirectoryStore::open(path)?.counted(self.tally.clone()))
    }

    /// Progress of a transfer, shown at a terminal unless `--quiet`.
    #[must_use]
    pub fn progress_bytes(&self, what: &str, bytes: u64) -> Progress {
        Progress::bytes(what, bytes, self.shows_progress())
    }

    /// Progress over a number of things, shown at a terminal unless `--quiet`. Where the number is 0 it is not known yet, and
    /// what the store has answered is shown until it is.
    #[must_use]
    pub fn progress_things(&self, what: &str, number: u64) -> Progress {
        Progress::things(what, number, self.answered(), self.shows_progress())
    }

    /// Progress of listings: what the store has answered, shown at a terminal unless `--quiet`.
    #[must_use]
    pub fn progress_listing(&self) -> Progress {
        Progress::open("looking", self.answered(), self.shows_progress())
    }

    /// Progress of work that says nothing until it is done, shown at a terminal unless `--quiet`.
    #[must_use]
    pub fn progress_waiting(&self, what: &str) -> Progress {
        Progress::open(what, String::new, self.shows_progress())
    }

    /// What the stores have answered from now on.
    fn answered(&self) -> impl Fn() -> String + Send + Sync + 'static {
        let tally = self.tally.clone();
        let (listed, read) = (tally.listed(), tally.read());
        move || format!("{} listed, {} read", tally.listed() - listed, tally.read() - read)
    }

    fn shows_progress(&self) -> bool {
        self.world.terminal.stderr && !self.settings.quiet && !self.settings.json
    }

    /// The paper that standard output is.
    #[must_use]
    pub fn paper(&self) -> Paper {
        Paper::of(self.world.terminal, &self.world.env)
    }

    /// This machine's name.
    #[must_use]
    pub fn machine(&self) -> String {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }

    /// This machine's time, now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.world.now)()
    }

    /// Prints the answer: a table, or with `--json` exactly one document.
    ///
    /// # Errors
    /// Only when standard output cannot be written; a closed pipe is no error.
    pub fn answer<A: Answer>(&mut self, answer: &A, as_of: Timestamp) -> Result<(), CommandError> {
        #[derive(Serialize)]
        struct Document<'a, A> {
            schema: &'static str,
            as_of: Timestamp,
            #[serde(flatten)]
            answer: &'a A,
        }
        if !self.settings.json {
            return self.show(&answer.text(self.paper()));
        }
        let document = Document { schema: A::SCHEMA, as_of, answer };
        let mut text =
            serde_json::to_string_pretty(&document).map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))?;
        text.push('\n');
        self.print(&self.again.within_hints(text)).map(|_| ())
    }

    /// Prints text for people to standard output, foreign text in it already escaped.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub fn show(&mut self, text: &str) -> Result<(), CommandError> {
        let colour = self.shows_colour(self.world.terminal.stdout);
        self.print(&paint(&self.again.within(text), colour)).map(|_| ())
    }

    fn shows_colour(&self, is_terminal: bool) -> bool {
        terminal::shows_colour(self.settings.color.asked(), is_terminal, &self.world.env)
    }

    /// Prints text to standard output, as it is.
    ///
    /// # Errors
    /// Only when standard output cannot be written; a closed pipe is no error.
    pub fn print(&mut self, text: &str) -> Result<Exit, CommandError> {
        crate::generate::print(text, self.world.out.as_mut())
    }

    /// What a command that was given the settings typed here has said, as if it had been given none.
    #[must_use]
    pub fn as_on_a_page(&self, said: &str) -> String {
        self.again.without(said)
    }

    /// Says one line of conversation on standard error, unless `--quiet`. Foreign text in it is escaped here.
    pub fn say(&mut self, line: &str) {
        if !self.settings.quiet {
            // What proposes a command is there to be copied.
            let folds = self.world.terminal.stderr && !line.contains("carlosctl ");
            let columns = self.world.terminal.columns.filter(|_| folds);
            let _ = writeln!(self.world.err, "{}", terminal::wrap(&escape(&self.again.within(line)), columns));
        }
    }

    /// Says a block of text on standard error, already escaped; also with `--quiet`, because it is what is consented to.
    pub fn say_block(&mut self, text: &str) {
        let colour = self.shows_colour(self.world.terminal.stderr);
        let _ = write!(self.world.err, "{}", paint(&self.again.within(text), colour));
    }

    /// Says findings on standard error, weightiest first; with `--quiet` only what is not a note.
    pub fn say_findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            if self.settings.quiet && finding.severity == Severity::Note {
                continue;
            }
            let line = finding_line(finding, self.world.terminal.columns);
            self.say_block(&format!("{line}\n"));
        }
    }

    /// Asks for `name`, or takes `confirm`.
    ///
    /// # Errors
    /// Exit 6 without consent, 130 after Ctrl-C.
    pub fn consent(&mut self, what: &str, name: &str, confirm: Option<&str>) -> Result<Consent, CommandError> {
        let colour = self.shows_colour(self.world.terminal.stderr);
        let world = &mut *self.world;
        Ok(Consent::obtain(world.prompt.as_mut(), (world.terminal, colour), !self.settings.no_input, what, name, confirm)?)
    }
}

/// A finding for people: the sentence, folded at `columns` where that is known, and the hint, which is never folded because
/// it is there to be copied.
#[must_use]
pub fn finding_line(finding: &Finding, columns: Option<u16>) -> String {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Blocking => "blocking",
    };
    let severity = terminal::state(severity);
    let line = format!("{severity} {}: {}: {}", finding.code, escape(&finding.subject), escape(&finding.because));
    let mut line = terminal::wrap(&line, columns);
    if let Some(hint) = &finding.hint {
        line.push_str(&format!("\n  hint: {}", escape(hint)));
    }
    line
}

/// The host file's settings. The default file may be missing; a named one may not.
fn host_env(named: Option<&Path>) -> Result<BTreeMap<String, String>, CommandError> {
    let path = named.unwrap_or(Path::new(HOST_ENV));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => return Ok(BTreeMap::new()),
        Err(error) => {
            return Err(CommandError::usage(format!("{}: {error}", path.display()))
                .hint("name another file with --host-env, or an empty one: --host-env /dev/null"));
        }
    };
    parse_host_env(&text).map_err(|because| CommandError::usage(format!("{}: {because}", path.display())))
}
