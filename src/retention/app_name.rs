//! An app as an operator names it: `ACCT/APP`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::platform::keys::is_segment;

/// An account and an app; both could be segments of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AppName {
    /// The account.
    pub account: String,
    /// The app.
    pub app: String,
}

impl AppName {
    /// The app of this account and name.
    #[must_use]
    pub fn new(account: &str, app: &str) -> Self {
        Self { account: account.to_owned(), app: app.to_owned() }
    }
}

impl FromStr for AppName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((account, app)) if is_segment(account) && is_segment(app) => Ok(Self::new(account, app)),
            _ => Err(format!("{text:?} is not ACCT/APP, such as ops/shop")),
        }
    }
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.account, self.app))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_is_named_with_its_account() {
        assert_eq!("ops/a&b".parse(), Ok(AppName::new("ops", "a&b")));
        for bad in ["shop", "ops/", "/shop", "ops/shop/x", "../shop", "ops/..", "ops/a\nb", ""] {
            assert!(bad.parse::<AppName>().is_err(), "{bad:?}");
        }
    }
}
