//! What another site, another user, another relying party or a program sends.

use serde_json::{Value, json};

use super::*;
use crate::bounds;

/// An assertion with one thing of it changed.
fn changed(sent: &Assertion, change: impl FnOnce(&mut Assertion)) -> Assertion {
    let mut sent = sent.clone();
    change(&mut sent);
    sent
}

/// Client data of a sign-in with some keys changed; it is not signed any more.
fn client_data(keys: Value) -> Vec<u8> {
    let mut data = json!({
        "type": "webauthn.get",
        "challenge": encode(CHALLENGE),
        "origin": ORIGIN,
        "crossOrigin": false,
    });
    for (key, value) in keys.as_object().unwrap() {
        data[key] = value.clone();
    }
    data.to_string().into_bytes()
}

#[test]
fn a_tampered_signature_or_message_is_refused() {
    let (mut authenticator, passkey) = registered();
    let sent = assert(&mut authenticator);
    let refused = Err(Refused::Signature);
    for index in [0, 8, sent.signature.len() - 1] {
        let tampered = changed(&sent, |sent| sent.signature[index] ^= 1);
        assert_eq!(verify(&tampered, &passkey), refused);
    }
    for signature in [
        vec![],
        vec![0],
        vec![0; 64],
        vec![0x30; 70],
        vec![0xff; bounds::SIGNATURE],
    ] {
        let tampered = changed(&sent, |sent| sent.signature = signature);
        assert_eq!(verify(&tampered, &passkey), refused);
    }
    // The counter is part of what is signed, and so is every byte of the client data.
    let tampered = changed(&sent, |sent| *sent.authenticator_data.last_mut().unwrap() += 1);
    assert_eq!(verify(&tampered, &passkey), refused);
    let tampered = changed(&sent, |sent| sent.client_data.push(b' '));
    assert_eq!(verify(&tampered, &passkey), refused);
    // The flag that says that the person was verified, too.
    let mut without = Authenticator::new(ORIGIN).without_verification();
    let passkey = register(&mut without).unwrap();
    let tampered = changed(&assert(&mut without), |sent| {
        sent.authenticator_data[32] |= VERIFIED;
    });
    assert_eq!(verify(&tampered, &passkey), refused);
}

#[test]
fn pages_of_other_origins_are_refused() {
    let (mut authenticator, passkey) = registered();
    for origin in [
        "https://evil.example",
        "https://home.example.evil.example",
        "https://evil.home.example",
        "http://home.example",
        "https://home.example:8443",
        "https://home.example/",
        "HTTPS://HOME.EXAMPLE",
        "https://home.example.",
        "null",
        "",
    ] {
        authenticator.origin = origin.to_owned();
        assert_eq!(
            verify(&assert(&mut authenticator), &passkey),
            Err(Refused::Origin),
            "{origin:?}"
        );
        let mut other = Authenticator::new(origin);
        assert_eq!(register(&mut other), Err(Refused::Origin), "{origin:?}");
    }
}

#[test]
fn frames_of_other_sites_are_refused() {
    let (mut authenticator, passkey) = registered();
    let sent = assert(&mut authenticator);
    for keys in [
        json!({ "crossOrigin": true }),
        json!({ "topOrigin": "https://evil.example" }),
    ] {
        let framed = changed(&sent, |sent| sent.client_data = client_data(keys));
        assert_eq!(verify(&framed, &passkey), Err(Refused::Framed));
    }
}

#[test]
fn another_relying_party_is_refused() {
    let (mut authenticator, passkey) = registered();
    for other in ["evil.example", "example", "www.home.example", "HOME.EXAMPLE", ""] {
        authenticator.relying_party = Some(other.to_owned());
        let refused = Err(Refused::RelyingParty);
        assert_eq!(verify(&assert(&mut authenticator), &passkey), refused, "{other}");
        assert_eq!(
            register(&mut authenticator),
            Err(Refused::RelyingParty),
            "{other}"
        );
    }
}

#[test]
fn another_challenge_and_the_other_ceremony_are_refused() {
    let (mut authenticator, passkey) = registered();
    let sent = assert(&mut authenticator);
    for challenge in [b"another".as_slice(), &CHALLENGE[1..], &[]] {
        let verified = party().verify(&sent, challenge, &passkey, &user_handle("ada"), Required);
        assert_eq!(verified, Err(Refused::Challenge));
    }
    let other = changed(&sent, |sent| {
        sent.client_data = client_data(json!({ "type": "webauthn.create" }));
    });
    assert_eq!(verify(&other, &passkey), Err(Refused::OtherCeremony));
    // A signature for a sign-in does not register a passkey.
    let object = Registration {
        client_data: sent.client_data,
        attestation_object: vec![0xa0],
    };
    assert_eq!(party().register(&object, CHALLENGE), Err(Refused::OtherCeremony));
}

#[test]
fn passkeys_of_others_are_refused() {
    let (mut authenticator, passkey) = registered();
    let (mut others, other) = registered();
    let sent = assert(&mut authenticator);
    // The passkey of another user, under its own id and under this one's.
    assert_eq!(verify(&assert(&mut others), &passkey), Err(Refused::OtherPasskey));
    let disguised = changed(&assert(&mut others), |sent| sent.id = passkey.id.clone());
    assert_eq!(verify(&disguised, &passkey), Err(Refused::Signature));
    let renamed = Passkey {
        id: passkey.id.clone(),
        ..other
    };
    assert_eq!(verify(&sent, &renamed), Err(Refused::Signature));
    // The right passkey, which says that it belongs to someone else.
    let verified = party().verify(&sent, CHALLENGE, &passkey, &user_handle("bob"), Required);
    assert_eq!(verified, Err(Refused::OtherUser));
}

#[test]
fn an_authenticator_that_was_not_touched_is_refused() {
    let (mut authenticator, passkey) = registered();
    authenticator.flags = VERIFIED;
    assert_eq!(
        verify(&assert(&mut authenticator), &passkey),
        Err(Refused::NotPresent)
    );
    assert_eq!(register(&mut authenticator), Err(Refused::NotPresent));
}

#[test]
fn client_data_that_is_not_such_an_object_is_refused() {
    let (mut authenticator, passkey) = registered();
    let sent = assert(&mut authenticator);
    let nested = [b"[".repeat(1000), b"]".repeat(1000)].concat();
    let twice = br#"{"type":"webauthn.get","type":"webauthn.get","challenge":"AQ","origin":"x"}"#;
    for (data, why) in [
        (vec![], Refused::ClientData),
        (b"null".to_vec(), Refused::ClientData),
        (b"\xff\xfe".to_vec(), Refused::ClientData),
        (nested, Refused::ClientData),
        (twice.to_vec(), Refused::ClientData),
        (client_data(json!({ "challenge": 5 })), Refused::ClientData),
        (
            client_data(json!({ "challenge": "not+base64/url" })),
            Refused::ClientData,
        ),
        (client_data(json!({ "challenge": "" })), Refused::ClientData),
        (client_data(json!({ "origin": [ORIGIN] })), Refused::ClientData),
        (client_data(json!({ "type": null })), Refused::ClientData),
        (
            client_data(json!({ "x": "y".repeat(bounds::CLIENT_DATA) })),
            Refused::TooLarge,
        ),
        (vec![b' '; 100_000_000], Refused::TooLarge),
    ] {
        let other = changed(&sent, |sent| sent.client_data = data);
        assert_eq!(verify(&other, &passkey), Err(why));
    }
}

#[test]
fn every_cut_and_every_byte_more_is_refused() {
    let mut authenticator = Authenticator::new(ORIGIN);
    let whole = create(&mut authenticator);
    let passkey = party().register(&whole, CHALLENGE).unwrap();
    let with = |object: &[u8]| {
        let sent = Registration {
            attestation_object: object.to_vec(),
            ..whole.clone()
        };
        party().register(&sent, CHALLENGE)
    };
    for length in 0..whole.attestation_object.len() {
        assert!(with(&whole.attestation_object[..length]).is_err(), "{length}");
    }
    let more = [&*whole.attestation_object, &[0]].concat();
    assert_eq!(with(&more), Err(Refused::AuthenticatorData));
    let large = vec![0xa0; bounds::ATTESTATION_OBJECT + 1];
    assert_eq!(with(&large), Err(Refused::TooLarge));
    // The same of what is signed.
    let sent = assert(&mut authenticator);
    for length in 0..sent.authenticator_data.len() {
        let cut = changed(&sent, |sent| sent.authenticator_data.truncate(length));
        assert!(verify(&cut, &passkey).is_err(), "{length}");
    }
    let more = changed(&sent, |sent| sent.authenticator_data.push(0));
    assert_eq!(verify(&more, &passkey), Err(Refused::AuthenticatorData));
    let large = changed(&sent, |sent| {
        sent.authenticator_data.resize(bounds::AUTHENTICATOR_DATA + 1, 0);
    });
    assert_eq!(verify(&large, &passkey), Err(Refused::TooLarge));
    let large = changed(&sent, |sent| sent.signature.resize(bounds::SIGNATURE + 1, 0));
    assert_eq!(verify(&large, &passkey), Err(Refused::TooLarge));
}

#[test]
fn whatever_is_changed_in_a_registration_what_is_read_is_bounded() {
    let mut authenticator = Authenticator::ed25519(ORIGIN);
    let whole = create(&mut authenticator);
    let mut random = fastrand::Rng::with_seed(41);
    for _ in 0..20_000 {
        let mut sent = whole.clone();
        for _ in 0..random.usize(1..4) {
            let index = random.usize(..sent.attestation_object.len());
            sent.attestation_object[index] = random.u8(..);
        }
        // An attacker registers what they like for themselves: what is read is bounded.
        if let Ok(passkey) = party().register(&sent, CHALLENGE) {
            assert!((1..=bounds::ID).contains(&passkey.id.len()));
            assert!(passkey.public_key.len() <= bounds::PUBLIC_KEY);
        }
    }
}

#[test]
fn an_object_with_a_key_twice_is_refused() {
    let mut authenticator = Authenticator::new(ORIGIN);
    let whole = create(&mut authenticator);
    let format = b"\x63fmt\x64none";
    for again in [&format[..], b"\x67attStmt\xa0"] {
        let object = [&[0xa4], again, &whole.attestation_object[1..]].concat();
        let sent = Registration {
            attestation_object: object,
            ..whole.clone()
        };
        assert_eq!(
            party().register(&sent, CHALLENGE),
            Err(Refused::AuthenticatorData)
        );
    }
}

#[test]
fn the_deepest_and_longest_lists_are_read_to_their_end_and_refused() {
    // Lists in lists, as full and as deep as may be.
    let mut object = vec![0xa1, 0x67];
    object.extend(b"attStmt");
    object.extend([0x81; 6]);
    let count = bounds::ATTESTATION_OBJECT - object.len() - 3;
    object.push(0x99);
    object.extend((count as u16).to_be_bytes());
    object.resize(bounds::ATTESTATION_OBJECT, 0);
    let sent = Registration {
        client_data: client_data(json!({ "type": "webauthn.create" })),
        attestation_object: object,
    };
    assert_eq!(
        party().register(&sent, CHALLENGE),
        Err(Refused::AuthenticatorData)
    );
}

#[test]
fn texts_that_are_not_base64url_or_too_long_are_refused_with_their_field() {
    let good = "AQ";
    assert_eq!(Registration::decode("+", good).err(), Some("clientDataJSON"));
    assert_eq!(Registration::decode(good, "").err(), Some("attestationObject"));
    let long = "A".repeat(bounds::ATTESTATION_OBJECT * 2);
    assert_eq!(Registration::decode(good, &long).err(), Some("attestationObject"));
    let decode = |id, data, signature, handle| Assertion::decode(id, good, data, signature, handle).err();
    assert_eq!(decode("", good, good, None), Some("id"));
    assert_eq!(decode(&long, good, good, None), Some("id"));
    assert_eq!(decode(good, "é", good, None), Some("authenticatorData"));
    assert_eq!(decode(good, good, &long, None), Some("signature"));
    assert_eq!(decode(good, good, good, Some(&long)), Some("userHandle"));
    // Some browsers send an empty one instead of none.
    assert_eq!(decode(good, good, good, Some("")), None);
}
