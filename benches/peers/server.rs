//! SeaweedFS, with data that stays from one run to the next.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use rustix::process::{Pid, Signal, kill_process};

use super::Failure;
use super::place::Place;
use super::tools::Tools;

/// Who may do everything.
pub(crate) const ACCESS_KEY: &str = "testkey";
/// Its secret.
pub(crate) const SECRET_KEY: &str = "testsecret";
/// The first of five neighbouring ports. Each also has one 10,000 higher, for gRPC.
const PORTS: [u16; 4] = [15_310, 16_310, 17_310, 18_310];
/// After an end that was not a clean one, it may need 16 s until it stores something.
const READY_WAIT: Duration = Duration::from_mins(2);

/// How often it is started again.
const STARTS: usize = 5;

/// A running server. Ended when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// Where it listens: host and port.
    pub(crate) address: String,
}

impl Server {
    /// Starts it, and waits until it stores something. One of an interrupted run may still be ending.
    pub(crate) fn start(place: &Place, tools: &Tools) -> Result<Self, Failure> {
        let mut started = Self::start_once(place, tools);
        for _ in 0..STARTS {
            if started.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_secs(3));
            started = Self::start_once(place, tools);
        }
        started
    }

    fn start_once(place: &Place, tools: &Tools) -> Result<Self, Failure> {
        let directory = place.lasting("server")?;
        let identities = format!(
            r#"{{"identities":[{{"name":"bench","credentials":[{{"accessKey":"{ACCESS_KEY}","secretKey":"{SECRET_KEY}"}}],
                "actions":["Admin","Read","Write","List","Tagging"]}}]}}"#
        );
        fs::write(directory.join("s3.json"), identities)?;
        fs::create_dir_all(directory.join("data"))?;
        let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        let all_free = |first: &u16| (*first..first + 5).all(|port| free(port) && free(port + 10_000));
        let port = PORTS.into_iter().find(all_free).ok_or("no free ports for the server")?;
        // It dies with us, also when we are killed.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "--"]).arg(tools.program("weed"));
        command.args(["mini", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-webdav=false", "-admin.ui=false"]);
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command.arg(format!("-dir={}", directory.join("data").display()));
        command.arg(format!("-s3.config={}", directory.join("s3.json").display()));
        for (offset, name) in (0_u16..).zip(["s3", "master", "volume", "filer", "admin"]) {
            command.arg(format!("-{name}.port={}", port + offset));
        }
        for name in ["AWS_CA_BUNDLE", "AWS_PROFILE", "AWS_ENDPOINT_URL", "HTTP_PROXY", "http_proxy"] {
            command.env_remove(name);
        }
        let log = File::create(directory.join("log"))?;
        command.current_dir(&directory).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let mut server = Self { child: command.spawn()?, address: format!("127.0.0.1:{port}") };
        let begin = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        while begin.elapsed() < READY_WAIT {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!("the server ended: {status}; see {}", directory.join("log").display()).into());
            }
            if runtime.block_on(stores(&server.client())) {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("the server does not store anything".into())
    }

    /// Its address as an endpoint.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client of the bench itself.
    pub(crate) fn client(&self) -> Client {
        let config = aws_sdk_s3::config::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(self.endpoint())
            .force_path_style(true)
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "bench"));
        Client::from_conf(config.build())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Asked to end, it writes its index; killed, its next start would take long.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

async fn stores(client: &Client) -> bool {
    let write = async {
        client.create_bucket().bucket("ready-probe").send().await.ok();
        client.put_object().bucket("ready-probe").key("x").body(b"x".to_vec().into()).send().await.is_ok()
    };
    tokio::time::timeout(Duration::from_secs(2), write).await.unwrap_or(false)
}
