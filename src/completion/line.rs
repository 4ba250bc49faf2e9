//! A command that is still being typed, as far as it can be understood.

use std::collections::BTreeMap;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::cli::{Cli, Global};
use crate::platform::Label;

/// What is known of it.
#[derive(Debug)]
pub(super) struct Line {
    /// The settings that were typed.
    pub(super) global: Global,
    /// Variables that were set for this command alone.
    pub(super) env: BTreeMap<String, String>,
    /// The box that was named.
    pub(super) label: Option<Label>,
}

impl Line {
    /// Reads what stands before the word at the cursor; `None` where it is no command of this program.
    pub(super) fn read(text: &str, home: Option<&str>) -> Option<Self> {
        let mut words = words(text, home);
        words.pop();
        let is_program = |word: &String| word.rsplit('/').next() == Some("carlosctl");
        let program = words.iter().position(is_program)?;
        let assignments = words[..program].iter().filter_map(|word| word.split_once('='));
        let env = assignments.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let matches = Cli::command().ignore_errors(true).try_get_matches_from(&words[program..]).ok()?;
        let global = Global::from_arg_matches(&matches).ok()?;
        Some(Self { global, env, label: label(&matches) })
    }
}

/// The box that the innermost command was given.
fn label(matches: &ArgMatches) -> Option<Label> {
    if let Some((_, inner)) = matches.subcommand()
        && let Some(label) = label(inner)
    {
        return Some(label);
    }
    let of = |id: &str| matches.try_get_one::<Label>(id).ok().flatten().cloned();
    of("label").or_else(|| of("from_box"))
}

/// The words of the last command of a line as a shell would split it, the one at the cursor last: quotes and backslashes are
/// removed, `~/` is the home directory, and variables stay as they are typed, because their values are the shell's.
fn words(text: &str, home: Option<&str>) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut is_empty = true;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let blank = quote.is_none() && character.is_whitespace() && character != '\n';
        if blank && !is_empty {
            words.push(String::new());
        }
        if blank {
            is_empty = true;
            continue;
        }
        let starts = std::mem::replace(&mut is_empty, false);
        let Some(word) = words.last_mut() else { return words };
        match (quote, character) {
            (None, ';' | '|' | '&' | '\n' | '(') => {
                words = vec![String::new()];
                is_empty = true;
            }
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None | Some('"'), '\\') => word.extend(characters.next()),
            (None, '~') if starts && characters.peek() == Some(&'/') => word.push_str(home.unwrap_or("~")),
            _ => word.push(character),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Line {
        Line::read(text, Some("/u")).expect("a command of ours")
    }

    #[test]
    fn a_line_is_split_as_a_shell_would() {
        for (text, split) in [
            ("", vec![""]),
            ("a", vec!["a"]),
            ("a  b ", vec!["a", "b", ""]),
            (r#"a 'b c' "d \" e" f\ g '"#, vec!["a", "b c", "d \" e", "f g", ""]),
            ("x; y | a b", vec!["a", "b"]),
            ("a ';' b", vec!["a", ";", "b"]),
            ("~/a ~b c~/d", vec!["/u/a", "~b", "c~/d"]),
            ("a '' b", vec!["a", "", "b"]),
            ("a \\", vec!["a", ""]),
        ] {
            assert_eq!(words(text, Some("/u")), split, "{text:?}");
        }
    }

    #[test]
    fn settings_and_the_box_are_found_wherever_they_stand() {
        let line = read("cd /; X=1 CARLOS_BOX_LABEL=e sudo /usr/bin/carlosctl --dir '/a b' snapshot show --box edge-a1 --at ");
        assert_eq!(line.global.dir.as_deref(), Some(std::path::Path::new("/a b")));
        assert_eq!(line.label.expect("a label").as_str(), "edge-a1");
        assert_eq!(line.env["CARLOS_BOX_LABEL"], "e");
        let line = read("carlosctl restore --from-box=edge-a1 --bucket dep --at 2026");
        assert_eq!((line.global.bucket.as_deref(), line.label.expect("a label").as_str()), (Some("dep"), "edge-a1"));
        let line = read("carlosctl snapshot hold release --box edge-a1 --host-env ~/host.env ");
        assert_eq!(line.global.host_env.as_deref(), Some(std::path::Path::new("/u/host.env")));
        assert_eq!(line.label.expect("a label").as_str(), "edge-a1");
    }

    #[test]
    fn what_is_wrong_or_missing_hides_nothing_else() {
        let line = read("carlosctl snapshot diff --box edge-a1 --dir /d --nonsense current --box ");
        assert_eq!(line.label.map(|label| label.to_string()).as_deref(), Some("edge-a1"));
        let line = read("carlosctl snapshot show --dir /d --box '../x' --at ");
        assert_eq!(line.global.dir.as_deref(), Some(std::path::Path::new("/d")));
        assert!(line.label.is_none());
        assert!(Line::read("cat carlosctl.bash ", None).is_none());
        assert!(Line::read("", None).is_none());
        assert!(read("carlosctl ").label.is_none());
    }
}
