//! Where a bucket is, when it is not at AWS. Its URL may have a user and a password in it.

use std::fmt;
use std::ops::Deref;

/// An endpoint's URL. What is printed of it for debugging has no user and no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(String);

impl From<String> for Endpoint {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl Deref for Endpoint {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

/// A URL without its user and password, and anything else as it is.
#[must_use]
pub fn without_password(text: &str) -> String {
    let (scheme, rest) = text.find("//").map_or(("", text), |at| text.split_at(at + 2));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((secret, _)) => format!("{scheme}[redacted]{}", &rest[secret.len()..]),
        None => text.to_owned(),
    }
}
