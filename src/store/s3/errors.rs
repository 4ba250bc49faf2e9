//! What S3 says, in plain words and by what a caller can do about it.
//!
//! One line a message, naming key, bucket and endpoint. Servers repeat what they were sent, so their words pass through
//! [`Words::redact`] before anyone sees them.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};

use super::clock::{Clock, now, parse_date};
use super::whole::BrokenOff;
use crate::store::StoreError;

/// The largest difference of clocks that signatures bear.
const SIGNATURE_SKEW_SECONDS: i64 = 900;
/// The shortest credential that is looked for in a server's words.
const SECRET_BYTES: usize = 4;
/// How much of a server's own words is repeated.
const FOREIGN_CHARACTERS: usize = 200;

/// What was asked, for the words of a refusal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked<'a> {
    /// To read a key.
    Read(&'a str),
    /// To learn the facts of a key; the answer has no body that says why not.
    Head(&'a str),
    /// To write or delete a key.
    Write(&'a str),
    /// To list a prefix.
    List(&'a str),
}

impl Asked<'_> {
    fn subject(self, store: &str) -> String {
        match self {
            Self::Read(key) | Self::Head(key) | Self::Write(key) => key.to_owned(),
            Self::List("") => store.to_owned(),
            Self::List(prefix) => prefix.to_owned(),
        }
    }
}

/// What messages are made of.
#[derive(Debug)]
pub(super) struct Words {
    /// `s3://bucket at endpoint`, without user and password.
    pub(super) store: String,
    /// The profile that was named, if one was.
    pub(super) profile: Option<String>,
    /// How long an answer was waited for.
    pub(super) timeout: Duration,
    /// The store's clock.
    pub(super) clock: Clock,
    /// What must never be said: every credential that was used.
    pub(super) secrets: Secrets,
}

/// The credentials that were handed out so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    /// Remembers a text that must never be said.
    pub(super) fn add(&self, secret: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What is as short as a syllable would be found in any word, and is no secret.
        if secret.len() >= SECRET_BYTES && !known.iter().any(|other| other == secret) {
            known.push(secret.to_owned());
        }
    }
}

/// An answer that is a refusal, taken apart.
struct Refusal<'a> {
    status: u16,
    code: String,
    message: String,
    response: &'a HttpResponse,
}

impl Refusal<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)
    }

    /// Status, code and the server's own words.
    fn said(&self) -> String {
        let code = if self.code.is_empty() { String::new() } else { format!(" {}", self.code) };
        let message = if self.message.is_empty() { String::new() } else { format!(": {}", self.message) };
        format!("{}{code}{message}", self.status)
    }
}

impl Words {
    /// The meaning of a failed request.
    pub(super) fn fault<E>(&self, asked: Asked<'_>, error: &SdkError<E, HttpResponse>) -> StoreError
    where
        E: ProvideErrorMetadata + Error + 'static,
    {
        let unavailable = |detail: String| StoreError::Unavailable { subject: asked.subject(&self.store), detail };
        if find::<BrokenOff>(error).is_some() {
            let detail = format!("the answer of {} breaks off", self.store);
            return StoreError::Incomplete { subject: asked.subject(&self.store), detail };
        }
        match error {
            SdkError::ServiceError(refused) => {
                let refusal = Refusal {
                    status: refused.raw().status().as_u16(),
                    code: self.redact(refused.err().code().unwrap_or_default()),
                    message: self.redact(refused.err().message().unwrap_or_default()),
                    response: refused.raw(),
                };
                self.refusal(asked, &refusal)
            }
            SdkError::ResponseError(broken) => {
                let refusal = Refusal {
                    status: broken.raw().status().as_u16(),
                    code: String::new(),
                    message: "the answer is not one of S3".to_owned(),
                    response: broken.raw(),
                };
                self.refusal(asked, &refusal)
            }
            SdkError::TimeoutError(_) => unavailable(self.no_answer()),
            SdkError::DispatchFailure(failure) => {
                if let Some(error) = failure.as_connector_error().and_then(|error| find::<CredentialsError>(error)) {
                    return self.credentials(error);
                }
                if failure.is_timeout() {
                    return unavailable(self.no_answer());
                }
                let why =
                    failure.as_connector_error().map_or_else(|| "no connection".to_owned(), |error| self.innermost(error));
                unavailable(format!("{}: {why}", self.store))
            }
            other => match find::<CredentialsError>(other) {
                Some(error) => self.credentials(error),
                None => StoreError::Other { subject: asked.subject(&self.store), detail: self.innermost(other) },
            },
        }
    }

    fn not_s3(&self, subject: String) -> StoreError {
        StoreError::Incomplete { subject, detail: format!("{} answered with something that is not S3", self.store) }
    }

    fn refusal(&self, asked: Asked<'_>, refusal: &Refusal<'_>) -> StoreError {
        let subject = asked.subject(&self.store);
        match (refusal.status, refusal.code.as_str()) {
            (_, "NoSuchBucket" | "InvalidBucketName") => StoreError::NoStore { store: self.store.clone() },
            (200, "") => self.not_s3(subject),
            (404 | 405, _) if refusal.header("x-amz-delete-marker") == Some("true") && !matches!(asked, Asked::List(_)) => {
                StoreError::Deleted { key: subject }
            }
            (404, "") => self.bare_404(asked, subject),
            (404, _) if matches!(asked, Asked::List(_)) => StoreError::NoStore { store: self.store.clone() },
            (404, _) => StoreError::NotFound { key: subject },
            (_, "RequestTimeTooSkewed" | "RequestInTheFuture" | "RequestExpired") => skew(refusal),
            (400 | 401 | 403, code) if self.skewed(code) => skew(refusal),
            (301 | 307 | 308, _)
            | (_, "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException") => {
                self.wrong_region(refusal)
            }
            (400, _) if refusal.header("x-amz-bucket-region").is_some() && refusal.code.is_empty() => {
                self.wrong_region(refusal)
            }
            (_, "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired") => {
                self.rejected(refusal, "the session has expired")
            }
            (_, "InvalidAccessKeyId") => self.rejected(refusal, "the store does not know this access key"),
            (_, "SignatureDoesNotMatch") => self.rejected(refusal, "the secret does not belong to the access key"),
            (_, "InvalidToken" | "InvalidSecurity") => self.rejected(refusal, "the session token is not valid"),
            // Nothing but a write has a condition here; a read that is refused by one was not read.
            (412, _) | (_, "PreconditionFailed") if matches!(asked, Asked::Write(_)) => {
                StoreError::Conflict { key: subject, detail: "the store's condition failed (412)".to_owned() }
            }
            (409, _) | (_, "ConditionalRequestConflict" | "OperationAborted") if matches!(asked, Asked::Write(_)) => {
                StoreError::Busy { key: subject }
            }
            (501, _) | (_, "NotImplemented") => StoreError::Unsupported {
                store: self.store.clone(),
                capability: format!("what was asked of {subject} ({})", refusal.said()),
            },
            (409 | 412 | 429 | 500..=599, _)
            | (_, "PreconditionFailed" | "SlowDown" | "RequestTimeout" | "InternalError" | "ServiceUnavailable") => {
                StoreError::Unavailable { subject, detail: format!("{} answered {}", self.store, refusal.said()) }
            }
            (401 | 403, _) => StoreError::Denied { subject, detail: denied(asked, refusal, &self.store) },
            (_, "KeyTooLongError") => StoreError::BadKey { key: subject, because: refusal.said() },
            _ => StoreError::Other { subject, detail: format!("{} answered {}", self.store, refusal.said()) },
        }
    }

    /// A 404 that does not say of what. From a `HEAD` it is all there is; anywhere else S3 says more, so it was not S3
    /// that answered, and nothing is known about the key.
    fn bare_404(&self, asked: Asked<'_>, subject: String) -> StoreError {
        match asked {
            Asked::Head(_) => StoreError::NotFound { key: subject },
            _ => StoreError::Other {
                subject,
                detail: format!(
                    "{} answered 404 without saying what is missing, as no S3 does; check the endpoint",
                    self.store
                ),
            },
        }
    }

    /// Whether a refused signature is explained by clocks that no signature bears.
    fn skewed(&self, code: &str) -> bool {
        matches!(code, "" | "SignatureDoesNotMatch" | "AccessDenied" | "Forbidden")
            && self.clock.ahead_seconds().is_some_and(|seconds| seconds.abs() > SIGNATURE_SKEW_SECONDS)
    }

    fn wrong_region(&self, refusal: &Refusal<'_>) -> StoreError {
        // "the region 'us-east-1' is wrong; expecting 'eu-west-1'"
        let told = || refusal.message.split_once("expecting '").and_then(|(_, rest)| rest.split('\'').next());
        let region = refusal.header("x-amz-bucket-region").or_else(told).unwrap_or("-");
        if region == "-" && refusal.status == 400 {
            return self.rejected(refusal, "the signature was not understood");
        }
        StoreError::WrongRegion { store: self.store.clone(), region: self.redact(region) }
    }

    fn rejected(&self, refusal: &Refusal<'_>, meaning: &str) -> StoreError {
        let code = if refusal.code.is_empty() { refusal.status.to_string() } else { refusal.code.clone() };
        StoreError::Credentials { detail: format!("{meaning} ({code}, {}; {})", self.identity(), self.store) }
    }

    /// Whose credentials were used.
    fn identity(&self) -> String {
        self.profile
            .as_ref()
            .map_or_else(|| "no AWS_PROFILE is set".to_owned(), |profile| format!("AWS_PROFILE is {profile:?}"))
    }

    /// The meaning of a failure to find credentials.
    pub(super) fn credentials(&self, error: &CredentialsError) -> StoreError {
        let tried = "looked in the environment, the profile files, web identity, the container and the instance metadata";
        let detail = match error {
            CredentialsError::CredentialsNotLoaded(_) => format!("none found: {tried} ({})", self.identity()),
            CredentialsError::ProviderTimedOut(_) => {
                format!("no answer from the place they come from: {tried} ({})", self.identity())
            }
            other => {
                // A helper program may print anything at all when it fails.
                let why = self.innermost(other);
                let why = why.split("Stderr:").next().unwrap_or_default().trim_end_matches([' ', '.']);
                // The instance metadata are asked last, so everything before them was looked at in vain.
                let tried = if why.contains("IMDS") { format!("; {tried}") } else { String::new() };
                format!("{why}{tried} ({})", self.identity())
            }
        };
        StoreError::Credentials { detail }
    }

    /// How long was waited in vain, for messages.
    pub(super) fn no_answer(&self) -> String {
        format!("{}: no answer within {}", self.store, seconds(self.timeout))
    }

    /// The last cause, which says what happened; the ones around it say where in the SDK.
    pub(super) fn innermost(&self, error: &(dyn Error + 'static)) -> String {
        let mut at = error;
        while let Some(source) = at.source() {
            at = source;
        }
        self.redact(&at.to_string())
    }

    /// Foreign words on one line, bounded, without any credential, signature or digest.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
        for secret in self.secrets.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text = text.replace(secret.as_str(), "[redacted]");
        }
        let words: Vec<String> = text.split(' ').map(without_digest).collect();
        words.join(" ").chars().take(FOREIGN_CHARACTERS).collect()
    }
}

/// A signature is 64 hex digits, whatever stands around it.
fn without_digest(word: &str) -> String {
    let mut kept = String::with_capacity(word.len());
    let mut digits = String::new();
    for character in word.chars().chain([' ']) {
        if character.is_ascii_hexdigit() {
            digits.push(character);
            continue;
        }
        kept.push_str(if digits.len() >= 64 { "[redacted]" } else { &digits });
        digits.clear();
        kept.push(character);
    }
    kept.pop();
    kept
}

fn skew(refusal: &Refusal<'_>) -> StoreError {
    StoreError::ClockSkew { local: now(), store: refusal.header("date").and_then(parse_date) }
}

fn denied(asked: Asked<'_>, refusal: &Refusal<'_>, store: &str) -> String {
    let meaning = match asked {
        Asked::Read(_) | Asked::Head(_) => "missing or not permitted",
        Asked::Write(_) => "writing is not permitted",
        Asked::List(_) => "listing is not permitted",
    };
    format!("{meaning} ({store} answered {})", refusal.said())
}

/// A duration as people write it.
pub(super) fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() == 0 { format!("{} s", duration.as_secs()) } else { format!("{:.1} s", duration.as_secs_f64()) }
}

/// The first error of a type among an error and its causes.
fn find<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        at = error.source();
    }
    None
}
