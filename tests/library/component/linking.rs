//! When a user of a provider is linked to an existing user.

use portico_model::{
    Provider, TextChange, Timestamp,
    error::{Code, Error},
};
use portico_sandbox::{ExternalIdentity as Identity, Linking, SignedIn, TimestampChange, WantedUser};
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
    set_email_of(harness, id, name, EMAIL, verified).await;
}

async fn set_email_of(harness: &Harness, id: &str, name: &str, email: &str, verified: Option<Timestamp>) {
    let profile = Profile {
        name: name.into(),
        name_key: name.into(),
        email: Some(email.into()),
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

/// Creates a user of a provider from a document.
async fn put(harness: &Harness, provider: Provider, email: Option<&str>, verified: bool) -> String {
    let user = WantedUser {
        provider,
        name: "Lovelace".into(),
        email: email.map_or(TextChange::Keep, |email| TextChange::Set(email.into())),
        email_verified: match verified {
            true => TimestampChange::Set(NEW_YEAR),
            false => TimestampChange::Keep,
        },
        image: TextChange::Keep,
        secret: None,
        disabled: None,
    };
    let ids = call!(harness, portico_dashboard_state.call_put_users(&admin(), &[user]));
    ids.unwrap().remove(0)
}

#[tokio::test]
async fn a_person_in_the_directory_becomes_the_user_whom_a_document_created_with_their_name() {
    let (harness, _) = with_ada(None).await;
    let created = put(&harness, Provider::Ldap, None, false).await;
    let entry = |subject: &str| Identity {
        provider: Provider::Ldap,
        ..vouched(subject)
    };
    let person = sign_in(&harness, &entry("1"), Linking::Off).await.unwrap();
    assert_eq!((&person.id, &person.name[..]), (&created, "lovelace"));
    let user = call!(
        harness,
        portico_dashboard_users.call_get_by_id(&admin(), &created)
    )
    .unwrap();
    assert_eq!(
        (user.provider, user.email.as_deref()),
        (Provider::Ldap, Some(EMAIL))
    );

    // From then on it is this entry, whatever its name is, and no other one.
    let renamed = Identity {
        name: "countess".into(),
        ..entry("1")
    };
    let again = sign_in(&harness, &renamed, Linking::Off).await.unwrap();
    assert_eq!((&again.id, &again.name[..]), (&created, "countess"));
    sign_in(&harness, &entry("1"), Linking::Off).await.unwrap();
    let other = sign_in(&harness, &entry("2"), Linking::Off).await.unwrap_err();
    assert_eq!(other.code, Code::Conflict);
    // To another provider the name means nothing.
    let elsewhere = sign_in(&harness, &vouched("1"), Linking::Off).await.unwrap();
    assert_ne!(elsewhere.id, created);
    assert_eq!(users(&harness).await, 3);
}

#[tokio::test]
async fn a_person_at_an_issuer_becomes_the_user_whom_a_document_created_only_by_a_verified_email() {
    let unverified = Identity {
        email_verified: false,
        ..vouched("1")
    };
    let without = Identity {
        email: None,
        ..vouched("1")
    };
    for (email, verified, identity, linking, is_linked) in [
        (Some(EMAIL), true, vouched("1"), Linking::Off, false),
        (Some(EMAIL), true, unverified, Linking::Unverified, false),
        (None, false, without, Linking::Unverified, false),
        (
            Some("countess@example.com"),
            true,
            vouched("1"),
            Linking::Unverified,
            false,
        ),
        (Some(EMAIL), false, vouched("1"), Linking::Verified, false),
        (Some(EMAIL), false, vouched("1"), Linking::Unverified, true),
        (Some(EMAIL), true, vouched("1"), Linking::Verified, true),
    ] {
        let (harness, ada) = with_ada(None).await;
        set_email_of(&harness, &ada, "ada", "ada@example.org", None).await;
        let created = put(&harness, Provider::Oidc, email, verified).await;
        let answer = sign_in(&harness, &identity, linking).await;
        let place = format!("{email:?} {verified} {identity:?} {linking:?}");
        match is_linked {
            true => {
                assert_eq!(answer.unwrap().id, created, "{place}");
                let other = sign_in(&harness, &vouched("2"), linking).await.unwrap_err();
                assert_eq!(other.code, Code::Conflict, "{place}");
            }
            false => assert_eq!(answer.unwrap_err().code, Code::Conflict, "{place}"),
        }
        assert_eq!(users(&harness).await, 2, "{place}");
    }
}

#[tokio::test]
async fn a_user_whom_a_document_created_disabled_is_not_linked() {
    let (harness, _) = with_ada(None).await;
    let created = put(&harness, Provider::Ldap, None, false).await;
    let disable = async |disabled| {
        let set = call!(
            harness,
            portico_dashboard_users.call_set_disabled(&admin(), &created, disabled)
        );
        set.unwrap();
    };
    let entry = Identity {
        provider: Provider::Ldap,
        ..vouched("1")
    };
    disable(true).await;
    let refused = sign_in(&harness, &entry, Linking::Off).await.unwrap_err();
    assert_eq!(refused.code, Code::Unauthorized);
    disable(false).await;
    assert_eq!(sign_in(&harness, &entry, Linking::Off).await.unwrap().id, created);
}

async fn users(harness: &Harness) -> usize {
    let users = call!(harness, portico_dashboard_users.call_get_all(&admin()));
    users.unwrap().len()
}
