//! What another site, another user, another browser or a program sends. A refusal never says why.

use portico_tests::clock::SECOND;

use super::*;

#[test]
fn all_that_is_wrong_is_refused_with_the_same_words() {
    let (host, _, ada) = start();
    let mut phone = add(&ada);
    let mut refusals = Vec::new();
    let mut refuse = |what: &str, answer: Answer| {
        answer.assert_refused(401, "UNAUTHORIZED");
        refusals.push((what.to_owned(), answer.error()["message"].clone()));
    };

    phone.origin = "https://evil.example".into();
    refuse("another origin", sign_in(&host.client, &mut phone));
    phone.origin = ORIGIN.into();
    phone.relying_party = Some("evil.example".into());
    refuse("another relying party", sign_in(&host.client, &mut phone));
    phone.relying_party = None;

    let begun = begin(&host.client);
    let mut tampered = phone.get(&begun.options);
    let signature = tampered["response"]["signature"]
        .as_str()
        .expect("a text")
        .to_owned();
    tampered["response"]["signature"] = json!(format!("{}AAAA", &signature[..signature.len() - 4]));
    refuse("another signature", send(&host.client, &begun.cookie, &tampered));
    let again = phone.get(&begun.options);
    refuse(
        "a challenge that was tried",
        send(&host.client, &begun.cookie, &again),
    );

    let begun = begin(&host.client);
    let credential = phone.get(&begun.options);
    refuse("another browser", send(&host.client, "", &credential));
    let other = begin(&host.client);
    refuse(
        "a challenge of another browser",
        send(&host.client, &begun.cookie, &phone.get(&other.options)),
    );

    let options = json!({ "challenge": "bWFkZSB1cA", "rpId": "localhost" });
    refuse(
        "a challenge that was made up",
        send(&host.client, &begin(&host.client).cookie, &phone.get(&options)),
    );
    let mut unknown = Authenticator::new(ORIGIN);
    unknown.user_handle.clone_from(&phone.user_handle);
    refuse("an unknown passkey", sign_in(&host.client, &mut unknown));
    unknown.id.clone_from(&phone.id);
    refuse("another key under its id", sign_in(&host.client, &mut unknown));
    let handle = phone.user_handle.take();
    refuse("no user", sign_in(&host.client, &mut phone));
    phone.user_handle = handle;

    // The right one is still good, once, and its counter then grows.
    let begun = begin(&host.client);
    let credential = phone.get(&begun.options);
    send(&host.client, &begun.cookie, &credential).assert_status(200);
    refuse("a replay", send(&host.client, &begun.cookie, &credential));
    phone.counter = Some(1);
    refuse("a counter that goes back", sign_in(&host.client, &mut phone));

    let words = refusals[0].1.clone();
    for (what, message) in refusals {
        assert_eq!(message, words, "{what}");
    }
}

#[test]
fn a_passkey_of_another_user_completes_no_sign_in() {
    let (host, root, ada) = start();
    let mut of_ada = add(&ada);
    let mut of_root = add(&root);
    let ticket_of_ada = ticket(&host.client, "ada");
    let options = options_after_password(&host.client, &ticket_of_ada);
    let wrong = complete(&host.client, &ticket_of_ada, &of_root.get(&options));
    wrong.assert_refused(401, "UNAUTHORIZED");
    assert_eq!(wrong.error()["data"]["secondFactor"], json!(["passkey"]));
    // A challenge of one ticket, and one for signing in with a passkey alone, are not good for another ticket.
    let ticket_of_root = ticket(&host.client, "root");
    let of_other = options_after_password(&host.client, &ticket_of_root);
    for options in [of_other, begin(&host.client).options] {
        let answer = complete(&host.client, &ticket_of_ada, &of_ada.get(&options));
        answer.assert_refused(401, "UNAUTHORIZED");
    }
    let options = options_after_password(&host.client, &ticket_of_ada);
    complete(&host.client, &ticket_of_ada, &of_ada.get(&options)).assert_status(200);
}

#[test]
fn a_challenge_registers_one_passkey_of_the_user_for_whom_it_began() {
    let (host, root, ada) = start();
    let begin = |session: &Session| session.mutate("secondFactor.beginPasskey", &NO_INPUT).data();
    let add = |session: &Session, credential: &Value| {
        let input = json!({ "name": "Phone", "credential": credential });
        session.mutate("secondFactor.addPasskey", &input)
    };
    let mut phone = Authenticator::new(ORIGIN);
    let begun = begin(&root);
    let credential = phone.create(&begun["publicKey"]);
    add(&ada, &credential).assert_bad_field("credential");
    host.clock.advance(SECOND);
    let credential = phone.create(&begin(&ada)["publicKey"]);
    add(&ada, &credential).assert_status(200);
    add(&ada, &credential).assert_bad_field("credential");
    // No other user takes a passkey over.
    let credential = phone.create(&begin(&root)["publicKey"]);
    add(&root, &credential).assert_refused(409, "CONFLICT");
    // A page of another site cannot ask for one.
    phone.origin = "https://evil.example".into();
    phone.id = vec![1; 16];
    let credential = phone.create(&begin(&ada)["publicKey"]);
    add(&ada, &credential).assert_bad_field("credential");
}

#[test]
fn an_address_that_begins_without_end_waits_and_one_that_signs_in_does_not() {
    let host = Host::throttled_with_passkeys(ORIGIN);
    let root = administrator_of(&host.client);
    let mut phone = add(&root);
    for _ in 0..20 {
        sign_in(&host.client, &mut phone).assert_status(200);
    }
    let options = || host.client.post("/api/auth/passkeys/options", &json!({}));
    for _ in 0..10 {
        options().assert_status(200);
    }
    options().assert_refused(429, "TOO_MANY_REQUESTS");
    host.throttle_clock.advance(5 * SECOND);
    options().assert_status(200);
}

#[test]
fn malformed_and_oversized_credentials_are_refused_with_their_field() {
    let (host, _, ada) = start();
    let mut phone = add(&ada);
    let begun = begin(&host.client);
    let good = phone.get(&begun.options);
    for (path, value) in [
        ("/id", json!("")),
        ("/id", json!("A".repeat(2000))),
        ("/id", json!(5)),
        ("/response", json!("text")),
        ("/response/clientDataJSON", json!("not base64+")),
        ("/response/authenticatorData", json!("A".repeat(500_000))),
        ("/response/signature", json!("A".repeat(2000))),
        ("/response/userHandle", json!("A".repeat(200))),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(path).expect("a field") = value;
        let answer = send(&host.client, &begun.cookie, &bad);
        answer.assert_bad_field("credential");
        let last = path.rsplit('/').next().unwrap_or_default();
        let issue = &answer.error()["issues"][0]["path"];
        assert_eq!(
            issue.as_array().and_then(|path| path.last()),
            Some(&json!(last)),
            "{answer}"
        );
    }
    // None of them has used the challenge up.
    send(&host.client, &begun.cookie, &good).assert_status(200);
}
