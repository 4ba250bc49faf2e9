//! What belongs to a whole process: where credentials come from, proxies and certificates, and memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use carlosctl::store::{Body, DirectoryStore, Put, ReadStore, S3Settings, S3Store, StoreError, WriteStore};

use crate::common::scripted::{Answer, Reply, Scripted};
use crate::common::servers;
use crate::common::{carlosctl, child};

/// A store as this process's environment describes it.
async fn from_environment(bucket: &str) -> Result<S3Store, StoreError> {
    let vars = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let env: BTreeMap<String, String> = vars.collect();
    S3Store::open(S3Settings { timeout: Duration::from_secs(5), ..S3Settings::new(bucket, &env) }).await
}

#[tokio::test]
async fn without_credentials_it_says_where_it_looked_within_ten_seconds() {
    const NAME: &str = "store_process::without_credentials_it_says_where_it_looked_within_ten_seconds";
    if child::role().is_some() {
        child::say(from_environment("dep").await.expect_err("there are none"));
        return;
    }
    let home = tempfile::tempdir().expect("a directory");
    let home = home.path().to_str().expect("a UTF-8 path");
    // A metadata service that takes the connection and never answers, and one that is not even there.
    let silent = Scripted::always(Answer::Hang);
    for metadata in [silent.endpoint.as_str(), "http://192.0.2.1"] {
        let begin = Instant::now();
        let said = child::said(child::spawn(NAME, &["x"], &[("HOME", home), ("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata)]));
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        let [said] = said.as_slice() else { panic!("{said:?}") };
        assert!(said.starts_with("credentials: "), "{said}");
        for place in ["environment", "profile", "web identity", "container", "instance metadata"] {
            assert!(said.contains(place), "{place} in {said}");
        }
    }
}

#[tokio::test]
async fn a_profile_is_found_named_and_not_repeated() {
    const NAME: &str = "store_process::a_profile_is_found_named_and_not_repeated";
    if child::role().is_some() {
        match from_environment("dep").await {
            Ok(store) => child::say(store.get("k", 9).await.expect_err("the server refuses")),
            Err(error) => child::say(error),
        }
        return;
    }
    let server = Scripted::always(Reply::error(400, "ExpiredToken", "The provided token has expired."));
    let home = tempfile::tempdir().expect("a directory");
    let files = home.path().join(".aws");
    std::fs::create_dir(&files).expect("it is made");
    let credentials =
        "[prod]\naws_access_key_id = AKIACANARY\naws_secret_access_key = canarysecret\naws_session_token = canarytoken\n";
    std::fs::write(files.join("credentials"), credentials).expect("it is written");
    let helper = "sh -c \"echo canarysecret >&2; exit 1\"";
    let config = format!(
        "[profile prod]\nregion = eu-west-1\nendpoint_url = {}\n[profile broken]\ncredential_process = {helper}\n",
        server.endpoint
    );
    std::fs::write(files.join("config"), config).expect("it is written");
    let home = home.path().to_str().expect("a UTF-8 path");
    let with_profile = |profile: &str| {
        let env = [("HOME", home), ("AWS_PROFILE", profile), ("AWS_EC2_METADATA_DISABLED", "true"), ("PATH", "/usr/bin:/bin")];
        child::said(child::spawn(NAME, &["x"], &env)).remove(0)
    };
    let said = with_profile("prod");
    assert!(said.contains("expired") && said.contains("AWS_PROFILE is \"prod\""), "{said}");
    let asked = &server.requests()[0];
    assert!(asked.header("authorization").contains("/eu-west-1/s3/"), "the profile's region is signed for");
    assert_eq!(asked.path, "/dep/k", "a bucket is never made part of a configured endpoint's host name");
    for profile in ["broken", "missing"] {
        let said = with_profile(profile);
        assert!(said.starts_with("credentials: ") && said.contains(profile), "{said}");
        assert!(!said.contains("canary"), "{said}");
    }
}

#[tokio::test]
async fn a_proxy_is_used_as_the_environment_names_it() {
    const NAME: &str = "store_process::a_proxy_is_used_as_the_environment_names_it";
    if child::role().is_some() {
        let object = from_environment("dep").await.expect("credentials are there").get("k", 9).await;
        child::say(object.map(|object| String::from_utf8_lossy(&object.body).into_owned()).expect("the proxy answers"));
        return;
    }
    let proxy = Scripted::always(Reply::object("proxied", "e"));
    let env = [
        ("HTTP_PROXY", proxy.endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "k"),
        ("AWS_SECRET_ACCESS_KEY", "s"),
        ("AWS_ENDPOINT_URL", "http://s3.invalid"),
    ];
    assert_eq!(child::said(child::spawn(NAME, &["x"], &env)), ["proxied"]);
    assert_eq!(proxy.requests()[0].path, "http://s3.invalid/dep/k");
}

/// An HTTPS server with a certificate of its own making, which knows one object.
const TLS_SERVER: &str = r#"
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        for name, value in [("Content-Length", "1"), ("ETag", '"e"'), ("Last-Modified", "Sun, 15 Nov 2026 00:00:00 GMT")]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"x")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
"#;

#[tokio::test]
async fn a_private_certificate_is_trusted_when_the_bundle_names_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let (certificate, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let config = "[req]\ndistinguished_name = dn\nx509_extensions = ext\nprompt = no\n[dn]\nCN = test\n\
                  [ext]\nsubjectAltName = IP:127.0.0.1\nbasicConstraints = CA:FALSE\n";
    std::fs::write(directory.path().join("config"), config).expect("it is written");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-config", "config", "-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(directory.path())
        .stderr(Stdio::null())
        .status()
        .expect("openssl starts");
    assert!(made.success());
    let mut server = Command::new("python3")
        .args(["-c", TLS_SERVER])
        .args([&certificate, &key])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("python starts");
    let mut port = String::new();
    let mut output = std::io::BufReader::new(server.stdout.take().expect("it is piped"));
    std::io::BufRead::read_line(&mut output, &mut port).expect("it says its port");
    let endpoint = format!("https://127.0.0.1:{}", port.trim());
    let with_bundle = async |bundle: Option<&Path>| {
        let settings = S3Settings { ca_bundle: bundle.map(Path::to_owned), ..servers::settings(&endpoint, "dep", ("k", "s")) };
        S3Store::open(S3Settings { timeout: Duration::from_secs(5), ..settings }).await?.get("k", 9).await
    };
    let trusted = with_bundle(Some(&certificate)).await;
    let strange = with_bundle(None).await;
    let useless = with_bundle(Some(&key)).await;
    server.kill().expect("it is ours");
    server.wait().expect("it ends");
    assert_eq!(trusted.expect("it is trusted").body, "x");
    let strange = strange.expect_err("nobody vouches for it").to_string();
    assert!(strange.contains("certificate"), "{strange}");
    let useless = useless.expect_err("a key is no certificate").to_string();
    assert!(useless.starts_with("AWS_CA_BUNDLE ") && useless.contains("key.pem"), "{useless}");
}

/// A gibibyte, and what may be resident while it passes through.
const BYTES: u64 = 1 << 30;
const MEMORY_LIMIT_MIB: u64 = 96;

/// Reads an object to its end in this process and says how much came and how much memory it took.
async fn read_and_say(store: &dyn ReadStore) {
    let mut reader = store.open("big", None).await.expect("it is there");
    let mut bytes = 0_u64;
    while let Some(chunk) = reader.chunks.next().await.expect("a piece") {
        bytes += chunk.len() as u64;
    }
    child::say(bytes);
    child::say(child::peak_memory_mib());
}

fn passed_through(said: &[String]) {
    let [bytes, memory] = said else { panic!("{said:?}") };
    assert_eq!(bytes, &BYTES.to_string());
    let memory: u64 = memory.parse().expect("a number");
    assert!(memory < MEMORY_LIMIT_MIB, "{memory} MiB");
}

#[tokio::test]
async fn a_gibibyte_from_a_directory_needs_no_memory() {
    const NAME: &str = "store_process::a_gibibyte_from_a_directory_needs_no_memory";
    if let Some(role) = child::role() {
        read_and_say(&DirectoryStore::open(Path::new(&role[0])).expect("it opens")).await;
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    File::create(directory.path().join("big")).and_then(|file| file.set_len(BYTES)).expect("a hole of that size");
    passed_through(&child::said(child::spawn(NAME, &[directory.path().to_str().expect("a UTF-8 path")], &[])));
}

#[tokio::test]
async fn a_gibibyte_to_and_from_a_bucket_needs_no_memory() {
    const NAME: &str = "store_process::a_gibibyte_to_and_from_a_bucket_needs_no_memory";
    if let Some(role) = child::role() {
        let [endpoint, bucket, file] = role.as_slice() else { panic!("three words") };
        let store = S3Store::open(servers::settings(endpoint, bucket, ("testkey", "testsecret"))).await.expect("it opens");
        store.put("big", &Body::File(file.into()), &Put::Create).await.expect("it is stored");
        read_and_say(&store).await;
        store.delete("big").await.expect("it is deleted");
        return;
    }
    let server = servers::seaweedfs();
    let file = tempfile::NamedTempFile::new().expect("a file");
    file.as_file().set_len(BYTES).expect("a hole of that size");
    let role = [server.endpoint.as_str(), &server.bucket(), file.path().to_str().expect("a UTF-8 path")];
    passed_through(&child::said(child::spawn(NAME, &role, &[])));
}

#[test]
fn the_binary_reads_a_bucket_as_its_environment_names_it() {
    let server = servers::seaweedfs();
    let bucket = server.bucket();
    let list = |env: Vec<(&'static str, String)>| {
        let invocation = carlosctl(["snapshot", "list", "--json"]).env("CARLOS_DEPLOYMENT_BUCKET", &bucket);
        env.into_iter().fold(invocation, |invocation, (name, value)| invocation.env(name, value)).run()
    };
    let answer = list(server.env());
    assert_eq!(answer.code, 0, "{answer}");
    assert_eq!(answer.json()["boxes"], serde_json::json!([]), "{answer}");

    let wrong = server.env().into_iter().map(|(name, value)| match name {
        "AWS_SECRET_ACCESS_KEY" => (name, "canarysecret".to_owned()),
        _ => (name, value),
    });
    let refused = list(wrong.collect());
    assert_eq!(refused.code, 12, "{refused}");
    assert!(!refused.to_string().contains("canary"), "{refused}");
}
