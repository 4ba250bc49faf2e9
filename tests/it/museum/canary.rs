//! Kind: a secret in a place where it can be read: an error that repeats what was sent, a log, a receipt, a saved plan.
//!
//! Every command is run, in a deployment where it does what it should and in three where it cannot, with everything that could
//! make it talk. The secrets are canaries, and are looked for in what was said and in every file that was left.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use carlosctl::cli::Cli;
use carlosctl::demo::registry::{build_live, busy_box};
use clap::CommandFactory;
use jiff::SignedDuration;

use crate::common::apps::{Bench, route};
use crate::common::bucket::Bucket;
use crate::common::scripted::{Reply, Request, Scripted, dead_endpoint};
use crate::common::{Invocation, Outcome, carlosctl};

/// No part of them is a word, or in the name of anything.
const KEY: &str = "AKIAZQXJKCANARYKEY00";
const SECRET: &str = "zqxj+Canary/Secret/0000000000000000000000";
const TOKEN: &str = "zqxjCanaryToken000000000000000000";
const PASSWORD: &str = "zqxjCanaryPassword";
const OURS: [(&str, &str); 2] =
    [("CARLOS_SECRETS_KEY", "zqxjCanarySecretsKey"), ("CARLOS_RELEASE_KEY", "zqxjCanaryReleaseKey")];

/// Every spelling in which a canary could be written.
fn spellings() -> Vec<String> {
    use base64::Engine;
    let plain = [KEY, SECRET, TOKEN, PASSWORD, OURS[0].1, OURS[1].1];
    let mut all: Vec<String> = plain.map(str::to_lowercase).to_vec();
    all.push(SECRET.replace('+', "%2B").replace('/', "%2F").to_lowercase());
    for text in plain.iter().copied().map(str::to_owned).chain([format!("ops:{PASSWORD}")]) {
        let base64 = base64::engine::general_purpose::STANDARD.encode(text);
        all.push(base64.trim_end_matches('=').to_lowercase());
    }
    all
}

fn clean(what: &str, text: &str) {
    let text = text.to_lowercase();
    for canary in spellings() {
        assert!(!text.contains(&canary), "{canary} in {what}: {text}");
    }
}

/// Where everything is written, and where nothing may be found.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { root: tempfile::tempdir().expect("a directory") };
        for name in ["tmp", "home", "data", "out", "bin"] {
            fs::create_dir(place.at(name)).expect("a directory");
        }
        build_live(&place.at("data/registry.db"), &[]).expect("a registry");
        let systemctl = place.at("bin/systemctl");
        fs::write(&systemctl, "#!/bin/sh\necho LoadState=not-found; echo ActiveState=inactive; echo SubState=dead\n")
            .expect("a script");
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).expect("a mode");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Every file, read as text.
    fn files(&self) -> Vec<(PathBuf, String)> {
        fn walk(at: &Path, found: &mut Vec<(PathBuf, String)>) {
            for entry in fs::read_dir(at).expect("a directory") {
                let path = entry.expect("an entry").path();
                match fs::symlink_metadata(&path).expect("facts") {
                    facts if facts.is_dir() => walk(&path, found),
                    _ => found.push((path.clone(), String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned())),
                }
            }
        }
        let mut found = Vec::new();
        walk(self.root.path(), &mut found);
        found
    }
}

/// The words of every command, from the command line's own tree.
fn commands() -> BTreeSet<String> {
    fn walk(command: &clap::Command, words: &[&str], found: &mut BTreeSet<String>) {
        // One that wants a subcommand does nothing by itself.
        if !words.is_empty() && !command.is_subcommand_required_set() {
            found.insert(words.join(" "));
        }
        for below in command.get_subcommands() {
            walk(below, &[words, &[below.get_name()]].concat(), found);
        }
    }
    let mut found = BTreeSet::new();
    walk(&Cli::command(), &[], &mut found);
    found
}

/// Arguments for every command, and how it ends where all is well. `OUT` stands for a file that is not there yet, `PLAN` for
/// a plan, `HOLD` for a hold.
const ARGUMENTS: [(&str, &str, i32); 29] = [
    ("snapshot list", "--all-versions", 0),
    ("snapshot show", "--box edge-a1 --at good", 0),
    // The scripted bucket dates everything alike, so every stamp is ahead of it.
    ("snapshot verify", "--all-generations", 4),
    ("snapshot diff", "--box edge-a1 2h current", 0),
    ("snapshot pull", "--box edge-a1 --out OUT", 0),
    ("snapshot hold", "--box edge-a1", 0),
    ("snapshot hold list", "", 0),
    ("snapshot hold release", "--box edge-a1 HOLD --confirm edge-a1", 0),
    ("retention explain", "--evidence-out OUT", 0),
    ("retention plan", "--out PLAN", 0),
    ("retention run", "--plan PLAN --confirm dep", 0),
    ("report list", "", 0),
    ("report show", "--box edge-a1", 0),
    ("drill", "--box edge-a1 --boot-cmd env;false", 4),
    ("doctor", "", 0),
    ("runbook list", "", 0),
    ("runbook show", "quarterly-drill", 0),
    // The box is of this second, and no page shows such a one.
    ("runbook run", "quarterly-drill --unattended --set DEAD=edge-a1 --transcript OUT", 3),
    ("demo", "", 0),
    ("completions", "bash", 0),
    ("man", "--out DIR", 0),
    ("help", "exit-codes", 0),
    ("restore", "--from-box edge-a1 --confirm edge-a1 --allow still-writing --allow dead-box-reporting", 0),
    ("restore watch", "--for 1s --interval 500ms", 4),
    ("restore undo", "--confirm edge-b2", 0),
    ("box snapshot", "", 0),
    ("box report", "", 0),
    ("box retention", "", 0),
    ("box run", "--interval 300ms", 0),
];

/// How the secrets are given.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Environment,
    Profile,
    HostFile,
}

/// One run of one command in one world.
fn run(place: &Place, endpoint: &str, given: Given, words: &str, arguments: &str, mode: &[&str]) -> Outcome {
    let with_password = endpoint.replace("http://", &format!("http://ops:{PASSWORD}@"));
    let out = place.at("out");
    let fresh = out.join(format!("file-{}", fs::read_dir(&out).expect("a directory").count()));
    let path = |path: &Path| path.display().to_string();
    let fill = |word: &str| match word {
        "OUT" => path(&fresh),
        "PLAN" => path(&out.join("plan")),
        "DIR" => path(&out),
        "env;false" => "env; set; false".to_owned(),
        word => word.to_owned(),
    };
    let mut invocation = carlosctl(words.split(' '));
    for word in arguments.split(' ').filter(|word| !word.is_empty()) {
        invocation = invocation.arg(fill(word));
    }
    let credentials = place.at("credentials");
    let host_env = place.at("host.env");
    let aws = [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_SESSION_TOKEN", TOKEN)];
    let lines =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| format!("{name}={value}\n")).collect::<Vec<_>>().concat();
    let settings = [
        ("CARLOS_DEPLOYMENT_BUCKET", "dep"),
        ("CARLOS_S3_ENDPOINT", with_password.as_str()),
        ("CARLOS_BOX_LABEL", "edge-b2"),
        ("CARLOS_RELEASE_PUBKEY", &crate::common::apps::release_key().public_text()),
    ];
    if given == Given::HostFile {
        fs::write(&host_env, format!("{}{}{}", lines(&settings), lines(&aws), lines(&OURS))).expect("a file");
        invocation = invocation.arg("--host-env").arg(&host_env);
    } else {
        invocation = settings.iter().chain(&OURS).fold(invocation, |invocation, (name, value)| invocation.env(name, value));
    }
    if given == Given::Profile {
        let profile = aws.map(|(name, value)| format!("{} = {value}\n", name.to_lowercase())).concat();
        fs::write(&credentials, format!("[prod]\n{profile}")).expect("a file");
        invocation = invocation.env("AWS_PROFILE", "prod").env("AWS_SHARED_CREDENTIALS_FILE", &credentials);
    } else {
        // The store's credentials come from the SDK's own places only, so the host file's are there to be ignored.
        invocation = aws.iter().fold(invocation, |invocation, (name, value)| invocation.env(name, value));
    }
    for (name, value) in [
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("RUST_BACKTRACE", "full"),
        ("RUST_LOG", "trace"),
        ("PATH", &format!("{}:/usr/bin:/bin", path(&place.at("bin")))),
        ("TMPDIR", &path(&place.at("tmp"))),
        ("HOME", &path(&place.at("home"))),
        ("CARLOS_DATA_DIR", &path(&place.at("data"))),
    ] {
        invocation = invocation.env(name, value);
    }
    let mut command = invocation.args(&["--timeout", "1500ms"]).args(mode).into_command();
    command.current_dir(&out);
    if words == "box run" {
        // It goes on until it is told to stop.
        let mut limited = std::process::Command::new("timeout");
        limited.args(["--preserve-status", "2"]).arg(command.get_program()).args(command.get_args());
        limited.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(&out);
        command = limited;
    }
    let output = command.stdin(std::process::Stdio::null()).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

/// Runs every command in a world, and looks for the secrets in what is said and in what is left.
fn every_command(endpoint: &str, given: Given, well: bool) {
    let place = Place::new();
    let mut hold = "20261130T100000Z".to_owned();
    let mut otherwise = Vec::new();
    for (words, arguments, code) in ARGUMENTS {
        let arguments = arguments.replace("HOLD", &hold);
        for mode in [&["--json", "-v"][..], &["-v"]] {
            let second = mode.len() == 1;
            if second && well && (arguments.contains("PLAN") || words.contains("release") || words.starts_with("restore")) {
                // Done once is done.
                continue;
            }
            let outcome = run(&place, endpoint, given, words, &arguments, mode);
            let what = format!("{words} {arguments} {mode:?} at {endpoint}");
            clean(&what, &outcome.to_string());
            assert!(!outcome.stderr.contains("panicked"), "{what}: {outcome}");
            if well && outcome.code != code {
                otherwise.push(format!("{what} is to end with {code}: {outcome}"));
            }
            if words == "snapshot hold" && well && !second {
                outcome.json()["hold"].as_str().expect("a stamp").clone_into(&mut hold);
            }
        }
    }
    assert!(otherwise.is_empty(), "{}", otherwise.join("\n"));
    let inputs = [place.at("credentials"), place.at("host.env")];
    let files = place.files();
    assert!(!well || files.len() > 40, "{}", files.len());
    for (path, text) in files.iter().filter(|(path, _)| !inputs.contains(path)) {
        clean(&path.display().to_string(), text);
        clean("a name", &path.display().to_string());
    }
}

/// A deployment in which every command can do what it is for.
fn world() -> (Bench, Bucket) {
    let bench = Bench::live();
    bench.shop();
    let now = bench.now - SignedDuration::from_mins(45);
    for back in (0..8).rev() {
        let when = (now - SignedDuration::from_hours(back)).to_string();
        let mut routes = busy_box(200, "v5");
        routes.push(route("shop-1.example", "shop", "v5", "v4", ""));
        let body = crate::common::deployment::registry_of(&routes);
        bench.deployment.pass("edge-a1", &when, &body);
    }
    let bucket = Bucket::of(&bench);
    bucket.clock(SignedDuration::ZERO);
    (bench, bucket)
}

/// The list above is complete, so that a command that comes is not forgotten.
#[test]
fn every_command_is_run() {
    let tried: BTreeSet<String> = ARGUMENTS.iter().map(|(words, _, _)| (*words).to_owned()).collect();
    assert_eq!(commands(), tried);
}

#[test]
fn no_command_that_succeeds_says_or_writes_a_secret() {
    let (_bench, bucket) = world();
    every_command(bucket.endpoint(), Given::Environment, true);
    for (key, body) in bucket.everything() {
        clean(&key, &String::from_utf8_lossy(&body));
    }
}

/// As AWS explains a signature that it does not accept: with everything that was signed.
fn echoing(code: &'static str) -> Scripted {
    Scripted::start(move |request: &Request| {
        let headers = request.headers.iter().map(|(name, value)| format!("{name}:{value} ")).collect::<Vec<_>>().concat();
        let body = format!(
            "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{code} {KEY} {TOKEN} {headers}</Message>\
             <AWSAccessKeyId>{KEY}</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256 {headers}</StringToSign>\
             <SignatureProvided>{SECRET}</SignatureProvided><CanonicalRequest>{} {headers}</CanonicalRequest>\
             <RequestId>{KEY}</RequestId><HostId>{TOKEN}</HostId></Error>",
            request.path
        );
        Reply::new(403, body).header("x-amz-request-id", KEY).header("x-amz-id-2", TOKEN).header("x-amz-bucket-region", KEY)
    })
}

#[test]
fn no_command_repeats_what_the_store_echoes() {
    for (code, given) in [("SignatureDoesNotMatch", Given::Profile), (KEY, Given::HostFile)] {
        every_command(&echoing(code).endpoint, given, false);
    }
}

#[test]
fn no_command_says_with_which_secrets_it_could_not_connect() {
    every_command(&dead_endpoint(), Given::HostFile, false);
}

/// Settings that cannot be understood are told of by their place, because their text may be a secret that was broken in two.
#[test]
fn a_setting_that_cannot_be_read_is_not_repeated() {
    let place = Place::new();
    let file = place.at("host.env");
    for text in [
        format!("{SECRET}==\n"),
        format!("AWS_SECRET_ACCESS_KEY\n{SECRET}==\n"),
        format!("CARLOS_SECRETS_KEY: {SECRET}\n"),
        format!("CARLOS_RELEASE_PUBKEY={SECRET}\n"),
        format!("CARLOS_S3_ENDPOINT=ops:{PASSWORD}@store\n"),
        format!("CARLOS_S3_ENDPOINT=//ops:{PASSWORD}@store:1\n"),
    ] {
        fs::write(&file, &text).expect("a file");
        for words in ["snapshot list", "doctor", "retention explain"] {
            let run = |invocation: Invocation| invocation.arg("--host-env").arg(&file).args(&["-v", "--timeout", "1s"]).run();
            let outcome = run(carlosctl(words.split(' ')).args(&["--bucket", "dep"]).env("AWS_EC2_METADATA_DISABLED", "true"));
            assert_ne!(outcome.code, 0, "{outcome}");
            clean(&text.lines().next().expect("a line").replace(PASSWORD, ""), &outcome.to_string());
        }
    }
    // A proxy has a password too.
    let proxy = dead_endpoint().replace("http://", &format!("http://ops:{PASSWORD}@"));
    for name in ["HTTP_PROXY", "HTTPS_PROXY"] {
        let outcome = carlosctl(["snapshot", "list", "--bucket", "dep", "-v", "--timeout", "1s"])
            .env(name, &proxy)
            .env("CARLOS_S3_ENDPOINT", if name == "HTTP_PROXY" { "http://store.invalid" } else { "https://store.invalid" })
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .run();
        assert_eq!(outcome.code, 14, "{outcome}");
        clean(name, &outcome.to_string());
    }
}

/// What a panic or a log would print of the settings.
#[test]
fn what_is_printed_for_debugging_has_no_secret() {
    let env = [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET), ("AWS_SESSION_TOKEN", TOKEN)];
    let endpoint = format!("http://ops:{PASSWORD}@store:9");
    let env = env.into_iter().chain([("AWS_ENDPOINT_URL", endpoint.as_str())]);
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let settings = carlosctl::store::S3Settings::new("dep", &env);
    let text = format!("{settings:?}").to_lowercase();
    // The name of the access key is shown by the SDK; it opens nothing by itself.
    for canary in [SECRET, TOKEN, PASSWORD] {
        assert!(!text.contains(&canary.to_lowercase()), "{text}");
    }
    let key = format!("{:?}", crate::common::apps::release_key());
    assert!(!key.contains("07070707") && !key.contains("7, 7, 7"), "{key}");
}
