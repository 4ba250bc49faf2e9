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
fn a_bucket_wins_over_a_directory_and_a_flag_over_both() {
    let both = [("CARLOS_DEPLOYMENT_BUCKET", "dep"), ("CARLOS_DEPLOYMENT_DIR", "/d")];
    assert_eq!(resolve(&[], &both, &[]).deployment, Some(StoreChoice::Bucket("dep".into())));
    assert_eq!(resolve(&["--dir", "/x"], &both, &[]).deployment, Some(StoreChoice::Directory("/x".into())));
    assert_eq!(resolve(&["--dir", "/x", "--bucket", "b"], &[], &[]).deployment, Some(StoreChoice::Bucket("b".into())));
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
