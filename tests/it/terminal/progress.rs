//! What is seen of work that takes longer than a second, and where nothing is.

use std::time::Duration;

use crate::common::pty::Terminal;
use crate::common::scripted::{Reply, Scripted};
use crate::common::{Invocation, carlosctl};

const SNAPSHOT_BYTES: usize = 4096 * 1024;
const CURRENT: &str = "control/registry-snapshot/edge-a1.db";

/// A bucket that thinks for a while before the second page of the snapshots.
fn slow() -> Scripted {
    Scripted::start(|request| match request.parameter("prefix") {
        Some("control%2Fregistry-snapshot%2F") if request.parameter("continuation-token").is_none() => {
            Reply::page(&[(CURRENT, "e1"), ("control/registry-snapshot/edge-b2.db", "e2")], Some("t"))
        }
        Some("control%2Fregistry-snapshot%2F") => {
            std::thread::sleep(Duration::from_millis(2_500));
            Reply::page(&[], None)
        }
        Some(_) => Reply::page(&[], None),
        None => Reply::error(404, "NoSuchKey", "none"),
    })
}

/// A page with the snapshot, as large as it is.
fn listed(bytes: usize) -> Reply {
    Reply::new(
        200,
        format!(
            "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>{CURRENT}</Key><ETag>&quot;e1&quot;</ETag>\
             <Size>{bytes}</Size><LastModified>2026-11-15T00:00:00.000Z</LastModified></Contents>\
             <IsTruncated>false</IsTruncated></ListBucketResult>"
        ),
    )
}

/// A bucket whose one snapshot stops in the middle.
fn stalling() -> Scripted {
    Scripted::start(|request| {
        match (request.parameter("prefix"), request.path.ends_with("edge-a1.db"), request.method.as_str()) {
            (Some(prefix), _, _) if prefix.starts_with("control%2Fregistry-snapshot%2F") => listed(SNAPSHOT_BYTES),
            (Some(_), _, _) => Reply::page(&[], None),
            (None, true, "GET") => Reply::object(vec![0; SNAPSHOT_BYTES], "e1").stall_after(1024 * 1024),
            (None, true, _) => Reply::object(vec![0; SNAPSHOT_BYTES], "e1"),
            _ => Reply::error(404, "NoSuchKey", "none"),
        }
    })
}

fn asking(server: &Scripted, args: &[&str]) -> Invocation {
    carlosctl(args.iter().copied())
        .args(&["--bucket", "dep", "--endpoint-url", &server.endpoint, "--region", "r"])
        .env("AWS_ACCESS_KEY_ID", "k")
        .env("AWS_SECRET_ACCESS_KEY", "s")
        .env("TERM", "xterm")
}

#[test]
fn a_listing_that_is_slow_says_how_far_it_is() {
    let server = slow();
    let list = |args: &[&str]| asking(&server, &[&["snapshot", "list", "--as-of", "2026-11-30T12:00:00Z"], args].concat());
    let (code, said) = Terminal::wide(100, &list(&[]).into_terminal_command()).end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("looking: 2 listed, 0 read; 1 s so far"), "{said:?}");
    // It is gone when the answer comes, and the answer is whole.
    let (_, after) = said.rsplit_once("so far").expect("it was said");
    assert!(after.contains("\u{1b}[2K") && after.contains("BOX"), "{after:?}");
    for quiet in ["--quiet", "--json"] {
        let (code, said) = Terminal::wide(100, &list(&[quiet]).into_terminal_command()).end();
        assert_eq!(code, 0, "{said}");
        assert!(!said.contains("looking") && !said.contains("\u{1b}[2K"), "{said:?}");
    }
    let piped = list(&[]).run();
    assert_eq!((piped.code, piped.stderr.as_str()), (0, ""), "{piped}");
}

#[test]
fn a_transfer_says_size_rate_and_time_left() {
    let server = stalling();
    let directory = tempfile::tempdir().expect("a directory");
    let registry = directory.path().join("registry.db").display().to_string();
    for (args, what) in [
        (&["snapshot", "show", "--box", "edge-a1"][..], "current: "),
        (&["snapshot", "verify", "--box", "edge-a1"], "proving 1 box: "),
        (&["drill", "--box", "edge-a1", "--no-receipt"], "current: "),
        (&["restore", "--from-box", "edge-a1", "--dry-run", "--registry", &registry], "current: "),
    ] {
        let command = asking(&server, args).args(&["--timeout", "3s"]);
        let (_, said) = Terminal::wide(100, &command.into_terminal_command()).end();
        let line = said.split(['\r', '\n']).find(|line| line.contains(&format!("{what}1.0 MiB of 4.0 MiB, ")));
        let line = line.unwrap_or_else(|| panic!("{what}: {said:?}"));
        assert!(line.contains("/s, ") && line.trim_end().ends_with(" left"), "{line:?}");
        let piped = asking(&server, args).args(&["--timeout", "1s"]).run();
        assert!(!piped.to_string().contains("MiB of"), "{piped}");
    }
}

#[test]
fn work_that_is_over_within_a_second_shows_nothing() {
    let deployment = crate::common::deployment::Deployment::new();
    deployment.healthy_box("edge-a1", "2026-11-30T10:00:00Z");
    let command = carlosctl(["snapshot", "verify", "--all-generations"]).dir(&deployment.dir()).env("TERM", "xterm");
    let (_, said) = Terminal::wide(100, &command.into_terminal_command()).end();
    assert!(!said.contains("proving") && !said.contains("looking"), "{said:?}");
}
