//! Labels, stamps, selectors and keys: what reads is written as it was.
#![no_main]

use carlosctl::platform::{Label, Stamp, keys};
use carlosctl::snapshot::Selector;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        if let Ok(label) = text.parse::<Label>() {
            assert_eq!(label.as_str(), text);
        }
        if let Ok(stamp) = text.parse::<Stamp>() {
            assert_eq!(stamp.to_string(), text);
        }
        let _ = text.parse::<Selector>();
        let _ = keys::read_snapshot_key(text);
        let _ = keys::app::read(text);
    }
});
