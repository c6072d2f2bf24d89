//! Public keys in COSE, and those that are refused.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{Refused, public_key::PublicKey};

/// The modulus of a key of 2048 bits, whose exponent is 65537.
const MODULUS: &str = "liAq/G/eYxXElfjDd9Z8q74KLZOg0CSV/NHXByy2nyKyzhfjpNUla9afXNqqKswwlOMu8VFsq19pXbfDiM6XNm4Dw89Cc/5b6mT6\
    i4rFb4yuduU+uomxFLFYfWTkEJra3XsHLy9XUFXD44S3+c5BkLzwDY9SRNRnkbfea28lgBUZKr2fHXrGdKStfF305npNU3CllEKy\
    wDmRzyDpCQPK9n5bzx6r3+ZTRzHx7aGCKOr3jk5bMGlaUKx67B799M343sAk4BI9EkjrFxA0P4y1ZPMFXequOp4Q4hXWpgx/8orQ\
    XhkyjYfuax/VA+anWHdzW1PswbPzLlih5xfbGtT5lw==";

/// What openssl signed with it.
const SIGNATURE: &str = "JDvZsR3rzDckogikySzQHz+5Cv9bj0IwAGVcLOpcD/gaPVATLiKgp2cGsmj+yaMaktD3aJeBGKI8Jdq/Wevn1IBEwUPaPllUbtJR\
    D03pD3AZCfeY8oq+hmUqj2t0FV0Slu74ZWyWjtDU9Fh7TMLM7Ta/ZQpIenXfgqdKh0e8tGyzIzkxFHsFL3q3Gv3z/A1nWC1UY8Tn\
    SJrWfa0S4o87RsPwha2n63B17eVUl7TR5e3NKEOo55/iNqaqGKqj4UpWHnPMT03RWytR+SiiD2KQdIooH7XfrMI4AuqYuAsX5f7h\
    fRT0WcTcKvEJ1fEmjNtCEmMt1GHNPk5O0ueBlq4rHg==";

/// A key of ES256, EdDSA and RS256 each.
fn es256() -> Vec<u8> {
    let head = [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32];
    [&head[..], &[1; 32], &[0x22, 0x58, 32], &[2; 32]].concat()
}

fn eddsa() -> Vec<u8> {
    let head = [0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32];
    [&head[..], &[1; 32]].concat()
}

fn rs256(n: &[u8], e: &[u8]) -> Vec<u8> {
    let head = [0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59];
    let length = (n.len() as u16).to_be_bytes();
    [&head[..], &length, n, &[0x21, 0x40 | e.len() as u8], e].concat()
}

fn refusal(key: &[u8]) -> Option<Refused> {
    PublicKey::read(key).err()
}

#[test]
fn a_signature_of_rs256_is_verified() {
    let n = STANDARD.decode(MODULUS).unwrap();
    let signature = STANDARD.decode(SIGNATURE).unwrap();
    let cose = rs256(&n, &[1, 0, 1]);
    let key = PublicKey::read(&cose).unwrap();
    assert_eq!(key.verify(b"signed by openssl", &signature), Ok(()));
    assert_eq!(
        key.verify(b"signed by anybody", &signature),
        Err(Refused::Signature)
    );
    assert_eq!(
        key.verify(b"signed by openssl", &signature[1..]),
        Err(Refused::Signature)
    );
}

#[test]
fn keys_of_the_three_algorithms_are_read() {
    assert_eq!(refusal(&es256()), None);
    assert_eq!(refusal(&eddsa()), None);
    for length in [256, 384, 512] {
        assert_eq!(refusal(&rs256(&vec![0xc5; length], &[3])), None);
    }
}

#[test]
fn other_keys_are_refused() {
    let replaced = |mut key: Vec<u8>, index: usize, byte| {
        key[index] = byte;
        key
    };
    for (what, key) in [
        ("nothing", vec![]),
        ("an empty map", vec![0xa0]),
        ("another algorithm", replaced(es256(), 4, 0x27)),
        ("another kind", replaced(es256(), 2, 1)),
        ("another curve", replaced(es256(), 6, 2)),
        ("a short coordinate", replaced(es256(), 9, 31)),
        ("a part twice", replaced(es256(), 42, 0x21)),
        ("a label that is a text", replaced(eddsa(), 1, 0x60)),
        ("an Edwards curve of another size", replaced(eddsa(), 6, 7)),
        ("more parts than there are", replaced(eddsa(), 0, 0xa5)),
        ("fewer parts than there are", replaced(eddsa(), 0, 0xa3)),
        (
            "too many parts",
            [&[0xa9][..], &[0x18, 0x40, 0].repeat(9)].concat(),
        ),
        ("a short modulus", rs256(&[0xc5; 255], &[3])),
        ("a long modulus", rs256(&[0xc5; 513], &[3])),
        ("a modulus that begins with zeros", rs256(&[0; 256], &[3])),
        ("no exponent", rs256(&[0xc5; 256], &[])),
        ("a long exponent", rs256(&[0xc5; 256], &[1; 5])),
    ] {
        assert_eq!(refusal(&key), Some(Refused::PublicKey), "{what}");
    }
}

#[test]
fn what_is_not_a_point_of_the_curve_verifies_nothing() {
    for key in [es256(), eddsa(), rs256(&[0xc4; 256], &[2])] {
        let key = PublicKey::read(&key).unwrap();
        for signature in [&[0; 64][..], &[0x30, 6, 2, 1, 1, 2, 1, 1], &[1; 256], &[]] {
            assert_eq!(key.verify(b"anything", signature), Err(Refused::Signature));
        }
    }
}
