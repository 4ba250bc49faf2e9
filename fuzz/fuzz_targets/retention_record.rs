//! A policy that reads keeps at least one release.
#![no_main]

use carlosctl::platform::retention_record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(keep) = retention_record::read("apps/acme/shop/retention.json", data) {
        assert!((1..=1_000_000).contains(&keep));
    }
});
