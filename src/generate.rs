//! Everything that is generated from the program itself: completions, manual pages, and the two pages of the runbooks that
//! are tables of the code.
//!
//! All of it is checked in, so that a package needs no build to have it. `cargo run --example generate` writes it again, and
//! a test compares. Nothing here reads a setting: completions must work on a machine whose settings are broken.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::cli::Cli;
use crate::cli::generate::{ManArgs, Shell};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::finding::Code;
use crate::snapshot::disk;

const NAME: &str = "carlosctl";

/// Every generated file: its path in the repository, and what is in it.
///
/// # Errors
/// Only when a page cannot be rendered.
pub fn files() -> io::Result<Vec<(PathBuf, String)>> {
    let shells = [
        (Shell::Bash, "carlosctl.bash"),
        (Shell::Zsh, "_carlosctl"),
        (Shell::Fish, "carlosctl.fish"),
        (Shell::PowerShell, "_carlosctl.ps1"),
    ];
    let completions = shells.into_iter().map(|(shell, name)| (Path::new("completions").join(name), completions(shell)));
    let pages = man_pages()?.into_iter().map(|(name, page)| (Path::new("man").join(name), page));
    let runbooks = [("findings.md", findings_page()), ("exit-codes.md", exit_codes_page())];
    let runbooks = runbooks.into_iter().map(|(name, page)| (Path::new("runbooks").join(name), page));
    Ok(completions.chain(pages).chain(runbooks).collect())
}

/// The completions of a shell.
#[must_use]
pub fn completions(shell: Shell) -> String {
    tidy(crate::completion::script(shell).as_bytes())
}

/// One page for the program and one for every command, by file name.
///
/// # Errors
/// Only when a page cannot be rendered.
pub fn man_pages() -> io::Result<Vec<(String, String)>> {
    let mut program = Cli::command();
    program.build();
    let mut pages = Vec::new();
    add_pages(&program, &mut pages)?;
    pages.sort();
    Ok(pages)
}

fn add_pages(command: &clap::Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    let is_program = command.get_name() == NAME;
    // The settings that every command takes are told on one page, there with their whole help.
    let told = command
        .clone()
        .mut_args(|arg| if arg.is_global_set() && !is_program { arg.hide(true) } else { arg.hide_short_help(false) });
    let man = clap_mangen::Man::new(told).manual(NAME).source(concat!("carlosctl ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    // What stands there is examples, and is called so. The date that it does not have must have a place, else the version is
    // taken for it.
    let mut page = tidy(&page).replace("\n.SH EXTRA\n", "\n.SH EXAMPLES\n").replacen(" 1  \"", " 1 \"\" \"", 1);
    if !is_program {
        page.push_str(".SH SEE ALSO\n\\fBcarlosctl\\fR(1), for the settings that every command takes\n");
    }
    pages.push((man.get_filename(), page));
    command.get_subcommands().filter(|command| !command.is_hide_set()).try_for_each(|command| add_pages(command, pages))
}

/// Generators leave blanks at line ends; what is checked in has none.
fn tidy(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim_end())
}

/// `runbooks/findings.md`.
#[must_use]
pub fn findings_page() -> String {
    let mut page = String::from(
        "# Findings\n\n\
         <!-- Written by `cargo run --example generate` from src/finding_codes.rs. -->\n\n\
         Every check yields findings. This is the whole list; scripts may match on the codes. `carlosctl help findings` prints\n\
         the same at a terminal. A finding is a *note*, a *warning*, or *blocking*; a blocking one stops the command, unless its\n\
         code may be allowed and was, by name: `--allow CODE`. There is no way to allow everything.\n\n\
         **When**: a command printed a code, and you want to know what it means and what to do.\n\n\
         **Time**: seconds.\n",
    );
    for code in Code::ALL {
        let told = code.page();
        let allow = if code.overridable() { format!("`--allow {code}`, where it blocks") } else { "never".to_owned() };
        page.push_str(&format!(
            "\n## {code}\n\n- Means: {}.\n- Evidence: {}.\n- Do: {}.\n- Allowed: {allow}.\n",
            plain(told.means),
            plain(told.evidence),
            plain(told.action)
        ));
    }
    page
}

/// Text that Markdown shows as it stands: `<box>` is no tag.
fn plain(text: &str) -> String {
    text.replace('<', "\\<").replace('*', "\\*")
}

/// `runbooks/exit-codes.md`.
#[must_use]
pub fn exit_codes_page() -> String {
    let mut page = String::from(
        "# Exit codes\n\n\
         <!-- Written by `cargo run --example generate` from src/exit.rs. -->\n\n\
         A code never changes its meaning. `carlosctl help exit-codes` prints the same at a terminal; with `--json` a failure\n\
         names its kind in one line on standard error.\n\n\
         **When**: a command did not end with 0, or a script is to act on how it ends.\n\n\
         **Time**: seconds.\n\n\
         | code | kind | meaning |\n|---:|---|---|\n",
    );
    for exit in Exit::ALL {
        page.push_str(&format!("| {} | {} | {} |\n", exit.code(), exit.kind(), exit.meaning()));
    }
    page.push_str("\nAny other code is a failure.\n");
    page
}

/// Runs `carlosctl completions`.
///
/// # Errors
/// Only when standard output cannot be written; a closed pipe is no error.
pub(crate) fn print_completions(shell: Shell, out: &mut dyn Write) -> Result<Exit, CommandError> {
    print(&completions(shell), out)
}

/// Runs `carlosctl man`.
///
/// # Errors
/// The local disk's, or standard output's.
pub(crate) fn man(args: &ManArgs, out: &mut dyn Write) -> Result<Exit, CommandError> {
    let pages = man_pages().map_err(|error| CommandError::new(Exit::Unexpected, error.to_string()))?;
    let Some(directory) = &args.out else {
        let own = format!("{NAME}.1");
        let page = pages.into_iter().find(|(name, _)| *name == own).map(|(_, page)| page).unwrap_or_default();
        return print(&page, out);
    };
    for (name, page) in &pages {
        let path = directory.join(name);
        write_page(directory, &path, page).map_err(|error| disk(&path, &error))?;
    }
    print(
        &format!("wrote {} manual pages into {}\n", pages.len(), crate::terminal::escape(&directory.display().to_string())),
        out,
    )
}

/// Whole or not at all, readable by everybody, and never through a link that has the page's name.
fn write_page(directory: &Path, path: &Path, page: &str) -> io::Result<()> {
    let mut staged =
        tempfile::Builder::new().prefix(".carlosctl-man-").permissions(Permissions::from_mode(0o644)).tempfile_in(directory)?;
    staged.write_all(page.as_bytes())?;
    staged.persist(path)?;
    Ok(())
}

/// Prints text to standard output.
///
/// # Errors
/// Only when standard output cannot be written; a closed pipe is no error.
pub(crate) fn print(text: &str, out: &mut dyn Write) -> Result<Exit, CommandError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(Exit::Unexpected, format!("standard output: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}
