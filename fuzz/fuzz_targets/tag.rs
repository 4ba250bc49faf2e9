//! A tag that reads names a version.
#![no_main]

use carlosctl::platform::tag;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(version) = tag::read("apps/acme/shop/tags/v0.5.0.json", data) {
        assert!(!version.is_empty());
    }
});
