//! The keys of an app (formats.md section 5): everything below `apps/<acct>/<app>/`.

use super::{APPS, is_segment};

/// The prefix of everything of an app.
#[must_use]
pub fn prefix(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/")
}

/// The app's retention record.
#[must_use]
pub fn retention_record(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/retention.json")
}

/// The app's pipeline.
#[must_use]
pub fn pipeline(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/pipeline.json")
}

/// The prefix of the app's releases.
#[must_use]
pub fn releases(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/releases/")
}

/// The prefix of everything of one release.
#[must_use]
pub fn release(account: &str, app: &str, version: &str) -> String {
    format!("{APPS}{account}/{app}/releases/{version}/")
}

/// The manifest of one release.
#[must_use]
pub fn manifest(account: &str, app: &str, version: &str) -> String {
    format!("{APPS}{account}/{app}/releases/{version}/manifest.json")
}

/// The prefix of the app's artifacts.
#[must_use]
pub fn artifacts(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/artifacts/")
}

/// One artifact, named by its content and shared between versions.
#[must_use]
pub fn artifact(account: &str, app: &str, sha256: &str) -> String {
    format!("{APPS}{account}/{app}/artifacts/{sha256}")
}

/// The prefix of the app's channel pointers.
#[must_use]
pub fn channels(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/channels/")
}

/// One channel's pointer; a channel's name may contain `/`.
#[must_use]
pub fn channel(account: &str, app: &str, channel: &str) -> String {
    format!("{APPS}{account}/{app}/channels/{channel}.json")
}

/// The prefix of the app's tags.
#[must_use]
pub fn tags(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/tags/")
}

/// One tag.
#[must_use]
pub fn tag(account: &str, app: &str, tag: &str) -> String {
    format!("{APPS}{account}/{app}/tags/{tag}.json")
}

/// The prefix of the app's provision records (seed `RecordsPrefix`).
#[must_use]
pub fn records(account: &str, app: &str) -> String {
    format!("{APPS}{account}/{app}/instances/")
}

/// One provision record.
#[must_use]
pub fn record(account: &str, app: &str, host: &str) -> String {
    format!("{APPS}{account}/{app}/instances/{host}.json")
}

/// What a key below an app's prefix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppKey<'a> {
    /// The retention record.
    RetentionRecord,
    /// The pipeline.
    Pipeline,
    /// The manifest of this version.
    Manifest(&'a str),
    /// Any other object of this version's release directory.
    ReleaseObject(&'a str),
    /// The artifact of this content.
    Artifact(&'a str),
    /// The pointer of this channel. Every `.json` below `channels/` is one, however oddly it is called.
    Channel(&'a str),
    /// This tag. Every `.json` below `tags/` is one, however oddly it is called.
    Tag(&'a str),
    /// The provision record of this host: one level below `instances/`, and `.json` (seed `appRecords`).
    Record(&'a str),
    /// Nothing that this program knows, and so nothing that it touches.
    Other,
}

/// Reads a key below [`APPS`]: the account, the app, and what it is of it.
#[must_use]
pub fn read(key: &str) -> Option<(&str, &str, AppKey<'_>)> {
    let (account, rest) = key.strip_prefix(APPS)?.split_once('/')?;
    let (app, rest) = rest.split_once('/')?;
    if !is_segment(account) || !is_segment(app) {
        return None;
    }
    let what = match rest.split_once('/') {
        None if rest == "retention.json" => AppKey::RetentionRecord,
        None if rest == "pipeline.json" => AppKey::Pipeline,
        Some(("releases", below)) => match below.split_once('/') {
            Some((version, "manifest.json")) if is_segment(version) => AppKey::Manifest(version),
            Some((version, name)) if is_segment(version) && !name.is_empty() => AppKey::ReleaseObject(version),
            _ => AppKey::Other,
        },
        Some(("artifacts", sha256)) if is_sha256(sha256) => AppKey::Artifact(sha256),
        Some(("channels", below)) => below.strip_suffix(".json").map_or(AppKey::Other, AppKey::Channel),
        Some(("tags", below)) => below.strip_suffix(".json").map_or(AppKey::Other, AppKey::Tag),
        Some(("instances", below)) => match below.strip_suffix(".json") {
            Some(host) if !host.is_empty() && !host.contains('/') => AppKey::Record(host),
            _ => AppKey::Other,
        },
        _ => AppKey::Other,
    };
    Some((account, app, what))
}

/// Whether `text` is a SHA-256 as artifacts are named by it: 64 lower-case hexadecimal digits.
#[must_use]
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_reads_back_as_what_it_was_spelled_as() {
        let sha256 = "0123456789abcdef".repeat(4);
        for (key, what) in [
            (retention_record("ops", "a&b"), AppKey::RetentionRecord),
            (pipeline("ops", "a&b"), AppKey::Pipeline),
            (manifest("ops", "a&b", "1.2.3+build.7"), AppKey::Manifest("1.2.3+build.7")),
            (release("ops", "a&b", "한글") + "sub/x", AppKey::ReleaseObject("한글")),
            (release("ops", "a&b", "v1") + "sub/manifest.json", AppKey::ReleaseObject("v1")),
            (artifact("ops", "a&b", &sha256), AppKey::Artifact(&sha256)),
            (channel("ops", "a&b", "canary/pr-7"), AppKey::Channel("canary/pr-7")),
            (channel("ops", "a&b", ""), AppKey::Channel("")),
            (tag("ops", "a&b", "v0.5.0"), AppKey::Tag("v0.5.0")),
            (record("ops", "a&b", "shop+eu.example"), AppKey::Record("shop+eu.example")),
            (releases("ops", "a&b") + "stray", AppKey::Other),
            (release("ops", "a&b", "..") + "x", AppKey::Other),
            (release("ops", "a&b", "v\n1") + "x", AppKey::Other),
            (releases("ops", "a&b") + "v1/", AppKey::Other),
            (artifacts("ops", "a&b") + "deadbeef", AppKey::Other),
            (channels("ops", "a&b") + "README", AppKey::Other),
            (tags("ops", "a&b") + "README", AppKey::Other),
            (records("ops", "a&b") + "x/y.json", AppKey::Other),
            (records("ops", "a&b") + ".json", AppKey::Other),
            (prefix("ops", "a&b") + "instances-config/h.json", AppKey::Other),
            (prefix("ops", "a&b") + "sub/retention.json", AppKey::Other),
        ] {
            assert_eq!(read(&key), Some(("ops", "a&b", what)), "{key}");
        }
        for key in ["apps/ops/retention.json", "apps//a/retention.json", "apps/../a/retention.json", "xapps/o/a/retention.json"]
        {
            assert_eq!(read(key), None, "{key}");
        }
    }
}
