//! The scripts: clap's own, except that an argument whose values only the store knows asks the program for them.
//!
//! clap writes the same line for every argument whose values it does not know: complete file names. Where such a line belongs to
//! an argument of ours, it is put another way. A test counts that every argument was found, so a generator that words
//! its lines anew is noticed.

use std::collections::BTreeMap;

use clap::{Command, CommandFactory};
use clap_complete::Shell as Target;

use super::{Wanted, wanted};
use crate::cli::Cli;
use crate::cli::generate::Shell;

const NAME: &str = "carlosctl";

/// Asks at the cursor. Only what the line up to there says is given, so that settings on it count.
const BASH: &str = r#"
# What only the deployment knows: labels of boxes, and stamps. One second at most; nothing where it cannot be told.
_carlosctl_values() {
    carlosctl __complete "$1" "${COMP_LINE:0:COMP_POINT}" </dev/null 2>/dev/null
}
"#;

const ZSH: &str = r#"
# What only the deployment knows: labels of boxes, and stamps. One second at most; nothing where it cannot be told.
(( $+functions[_carlosctl_values] )) ||
_carlosctl_values() {
    local kind=$1
    shift
    local -a values
    values=(${(f)"$(carlosctl __complete $kind "$LBUFFER" </dev/null 2>/dev/null)"})
    compadd "$@" -V "$kind" -a values
}
(( $+functions[_carlosctl_boxes] )) || _carlosctl_boxes() { _carlosctl_values boxes "$@" }
(( $+functions[_carlosctl_snapshots] )) || _carlosctl_snapshots() { _carlosctl_values snapshots "$@" }
(( $+functions[_carlosctl_holds] )) || _carlosctl_holds() { _carlosctl_values holds "$@" }
"#;

const FISH: &str = r"
# What only the deployment knows: labels of boxes, and stamps. One second at most; nothing where it cannot be told.
function __fish_carlosctl_values
    carlosctl __complete $argv[1] (commandline -pc | string collect) </dev/null 2>/dev/null
end
";

/// The completions of a shell.
#[must_use]
pub(crate) fn script(shell: Shell) -> String {
    let target = match shell {
        Shell::Bash => Target::Bash,
        Shell::Zsh => Target::Zsh,
        Shell::Fish => Target::Fish,
        Shell::PowerShell => Target::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(target, &mut Cli::command(), NAME, &mut script);
    let script = String::from_utf8_lossy(&script);
    let known = Known::of(&Cli::command());
    match shell {
        Shell::Bash => bash(&script, &known),
        Shell::Zsh => zsh(&script, &known),
        Shell::Fish => fish(&script, &known),
        // Its scripts hold a fixed list of words for every command.
        Shell::PowerShell => script.into_owned(),
    }
}

/// The arguments whose values the store knows.
#[derive(Debug, Default)]
struct Known {
    /// By their long name, which means the same everywhere.
    flags: BTreeMap<String, Wanted>,
    /// Those without a flag: the words of their command, and their name.
    positionals: Vec<(Vec<String>, String, Wanted)>,
}

impl Known {
    fn of(program: &Command) -> Self {
        fn walk(command: &Command, words: &[String], known: &mut Known) {
            for (arg, wanted) in command.get_arguments().filter_map(|arg| Some((arg, wanted(arg)?))) {
                match arg.get_long() {
                    Some(long) => drop(known.flags.insert(long.to_owned(), wanted)),
                    None => known.positionals.push((words.to_vec(), arg.get_id().to_string(), wanted)),
                }
            }
            for command in command.get_subcommands() {
                let words: Vec<String> = words.iter().cloned().chain([command.get_name().to_owned()]).collect();
                walk(command, &words, known);
            }
        }
        let mut known = Self::default();
        walk(program, &[], &mut known);
        known
    }
}

fn bash(script: &str, known: &Known) -> String {
    const FILES: &str = r#"COMPREPLY=($(compgen -f "${cur}"))"#;
    const WORDS: &str = r#"            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )"#;
    let positional: BTreeMap<String, Wanted> = known
        .positionals
        .iter()
        .map(|(words, _, wanted)| (format!("        {NAME}__subcmd__{})", words.join("__subcmd__")), *wanted))
        .collect();
    let mut lines: Vec<String> = Vec::new();
    let mut command = None;
    for line in script.lines() {
        if line.starts_with(&format!("        {NAME}__subcmd__")) {
            command = positional.get(line).copied();
        }
        let flag = lines.last().and_then(|before| before.trim().strip_prefix("--")?.strip_suffix(')'));
        match flag.and_then(|flag| known.flags.get(flag)) {
            Some(wanted) if line.trim() == FILES => {
                let indent = &line[..line.len() - line.trim_start().len()];
                lines.push(format!(
                    "{indent}COMPREPLY=($(compgen -W \"$(_carlosctl_values {})\" -- \"${{cur}}\"))",
                    wanted.word()
                ));
                continue;
            }
            _ => {}
        }
        match command {
            Some(wanted) if line == WORDS => lines.push(format!(
                "            COMPREPLY=( $(compgen -W \"$(_carlosctl_values {})\" -- \"${{cur}}\") )",
                wanted.word()
            )),
            _ => lines.push(line.to_owned()),
        }
    }
    format!("{}{BASH}", with_end(&lines))
}

fn zsh(script: &str, known: &Known) -> String {
    let positional: BTreeMap<&str, Wanted> =
        known.positionals.iter().map(|(_, name, wanted)| (name.as_str(), *wanted)).collect();
    let wanted = |line: &str| {
        let spec = line.strip_prefix('\'')?;
        // What it cannot be together with stands first.
        let spec = spec.strip_prefix('(').and_then(|spec| spec.split_once(')')).map_or(spec, |(_, spec)| spec);
        match spec.trim_start_matches('*').strip_prefix("--") {
            Some(flag) => known.flags.get(flag.split_once('=')?.0).copied(),
            None => positional.get(spec.trim_start_matches(':').split_once(" -- ")?.0).copied(),
        }
    };
    let lines: Vec<String> = script
        .lines()
        .map(|line| match (line.strip_suffix(r":_default' \"), wanted(line)) {
            (Some(line), Some(wanted)) => format!(r"{line}:_carlosctl_{}' \", wanted.word()),
            _ => line.to_owned(),
        })
        .collect();
    // The last lines run the completion, when the file is read as a function.
    let (script, end) = lines.split_at(lines.iter().rposition(|line| line.starts_with("if [ ")).unwrap_or(lines.len()));
    format!("{}{}\n{}", with_end(script).trim_end_matches('\n').to_owned() + "\n", ZSH, with_end(end))
}

fn fish(script: &str, known: &Known) -> String {
    let wanted = |line: &str| {
        let (_, rest) = line.split_once(" -l ")?;
        known.flags.get(rest.split_once(' ')?.0)
    };
    let mut lines: Vec<String> = script
        .lines()
        .map(|line| match (line.strip_suffix(" -r"), wanted(line)) {
            (Some(line), Some(wanted)) => format!("{line} -x -a '(__fish_carlosctl_values {})'", wanted.word()),
            _ => line.to_owned(),
        })
        .collect();
    // clap writes nothing for what has no flag.
    for (words, _, wanted) in &known.positionals {
        let Some((first, rest)) = words.split_first() else { continue };
        let seen: Vec<String> = rest.iter().map(|word| format!("; and __fish_seen_subcommand_from {word}")).collect();
        let seen = seen.concat();
        let line = format!(
            "complete -c {NAME} -n \"__fish_{NAME}_using_subcommand {first}{seen}\" -f -a '(__fish_carlosctl_values {})'",
            wanted.word()
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    format!("{}{FISH}", with_end(&lines))
}

fn with_end(lines: &[String]) -> String {
    format!("{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many flags and how many commands with something else than flags ask, at most so many commands deep.
    fn asking(command: &Command, depth: usize) -> (usize, usize) {
        let asks = || command.get_arguments().filter(|arg| wanted(arg).is_some());
        let flags = asks().filter(|arg| arg.get_long().is_some()).count();
        let mut found = (flags, usize::from(flags < asks().count()));
        for inner in command.get_subcommands().filter(|_| depth > 0) {
            let (flags, others) = asking(inner, depth - 1);
            found = (found.0 + flags, found.1 + others);
        }
        found
    }

    #[test]
    fn every_argument_that_only_the_store_knows_asks_in_every_script() {
        let count = |shell, word: &str| script(shell).matches(word).count();
        let (flags, others) = asking(&Cli::command(), 9);
        assert!(flags >= 15 && others == 2, "{flags} {others}");
        assert_eq!(count(Shell::Bash, "\"$(_carlosctl_values "), flags + others);
        let zsh = script(Shell::Zsh);
        let asks = |line: &&str| line.starts_with('\'') && line.contains(":_carlosctl_") && line.ends_with("' \\");
        let positionals = Known::of(&Cli::command()).positionals.len();
        assert_eq!(zsh.lines().filter(asks).count(), flags + positionals);
        // What is deeper has no lines of its own there.
        let (flags, _) = asking(&Cli::command(), 2);
        assert_eq!(count(Shell::Fish, "' -x -a '(__fish_carlosctl_values "), flags);
        assert_eq!(count(Shell::Fish, "\" -f -a '(__fish_carlosctl_values "), others);
        assert_eq!(count(Shell::PowerShell, "__complete"), 0);
    }
}
