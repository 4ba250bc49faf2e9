//! Kind: a store that cannot be used, and a vague word for it, or a long silence.

use std::time::{Duration, Instant};

use jiff::SignedDuration;

use crate::common::deployment::Deployment;
use crate::common::scripted::{Answer, Reply, Scripted, dead_endpoint};
use crate::common::{Outcome, carlosctl};
use crate::restore::Standby;

use super::bucket::{Bucket, Manner, SECRETS, on};

/// What an operator waits at most, with the default `--timeout`.
const PATIENCE: Duration = Duration::from_secs(10);

/// `snapshot list` as an operator types it; it fails in time, says nothing on standard output and no secret anywhere.
fn list(endpoint: &str) -> Outcome {
    let begun = Instant::now();
    let outcome = on(endpoint, ["snapshot", "list"]).env("AWS_PROFILE", "prod").run();
    assert!(begun.elapsed() < PATIENCE, "{:?}: {outcome}", begun.elapsed());
    let json = on(endpoint, ["snapshot", "list", "--json", "-v", "--timeout", "1s"]).env("AWS_PROFILE", "prod").run();
    assert_eq!((outcome.stdout.as_str(), json.stdout.as_str(), json.code), ("", "", outcome.code), "{outcome}");
    let lines: Vec<&str> = json.stderr.lines().filter(|line| line.starts_with('{')).collect();
    let [line] = lines.as_slice() else { panic!("one error line in {json}") };
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!((&line["schema"], &line["code"]), (&"carlosctl.error/1".into(), &outcome.code.into()));
    for secret in SECRETS {
        assert!(!format!("{outcome}{json}").contains(secret), "{secret} in {outcome}{json}");
    }
    outcome
}

/// Rows 11 and 12: each has its own code, its own words and what to do next.
#[test]
fn every_store_that_cannot_be_used_has_its_own_words() {
    let told = format!("The token {} of {} is of no use", SECRETS[2], SECRETS[0]);
    for (answer, code, words) in [
        (Reply::error(404, "NoSuchBucket", &told), 10, &["s3://dep at http://127.0.0.1", "no such bucket", "--bucket"][..]),
        (Reply::error(403, "AccessDenied", &told), 12, &["listing is not permitted"]),
        // Row 11 c: an expired session was a vague 403.
        (Reply::error(400, "ExpiredToken", &told), 12, &["the session has expired", "AWS_PROFILE is \"prod\""]),
        (Reply::error(403, "InvalidAccessKeyId", &told), 12, &["does not know this access key"]),
        (Reply::error(403, "SignatureDoesNotMatch", &told), 12, &["the secret does not belong to the access key"]),
        // Row 12 a: an unreadable 301 without a Location.
        (Reply::new(301, "").header("x-amz-bucket-region", "eu-west-1"), 14, &["region eu-west-1", "--region eu-west-1"]),
        (Reply::error(503, "SlowDown", "slower"), 14, &["503 SlowDown"]),
        (Reply::new(200, "<html>Sign in to the hotel</html>"), 14, &["not S3"]),
    ] {
        let server = Scripted::always(answer);
        let outcome = list(&server.endpoint);
        assert_eq!(outcome.code, code, "{words:?}: {outcome}");
        for words in words {
            assert!(outcome.stderr.contains(words), "{words} in {outcome}");
        }
    }
}

/// Row 11 b: a clock that is wrong was a vague 403. Both clocks are printed.
#[test]
fn clocks_that_disagree_are_both_printed() {
    let manner = Manner { ahead: Some(SignedDuration::from_mins(40)), ..Manner::default() };
    for code in ["RequestTimeTooSkewed", "AccessDenied"] {
        let bucket = Bucket::of(&Deployment::new(), manner, move |_, _| Some(Reply::error(403, code, "too skewed")));
        let outcome = list(&bucket.server.endpoint);
        assert_eq!(outcome.code, 13, "{outcome}");
        let (_, said) = outcome.stderr.split_once("this machine says ").expect("this clock");
        let (local, said) = said.split_once(", the store says ").expect("that clock");
        let at = |text: &str| text.lines().next().expect("a line").parse::<jiff::Timestamp>().expect("an instant");
        let apart = at(said).duration_since(at(local)).as_mins();
        assert!((39..=40).contains(&apart), "{outcome}");
        assert!(outcome.stderr.contains("set this machine's clock"), "{outcome}");
    }
}

/// The kind of row 11 b: the store answers and its clock is 40 minutes ahead. Every age would be wrong.
#[test]
fn a_store_whose_clock_disagrees_is_not_restored_from() {
    let standby = Standby::new();
    let before = standby.files();
    for minutes in [40, -40] {
        let manner = Manner { ahead: Some(SignedDuration::from_mins(minutes)), ..Manner::default() };
        let bucket = Bucket::of(&standby.deployment, manner, |_, _| None::<Reply>);
        let outcome = bucket.restore(&standby, ["--confirm", "edge-a1"]).run();
        standby.refused(&outcome, 13, &before, &["clock-skew"]);
        assert!(outcome.stderr.contains("40 min"), "{outcome}");
        assert_eq!(bucket.restore(&standby, ["--dry-run"]).run().code, 13);
    }
    let manner = Manner { ahead: Some(SignedDuration::from_mins(4)), ..Manner::default() };
    let bucket = Bucket::of(&standby.deployment, manner, |_, _| None::<Reply>);
    assert_eq!(bucket.restore(&standby, ["--dry-run"]).run().code, 0);
}

/// Nobody listens, nobody answers, the line is cut, the name is no name.
#[test]
fn an_endpoint_that_does_not_answer_is_given_up_in_time() {
    let silent = Scripted::always(Answer::Hang);
    let slammed = Scripted::always(Answer::Close);
    for (endpoint, words) in [
        (dead_endpoint(), "refused"),
        (silent.endpoint.clone(), "no answer within"),
        (slammed.endpoint.clone(), "closed"),
        ("http://store.invalid".to_owned(), "store.invalid"),
    ] {
        let outcome = list(&endpoint);
        assert_eq!(outcome.code, 14, "{outcome}");
        assert!(outcome.stderr.contains(words) && outcome.stderr.contains(&endpoint), "{words} in {outcome}");
    }
}

/// Row 11 a: a machine without credentials stood and waited for a metadata service that was not there.
#[test]
fn without_credentials_it_says_in_time_where_it_looked() {
    let silent = Scripted::always(Answer::Hang);
    let forbidden = Scripted::always(Reply::new(403, "no"));
    for metadata in [silent.endpoint.as_str(), forbidden.endpoint.as_str(), "http://192.0.2.1"] {
        let begun = Instant::now();
        let outcome =
            carlosctl(["snapshot", "list", "--bucket", "dep"]).env("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata).run();
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (12, ""), "{outcome}");
        for place in ["environment", "profile", "web identity", "container", "instance metadata"] {
            assert!(outcome.stderr.contains(place), "{place} in {outcome}");
        }
    }
}

/// Row 12 b: a bucket became part of an endpoint's host name, which no resolver knows.
#[test]
fn the_bucket_is_a_path_of_an_endpoint_that_was_given() {
    let standby = Standby::new();
    let bucket = Bucket::healthy(&standby.deployment);
    assert_eq!(bucket.run(["snapshot", "list"]).run().code, 0);
    assert!(bucket.server.requests().iter().all(|request| request.path.starts_with("/dep")));
}
