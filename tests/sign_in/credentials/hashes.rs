//! Hashes that were made elsewhere, or before, are replaced when their owner signs in.

use std::sync::Arc;

use portico_model::Provider;
use portico_service::sign_in::PasswordSignIn;
use portico_sqlite::SqliteStorage;
use portico_storage::AccountKey;
use portico_tests::{Client, NO_INPUT, Portico, administrator, administrator_of};
use serde_json::json;

use super::harness::{Host, user, write};

const WORD: &str = "correct horse";

/// Names, passwords and what other programs keep of them: made by libxcrypt, and by the reference
/// implementation of Argon2.
const BCRYPT: Old = (
    "bob",
    WORD,
    "$2b$10$Fae2Ooth4oogh9eeWaez7u3gW5wKaZrSm68bPfx4MoIWeXV9yF/f6",
);
const WEAK: Old = (
    "eve",
    "password",
    "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
);
const OLD: [Old; 5] = [
    (
        "ann",
        WORD,
        "$2a$10$Fae2Ooth4oogh9eeWaez7u3gW5wKaZrSm68bPfx4MoIWeXV9yF/f6",
    ),
    BCRYPT,
    (
        "cat",
        WORD,
        "$2y$12$Fae2Ooth4oogh9eeWaez7uVSnYrSOrV/8eadvq8rB00TNlyhXwb1u",
    ),
    // The most expensive one that is accepted: a call has to have the time for it.
    (
        "dan",
        WORD,
        "$2b$13$Fae2Ooth4oogh9eeWaez7uhiweU6Pl/omvzolRLoiEv.u6VlvfPQW",
    ),
    WEAK,
];

type Old = (&'static str, &'static str, &'static str);

fn is_of_today(hash: &str) -> bool {
    hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$")
}

#[test]
fn an_old_hash_is_replaced_at_the_first_sign_in_and_by_its_password_only() {
    let host = Host::start();
    for (name, word, hash) in OLD {
        host.insert_user(name, Provider::Credentials, Some(hash));
        host.sign_in_from("192.0.2.1", name, "correct horsf")
            .assert_refused(401, "UNAUTHORIZED");
        assert_eq!(host.hash_of(name), hash, "a failure changes nothing");
        let session = host.client.sign_in(name, word);
        let new = host.hash_of(name);
        assert!(is_of_today(&new), "{name}: {new}");
        // The session with which it began continues, and so does the password.
        session.get("/api/auth/session").assert_status(200);
        let again = host.client.sign_in(name, word);
        assert_eq!(host.hash_of(name), new, "a hash of today stays");
        host.sign_in_from("192.0.2.1", name, "correct horsf")
            .assert_refused(401, "UNAUTHORIZED");
        session.get("/api/auth/session").assert_status(200);
        again.get("/api/auth/session").assert_status(200);
    }
}

#[test]
fn a_password_that_its_user_may_not_use_is_not_compared_so_its_hash_stays() {
    let host = Host::for_these(PasswordSignIn::Administrators);
    for (name, word, hash) in [BCRYPT, WEAK] {
        host.insert_user(name, Provider::Credentials, Some(hash));
        host.sign_in_from("192.0.2.1", name, word)
            .assert_refused(401, "UNAUTHORIZED");
        assert_eq!(host.hash_of(name), hash);
    }
}

/// A hash of today's parameters, of a text that is no NFC.
const DECOMPOSED: Old = (
    "zoe",
    "pa\u{308}sswo\u{308}rd",
    "$argon2id$v=19$m=19456,t=2,p=1$BwcHBwcHBwcHBwcHBwcHBw$KKkveS+A5Da05CP7ek2Q0tcdGnHNmqzqy73MvcfdrMc",
);

#[test]
fn a_password_fits_however_its_letters_are_composed_and_then_its_hash_is_of_the_nfc() {
    let host = Host::start();
    let (name, decomposed, hash) = DECOMPOSED;
    let composed = "pässwörd";
    host.insert_user(name, Provider::Credentials, Some(hash));
    host.sign_in_from("192.0.2.1", name, composed)
        .assert_refused(401, "UNAUTHORIZED");
    let session = host.client.sign_in(name, decomposed);
    let new = host.hash_of(name);
    assert_ne!(new, hash);
    for word in [composed, decomposed] {
        host.client.sign_in(name, word);
        assert_eq!(host.hash_of(name), new, "a hash of the NFC stays");
    }
    session.get("/api/auth/session").assert_status(200);

    let change = |previous: &str, password: &str| {
        let input = json!({"userId": session.user_id, "previousPassword": previous, "password": password});
        session.mutate("user.changePassword", &input)
    };
    let four_letters = "u\u{308}".repeat(4);
    change(decomposed, &four_letters).assert_bad_field("password");
    change("password", "another one").assert_refused(403, "FORBIDDEN");
    change(decomposed, "u\u{308}ber ihm").assert_status(200);
    host.client.sign_in(name, "über ihm");
}

#[test]
fn the_previous_password_fits_a_hash_of_the_text_as_it_was_sent() {
    let host = Host::start();
    let (name, decomposed, hash) = DECOMPOSED;
    host.insert_user(name, Provider::Credentials, Some(WEAK.2));
    let session = host.client.sign_in(name, WEAK.1);
    let present = host.hash_of(name);
    host.store(async |transaction| {
        let id = &session.user_id;
        assert!(transaction.rehash_password_if(id, &present, hash).await.unwrap());
    });
    let change = |previous: &str| {
        let input =
            json!({"userId": session.user_id, "previousPassword": previous, "password": "another one"});
        session.mutate("user.changePassword", &input)
    };
    change("pässwörd").assert_refused(403, "FORBIDDEN");
    change(decomposed).assert_status(200);
    host.client.sign_in(name, "another one");
}

#[test]
fn another_hash_of_the_same_password_ends_no_session() {
    let host = Host::start();
    administrator_of(&host.client);
    let session = host.client.sign_in("root", portico_tests::PASSWORD);
    // As if it had been made before the parameters were raised.
    let hash = host.hash_of("root");
    host.store(async |transaction| {
        let id = &session.user_id;
        assert!(transaction.rehash_password_if(id, &hash, WEAK.2).await.unwrap());
    });
    host.client.sign_in("root", WEAK.1);
    assert!(is_of_today(&host.hash_of("root")));
    session.get("/api/auth/session").assert_status(200);
}

#[test]
fn a_long_password_of_bcrypt_is_kept_whole_from_then_on() {
    let host = Host::start();
    // bcrypt reads 72 bytes.
    let (read, unread) = (
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "chars",
    );
    let hash = "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui";
    host.insert_user("long", Provider::Credentials, Some(hash));
    host.client.sign_in("long", &format!("{read}{unread}"));
    host.sign_in_from("192.0.2.1", "long", read)
        .assert_refused(401, "UNAUTHORIZED");
    host.client.sign_in("long", &format!("{read}{unread}"));
}

#[test]
fn every_character_of_a_password_counts() {
    let host = Host::start();
    let root = administrator_of(&host.client);
    let begin = "long password ".repeat(18);
    for (last, end) in [("a", "b"), ("é", "e"), (" ", "")] {
        let name = format!("user-{}", last.len() + end.len());
        let password = format!("{begin}{last}");
        let account = json!({"username": name, "password": password, "groupIds": []});
        root.mutate("user.create", &account).assert_status(200);
        host.sign_in_from("192.0.2.1", &name, &format!("{begin}{end}"))
            .assert_refused(401, "UNAUTHORIZED");
        host.client.sign_in(&name, &password);
    }
}

#[test]
fn a_password_that_changes_while_it_is_checked_begins_no_session() {
    for (name, word, hash) in [BCRYPT, WEAK] {
        let host = Host::start();
        host.insert_user(name, Provider::Credentials, Some(hash));
        let change = {
            let storage = host.storage.clone();
            move || {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                let key = AccountKey::Id(name.into());
                runtime.block_on(write(&*storage, async |transaction| {
                    let old = transaction
                        .get_account(&key)
                        .await
                        .unwrap()
                        .unwrap()
                        .password_hash;
                    assert!(is_of_today(old.as_deref().unwrap()), "it was replaced before");
                    assert!(
                        transaction
                            .set_password_if(name, old.as_deref(), "another")
                            .await
                            .unwrap()
                    );
                }));
            }
        };
        // The service asks for the time when a request comes, and when a session begins.
        host.clock.on_read(2, change);
        host.sign_in_from("192.0.2.1", name, word)
            .assert_refused(401, "UNAUTHORIZED");
        assert_eq!(host.hash_of(name), "another", "the change came in between");
    }
}

#[test]
fn a_hash_in_the_database_of_the_service_is_replaced_in_it() {
    let mut server = Portico::start();
    administrator(&server);
    server.stop();
    {
        let storage = Arc::new(SqliteStorage::open(&server.data().join("portico.db")).unwrap());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(write(&*storage, async |transaction| {
            let imported = user("bob", Provider::Credentials, Some(BCRYPT.2));
            transaction.insert_user(&imported).await.unwrap();
        }));
    }
    server.start_again();
    let session = server.sign_in("bob", WORD);
    server.restart();
    session.query("app.all", &NO_INPUT).assert_status(200);
    server.sign_in("bob", WORD);
    let change = json!({"userId": "bob", "previousPassword": WORD, "password": "another horse"});
    session.mutate("user.changePassword", &change).assert_done();
    server.sign_in("bob", "another horse");
}
