//! The host file reads or names a line.
#![no_main]

use carlosctl::settings::parse_host_env;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Err(because) = parse_host_env(text)
    {
        assert!(because.starts_with("line "));
    }
});
