//! A plan that was found whole is read to its end a second time.
#![no_main]

use carlosctl::retention;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("plan.json");
    std::fs::write(&path, data).expect("a file");
    let first = retention::check_plan(&path).map_err(|error| error.message);
    assert_eq!(first, retention::check_plan(&path).map_err(|error| error.message));
});
