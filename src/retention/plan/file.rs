//! A plan as a file: a line for its head, a line an app, and a last line that says that it is whole.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{AppPlan, Header, SCHEMA};
use crate::error::CommandError;
use crate::host::private;
use crate::platform::keys::app::{self as keys, AppKey};
use crate::retention::AppName;
use crate::retention::evidence_file::{Unfinished, create_private, json};
use crate::snapshot::disk;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Plan(Header),
    App(AppPlan),
    End(Sums),
}

/// How much a plan would delete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sums {
    /// Apps, also those of which nothing goes.
    pub(crate) apps: u64,
    /// Versions that go.
    pub(crate) versions: u64,
    /// Objects that go.
    pub(crate) objects: u64,
    /// Bytes that go.
    pub(crate) bytes: u64,
}

impl Sums {
    /// Counts one more app.
    pub(crate) fn add(&mut self, app: &AppPlan) {
        self.apps += 1;
        for victim in app.victims() {
            self.versions += 1;
            self.objects += victim.objects();
            self.bytes += victim.bytes();
        }
    }
}

/// A plan being written.
pub(crate) struct PlanWriter {
    path: PathBuf,
    file: BufWriter<File>,
    sums: Sums,
    unfinished: Unfinished,
}

impl PlanWriter {
    /// Begins a new file that only its owner can read.
    ///
    /// # Errors
    /// Usage where it exists; the local disk's.
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Self, CommandError> {
        let file = create_private(path)?;
        let unfinished = Unfinished(Some(path.to_owned()));
        let mut writer = Self::begin(path, file, header)?;
        writer.unfinished = unfinished;
        Ok(writer)
    }

    /// Begins in an empty file that is there already.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn begin(path: &Path, file: File, header: &Header) -> Result<Self, CommandError> {
        let mut writer =
            Self { path: path.to_owned(), file: BufWriter::new(file), sums: Sums::default(), unfinished: Unfinished(None) };
        writer.line(&Line::Plan(header.clone()))?;
        Ok(writer)
    }

    /// Adds one app.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn app(&mut self, app: AppPlan) -> Result<(), CommandError> {
        self.sums.add(&app);
        self.line(&Line::App(app))
    }

    /// Ends the file, and says how much it would delete.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn end(mut self) -> Result<Sums, CommandError> {
        let sums = self.sums;
        self.line(&Line::End(sums))?;
        self.file.flush().and_then(|()| self.file.get_ref().sync_all()).map_err(|error| disk(&self.path, &error))?;
        self.unfinished.keep();
        Ok(sums)
    }

    fn line(&mut self, line: &Line) -> Result<(), CommandError> {
        let text = json(line)?;
        writeln!(self.file, "{text}").map_err(|error| disk(&self.path, &error))
    }
}

/// A plan that was read and is whole. Its apps stay in the file.
#[derive(Debug)]
pub(crate) struct Plan {
    header: Header,
    path: PathBuf,
    file: File,
}

impl Plan {
    /// Reads a plan from its head to its end, and holds every key that it would delete to the rule: below the version's own
    /// directory, or an artifact of the app.
    ///
    /// # Errors
    /// Not found (exit 10); usage for a file that is no whole plan.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let file = private::open_file(path).map_err(|error| disk(path, &error))?;
        let mut lines = Lines::new(path, &file)?;
        let Some(Line::Plan(header)) = lines.next().transpose()? else { return Err(bad(path, "it has no head")) };
        if header.schema != SCHEMA {
            return Err(bad(path, &format!("its schema is {:?}, not {SCHEMA:?}", header.schema)));
        }
        let mut sums = Sums::default();
        let end = loop {
            match lines.next().transpose()? {
                Some(Line::App(app)) => {
                    check(&app).map_err(|because| bad(path, &because))?;
                    sums.add(&app);
                }
                Some(Line::End(end)) => break end,
                Some(Line::Plan(_)) => return Err(bad(path, "it has two heads")),
                None => return Err(bad(path, "it was cut short")),
            }
        };
        if end != sums || lines.next().is_some() {
            return Err(bad(path, "its end does not agree with it"));
        }
        Ok(Self { header, path: path.to_owned(), file })
    }

    /// What it is of.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Its apps, one after the other, in their order.
    ///
    /// # Errors
    /// The local disk's.
    pub(crate) fn apps(&self) -> Result<impl Iterator<Item = Result<AppPlan, CommandError>> + '_, CommandError> {
        let lines = Lines::new(&self.path, &self.file)?;
        Ok(lines.filter_map(|line| match line {
            Ok(Line::App(app)) => Some(check(&app).map(|()| app).map_err(|because| bad(&self.path, &because))),
            Ok(Line::Plan(_) | Line::End(_)) => None,
            Err(error) => Some(Err(error)),
        }))
    }
}

/// The lines of a file, from its beginning.
struct Lines<'a> {
    path: &'a Path,
    lines: std::io::Lines<BufReader<File>>,
}

impl<'a> Lines<'a> {
    fn new(path: &'a Path, file: &File) -> Result<Self, CommandError> {
        let fail = |error: std::io::Error| disk(path, &error);
        let mut file = file.try_clone().map_err(fail)?;
        file.rewind().map_err(fail)?;
        Ok(Self { path, lines: BufReader::new(file).lines() })
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Line, CommandError>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = match self.lines.next()? {
            Ok(text) => text,
            Err(error) => return Some(Err(disk(self.path, &error))),
        };
        Some(serde_json::from_str(&text).map_err(|error| bad(self.path, &error.to_string())))
    }
}

fn bad(path: &Path, because: &str) -> CommandError {
    CommandError::usage(format!("{}: not a retention plan: {because}; nothing was deleted", path.display()))
        .hint("make one: carlosctl retention plan --out FILE")
}

/// Why the plan of an app is not one that could have been made.
fn check(app: &AppPlan) -> Result<(), String> {
    let AppName { account, app: name } = app.name();
    for victim in app.victims() {
        let version = victim.version();
        let [objects, artifacts, manifest] = victim.steps();
        let is = |key: &str, wanted: &dyn Fn(AppKey<'_>) -> bool| {
            keys::read(key).is_some_and(|(of, app, what)| of == account && app == name && wanted(what))
        };
        let strays = objects
            .iter()
            .filter(|one| !is(&one.key, &|what| what == AppKey::ReleaseObject(version)))
            .chain(artifacts.iter().filter(|one| !is(&one.key, &|what| matches!(what, AppKey::Artifact(_)))))
            .chain(manifest.iter().filter(|one| !is(&one.key, &|what| what == AppKey::Manifest(version))));
        if let Some(stray) = strays.map(|one| &one.key).next() {
            return Err(format!("{stray} is not of version {version} of {account}/{name}"));
        }
    }
    Ok(())
}
