//! A sidecar that reads is written and read again as the same one.
#![no_main]

use carlosctl::platform::Sidecar;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let key = "control/registry-snapshot/edge-a1.json";
    if let Ok(sidecar) = Sidecar::read(key, data) {
        assert!(!sidecar.label.is_empty());
        let written = sidecar.to_json().expect("JSON");
        assert_eq!(Sidecar::read(key, &written).expect("our own"), sidecar);
    }
});
