//! One run: what was typed, to a command, to an exit code.

use std::ffi::OsString;
use std::io::Write;
use std::pin::Pin;

use clap::{CommandFactory, Parser};

use crate::again::Again;
use crate::cli::runbook::RunbookCommand;
use crate::cli::{Cli, Color, Command, Global};
use crate::completion::Question;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::terminal;
use crate::world::{Acting, World};

/// Runs the program on `args` (its own name first) and answers how it ended. Never panics on input; never exits by itself.
pub async fn run(args: impl IntoIterator<Item = OsString>, world: &mut World) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    if args.len() < 2 {
        let _ = write!(world.err, "{}", Cli::command().render_help());
        return Exit::Usage;
    }
    // Not a command: what the completion scripts ask while a command is typed, answered with 0 whatever comes of it.
    if let Some(question) = Question::read(&args) {
        Box::pin(question.answer(world)).await;
        return Exit::Done;
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return syntax(&error, &args, world),
    };
    let (json, colour) = (cli.global.json, cli.global.color.and_then(Color::asked));
    let again = Again::of(&cli.global);
    let result = match cli.command {
        // These read no settings, so that they work where settings are broken.
        Command::Completions(args) => crate::generate::print_completions(args.shell, world.out.as_mut()),
        Command::Man(args) => crate::generate::man(&args, world.out.as_mut()),
        Command::Help { topic } => help(&topic, world),
        typed => match context(&typed, &cli.global, world) {
            Ok(mut context) => {
                let acting = context.world.acting.clone();
                let stops_itself = matches!(typed, Command::Box(_) | Command::Runbook(RunbookCommand::Run(_)));
                let work = Box::pin(async {
                    // Before anything is asked or done, Ctrl-C is listened to.
                    tokio::task::yield_now().await;
                    command(typed, &cli.global, &mut context).await
                });
                until_interrupted(stops_itself, acting, work).await
            }
            Err(error) => Err(error),
        },
    };
    result.unwrap_or_else(|error| report(&error, json, colour, &again, world))
}

/// The settings of a run. A runbook is read where they are broken, too: it says how they are mended.
fn context<'w>(command: &Command, global: &Global, world: &'w mut World) -> Result<Context<'w>, CommandError> {
    match command {
        Command::Runbook(RunbookCommand::List | RunbookCommand::Show { .. }) => Context::of_flags(global, world),
        _ => Context::new(global, world),
    }
}

/// Ends a command at Ctrl-C: at once where nothing is half done, after what was consented to is done; the box half by its own
/// clean stop, which never lies between a current snapshot and its sidecar; a runbook when the command that it runs has ended.
async fn until_interrupted(
    stops_itself: bool,
    acting: Acting,
    mut work: Pin<Box<impl Future<Output = Result<Exit, CommandError>>>>,
) -> Result<Exit, CommandError> {
    tokio::select! {
        // First, so that what was finished is answered as finished.
        biased;
        result = &mut work => return result,
        () = acting.interrupted() => {}
    }
    if stops_itself {
        work.await?;
    }
    Err(CommandError::new(Exit::Interrupted, "interrupted"))
}

/// Which room answers which command.
async fn command(command: Command, global: &Global, context: &mut Context<'_>) -> Result<Exit, CommandError> {
    match command {
        Command::Snapshot(command) => Box::pin(crate::snapshot::run(&command, context)).await,
        Command::Restore(args) => Box::pin(crate::restore::run(&args, context)).await,
        Command::Retention(command) => Box::pin(crate::retention::run(&command, context)).await,
        Command::Report(command) => Box::pin(crate::report::run(&command, context)).await,
        Command::Box(command) => Box::pin(crate::box_half::run(&command, context)).await,
        Command::Drill(args) => Box::pin(crate::drill::run(&args, context)).await,
        Command::Doctor(args) => Box::pin(crate::doctor::run(&args, context)).await,
        Command::Demo(args) => Box::pin(crate::demo::run(&args, global.dir.as_deref(), context)).await,
        Command::Runbook(command) => Box::pin(crate::runbook::run(&command, global, context)).await,
        Command::Completions(args) => crate::generate::print_completions(args.shell, context.world.out.as_mut()),
        Command::Man(args) => crate::generate::man(&args, context.world.out.as_mut()),
        Command::Help { topic } => help(&topic, context.world),
    }
}

/// Help on a command, a topic or a code, to standard output.
fn help(topic: &[String], world: &mut World) -> Result<Exit, CommandError> {
    crate::generate::print(&crate::help::text(topic, world.terminal.columns)?, world.out.as_mut())
}

/// What clap has to say: help to standard output with 0, faults to standard error with 2.
fn syntax(error: &clap::Error, args: &[OsString], world: &mut World) -> Exit {
    if !error.use_stderr() {
        let _ = write!(world.out, "{}", error.render());
        return Exit::Done;
    }
    let _ = write!(world.err, "{}", error.render());
    // The flag may stand behind the fault, so what was typed is searched instead of what was parsed.
    if args.iter().any(|arg| arg == "--json") {
        let text = error.render().to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let _ = writeln!(world.err, "{}", json_line(&CommandError::usage(message), &Again::default()));
    }
    Exit::Usage
}

/// Prints an error for people, or as one JSON line.
fn report(error: &CommandError, json: bool, colour: Option<bool>, again: &Again, world: &mut World) -> Exit {
    // `| head` closes the pipe: that is a wish, not a fault.
    if json {
        let _ = writeln!(world.err, "{}", json_line(error, again));
    } else {
        let colour = terminal::shows_colour(colour, world.terminal.stderr, &world.env);
        let begin = terminal::state("error");
        let columns = world.terminal.columns.filter(|_| world.terminal.stderr);
        let line = terminal::wrap(&format!("{begin}: {}", terminal::escape(&error.message)), columns);
        let _ = writeln!(world.err, "{}", terminal::paint(&line, colour));
        for hint in &error.hints {
            let _ = writeln!(world.err, "hint: {}", terminal::escape(&again.within(hint)));
        }
    }
    error.exit
}

fn json_line(error: &CommandError, again: &Again) -> String {
    let hints: Vec<_> = error.hints.iter().map(|hint| again.within(hint)).collect();
    serde_json::json!({
        "schema": "carlosctl.error/1",
        "code": error.exit.code(),
        "kind": error.exit.kind(),
        "message": error.message,
        "hints": hints,
    })
    .to_string()
}
