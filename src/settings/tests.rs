use super::*;
use clap::Parser;

fn resolve(args: &[&str], env: &[(&str, &str)], host: &[(&str, &str)]) -> Settings {
    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        global: Global,
    }
    let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let only = Only::try_parse_from(std::iter::once("t").chain(args.iter().copied())).expect("valid flags");
    Settings::resolve(&only.global, &map(env), &map(host)).expect("valid settings")
}

#[test]
fn flag_then_environment_then_host_file_then_default() {
    let host = [("CARLOS_DATA_DIR", "/srv"), ("CARLOS_BOX_LABEL", "from-host")];
    let settings = resolve(&[], &[("CARLOS_BOX_LABEL", "from-env")], &host);
    assert_eq!(settings.registry, PathBuf::from("/srv/registry.db"));
    assert_eq!(settings.this_box.expect("a label").as_str(), "from-env");
    let settings = resolve(&["--this-box", "typed"], &[("CARLOS_BOX_LABEL", "from-env")], &host);
    assert_eq!(settings.this_box.expect("a label").as_str(), "typed");
    assert_eq!(resolve(&[], &[], &[]).registry, PathBuf::from("/data/registry.db"));
}

#[test]
fn what_can_only_be_typed_has_an_origin_too() {
    let from = |args: &[&str], name: &str| {
        let origin = resolve(args, &[], &[]).origins.into_iter().find(|origin| origin.name == name).expect("an origin");
        (origin.value, origin.from)
    };
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    for (name, value) in [
        ("host-env", "/etc/carlos/host.env"),
        ("concurrency", "32"),
        ("timeout", "9s"),
        ("color", "auto"),
        ("json", "no"),
        ("no-input", "no"),
        ("quiet", "no"),
    ] {
        assert_eq!(from(&[], name), pair(value, "default"), "{name}");
    }
    assert_eq!(from(&["--timeout", "90s"], "timeout"), pair("90s", "flag --timeout"));
    assert_eq!(from(&["--timeout", "1h"], "timeout"), pair("3600s", "flag --timeout"));
    assert_eq!(from(&["--concurrency", "4"], "concurrency"), pair("4", "flag --concurrency"));
    assert_eq!(from(&["--color", "never"], "color"), pair("never", "flag --color"));
    assert_eq!(from(&["--json"], "json"), pair("yes", "flag --json"));
    let settings = resolve(&["--concurrency", "4", "--timeout", "2m"], &[], &[]);
    assert_eq!((settings.concurrency, settings.timeout), (4, Duration::from_mins(2)));
    let settings = resolve(&[], &[], &[]);
    assert_eq!((settings.concurrency, settings.timeout, settings.color), (32, Duration::from_secs(9), Color::Auto));
}

#[test]
fn a_bucket_wins_over_a_directory_and_a_flag_over_both() {
    let both = [("CARLOS_DEPLOYMENT_BUCKET", "dep"), ("CARLOS_DEPLOYMENT_DIR", "/d")];
    assert_eq!(resolve(&[], &both, &[]).deployment, Some(StoreChoice::Bucket("dep".into())));
    assert_eq!(resolve(&["--dir", "/x"], &both, &[]).deployment, Some(StoreChoice::Directory("/x".into())));
    assert_eq!(resolve(&["--bucket", "b"], &both[1..], &[]).deployment, Some(StoreChoice::Bucket("b".into())));
}

#[test]
fn our_own_box_half_must_be_stopped_whatever_is_named() {
    let units = |settings: Settings| {
        let origin = settings.origins.into_iter().find(|origin| origin.name == "agent-unit").expect("an origin");
        assert_eq!(origin.value, settings.agent_units.join(","));
        (settings.agent_units.join(" "), origin.from)
    };
    let (all, from) = units(resolve(&[], &[], &[]));
    assert_eq!(all, "carlos-edge.service carlos-agent.service carlos.service carlosctl-box.service");
    assert_eq!(from, "default, and always carlosctl's own");
    let named = [("CARLOS_AGENT_UNITS", "my-agent.service, my.timer")];
    assert_eq!(units(resolve(&[], &named, &[])).0, "my-agent.service my.timer carlosctl-box.service");
    assert_eq!(units(resolve(&["--agent-unit", "x"], &named, &[])).0, "x carlosctl-box.service");
    for own in ["carlosctl-box", "carlosctl-box.service"] {
        assert_eq!(units(resolve(&["--agent-unit", own], &[], &[])), (own.to_owned(), "flag --agent-unit".to_owned()));
    }
}

#[test]
fn an_origin_never_shows_the_password_of_a_url() {
    let shown = |url: &str| {
        let settings = resolve(&["--endpoint-url", url], &[], &[]);
        assert_eq!(settings.endpoint_url.as_deref(), Some(url));
        settings.origins.into_iter().find(|origin| origin.name == "endpoint-url").expect("an origin").value
    };
    assert_eq!(shown("https://user:p@ss@h:9000/a@b"), "https://[redacted]@h:9000/a@b");
    assert_eq!(shown("https://token@h?x"), "https://[redacted]@h?x");
    assert_eq!(shown("https://h:9000/a@b"), "https://h:9000/a@b");
}
