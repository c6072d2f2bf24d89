//! What people do with their own passkeys.

use portico_model::time::Clock as _;
use portico_tests::clock::{MINUTE, SECOND};
use portico_tests::second_factor::code_at;

use super::*;

#[test]
fn passkeys_are_listed_renamed_and_removed_with_a_proof() {
    let (host, root, ada) = start();
    let mut phone = add(&ada);
    host.clock.advance(SECOND);
    let mut laptop = Authenticator::ed25519(ORIGIN);
    try_add(&ada, &mut laptop).assert_status(200);
    let own = || ada.query("secondFactor.getOwn", &NO_INPUT).data()["factors"].clone();
    let id = own()[1]["id"].clone();
    for (session, id) in [(&root, &id), (&ada, &json!("none"))] {
        let input = json!({ "id": id, "name": "Mine" });
        session
            .mutate("secondFactor.rename", &input)
            .assert_refused(404, "NOT_FOUND");
    }
    for name in ["", "  ", "two\nlines", &"long".repeat(17)] {
        let input = json!({ "id": id, "name": name });
        ada.mutate("secondFactor.rename", &input).assert_bad_field("name");
    }
    let input = json!({ "id": id, "name": " Laptop " });
    ada.mutate("secondFactor.rename", &input).assert_done();
    assert_eq!(own()[1]["name"], "Laptop");
    // An open session is not enough to remove one.
    let delete = |credential: &Value| {
        let input = json!({ "id": id, "credential": credential });
        ada.mutate("secondFactor.delete", &input)
    };
    ada.mutate("secondFactor.delete", &json!({ "id": id }))
        .assert_bad_field("code");
    let begin = || ada.mutate("secondFactor.beginProof", &NO_INPUT).data()["publicKey"].clone();
    let mut stranger = Authenticator::new(ORIGIN);
    delete(&stranger.get(&begin())).assert_refused(403, "FORBIDDEN");
    // Nor is a challenge that a visitor has got.
    let of_visitor = super::begin(&host.client).options;
    delete(&phone.get(&of_visitor)).assert_refused(403, "FORBIDDEN");
    let proof = phone.get(&begin());
    delete(&proof).assert_done();
    assert_eq!(own().as_array().map(Vec::len), Some(1));
    sign_in(&host.client, &mut laptop).assert_refused(401, "UNAUTHORIZED");
    sign_in(&host.client, &mut phone).assert_status(200);
}

#[test]
fn a_registration_names_the_passkeys_that_are_there() {
    let (_host, _, ada) = start();
    let phone = add(&ada);
    let begun = ada.mutate("secondFactor.beginPasskey", &NO_INPUT).data();
    let present = &begun["publicKey"]["excludeCredentials"];
    assert_eq!(present.as_array().map(Vec::len), Some(1));
    let id = present[0]["id"].as_str().expect("an id");
    assert_eq!(id.len(), (phone.id.len() * 4).div_ceil(3));
    let user = &begun["publicKey"]["user"];
    assert_eq!(user["name"], "ada");
    assert_ne!(
        user["id"],
        json!(ada.user_id),
        "the handle says nothing of the user"
    );
}

#[test]
fn a_further_factor_is_added_soon_after_signing_in_only() {
    let (host, root, ada) = start();
    let key = root.key_of(&ada.user_id);
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    let add_codes = |client: &dyn Client| {
        let code = code_at(secret, host.clock.now());
        client.mutate("secondFactor.addTotp", &json!({ "secret": secret, "code": code }))
    };
    let begin = |client: &dyn Client| client.mutate("secondFactor.beginPasskey", &NO_INPUT);
    let new_secret = |client: &dyn Client| client.query("secondFactor.newSecret", &NO_INPUT);
    // The first one may be added at any time.
    host.clock.advance(60 * MINUTE);
    new_secret(&ada).assert_status(200);
    let mut phone = add(&ada);
    // A session that was left open, and a key, add no other, with which they could remove it.
    for client in [&ada as &dyn Client, &key] {
        add_codes(client).assert_refused(403, "FORBIDDEN");
        begin(client).assert_refused(403, "FORBIDDEN");
        new_secret(client).assert_refused(403, "FORBIDDEN");
    }
    let answer = sign_in(&host.client, &mut phone);
    let session = host.client.key(answer.json()["token"].as_str().expect("a token"));
    host.clock.advance(10 * MINUTE - 1);
    let begun = begin(&session).data();
    let credential = Authenticator::new(ORIGIN).create(&begun["publicKey"]);
    let input = json!({ "name": "Laptop", "credential": credential });
    host.clock.advance(1);
    session
        .mutate("secondFactor.addPasskey", &input)
        .assert_refused(403, "FORBIDDEN");
    let own = session.query("secondFactor.getOwn", &NO_INPUT).data();
    assert_eq!(own["factors"].as_array().map(Vec::len), Some(1));
    let answer = sign_in(&host.client, &mut phone);
    let session = host.client.key(answer.json()["token"].as_str().expect("a token"));
    add_codes(&session).assert_status(200);
}

#[test]
fn a_user_has_at_most_ten() {
    let (_host, _, ada) = start();
    for _ in 0..10 {
        add(&ada);
    }
    let mut one_more = Authenticator::new(ORIGIN);
    try_add(&ada, &mut one_more).assert_refused(409, "CONFLICT");
}
