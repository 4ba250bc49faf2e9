//! `snapshot pull`: a verified copy in a file of one's own.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::fetch::disk;
use super::landing::{Landing, Private};
use super::look::look;
use super::proof::{Verdict, blocking};
use super::show::resolve;
use crate::cli::snapshot::PullArgs;
use crate::context::{Answer, Context};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::{Code, Finding};
use crate::platform::Label;
use crate::store::ObjectMeta;
use crate::terminal::{self, Paper};

#[derive(Debug, Serialize)]
struct Pulled {
    #[serde(flatten)]
    object: ObjectMeta,
    #[serde(rename = "box")]
    label: Label,
    at: String,
    out: PathBuf,
    sha256: String,
    findings: Vec<Finding>,
}

/// Runs the command. The content must prove; an empty registry is content too, and is pulled with its finding.
///
/// # Errors
/// Refused when the content does not prove or the file exists; not found; else the store's or the disk's.
pub(super) async fn run(args: &PullArgs, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    let as_of: Timestamp = args.as_of.as_of.unwrap_or_else(|| context.now());
    // Asked before the transfer; the link below is what holds.
    if std::fs::symlink_metadata(&args.out).is_ok() {
        return Err(exists(&args.out));
    }
    let look = look(context, &args.label, &[&args.at]).await?;
    let (chosen, fetched, proof) = resolve(context, &look, &args.at, as_of, Private::create).await?;
    let stops: Vec<Finding> = proof.findings.iter().filter(|finding| finding.stops(&[Code::NoRows])).cloned().collect();
    if Verdict::of(&stops) != Verdict::Good {
        context.say_findings(&proof.findings);
        return Err(CommandError::new(
            Exit::Refused,
            format!("{} does not prove; {} was not written", chosen.source.name(), args.out.display()),
        )
        .hint(format!("carlosctl snapshot verify --box {} --all-generations", args.label)));
    }
    let (from, out) = (fetched.landing.path().to_owned(), args.out.clone());
    blocking(move || publish(&from, &out)).await??;
    let pulled = Pulled {
        object: fetched.meta.clone(),
        label: args.label.clone(),
        at: chosen.at,
        out: args.out.clone(),
        sha256: proof.sha256,
        findings: proof.findings,
    };
    context.say_findings(&pulled.findings);
    context.answer(&pulled, as_of)?;
    Ok(Exit::Done)
}

fn exists(out: &Path) -> CommandError {
    CommandError::new(Exit::Refused, format!("{}: exists; nothing was written", out.display()))
        .hint("name another file with --out")
}

/// Copies to `out` by way of a temporary file beside it: 0600, whole or not there, and never over anything.
fn publish(from: &Path, out: &Path) -> Result<(), CommandError> {
    let directory = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fault = |error: std::io::Error| disk(out, &error);
    let mut staged = tempfile::Builder::new().prefix(".carlosctl-pull-").tempfile_in(directory).map_err(fault)?;
    let mut source = std::fs::File::open(from).map_err(fault)?;
    std::io::copy(&mut source, staged.as_file_mut()).map_err(fault)?;
    staged.as_file().sync_all().map_err(fault)?;
    staged.persist_noclobber(out).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(out),
        _ => disk(out, &error.error),
    })?;
    std::fs::File::open(directory).and_then(|directory| directory.sync_all()).map_err(fault)
}

impl Answer for Pulled {
    const SCHEMA: &'static str = "carlosctl.snapshot-pull/1";

    fn text(&self, _: Paper) -> String {
        format!(
            "wrote {} ({}, sha256 {}) from {} of {}\n",
            terminal::escape(&self.out.display().to_string()),
            terminal::bytes(self.object.bytes),
            self.sha256,
            terminal::escape(&self.at),
            self.label
        )
    }
}
