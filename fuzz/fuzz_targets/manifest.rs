//! A manifest that reads is of the release of its key.
#![no_main]

use carlosctl::platform::Manifest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(manifest) = Manifest::read("apps/acme/shop/releases/v1/manifest.json", data) {
        assert_eq!(manifest.version, "v1");
    }
});
