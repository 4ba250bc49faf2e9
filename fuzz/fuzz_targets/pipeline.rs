//! A pipeline that reads has a channel, and no bake below zero.
#![no_main]

use carlosctl::platform::Pipeline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(pipeline) = Pipeline::read("apps/acme/shop/pipeline.json", data) {
        assert!(!pipeline.channels.is_empty());
        assert!(pipeline.channels.iter().all(|channel| !channel.bake.is_negative()));
    }
});
