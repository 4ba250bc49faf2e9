//! The settings that were typed, as they can be typed again: for a runbook's commands, its transcript, and lines to copy.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::{Parser, ValueEnum};

use crate::cli::{Cli, Global};
use crate::error::CommandError;

/// The settings that were typed, one word each. Paths are whole, because a walk may go on in another directory.
pub(crate) fn typed(global: &Global) -> Vec<OsString> {
    let mut flags = Vec::new();
    let mut push = |flag: &str, value: Option<&OsStr>| {
        if let Some(value) = value {
            let mut whole = OsString::from(format!("--{flag}="));
            whole.push(value);
            flags.push(whole);
        }
    };
    let text = |value: &Option<String>| value.as_ref().map(OsString::from);
    let path = |value: &Option<_>| value.as_deref().map(whole);
    push("bucket", text(&global.bucket).as_deref());
    push("dir", path(&global.dir).as_deref());
    push("endpoint-url", text(&global.endpoint_url).as_deref());
    push("region", text(&global.region).as_deref());
    push("status-bucket", text(&global.status_bucket).as_deref());
    push("status-dir", path(&global.status_dir).as_deref());
    push("status-prefix", text(&global.status_prefix).as_deref());
    push("this-box", text(&global.this_box).as_deref());
    push("registry", path(&global.registry).as_deref());
    for unit in &global.agent_unit {
        push("agent-unit", Some(OsStr::new(unit)));
    }
    push("host-env", path(&global.host_env).as_deref());
    push("concurrency", global.concurrency.map(|number| OsString::from(number.to_string())).as_deref());
    push("timeout", global.timeout.map(|limit| OsString::from(format!("{}ms", limit.as_millis()))).as_deref());
    let color = global.color.and_then(|color| color.to_possible_value());
    push("color", color.map(|color| OsString::from(color.get_name())).as_deref());
    flags
}

/// A path from the root on.
pub(crate) fn whole(path: &Path) -> OsString {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into_os_string()
}

/// `global` with the settings of an earlier run behind what was typed for this one.
///
/// # Errors
/// Usage, when the earlier ones are no settings, or one of them was not kept.
pub(crate) fn remembered(earlier: &[String], global: &Global) -> Result<Global, CommandError> {
    let now = typed(global);
    let is_typed = |flag: &&String| now.iter().any(|typed| setting(typed) == setting(OsStr::new(flag)));
    let kept: Vec<&String> = earlier.iter().filter(|flag| !is_typed(flag)).collect();
    if let Some(flag) = kept.iter().find(|flag| !flag.contains('=')) {
        let because = format!("{flag} has a password in it, which the transcript did not keep; nothing was run");
        return Err(CommandError::usage(because).hint(format!("type it again: carlosctl {flag}=… runbook run --resume …")));
    }
    let line = ["carlosctl", "runbook", "list"].map(OsString::from).into_iter();
    let line = line.chain(kept.into_iter().map(OsString::from)).chain(now.iter().cloned());
    let cli = Cli::try_parse_from(line)
        .map_err(|error| CommandError::usage(format!("the transcript's settings: {}", error.kind())))?;
    Ok(Global { json: global.json, no_input: global.no_input, quiet: global.quiet, verbose: global.verbose, ..cli.global })
}

/// What a flag sets. A directory that is typed is instead of a bucket.
fn setting(flag: &OsStr) -> &[u8] {
    match flag.as_bytes().split(|byte| *byte == b'=').next().unwrap_or_default() {
        b"--dir" => b"--bucket",
        b"--status-dir" => b"--status-bucket",
        name => name,
    }
}

/// A word as it is typed in a shell: as it is where that is safe, else in quotes.
pub(crate) fn word(word: &OsStr) -> OsString {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:/@+,=%-".contains(byte);
    if !word.is_empty() && word.as_bytes().iter().all(is_plain) {
        return word.to_owned();
    }
    let mut line = OsString::new();
    quote(&mut line, word);
    line
}

/// Quotes for `sh`, whatever is in it.
pub(crate) fn quote(line: &mut OsString, word: &OsStr) {
    line.push("'");
    for (number, part) in word.as_bytes().split(|byte| *byte == b'\'').enumerate() {
        if number > 0 {
            line.push("'\\''");
        }
        line.push(OsStr::from_bytes(part));
    }
    line.push("'");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(typed: &[&str]) -> Global {
        Cli::try_parse_from(["carlosctl", "runbook", "list"].iter().chain(typed)).expect("it parses").global
    }

    #[test]
    fn what_is_typed_now_is_instead_of_what_was_typed_before() {
        let earlier = [
            "--dir=/a",
            "--host-env=/b c",
            "--this-box=x",
            "--agent-unit=u",
            "--agent-unit=v",
            "--timeout=2000ms",
            "--color=never",
        ]
        .map(str::to_owned);
        let both = remembered(&earlier, &global(&["--bucket", "dep", "--this-box", "y", "--json"])).expect("settings");
        assert_eq!((both.dir.as_deref(), both.bucket.as_deref()), (None, Some("dep")));
        assert_eq!(both.host_env.as_deref(), Some(Path::new("/b c")));
        assert_eq!((both.this_box.as_deref(), both.agent_unit.len(), both.json), (Some("y"), 2, true));
        assert_eq!(typed(&both)[typed(&both).len() - 2..], ["--timeout=2000ms", "--color=never"]);
        assert!(remembered(&["--unattended".to_owned()], &global(&[])).is_err());
    }

    #[test]
    fn a_word_is_quoted_where_it_has_to_be() {
        for (plain, typed) in [("/a/b-1.env", "/a/b-1.env"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("~", "'~'")]
        {
            assert_eq!(word(OsStr::new(plain)), typed);
        }
    }
}
