//! `carlosctl completions` and `carlosctl man`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::examples;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = examples::COMPLETIONS)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// A shell that can complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash, with bash-completion
    Bash,
    /// Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
    /// PowerShell
    #[value(name = "powershell")]
    PowerShell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = examples::MAN)]
pub struct ManArgs {
    /// Write one page a command into this directory, which must exist; pages of the same name are written over
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
