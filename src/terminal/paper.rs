//! What a text is made for: how wide the paper is, which characters it can show, and whether it shows colour.

use std::collections::BTreeMap;

use super::Facts;

/// What an answer is written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Paper {
    /// How many columns it has; `None` where nobody knows, and lines are as long as they are.
    pub columns: Option<u16>,
    /// Whether it shows more than ASCII. Never where standard output is no terminal: what is piped has the same bytes in every
    /// locale.
    pub unicode: bool,
}

impl Paper {
    /// The paper that standard output is.
    #[must_use]
    pub fn of(terminal: Facts, env: &BTreeMap<String, String>) -> Self {
        Self { columns: terminal.columns, unicode: terminal.stdout && !is_dumb(env) && is_utf8(env) }
    }
}

/// Whether a stream shows colour: as was asked for, else at a terminal that can and an operator who did not say no
/// (<https://no-color.org>).
#[must_use]
pub fn shows_colour(asked: Option<bool>, is_terminal: bool, env: &BTreeMap<String, String>) -> bool {
    let said_no = || env.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    asked.unwrap_or_else(|| is_terminal && !said_no() && !is_dumb(env))
}

/// A terminal that does not say what it is can do as little as one that says it is dumb.
fn is_dumb(env: &BTreeMap<String, String>) -> bool {
    env.get("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// As the C library chooses: the first of these that is set.
fn is_utf8(env: &BTreeMap<String, String>) -> bool {
    let chosen = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.get(name).filter(|value| !value.is_empty()));
    chosen.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn more_than_ascii_is_for_a_terminal_whose_locale_has_it() {
        let unicode = |stdout, pairs: &[(&str, &str)]| {
            let facts = Facts { stdin: stdout, stdout, stderr: true, columns: None };
            Paper::of(facts, &env(pairs)).unicode
        };
        assert!(unicode(true, &[("TERM", "xterm"), ("LANG", "de_DE.UTF-8")]));
        assert!(unicode(true, &[("TERM", "xterm"), ("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!unicode(true, &[("TERM", "xterm"), ("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(!unicode(true, &[("TERM", "dumb"), ("LANG", "de_DE.UTF-8")]));
        assert!(!unicode(true, &[("TERM", "xterm")]));
        assert!(!unicode(false, &[("TERM", "xterm"), ("LANG", "de_DE.UTF-8")]));
    }

    #[test]
    fn colour_is_shown_as_asked_and_else_where_nobody_minds() {
        let xterm = env(&[("TERM", "xterm"), ("NO_COLOR", "")]);
        assert!(shows_colour(None, true, &xterm));
        assert!(!shows_colour(None, false, &xterm));
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "")] {
            let mut env = xterm.clone();
            env.insert(name.to_owned(), value.to_owned());
            assert!(!shows_colour(None, true, &env), "{name}={value}");
            assert!(shows_colour(Some(true), false, &env));
        }
        assert!(!shows_colour(Some(false), true, &xterm));
        assert!(!shows_colour(None, true, &BTreeMap::new()));
    }
}
