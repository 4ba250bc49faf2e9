//! Whatever is in a file, looking at it ends, and leaves the file as it was.
#![no_main]

use carlosctl::registry::Registry;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("registry.db");
    std::fs::write(&path, data).expect("a file");
    if let Ok(registry) = Registry::open_snapshot(&path) {
        let _ = registry.check();
        let _ = registry.census("ops");
        let _ = registry.routes("ops");
        let _ = registry.fingerprint();
    }
    assert!(std::fs::read(&path).expect("a file") == data);
});
