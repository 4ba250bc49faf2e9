//! A report that reads names the box of its key.
#![no_main]

use carlosctl::platform::BoxReport;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(report) = BoxReport::read("status/boxes/edge-a1.json", data) {
        assert_eq!(report.label, "edge-a1");
    }
});
