//! A restore on the demo's deployment: the real commands, and what they really say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;

use super::boxes::{ALIVE, CLOBBERED, DEAD};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::world::{Recorder, World};

/// One command of the walk.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    /// Why it is run.
    about: String,
    /// As it would be typed.
    pub(super) command: String,
    /// How it ended.
    pub(super) exit: u8,
    /// How it has to end.
    #[serde(skip)]
    pub(super) expected: u8,
    /// Everything it said.
    output: String,
}

/// Runs the commands one after the other, showing each as it comes.
pub(super) async fn walk(root: &Path, context: &mut Context<'_>) -> Result<Vec<Step>, CommandError> {
    let installed = format!("file:{}", root.join("standby/registry.db").display());
    let script: [(&str, &[&str], Exit); 8] = [
        ("which boxes have snapshots, and which of them can be trusted?", &["snapshot", "list"], Exit::Done),
        (
            "the dead box: download and prove everything it left",
            &["snapshot", "verify", "--box", DEAD, "--all-generations"],
            Exit::Done,
        ),
        (
            "the clobbered box: freeze the evidence before the agent prunes it",
            &["snapshot", "hold", "--box", CLOBBERED],
            Exit::Done,
        ),
        ("the clobbered box cannot be restored as it is", &["restore", "--from-box", CLOBBERED, "--dry-run"], Exit::Refused),
        ("a living box is not restored from", &["restore", "--from-box", ALIVE, "--dry-run"], Exit::Refused),
        ("the dead box, up to the question", &["restore", "--from-box", DEAD, "--dry-run"], Exit::Done),
        (
            "the restore itself; the consent is the dead box's name",
            &["restore", "--from-box", DEAD, "--confirm", DEAD],
            Exit::Done,
        ),
        (
            "the proof: what is installed is what the dead box left",
            &["snapshot", "diff", "--box", DEAD, "current", &installed],
            Exit::Done,
        ),
    ];
    let mut steps = Vec::new();
    for (about, args, expected) in script {
        let step = step(root, about, args, expected, context).await;
        if !context.settings.json {
            context.print(&format!("\n# {}\n$ {}\n{}[exit {}]\n", step.about, step.command, step.output, step.exit))?;
        }
        steps.push(step);
    }
    Ok(steps)
}

async fn step(root: &Path, about: &str, args: &[&str], expected: Exit, context: &Context<'_>) -> Step {
    let said = Recorder::default();
    let host_env = root.join("host.env");
    // Nothing of the operator's own deployment may reach the demo.
    let env = context.world.env.get("PATH").map(|path| BTreeMap::from([("PATH".to_owned(), path.clone())])).unwrap_or_default();
    let now = context.now();
    let mut world = World::scripted(env, move || now, &said, &said);
    world.terminal.columns = context.world.terminal.columns;
    world.acting = context.world.acting.clone();
    let typed = ["carlosctl", "--host-env"]
        .iter()
        .map(OsString::from)
        .chain([host_env.into_os_string()])
        .chain(args.iter().map(OsString::from));
    let exit = Box::pin(crate::run(typed, &mut world)).await;
    drop(world);
    Step {
        about: about.to_owned(),
        command: format!("carlosctl {}", args.join(" ")),
        exit: exit.code(),
        expected: expected.code(),
        // The commands are shown without the settings that name this deployment, and so are those that they propose.
        output: said.text().replace(&format!(" --host-env={}", root.join("host.env").display()), ""),
    }
}
