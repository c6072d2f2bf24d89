//! Ceremonies with a software authenticator, and what is refused.

#[path = "../../../../tests/support/authenticator.rs"]
mod authenticator;
mod ceremonies;
mod hostile;
mod keys;

use serde_json::Value;

use self::authenticator::{Authenticator, CAN_BE_COPIED, IS_COPIED, PRESENT, VERIFIED};
use crate::{
    Assertion, NewPasskey, Passkey, Refused, Registration, RelyingParty, UserVerification,
    UserVerification::{Preferred, Required},
    Verified, encode, user_handle,
};

const ORIGIN: &str = "https://home.example";
const CHALLENGE: &[u8] = b"the challenge of this ceremony, which is random elsewhere";

fn party() -> RelyingParty {
    RelyingParty::new(ORIGIN, "Portico").unwrap()
}

fn registration(sent: &Value) -> Registration {
    let text = |field: &str| sent["response"][field].as_str().unwrap();
    Registration::decode(text("clientDataJSON"), text("attestationObject")).unwrap()
}

fn assertion(sent: &Value) -> Assertion {
    let text = |field: &str| sent["response"][field].as_str();
    Assertion::decode(
        sent["id"].as_str().unwrap(),
        text("clientDataJSON").unwrap(),
        text("authenticatorData").unwrap(),
        text("signature").unwrap(),
        text("userHandle"),
    )
    .unwrap()
}

/// A registration by this authenticator for ada.
fn create(authenticator: &mut Authenticator) -> Registration {
    let options = party().creation_options(&NewPasskey {
        user_handle: &user_handle("ada"),
        user_name: "ada",
        present: &[],
        challenge: CHALLENGE,
    });
    registration(&authenticator.create(&options))
}

/// Registers this authenticator's passkey for ada.
fn register(authenticator: &mut Authenticator) -> Result<Passkey, Refused> {
    party().register(&create(authenticator), CHALLENGE)
}

/// An assertion by this authenticator.
fn assert(authenticator: &mut Authenticator) -> Assertion {
    let options = party().request_options(CHALLENGE, &[], Required);
    assertion(&authenticator.get(&options))
}

fn verify_as(
    sent: &Assertion,
    passkey: &Passkey,
    verification: UserVerification,
) -> Result<Verified, Refused> {
    party().verify(sent, CHALLENGE, passkey, &user_handle("ada"), verification)
}

fn verify(sent: &Assertion, passkey: &Passkey) -> Result<Verified, Refused> {
    verify_as(sent, passkey, Required)
}

/// An authenticator and its registered passkey.
fn registered() -> (Authenticator, Passkey) {
    let mut authenticator = Authenticator::new(ORIGIN);
    let passkey = register(&mut authenticator).unwrap();
    (authenticator, passkey)
}

#[test]
fn a_passkey_is_registered_and_proves_itself_with_each_algorithm() {
    for mut authenticator in [Authenticator::new(ORIGIN), Authenticator::ed25519(ORIGIN)] {
        authenticator.flags = PRESENT | VERIFIED | CAN_BE_COPIED;
        let passkey = register(&mut authenticator).unwrap();
        assert_eq!(passkey.id, authenticator.id);
        assert!(passkey.can_be_copied && !passkey.is_copied);
        authenticator.flags |= IS_COPIED;
        let verified = verify(&assert(&mut authenticator), &passkey).unwrap();
        assert!(verified.is_user_verified && verified.passkey.is_copied);
        assert_eq!(verified.passkey.counter, 1);
        assert_eq!(verified.passkey.public_key, passkey.public_key);
        verify(&assert(&mut authenticator), &verified.passkey).unwrap();
    }
}

#[test]
fn options_name_what_browsers_need() {
    let options = party().creation_options(&NewPasskey {
        user_handle: &user_handle("ada"),
        user_name: "ada",
        present: &[vec![1], vec![2]],
        challenge: CHALLENGE,
    });
    assert_eq!(options["rp"]["id"], "home.example");
    assert_eq!(options["challenge"], encode(CHALLENGE));
    assert_eq!(options["excludeCredentials"][1]["id"], encode(&[2]));
    assert_eq!(options["attestation"], "none");
    let algorithms = options["pubKeyCredParams"].as_array().unwrap();
    assert_eq!(
        algorithms.iter().map(|each| &each["alg"]).collect::<Vec<_>>(),
        [-7, -8, -257]
    );
    let options = party().request_options(CHALLENGE, &[vec![1]], Preferred);
    assert_eq!(options["rpId"], "home.example");
    assert_eq!(options["allowCredentials"][0]["id"], encode(&[1]));
    assert_eq!(options["userVerification"], "preferred");
}

#[test]
fn an_authenticator_that_does_not_verify_people_is_good_only_after_a_password() {
    let mut authenticator = Authenticator::new(ORIGIN).without_verification();
    let passkey = register(&mut authenticator).unwrap();
    let sent = assert(&mut authenticator);
    assert_eq!(verify(&sent, &passkey), Err(Refused::NotVerified));
    let verified = verify_as(&sent, &passkey, Preferred).unwrap();
    assert!(!verified.is_user_verified);
}

#[test]
fn a_counter_that_does_not_grow_is_refused() {
    let (mut authenticator, passkey) = registered();
    let sent = assert(&mut authenticator);
    let later = verify(&sent, &passkey).unwrap().passkey;
    assert_eq!(verify(&sent, &later), Err(Refused::Counter));
    authenticator.counter = Some(9);
    let tenth = verify(&assert(&mut authenticator), &later).unwrap().passkey;
    authenticator.counter = Some(5);
    assert_eq!(verify(&assert(&mut authenticator), &tenth), Err(Refused::Counter));
    // One that stops counting is not the same one.
    authenticator.counter = None;
    assert_eq!(verify(&assert(&mut authenticator), &tenth), Err(Refused::Counter));
}

#[test]
fn an_authenticator_that_does_not_count_is_accepted() {
    let mut authenticator = Authenticator::new(ORIGIN);
    authenticator.counter = None;
    let passkey = register(&mut authenticator).unwrap();
    for _ in 0..2 {
        let verified = verify(&assert(&mut authenticator), &passkey).unwrap();
        assert_eq!(verified.passkey, passkey);
    }
}

#[test]
fn a_passkey_that_could_be_copied_stays_so() {
    let (mut authenticator, passkey) = registered();
    authenticator.flags |= CAN_BE_COPIED;
    let copied = verify(&assert(&mut authenticator), &passkey).unwrap().passkey;
    assert!(copied.can_be_copied);
    authenticator.flags &= !CAN_BE_COPIED;
    assert_eq!(verify(&assert(&mut authenticator), &copied), Err(Refused::Backup));
    // Copied without being able to be.
    authenticator.flags |= IS_COPIED;
    let refused = Err(Refused::AuthenticatorData);
    assert_eq!(verify(&assert(&mut authenticator), &passkey), refused);
}
