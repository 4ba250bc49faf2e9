use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use ed25519_dalek::Signer as _;

use super::envelope::pre_authentication_encoding;
use super::*;

const KEY: &str = "apps/ops/a&b/channels/stable.json";

fn root() -> ReleaseKey {
    ReleaseKey::from_seed(&[7; 32])
}

fn public() -> RootKey {
    RootKey::parse(&root().public_text()).expect("a key")
}

fn pointer(channel: &str) -> ChannelPointer {
    let at = |text: &str| Some(text.parse().expect("an instant"));
    ChannelPointer {
        account: "ops".to_owned(),
        app: "a&b".to_owned(),
        channel: channel.to_owned(),
        version: "v<2>".to_owned(),
        promoted_at: at("2026-11-30T10:00:00.5Z"),
        history: vec![
            Promotion { version: "v1".to_owned(), promoted_at: at("2026-11-01T10:00:00Z") },
            Promotion { version: "v0".to_owned(), promoted_at: None },
        ],
        lease_expires_at: None,
    }
}

/// An envelope around any payload, signed as `sign` would.
fn envelope(payload: &[u8], signature: &[u8]) -> Vec<u8> {
    format!(
        r#"{{"payloadType":"{POINTER_TYPE}","payload":"{}","signatures":[{{"keyid":"root","sig":"{}"}}]}}"#,
        STANDARD.encode(payload),
        STANDARD.encode(signature)
    )
    .into_bytes()
}

fn signature_of(payload: &[u8]) -> [u8; 64] {
    root().0.sign(&pre_authentication_encoding(POINTER_TYPE, payload)).to_bytes()
}

fn signature(bytes: &[u8]) -> Signature {
    read(KEY, bytes, Ok(&public())).expect("it reads").signature
}

fn unverified(bytes: &[u8]) -> String {
    match signature(bytes) {
        Signature::Unverified(because) => because,
        Signature::Verified(by) => panic!("verified by {by}"),
    }
}

#[test]
fn what_was_signed_verifies_and_reads_back() {
    let signed = sign(&root(), &pointer("stable")).expect("signed");
    let found = read(KEY, &signed, Ok(&public())).expect("it reads");
    assert_eq!(found, FoundPointer { pointer: pointer("stable"), signature: Signature::Verified("root".to_owned()) });
}

/// Case 22: the payload's own bytes are what was signed.
#[test]
fn the_bytes_are_verified_and_not_a_re_encoding_of_them() {
    let go = br#"{"version":"v\u003c2\u003e","app":"a\u0026b","account":"ops","channel":"stable","promoted_at":"2026-11-30T10:00:00.5Z","history":null}"#;
    let found = read(KEY, &envelope(go, &signature_of(go)), Ok(&public())).expect("it reads");
    assert_eq!((found.pointer.app.as_str(), found.pointer.version.as_str()), ("a&b", "v<2>"));
    assert_eq!(found.signature, Signature::Verified("root".to_owned()));
    let value: serde_json::Value = serde_json::from_slice(go).expect("json");
    let pretty = serde_json::to_vec_pretty(&value).expect("json");
    let found = read(KEY, &envelope(&pretty, &signature_of(go)), Ok(&public())).expect("it reads");
    assert_eq!(found.signature, Signature::Unverified("no signature of it verifies with the release key".to_owned()));
    assert_eq!(found.pointer.version, "v<2>", "it still names what it protects");
}

/// Case 23: keys that would let anything verify.
#[test]
fn a_key_that_proves_nothing_is_refused() {
    let identity = [&[1_u8][..], &[0; 31]].concat();
    let spelled_again = [&[0xee_u8][..], &[0xff; 30], &[0x7f]].concat();
    for (bytes, error) in [
        (identity, KeyError::Weak),
        (vec![0; 32], KeyError::Weak),
        (vec![0xff; 32], KeyError::Weak),
        (spelled_again, KeyError::Weak),
        (vec![9; 31], KeyError::Length(31, "32")),
        (vec![9; 33], KeyError::Length(33, "32")),
        (vec![], KeyError::Length(0, "32")),
    ] {
        assert_eq!(RootKey::parse(&STANDARD.encode(bytes)), Err(error));
    }
    assert_eq!(RootKey::parse("not base64!"), Err(KeyError::NotBase64));
    // A seed whose public key has both + and / in it, so that the alphabets differ.
    let key = (0..=255_u8).map(|seed| ReleaseKey::from_seed(&[seed; 32])).find(|key| {
        let text = key.public_text();
        text.contains('+') && text.contains('/')
    });
    let bytes = *key.expect("such a seed").0.verifying_key().as_bytes();
    let expected = RootKey::parse(&STANDARD.encode(bytes)).expect("a key");
    for text in [STANDARD_NO_PAD.encode(bytes), URL_SAFE.encode(bytes), URL_SAFE_NO_PAD.encode(bytes)] {
        assert_eq!(RootKey::parse(&text), Ok(expected.clone()));
        assert_eq!(RootKey::parse(&format!(" {text}\r\n")), Ok(expected.clone()));
    }
}

/// Case 23: signatures that a lax check would let through.
#[test]
fn a_signature_is_verified_strictly() {
    let payload = pointer("stable").to_json().expect("json");
    let good = signature_of(&payload);
    assert_eq!(signature(&envelope(&payload, &good)), Signature::Verified("root".to_owned()));
    // The same S once more around the group: S + L.
    let order: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut again = good;
    let mut carry = 0_u16;
    for (byte, add) in again[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = u8::try_from(sum & 0xff).expect("a byte");
        carry = sum >> 8;
    }
    let trivial = [&[1_u8][..], &[0; 63]].concat();
    let other = ReleaseKey::from_seed(&[8; 32]).0.sign(&pre_authentication_encoding(POINTER_TYPE, &payload)).to_bytes();
    for bad in [&again[..], &trivial, &good[..63], &[0; 64], &other] {
        assert_eq!(unverified(&envelope(&payload, bad)), "no signature of it verifies with the release key");
    }
    // Signed under another payload type, or without the pre-authentication encoding.
    for message in [pre_authentication_encoding(GRANT_TYPE, &payload), payload.clone()] {
        let bad = root().0.sign(&message).to_bytes();
        assert_eq!(unverified(&envelope(&payload, &bad)), "no signature of it verifies with the release key");
    }
}

#[test]
fn the_encoding_is_the_one_of_dsse() {
    // The example of the DSSE protocol description.
    assert_eq!(
        pre_authentication_encoding("http://example.com/HelloWorld", b"hello world"),
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    );
}

#[test]
fn a_pointer_of_another_place_is_not_believed_and_still_names_its_versions() {
    for (key, field) in [
        ("apps/acme/a&b/channels/stable.json", "account"),
        ("apps/ops/other/channels/stable.json", "app"),
        ("apps/ops/a&b/channels/edge.json", "channel"),
        ("apps/ops/a&b/channels/canary/stable.json", "channel"),
    ] {
        let found = read(key, &sign(&root(), &pointer("stable")).expect("signed"), Ok(&public())).expect("it reads");
        let Signature::Unverified(because) = &found.signature else { panic!("verified") };
        assert!(because.starts_with(&format!("its {field} is ")), "{because}");
        assert_eq!(found.pointer.version, "v<2>");
    }
    let signed = sign(&root(), &pointer("stable")).expect("signed");
    let found = read(KEY, &signed, Err("CARLOS_RELEASE_PUBKEY is not set")).expect("it reads");
    assert_eq!(
        found.signature,
        Signature::Unverified("there is no public key to verify it with: CARLOS_RELEASE_PUBKEY is not set".to_owned())
    );
    let text = String::from_utf8(signed).expect("utf-8").replace(POINTER_TYPE, GRANT_TYPE);
    assert!(unverified(text.as_bytes()).starts_with("its payload type is "));
}

#[test]
fn a_scoped_key_signs_within_its_scopes_only() {
    let builder = ReleaseKey::from_seed(&[9; 32]);
    let given = grant(&root(), "builder", &builder, &["canary", "edge", ""]).expect("a grant");
    let check = |channel: &str, key: &ReleaseKey, grant: &Grant| {
        let signed = sign_scoped(key, grant, &pointer(channel)).expect("signed");
        read(&format!("apps/ops/a&b/channels/{channel}.json"), &signed, Ok(&public())).expect("it reads").signature
    };
    for channel in ["canary", "canary/pr-7", "canary/a/b", "edge"] {
        assert_eq!(check(channel, &builder, &given), Signature::Verified("builder".to_owned()), "{channel}");
    }
    for channel in ["canaryx", "canary-2", "stable", "beta/canary"] {
        assert_eq!(
            check(channel, &builder, &given),
            Signature::Unverified(format!("the scoped key \"builder\" covers [\"canary\", \"edge\", \"\"], not \"{channel}\""))
        );
    }
    let forged = grant(&builder, "builder", &builder, &["canary"]).expect("a grant");
    assert_eq!(
        check("canary", &builder, &forged),
        Signature::Unverified("its grant is not signed by the release key".to_owned())
    );
    assert_eq!(
        check("canary", &ReleaseKey::from_seed(&[10; 32]), &given),
        Signature::Unverified("no signature of it verifies with the scoped key \"builder\"".to_owned())
    );
    // The grant is there, and the signature carries another name.
    let signed = String::from_utf8(sign_scoped(&builder, &given, &pointer("edge")).expect("signed")).expect("utf-8");
    let renamed = signed.replacen("\"keyid\":\"builder\"", "\"keyid\":\"other\"", 1);
    let found = read("apps/ops/a&b/channels/edge.json", renamed.as_bytes(), Ok(&public())).expect("it reads");
    assert!(matches!(found.signature, Signature::Unverified(_)));
    // A grant is no pointer, and a pointer no grant.
    let swapped = signed.replace(GRANT_TYPE, POINTER_TYPE);
    let found = read("apps/ops/a&b/channels/edge.json", swapped.as_bytes(), Ok(&public())).expect("it reads");
    assert!(matches!(found.signature, Signature::Unverified(because) if because.starts_with("its grant's payload type")));
}

#[test]
fn a_pointer_that_does_not_say_which_versions_it_names_does_not_read() {
    let payload = String::from_utf8(pointer("stable").to_json().expect("json")).expect("utf-8");
    for (from, to) in [
        (r#""version":"v\u003c2\u003e""#, r#""version":"""#),
        (r#""version":"v1""#, r#""version":null"#),
        (r#""history":["#, r#""history":[null,"#),
        (r#""promoted_at":"2026-11-30T10:00:00.5Z","#, ""),
        (r#""account":"ops""#, r#""account":"ops","Account":"x""#),
    ] {
        let changed = payload.replacen(from, to, 1);
        assert_ne!(changed, payload);
        let error = read(KEY, &envelope(changed.as_bytes(), &signature_of(changed.as_bytes())), Ok(&public()));
        assert!(error.expect_err(to).to_string().starts_with(KEY), "{to}");
    }
    for text in ["{", "{}", r#"{"payload":"!"}"#, r#"{"payload":"e30="}"#, r#"{"payload":"e30=","signatures":[{}]}"#] {
        assert!(read(KEY, text.as_bytes(), Ok(&public())).is_err(), "{text}");
    }
    assert!(read("apps/ops/a&b/channels/x", b"{}", Err("")).is_err());
}

#[test]
fn a_private_key_is_a_seed_or_a_pair_and_is_never_shown() {
    let seed = [7_u8; 32];
    let pair = root().0.to_keypair_bytes();
    for text in [STANDARD.encode(seed), STANDARD.encode(pair) + "\n", URL_SAFE_NO_PAD.encode(pair)] {
        assert_eq!(ReleaseKey::parse(&text).expect("a key").public_text(), root().public_text());
    }
    let mut torn = pair;
    torn[32..].copy_from_slice(ReleaseKey::from_seed(&[8; 32]).0.verifying_key().as_bytes());
    assert_eq!(ReleaseKey::parse(&STANDARD.encode(torn)).expect_err("torn"), KeyError::Halves);
    assert_eq!(ReleaseKey::parse(&STANDARD.encode([1; 48])).expect_err("short"), KeyError::Length(48, "32 or 64"));
    assert_eq!(format!("{:?}", root()), "ReleaseKey(..)");
}
