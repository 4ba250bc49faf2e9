//! Opening: region, endpoint, certificates and credentials, each found within seconds or refused in words.
//!
//! Credentials come from the chain of the AWS SDK (environment, profiles with SSO, web identity, container, instance
//! metadata). It is asked once, here, under a time limit: a machine without any must not stand and wait for a metadata
//! service that does not exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_config::default_provider::credentials::DefaultCredentialsChain;
use aws_config::environment::region::EnvironmentVariableRegionProvider;
use aws_config::imds::region::ImdsRegionProvider;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::ProfileFileRegionProvider;
use aws_config::provider_config::ProviderConfig;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig, imds};
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::future;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{
    ProvideCredentials, Region, RequestChecksumCalculation, ResponseChecksumValidation, RuntimeComponents,
    SharedCredentialsProvider, SharedHttpClient, StalledStreamProtectionConfig,
};
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{self, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_http_client::{Builder, ConnectorBuilder};
use aws_types::service_config::ServiceConfigKey;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::clock::Clock;
use super::endpoint::Endpoint;
use super::errors::{Secrets, Words};
use super::whole::WholeListings;
use crate::store::{StoreError, Tally};

/// How long region and credentials may take together. The whole command is to answer within ten seconds.
const CREDENTIALS_WAIT: Duration = Duration::from_secs(8);
/// How long one connection to the instance metadata may take: it is on the same machine or not there.
const METADATA_WAIT: Duration = Duration::from_secs(1);
/// How long a connection may take, whatever the timeout is: all attempts together end within the default one.
const CONNECT_WAIT: Duration = Duration::from_millis(2500);
/// How often a read is sent.
const ATTEMPTS: u32 = 3;
/// The longest pause after the first attempt; it doubles. The SDK's second would use up a short timeout.
const PAUSE: Duration = Duration::from_millis(300);

/// Where a bucket is and how patiently it is asked.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// The bucket's name.
    pub bucket: String,
    /// An endpoint that is not AWS; else `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` or the profile's, else AWS.
    pub endpoint_url: Option<Endpoint>,
    /// The region; else the environment's, the profile's, the instance's, `us-east-1`.
    pub region: Option<String>,
    /// How long one request may take, retries included; for a body, how long it may stand still.
    pub timeout: Duration,
    /// How many requests may be under way at once.
    pub concurrency: usize,
    /// `AWS_PROFILE`, for messages; the SDK reads it itself.
    pub profile: Option<String>,
    /// `AWS_CA_BUNDLE`: certificates to trust besides the system's.
    pub ca_bundle: Option<PathBuf>,
    /// Credentials that the environment holds; else the SDK's chain is asked. Their `Debug` hides the secret.
    pub credentials: Option<Credentials>,
    /// Whether the environment names a proxy that is itself asked through TLS.
    pub tls_to_proxy: bool,
    /// Counts what is answered.
    pub tally: Tally,
}

impl S3Settings {
    /// What an environment says about a bucket, with 10 seconds and 32 requests at once. An empty value counts as not set.
    #[must_use]
    pub fn new(bucket: impl Into<String>, env: &BTreeMap<String, String>) -> Self {
        let of = |name: &str| env.get(name).filter(|value| !value.is_empty()).cloned();
        let credentials = of("AWS_ACCESS_KEY_ID").zip(of("AWS_SECRET_ACCESS_KEY"));
        Self {
            bucket: bucket.into(),
            endpoint_url: of("AWS_ENDPOINT_URL_S3").or_else(|| of("AWS_ENDPOINT_URL")).map(Endpoint::from),
            region: of("AWS_REGION").or_else(|| of("AWS_DEFAULT_REGION")),
            timeout: Duration::from_secs(10),
            concurrency: 32,
            profile: of("AWS_PROFILE"),
            ca_bundle: of("AWS_CA_BUNDLE").map(PathBuf::from),
            credentials: credentials
                .map(|(key, secret)| Credentials::new(key, secret, of("AWS_SESSION_TOKEN"), None, "environment")),
            tls_to_proxy: ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
                .iter()
                .any(|name| of(name).is_some_and(|proxy| has_scheme(&proxy, "https://"))),
            tally: Tally::default(),
        }
    }

    /// Whether requests to this endpoint go without TLS, also on their way through a proxy.
    fn is_plain(&self, endpoint: Option<&str>) -> bool {
        endpoint.is_some_and(|endpoint| has_scheme(endpoint, "http://")) && !self.tls_to_proxy
    }
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// A client that is ready to ask, and the words for what it will hear.
pub(super) struct Opened {
    pub(super) client: Client,
    pub(super) words: Words,
}

/// Finds everything that a first request needs.
pub(super) async fn open(settings: &S3Settings) -> Result<Opened, StoreError> {
    // With credentials in the environment and an endpoint without TLS nothing here ever needs a certificate.
    let needs_tls = settings.credentials.is_none() || !settings.is_plain(settings.endpoint_url.as_deref());
    let http = if needs_tls { http_client(Some(tls_context(settings.ca_bundle.as_deref())?)) } else { http_client(None) };
    let clock = Clock::new();
    let mut words = Words {
        store: String::new(),
        profile: settings.profile.clone(),
        timeout: settings.timeout,
        clock: clock.clone(),
        secrets: Secrets::default(),
    };
    let found = tokio::time::timeout(CREDENTIALS_WAIT, async {
        let sdk = shared(settings, &http).await;
        let first = match sdk.credentials_provider() {
            Some(provider) => provider.provide_credentials().await,
            None => Err(CredentialsError::not_loaded("no provider")),
        };
        (sdk, first)
    });
    let Ok((sdk, first)) = found.await else {
        let waited = CredentialsError::provider_timed_out(CREDENTIALS_WAIT);
        return Err(words.credentials(&waited));
    };
    let endpoint = settings.endpoint_url.as_deref().map(str::to_owned).or_else(|| configured_endpoint(&sdk));
    words.store = describe(&settings.bucket, endpoint.as_deref());
    let first = first.map_err(|error| words.credentials(&error))?;
    let provider = sdk.credentials_provider().map(|chain| Remembering::new(first, chain, words.secrets.clone()));

    let mut config = aws_sdk_s3::config::Builder::from(&sdk)
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS).with_initial_backoff(PAUSE))
        .timeout_config(timeouts(settings.timeout))
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
        // A correction would hide that the clocks disagree, and every age is judged by this machine's.
        .disable_clock_skew_correction(Some(true))
        .interceptor(clock)
        .interceptor(WholeListings)
        .retry_classifier(WholeListings);
    config.set_credentials_provider(provider.map(SharedCredentialsProvider::new));
    if needs_tls && settings.is_plain(endpoint.as_deref()) {
        config = config.http_client(http_client(None));
    }
    if let Some(endpoint) = endpoint {
        config = config.endpoint_url(endpoint).force_path_style(true);
    }
    Ok(Opened { client: Client::from_conf(config.build()), words })
}

/// What every request but an upload may take.
fn timeouts(timeout: Duration) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(timeout.min(CONNECT_WAIT))
        .read_timeout(timeout)
        .operation_attempt_timeout(timeout)
        .operation_timeout(timeout)
        .build()
}

/// No limit but on connecting: whether an upload stands still is watched by the byte.
pub(super) fn upload_timeouts(timeout: Duration) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(timeout.min(CONNECT_WAIT))
        .disable_read_timeout()
        .disable_operation_attempt_timeout()
        .disable_operation_timeout()
        .build()
}

async fn shared(settings: &S3Settings, http: &SharedHttpClient) -> SdkConfig {
    let metadata = imds::Client::builder()
        .configure(&ProviderConfig::default().with_http_client(http.clone()))
        .connect_timeout(METADATA_WAIT)
        .read_timeout(METADATA_WAIT)
        .max_attempts(2)
        .build();
    let region = region(settings, &metadata).await;
    let loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http.clone()).region(region.clone());
    if let Some(credentials) = &settings.credentials {
        return loader.credentials_provider(credentials.clone()).load().await;
    }
    let chain = DefaultCredentialsChain::builder()
        .configure(ProviderConfig::default().with_http_client(http.clone()).with_region(Some(region.clone())))
        .region(region)
        .imds_client(metadata)
        .build()
        .await;
    loader.credentials_provider(chain).load().await
}

/// The region to sign for. A wrong guess is answered by the store with the right one, so guessing is no danger.
async fn region(settings: &S3Settings, metadata: &imds::Client) -> Region {
    if let Some(region) = &settings.region {
        return Region::new(region.clone());
    }
    let chain =
        RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new()).or_else(ProfileFileRegionProvider::new());
    if let Some(region) = chain.region().await {
        return region;
    }
    if settings.endpoint_url.is_none()
        && let Some(region) = ImdsRegionProvider::builder().imds_client(metadata.clone()).build().region().await
    {
        return region;
    }
    Region::from_static("us-east-1")
}

/// The endpoint that environment or profile name for S3, or for everything.
fn configured_endpoint(sdk: &SdkConfig) -> Option<String> {
    let key = ServiceConfigKey::builder().service_id("s3").env("AWS_ENDPOINT_URL").profile("endpoint_url").build().ok()?;
    sdk.service_config()
        .and_then(|services| services.load_config(key))
        .or_else(|| sdk.endpoint_url().map(str::to_owned))
        .filter(|endpoint| !endpoint.is_empty())
}

/// `s3://bucket at endpoint`. A user and password in the endpoint are no part of its name.
fn describe(bucket: &str, endpoint: Option<&str>) -> String {
    let Some(endpoint) = endpoint else { return format!("s3://{bucket}") };
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("", endpoint));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let separator = if scheme.is_empty() { "" } else { "://" };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    format!("s3://{bucket} at {scheme}{separator}{host}{path}")
}

/// One pool of connections. Proxies come from the environment, as every other AWS tool takes them. Without `tls` the system's
/// certificates are not even read, which would take longer than a listing.
fn http_client(tls: Option<TlsContext>) -> SharedHttpClient {
    Builder::new().build_with_connector_fn(move |settings, components| {
        let mut connector = ConnectorBuilder::default().proxy_config(ProxyConfig::from_env());
        connector.set_connector_settings(settings.cloned());
        connector.set_sleep_impl(components.and_then(RuntimeComponents::sleep_impl));
        // A client that is made asks once without settings, to see that it can be done, and throws the answer away.
        match tls.clone().filter(|_| settings.is_some()) {
            Some(tls) => connector.tls_provider(tls::Provider::Rustls(CryptoMode::AwsLc)).tls_context(tls).build(),
            None => connector.build_http(),
        }
    })
}

/// Whom to trust: the system's certificates, and those of the bundle.
fn tls_context(ca_bundle: Option<&Path>) -> Result<TlsContext, StoreError> {
    let mut trust = TrustStore::default();
    if let Some(path) = ca_bundle {
        for pem in usable_certificates(path)? {
            trust = trust.with_pem_certificate(pem);
        }
    }
    TlsContext::builder()
        .with_trust_store(trust)
        .build()
        .map_err(|error| StoreError::Other { subject: "TLS".to_owned(), detail: error.to_string() })
}

/// The certificates of a bundle that the TLS library can use, each as PEM. It would panic on the others.
fn usable_certificates(path: &Path) -> Result<Vec<Vec<u8>>, StoreError> {
    let fail = |detail: String| StoreError::Other { subject: format!("AWS_CA_BUNDLE {}", path.display()), detail };
    let text = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let usable: Vec<Vec<u8>> = CertificateDer::pem_slice_iter(&text)
        .filter_map(Result::ok)
        .filter(|certificate| RootCertStore::empty().add(certificate.clone()).is_ok())
        .map(|certificate| pem(&certificate))
        .collect();
    if usable.is_empty() { Err(fail("no certificate in it can be used".to_owned())) } else { Ok(usable) }
}

fn pem(certificate: &[u8]) -> Vec<u8> {
    use base64::Engine;
    let body = base64::engine::general_purpose::STANDARD.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n").into_bytes()
}

/// Hands out the credentials that opening already found, then asks the chain again; and notes what must never be said.
#[derive(Debug)]
struct Remembering {
    first: Arc<Mutex<Option<Credentials>>>,
    chain: SharedCredentialsProvider,
    secrets: Secrets,
}

impl Remembering {
    fn new(first: Credentials, chain: SharedCredentialsProvider, secrets: Secrets) -> Self {
        Self { first: Arc::new(Mutex::new(Some(first))), chain, secrets }
    }
}

impl ProvideCredentials for Remembering {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
            let credentials = match first {
                Some(credentials) => credentials,
                None => self.chain.provide_credentials().await?,
            };
            self.secrets.add(credentials.access_key_id());
            self.secrets.add(credentials.secret_access_key());
            self.secrets.add(credentials.session_token().unwrap_or_default());
            Ok(credentials)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_description_names_the_endpoint_without_its_password() {
        assert_eq!(describe("dep", None), "s3://dep");
        assert_eq!(describe("dep", Some("http://127.0.0.1:9000")), "s3://dep at http://127.0.0.1:9000");
        assert_eq!(describe("dep", Some("https://u:p@h:1/s3?x=1")), "s3://dep at https://h:1/s3");
    }
}
