//! Sign-in by an external provider: user, groups, session and row are one commit.

use portico_model::{Provider, error::Code};
use portico_service::audit::AuditSettings;
use portico_service::external::{Admission, External, Groups, Linking, SignIn, SignUp, Vouched, sign_in};
use portico_service::identity::Identity;
use portico_service::sessions::SessionTimes;
use portico_tests::{Client, administrator_of};
use serde_json::json;

use super::harness::{Host, last_number, new_rows};

fn external(name: &str) -> External {
    External {
        identity: Vouched {
            provider: Provider::Oidc,
            subject: format!("https://issuer.example {name}"),
            name: name.into(),
            email: Some("secret@example.com".into()),
            email_verified: true,
            image: None,
        },
        groups: Groups::Own,
        linking: Linking::Off,
        is_partial: false,
        states_verification: true,
        admission: Admission::Granted,
        group_rules: std::sync::Arc::default(),
        sign_up: SignUp::On,
    }
}

#[test]
fn a_user_of_a_provider_has_one_row_for_each_sign_in() {
    let host = Host::start(AuditSettings::default());
    let root = administrator_of(&host.client);
    let before = last_number(&root);
    let times = SessionTimes::default();
    let mut sender = Identity::anonymous();
    sender.address = Some([192, 0, 2, 7].into());
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let who = SignIn {
            resources: &host.service,
            times: Some(&times),
            sender: &sender,
            request_id: "a-request",
            invitation: None,
        };
        let signed_in = host.runtime.block_on(sign_in(&who, external("alice")));
        let (user, begun) = signed_in.unwrap_or_else(|error| panic!("{error}"));
        sessions.push((user.id, begun.session.id));
    }
    // The second of the same name has none.
    let who = SignIn {
        resources: &host.service,
        times: Some(&times),
        sender: &sender,
        request_id: "a-request",
        invitation: None,
    };
    let mut other = external("alice");
    other.identity.subject = "another".into();
    let refused = host.runtime.block_on(sign_in(&who, other));
    assert_eq!(refused.err().expect("a refusal").code, Code::Forbidden);

    let rows = new_rows(&root, before);
    assert_eq!(rows.len(), 2, "{rows:#?}");
    for (index, (row, (user_id, session_id))) in rows.iter().zip(&sessions).enumerate() {
        assert_eq!(
            (&row["procedure"], &row["provider"]),
            (&json!("sign-in"), &json!("oidc"))
        );
        assert_eq!(
            (&row["actorId"], &row["target"]),
            (&json!(user_id), &json!(user_id))
        );
        assert_eq!(row["credentialId"], session_id.as_str());
        assert_eq!(
            (&row["address"], &row["outcome"]),
            (&json!("192.0.2.7"), &json!("OK"))
        );
        // The first time makes the user.
        assert_eq!(row["created"], u8::from(index == 0));
    }
    assert!(!json!(rows).to_string().contains("secret@"));
    // Where OpenID Connect is off, its route does not exist, so there is no refusal to record.
    host.client.get("/api/auth/oidc/start").assert_status(404);
    assert_eq!(new_rows(&root, before).len(), 2);
}
