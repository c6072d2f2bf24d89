//! When a user of a provider is linked to an existing user.

use portico_model::{
    Provider, Timestamp,
    error::{Code, Error},
};
use portico_sandbox::{ExternalIdentity as Identity, Linking, SignedIn};
use portico_storage::Profile;

use super::harness::{Harness, NEW_YEAR, account, admin, anonymous, call, call_context};

const EMAIL: &str = "ada@example.com";

/// With the first user, ada, whose email is verified since then.
async fn with_ada(verified: Option<Timestamp>) -> (Harness, String) {
    let harness = Harness::new();
    let id = call!(
        harness,
        portico_dashboard_users.call_init_user(&anonymous(), &account("ada"))
    )
    .unwrap();
    set_email(&harness, &id, "ada", verified).await;
    (harness, id)
}

async fn set_email(harness: &Harness, id: &str, name: &str, verified: Option<Timestamp>) {
    let profile = Profile {
        name: name.into(),
        name_key: name.into(),
        email: Some(EMAIL.into()),
        email_verified: verified,
    };
    let mut dashboard = harness.dashboard().await;
    assert!(dashboard.set_profile(id, &profile).await.unwrap());
    dashboard.commit().await.unwrap();
}

fn vouched(subject: &str) -> Identity {
    Identity {
        provider: Provider::Oidc,
        subject: subject.into(),
        name: "lovelace".into(),
        email: Some(EMAIL.into()),
        email_verified: true,
        image: Some("https://example.com/ada.png".into()),
    }
}

async fn sign_in(harness: &Harness, identity: &Identity, linking: Linking) -> Result<SignedIn, Error> {
    call!(
        harness,
        portico_dashboard_sign_in.call_external(&call_context(), identity, linking)
    )
}

#[tokio::test]
async fn a_linked_user_keeps_their_profile_and_is_found_from_then_on() {
    let (harness, ada) = with_ada(Some(NEW_YEAR)).await;
    let linked = sign_in(&harness, &vouched("1"), Linking::Verified).await.unwrap();
    assert_eq!((&linked.id, &linked.name[..]), (&ada, "ada"));

    // Also when linking is off by then, and the provider has another name and email.
    let later = Identity {
        name: "countess".into(),
        email: Some("countess@example.com".into()),
        ..vouched("1")
    };
    let again = sign_in(&harness, &later, Linking::Off).await.unwrap();
    assert_eq!((&again.id, &again.name[..]), (&ada, "ada"));
    let user = call!(harness, portico_dashboard_users.call_get_by_id(&admin(), &ada)).unwrap();
    assert_eq!(user.provider, Provider::Credentials);
    assert_eq!((&user.name[..], user.email.as_deref()), ("ada", Some(EMAIL)));
    assert_eq!((user.email_verified, user.image), (Some(NEW_YEAR), None));
    assert_eq!(users(&harness).await, 1);
}

#[tokio::test]
async fn linking_takes_a_setting_and_an_email_that_is_verified_on_both_sides() {
    let unverified = Identity {
        email_verified: false,
        ..vouched("1")
    };
    let another_case = Identity {
        email: Some("Ada@example.com".into()),
        ..vouched("1")
    };
    let without = Identity {
        email: None,
        ..vouched("1")
    };
    for (verified, identity, linking) in [
        (Some(NEW_YEAR), vouched("1"), Linking::Off),
        (Some(NEW_YEAR), unverified.clone(), Linking::Verified),
        (Some(NEW_YEAR), unverified, Linking::Unverified),
        (Some(NEW_YEAR), another_case, Linking::Unverified),
        (Some(NEW_YEAR), without, Linking::Unverified),
        (None, vouched("1"), Linking::Verified),
    ] {
        let (harness, ada) = with_ada(verified).await;
        let user = sign_in(&harness, &identity, linking).await.unwrap();
        assert_ne!(user.id, ada, "{verified:?} {identity:?} {linking:?}");
        assert_eq!(user.name, "lovelace");
        assert_eq!(users(&harness).await, 2);
    }
    // This setting links unverified emails as well.
    let (harness, ada) = with_ada(None).await;
    let user = sign_in(&harness, &vouched("1"), Linking::Unverified).await;
    assert_eq!(user.unwrap().id, ada);
}

#[tokio::test]
async fn of_two_users_with_one_email_neither_is_linked() {
    let (harness, ada) = with_ada(Some(NEW_YEAR)).await;
    let eve = call!(
        harness,
        portico_dashboard_users.call_create(&admin(), &account("eve"), &[])
    )
    .unwrap();
    set_email(&harness, &eve, "eve", Some(NEW_YEAR)).await;
    let user = sign_in(&harness, &vouched("1"), Linking::Unverified)
        .await
        .unwrap();
    assert!(user.id != ada && user.id != eve);
}

#[tokio::test]
async fn a_user_who_is_linked_is_not_linked_to_another_subject() {
    let (harness, ada) = with_ada(Some(NEW_YEAR)).await;
    sign_in(&harness, &vouched("1"), Linking::Verified).await.unwrap();
    // The owner of the email at the provider may be another person by now.
    let refused = sign_in(&harness, &vouched("2"), Linking::Verified)
        .await
        .unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    assert_eq!(users(&harness).await, 1);
    // Another provider is another matter.
    let by_ldap = Identity {
        provider: Provider::Ldap,
        ..vouched("2")
    };
    let linked = sign_in(&harness, &by_ldap, Linking::Verified).await.unwrap();
    assert_eq!(linked.id, ada);
}

async fn users(harness: &Harness) -> usize {
    let users = call!(harness, portico_dashboard_users.call_get_all(&admin()));
    users.unwrap().len()
}
