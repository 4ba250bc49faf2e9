//! Commands to type next, with the settings that were typed this time.
//!
//! A hint says `carlosctl restore watch`; whoever named the deployment with a flag would be asked for it again, or worse, look at
//! another one. So every command that is proposed gets the flags that say which deployment and which machine is meant.

use std::borrow::Cow;

use crate::cli::Global;
use crate::flags::{typed, word};
use crate::store::without_password;

const PROGRAM: &str = "carlosctl ";
/// How the line of a document begins on which a hint stands.
const HINT: &str = "\"hint\": ";
/// The commands that read settings. A runbook's walk proposes its own continuation, with what its transcript does not remember.
const COMMANDS: [&str; 7] = ["snapshot", "restore", "retention", "report", "box", "drill", "doctor"];

/// The flags that say neither which deployment nor which machine is meant.
const BESIDE: [&str; 3] = ["--concurrency=", "--timeout=", "--color="];

/// The flags that were typed, as they are typed again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Again(String);

impl Again {
    /// Those that say which deployment and which machine is meant.
    pub(crate) fn of(global: &Global) -> Self {
        let mut flags = String::new();
        for flag in typed(global) {
            let shown = word(&flag);
            let shown = shown.to_string_lossy();
            let says_where = !BESIDE.iter().any(|beside| shown.starts_with(beside));
            // A password that was typed is not typed for anybody who looks at the screen.
            if says_where && without_password(&shown) == shown {
                flags.push_str(&shown);
                flags.push(' ');
            }
        }
        Self(flags)
    }

    /// `text` as it would be had no flag been typed: what commands that were given these flags propose, on a runbook's page.
    pub(crate) fn without(&self, text: &str) -> String {
        text.replace(&format!("{PROGRAM}{}", self.0), PROGRAM)
    }

    /// `text` with the flags in every command that it proposes.
    pub(crate) fn within<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.is_empty() || !text.contains(PROGRAM) {
            return Cow::Borrowed(text);
        }
        let mut within = String::with_capacity(text.len() + self.0.len());
        let mut rest = text;
        while let Some(at) = rest.find(PROGRAM) {
            let (before, after) = rest.split_at(at + PROGRAM.len());
            within.push_str(before);
            if is_command(&before[..at], after) {
                within.push_str(&self.0);
            }
            rest = after;
        }
        within.push_str(rest);
        Cow::Owned(within)
    }

    /// A document as we print it, a member a line, with the flags in every command that a `hint` of it proposes. What else is
    /// in it is data, and stays as it is.
    pub(crate) fn within_hints(&self, document: String) -> String {
        if self.0.is_empty() || !document.contains(PROGRAM) {
            return document;
        }
        let hint = |line: &str| {
            let (indent, text) = line.split_once(HINT).filter(|(indent, _)| indent.trim().is_empty())?;
            let (text, comma) = text.strip_suffix(',').map_or((text, ""), |text| (text, ","));
            let text: String = serde_json::from_str(text).ok()?;
            Some(format!("{indent}{HINT}{}{comma}", serde_json::Value::from(self.within(&text))))
        };
        let lines: Vec<Cow<'_, str>> =
            document.split('\n').map(|line| hint(line).map_or(Cow::Borrowed(line), Cow::Owned)).collect();
        lines.join("\n")
    }
}

/// Whether a word of its own is followed by a command that reads settings.
fn is_command(before: &str, after: &str) -> bool {
    let own = before.chars().next_back().is_none_or(|last| last.is_whitespace() || last == '(');
    let word = after.split(|end: char| !end.is_ascii_lowercase()).next().unwrap_or_default();
    own && COMMANDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_proposed_gets_the_flags_that_were_typed() {
        let again = Again("--host-env '/tmp/a b' ".to_owned());
        for (text, within) in [
            ("prove it: carlosctl restore watch", "prove it: carlosctl --host-env '/tmp/a b' restore watch"),
            (
                "carlosctl snapshot hold\ncarlosctl restore",
                "carlosctl --host-env '/tmp/a b' snapshot hold\ncarlosctl --host-env '/tmp/a b' restore",
            ),
            ("carlosctl help findings", "carlosctl help findings"),
            ("control/carlosctl box", "control/carlosctl box"),
            ("carlosctl boxes", "carlosctl boxes"),
            ("systemctl stop carlosctl-box.service", "systemctl stop carlosctl-box.service"),
            ("carlosctl --host-env x restore", "carlosctl --host-env x restore"),
        ] {
            assert_eq!(again.within(text), within);
        }
        assert_eq!(again.without(&again.within("a: carlosctl restore watch")), "a: carlosctl restore watch");
        let none = Again::default();
        assert_eq!(
            (none.within("carlosctl box run"), none.without("carlosctl box run").as_str()),
            ("carlosctl box run".into(), "carlosctl box run")
        );
    }

    #[test]
    fn a_documents_hints_get_them_and_its_data_does_not() {
        let again = Again("--host-env '/tmp/\"a b' ".to_owned());
        let document = |hint: &str| {
            let findings = serde_json::json!([{"hint": hint, "subject": "carlosctl restore"}, {"hint": "see\nit"}]);
            let whole = serde_json::json!({"because": "\"hint\": carlosctl restore", "findings": findings});
            serde_json::to_string_pretty(&whole).expect("JSON")
        };
        let within = again.within_hints(document("prove it: carlosctl restore watch"));
        assert_eq!(within, document("prove it: carlosctl --host-env '/tmp/\"a b' restore watch"));
        assert_eq!(Again::default().within_hints(document("carlosctl restore")), document("carlosctl restore"));
    }

    #[test]
    fn a_password_that_was_typed_is_not_proposed() {
        let of = |flags: &[&str]| {
            let typed = ["carlosctl", "doctor"].iter().chain(flags);
            Again::of(&<crate::cli::Cli as clap::Parser>::try_parse_from(typed).expect("it parses").global)
        };
        let endpoint = "--endpoint-url=http://user:secret@h:9000";
        assert_eq!(of(&[endpoint, "--bucket", "dep", "--timeout", "2s"]), Again("--bucket=dep ".to_owned()));
        let plain = Again("--bucket=dep --endpoint-url=http://h:9000 ".to_owned());
        assert_eq!(of(&["--endpoint-url=http://h:9000", "--bucket", "dep"]), plain);
    }
}
