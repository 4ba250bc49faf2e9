//! A pointer that nobody signed is never verified.
#![no_main]

use carlosctl::platform::pointer::{self, ReleaseKey, RootKey, Signature};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let root = ReleaseKey::from_seed(&[7; 32]).public_text();
    let root = RootKey::parse(&root).expect("a key");
    if let Ok(found) = pointer::read("apps/acme/shop/channels/stable.json", data, Ok(&root)) {
        assert!(!found.pointer.version.is_empty());
        assert!(!matches!(found.signature, Signature::Verified(_)));
    }
});
