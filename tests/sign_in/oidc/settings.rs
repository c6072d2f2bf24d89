//! The settings, and the errors for wrong ones.

use portico_tests::{Builder, Client, Portico, administrator};
use serde_json::{Value, json};

use super::{
    browser::{Browser, parameter},
    harness::{Issuer, settings, sign_in, signed_in, start_url},
};

fn oidc(server: &Portico) -> Value {
    let providers = server.anonymous().get("/api/auth/providers").json();
    let mut providers = providers.as_array().expect("providers").iter();
    providers
        .find(|provider| provider["provider"] == "oidc")
        .expect("it")
        .clone()
}

#[test]
fn without_settings_it_is_off_and_no_answer_mentions_it() {
    let server = Portico::start();
    administrator(&server);
    let off = json!({
        "provider": "oidc", "label": "OpenID Connect", "isOn": false, "isDefault": false,
        "startUrl": "/api/auth/oidc/start", "signOutUrl": null, "signUp": "off",
    });
    assert_eq!(oidc(&server), off);
    for path in ["start", "callback?state=a&code=b"] {
        let answer = server.anonymous().get(&format!("/api/auth/oidc/{path}"));
        answer.assert_refused(404, "NOT_FOUND");
    }
    assert!(!server.log().contains("OpenID"), "{}", server.log());
}

#[test]
fn a_provider_that_is_not_set_up_right_is_off_and_the_rest_is_not() {
    let wrong: [(&str, &str, &str); 16] = [
        ("PORTICO_OIDC_ISSUER", "", "oidc-issuer"),
        ("PORTICO_OIDC_ISSUER", "http://id.example", "oidc-issuer"),
        ("PORTICO_OIDC_ISSUER", "id.example", "oidc-issuer"),
        ("PORTICO_OIDC_CLIENT_ID", "", "oidc-client-id"),
        (
            "PORTICO_OIDC_CLIENT_SECRET_FILE",
            "/nowhere/secret",
            "oidc-client-secret-file",
        ),
        ("PORTICO_OIDC_LINKING", "always", "oidc-linking"),
        ("PORTICO_OIDC_CLIENT_AUTH", "jwt", "oidc-client-auth"),
        ("PORTICO_OIDC_TIME_LIMIT", "0", "oidc-time-limit"),
        ("PORTICO_OIDC_NAME_CLAIM", "{given_name", "oidc-name-claim"),
        ("PORTICO_OIDC_EMAIL_CLAIM", "a}", "oidc-email-claim"),
        ("PORTICO_OIDC_GROUPS_CLAIM", "/a~b", "oidc-groups-claim"),
        ("PORTICO_OIDC_REQUIRED_CLAIM", "groups", "oidc-required-claim"),
        ("PORTICO_OIDC_GROUP_MAP", "a=b", "oidc-group-map"),
        ("PORTICO_OIDC_ADMIN_GROUP", "admins", "need oidc-groups-claim"),
        ("PORTICO_OIDC_SIGN_UP", "invites", "oidc-sign-up"),
        ("PORTICO_OIDC_CA_FILE", "/nowhere/ca.pem", "oidc-ca-file"),
    ];
    for (name, value, setting) in wrong {
        let server = Builder::default()
            .environment("PORTICO_OIDC_ISSUER", "https://id.example")
            .environment("PORTICO_OIDC_CLIENT_ID", "portico")
            .environment(name, value)
            .start();
        server.wait_for_log(0, "sign-in by OpenID Connect is off: ");
        server.wait_for_log(0, setting);
        assert_eq!(oidc(&server)["isOn"], false);
        administrator(&server);
    }
    // Only the operator knows at which address browsers reach the service.
    let server = Builder::default()
        .listen("0.0.0.0:0")
        .environment("PORTICO_OIDC_ISSUER", "https://id.example")
        .environment("PORTICO_OIDC_CLIENT_ID", "portico")
        .start();
    server.wait_for_log(0, "public-url is missing");
}

#[test]
fn the_secret_is_sent_as_the_settings_say() {
    let issuer = Issuer::start();
    let start = |way: &str| {
        let server = settings(&issuer, &[("PORTICO_OIDC_CLIENT_AUTH", way)]).start();
        administrator(&server);
        server
    };
    let (post, basic, unset) = (start("post"), start("basic"), start(""));
    for (accepted, servers, refused) in [
        ("post", vec![&post], vec![&basic, &unset]),
        ("basic", vec![&basic, &unset], vec![&post]),
    ] {
        issuer.behaves(json!({ "clientAuth": accepted }));
        for server in servers {
            signed_in(server, "1");
        }
        for server in refused {
            let (_, page) = sign_in(server, "1");
            page.assert_refused(503, "SERVICE_UNAVAILABLE");
            server.wait_for_log(0, "invalid_client");
        }
    }
}

#[test]
fn the_file_says_what_flags_and_the_environment_do_not() {
    let issuer = Issuer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (file, secret) = (folder.path().join("portico.toml"), folder.path().join("secret"));
    std::fs::write(&secret, "a secret of the client\n").expect("write it");
    let text = format!(
        "[oidc]\nissuer = {:?}\nclient-id = \"portico\"\nclient-secret-file = {secret:?}\nclient-auth = \"post\"\ntrusted-audiences = 312909075212468632\nscopes = \"profile\"\ntime-limit = 20\nlabel = \"File\"\n",
        issuer.url
    );
    std::fs::write(&file, text).expect("write it");
    let server = Builder::default()
        .environment("PORTICO_CONFIG", file.to_str().expect("a path"))
        .argument("--oidc-label")
        .argument("Home & Garden")
        .start();
    administrator(&server);
    assert_eq!(
        (&oidc(&server)["label"], &oidc(&server)["isOn"]),
        (&json!("Home & Garden"), &json!(true))
    );
    let way = Browser::new()
        .get(&start_url(&server))
        .location
        .expect("the issuer");
    assert_eq!(parameter(&way, "scope").as_deref(), Some("openid profile"));
    // The issuer offers both ways, and takes this client's secret in the body only.
    issuer.behaves(json!({
        "clientAuth": "post",
        "claims": {"aud": ["portico", "312909075212468632"]},
    }));
    let token = signed_in(&server, "1");
    assert_eq!(super::harness::user(&server, &token)["email"], json!(null));
}
