//! Linking to an existing user. Which users are linked: `tests/library/component/linking.rs`.

use portico_tests::{Client, PASSWORD, Portico, Session};
use serde_json::json;

use super::harness::{Issuer, ada, signed_in, start, user, users};

const VERIFIED: &str = "2026-01-01T00:00:00.000Z";

/// A user with a password who has ada's email.
pub(super) fn with_local(
    more: &[(&str, &str)],
    verified: bool,
) -> (Issuer, Portico, Session, serde_json::Value) {
    let (issuer, server, administrator) = start(more);
    let input =
        json!({"username": "countess", "password": PASSWORD, "email": "ada@example.com", "groupIds": []});
    let created = administrator.post("/api/users", &input).json();
    let verified = verified.then_some(VERIFIED);
    let document =
        json!({"users": [{"name": "countess", "provider": "credentials", "emailVerified": verified}]});
    administrator.mutate("state.apply", &document).data();
    let id = created["id"].clone();
    (issuer, server, administrator, id)
}

#[test]
fn no_user_is_linked_unless_the_settings_say_so() {
    let (_issuer, server, administrator, local) = with_local(&[], true);
    assert_ne!(user(&server, &signed_in(&server, "1"))["id"], local);
    assert_eq!(users(&administrator), ["ada", "countess", "root"]);
}

#[test]
fn a_linked_user_is_the_same_user_by_password_and_by_the_issuer() {
    let (issuer, server, administrator, local) = with_local(&[("PORTICO_OIDC_LINKING", "verified")], true);
    let linked = user(&server, &signed_in(&server, "1"));
    assert_eq!(linked["id"], local);
    assert_eq!(
        (&linked["name"], &linked["provider"]),
        (&json!("countess"), &json!("credentials"))
    );
    server.sign_in("countess", PASSWORD);

    // A later owner of the email at the issuer does not sign in as the earlier one.
    issuer.knows(json!({"2": ada()}));
    let (_, page) = super::harness::sign_in(&server, "2");
    page.assert_refused(403, "FORBIDDEN");
    assert_eq!(users(&administrator), ["countess", "root"]);
}

#[test]
fn an_email_that_was_never_verified_links_no_user() {
    let settings = [("PORTICO_OIDC_LINKING", "verified")];
    let (_issuer, server, _, local) = with_local(&settings, false);
    assert_ne!(user(&server, &signed_in(&server, "1"))["id"], local);
    let settings = [("PORTICO_OIDC_LINKING", "unverified")];
    let (_issuer, server, _, local) = with_local(&settings, false);
    assert_eq!(user(&server, &signed_in(&server, "1"))["id"], local);
}
