//! The list view as an operator sees it, as a picture for the README: the real demo, the real command, a clock that stands.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;

use carlosctl::exit::Exit;
use carlosctl::world::{Recorder, World};
use jiff::Timestamp;

/// The picture's path in the repository.
pub(crate) const PATH: &str = "docs/snapshot-list.svg";
/// The night it is of.
const NOW: &str = "2026-11-30T03:12:00Z";
/// How wide the terminal of the picture is.
const COLUMNS: u16 = 100;

/// The picture.
///
/// # Errors
/// When the demo or the list does not end with 0.
pub(crate) fn picture() -> Result<String, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let directory = tempfile::tempdir()?;
    let night = directory.path().join("night");
    let settings = night.join("host.env");
    runtime.block_on(run(&["demo".into(), "--keep".into(), "--dir".into(), night.into_os_string()]))?;
    let listed =
        runtime.block_on(run(&["--host-env".into(), settings.clone().into_os_string(), "snapshot".into(), "list".into()]))?;
    // As on a box, whose settings are where they belong and need not be named.
    let listed = listed.replace(&format!(" --host-env={}", settings.display()), "");
    let shown = format!("$ carlosctl snapshot list\n{listed}");
    let svg = anstyle_svg::Term::new().render_svg(&shown);
    // No blanks at line ends are checked in.
    let lines: Vec<&str> = svg.lines().map(str::trim_end).collect();
    Ok(lines.join("\n") + "\n")
}

/// What a command says on standard output, at a terminal.
async fn run(args: &[OsString]) -> Result<String, Box<dyn Error>> {
    let now: Timestamp = NOW.parse()?;
    let env = [("TERM", "xterm"), ("LANG", "C.UTF-8")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (out, err) = (Recorder::default(), Recorder::default());
    let mut world = World::scripted(BTreeMap::from(env), move || now, &out, &err);
    world.terminal.stdout = true;
    world.terminal.columns = Some(COLUMNS);
    let typed = std::iter::once("carlosctl".into()).chain(args.iter().cloned());
    match carlosctl::run(typed, &mut world).await {
        Exit::Done => Ok(out.text()),
        exit => Err(format!("{args:?} ended with {}: {}", exit.code(), err.text()).into()),
    }
}
