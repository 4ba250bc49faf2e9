//! A record that reads names the host of its key.
#![no_main]

use carlosctl::platform::ProvisionRecord;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(record) = ProvisionRecord::read("apps/acme/shop/instances/a.example.org.json", data) {
        assert_eq!(record.host, "a.example.org");
    }
});
