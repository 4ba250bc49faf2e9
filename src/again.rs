//! Commands to type next, with the settings that were typed this time.
//!
//! A hint says `carlosctl restore watch`; whoever named the deployment with a flag would be asked for it again, or worse, look at
//! another one. So every command that is proposed gets the flags that say which deployment and which machine is meant.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::cli::Global;

const PROGRAM: &str = "carlosctl ";
/// The commands that read settings.
const COMMANDS: [&str; 8] = ["snapshot", "restore", "retention", "report", "box", "drill", "doctor", "runbook"];

/// The flags that were typed, as they are typed again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Again(String);

impl Again {
    /// Those that say which deployment and which machine is meant.
    pub(crate) fn of(global: &Global) -> Self {
        let mut flags = String::new();
        for word in typed(global) {
            flags.push_str(&quoted(&word));
            flags.push(' ');
        }
        Self(flags)
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
}

/// Whether a word of its own is followed by a command that reads settings.
fn is_command(before: &str, after: &str) -> bool {
    let own = before.chars().next_back().is_none_or(|last| last.is_whitespace() || last == '(');
    let word = after.split(|end: char| !end.is_ascii_lowercase()).next().unwrap_or_default();
    own && COMMANDS.contains(&word)
}

/// The flags of [`Global`] that name a place, as they were typed.
pub(crate) fn typed(global: &Global) -> Vec<OsString> {
    let mut flags = Vec::new();
    let mut push = |name: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            flags.push(OsString::from(format!("--{name}")));
            flags.push(value.to_owned());
        }
    };
    push("host-env", global.host_env.as_deref().map(AsRef::as_ref));
    push("bucket", global.bucket.as_deref().map(AsRef::as_ref));
    push("dir", global.dir.as_deref().map(AsRef::as_ref));
    push("endpoint-url", global.endpoint_url.as_deref().map(AsRef::as_ref));
    push("region", global.region.as_deref().map(AsRef::as_ref));
    push("status-bucket", global.status_bucket.as_deref().map(AsRef::as_ref));
    push("status-dir", global.status_dir.as_deref().map(AsRef::as_ref));
    push("status-prefix", global.status_prefix.as_deref().map(AsRef::as_ref));
    push("this-box", global.this_box.as_deref().map(AsRef::as_ref));
    push("registry", global.registry.as_deref().map(AsRef::as_ref));
    for unit in &global.agent_unit {
        push("agent-unit", Some(unit.as_ref()));
    }
    flags
}

/// A word for a shell: as it is where it can stand so, else in single quotes.
pub(crate) fn quoted(word: &OsStr) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(byte);
    let text = word.to_string_lossy();
    if !text.is_empty() && word.as_bytes().iter().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
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
                "carlosctl snapshot hold, then: carlosctl restore",
                "carlosctl --host-env '/tmp/a b' snapshot hold, then: carlosctl --host-env '/tmp/a b' restore",
            ),
            ("carlosctl help findings", "carlosctl help findings"),
            ("control/carlosctl box", "control/carlosctl box"),
            ("carlosctl boxes", "carlosctl boxes"),
            ("systemctl stop carlosctl-box.service", "systemctl stop carlosctl-box.service"),
            ("carlosctl --host-env x restore", "carlosctl --host-env x restore"),
        ] {
            assert_eq!(again.within(text), within);
        }
        assert_eq!(Again::default().within("carlosctl restore watch"), "carlosctl restore watch");
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        for (word, typed) in
            [("/etc/carlos/host.env", "/etc/carlos/host.env"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")]
        {
            assert_eq!(quoted(OsStr::new(word)), typed);
        }
    }
}
