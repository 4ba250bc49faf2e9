//! A pointer that reads names a version, and no stranger's signature is taken for the release key's.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use carlosctl::platform::pointer::{self, ReleaseKey, RootKey, Signature};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let root = ReleaseKey::from_seed(&[7; 32]).public_text();
    let root = RootKey::parse(&root).expect("a key");
    let look = |envelope: &[u8]| {
        if let Ok(found) = pointer::read("apps/acme/shop/channels/stable.json", envelope, Ok(&root)) {
            assert!(!found.pointer.version.is_empty());
            assert!(!matches!(found.signature, Signature::Verified(_)));
        }
    };
    look(data);
    // The same as the payload of an envelope, which chance does not write.
    let payload = STANDARD.encode(data);
    let kind = "application/vnd.carlos.channel-pointer.v1+json";
    look(format!(r#"{{"payloadType":"{kind}","payload":"{payload}","signatures":[{{"keyid":"root","sig":"AA=="}}]}}"#).as_bytes());
});
