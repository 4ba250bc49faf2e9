//! The file of a box's settings: `KEY=VALUE` lines, as systemd's `EnvironmentFile` reads them.

use std::collections::BTreeMap;

/// Reads a `host.env`: `KEY=VALUE` lines, comments, quotes as systemd's `EnvironmentFile` reads them.
///
/// # Errors
/// A text that names the line which is not an assignment.
pub fn parse_host_env(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut values = BTreeMap::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line_number = 0;
    while !rest.is_empty() {
        let (line, after) = logical_line(rest);
        let first_line = line_number + 1;
        line_number += rest[..rest.len() - after.len()].matches('\n').count().max(1);
        rest = after;
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = trimmed.split_once('=').ok_or_else(|| format!("line {first_line}: no '=' in it"))?;
        let name = name.trim();
        let name = name.strip_prefix("export ").map_or(name, str::trim);
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            // Not the text itself: a value that was broken in two may be a secret.
            return Err(format!("line {first_line}: what stands before the '=' is not a variable name"));
        }
        values.insert(name.to_owned(), unquote(value.trim_start()));
    }
    Ok(values)
}

/// One line, joined with the next where it ends in a backslash or inside quotes; and what follows.
fn logical_line(text: &str) -> (&str, &str) {
    let comment = text.trim_start_matches([' ', '\t']).starts_with(['#', ';']);
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quote != Some(b'\'') && !comment => escaped = true,
            b'\n' if quote.is_none() || comment => return (&text[..at], &text[at + 1..]),
            b'\'' | b'"' if comment => {}
            b'\'' | b'"' if quote == Some(byte) => quote = None,
            b'\'' | b'"' if quote.is_none() => quote = Some(byte),
            _ => {}
        }
    }
    (text, "")
}

/// Removes quotes and backslashes as systemd does; unquoted trailing blanks are dropped.
fn unquote(text: &str) -> String {
    let mut value = String::new();
    let mut kept = 0;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None | Some('"'), '\\') => match characters.next() {
                Some('\n') | None => {}
                Some(next) => value.push(next),
            },
            _ => value.push(character),
        }
        if quote.is_some() || !character.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::parse_host_env;

    #[test]
    fn host_env_reads_quotes_as_systemd_does() {
        let text = "# c \"\nA=1\nB=\"two words\" \nC='a\\b'\nD=x\\\ny\n\n;E=1\nF=\"a\\\"b\"\nG=a b  \n";
        let values = parse_host_env(text).expect("it reads");
        let get = |name: &str| values.get(name).map(String::as_str);
        assert_eq!(get("A"), Some("1"));
        assert_eq!(get("B"), Some("two words"));
        assert_eq!(get("C"), Some("a\\b"));
        assert_eq!(get("D"), Some("xy"));
        assert_eq!(get("E"), None);
        assert_eq!(get("F"), Some("a\"b"));
        assert_eq!(get("G"), Some("a b"));
        assert_eq!(parse_host_env("A=1\nnonsense\n"), Err("line 2: no '=' in it".to_owned()));
    }
}
