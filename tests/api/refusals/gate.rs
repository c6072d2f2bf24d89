//! Sentences of the gate.

use portico_tests::{Answer, Client, Fixtures, PASSWORD, administrator_of, escape};
use serde_json::json;

use super::{Said, service};

/// Where the only app is.
const WIKI: &str = "https://wiki.home.example/wiki";

/// What proxies and browsers are refused with, and the rule for further addresses of apps.
pub fn provoke(said: &mut Said) {
    let without = service().listen();
    said.hear(&without.client.get("/api/auth/verify"));

    let host = service()
        .gate("home.example", "http://portico.home.example")
        .listen();
    let root = administrator_of(&host.client);
    root.mutate("site.update", &json!({"appVisibility": "boards"}))
        .assert_done();
    let app = json!({"name": "Wiki", "iconUrl": "/icon.svg", "href": WIKI});
    let app = root.make("app.create", &app, "appId");
    let addresses = |address: &str| json!({"id": app, "addresses": [address], "isOpen": false});
    for address in [
        "https://user@wiki.home.example/",
        "https://wiki.example/",
        "https://portico.home.example/wiki",
    ] {
        said.hear(&root.mutate("gate.update", &addresses(address)));
    }

    // A proxy that does not say what it was asked for, and one that does.
    said.hear(&host.client.get("/api/auth/verify"));
    let verify = |path: &str, pass: &str| -> Answer {
        let url = format!("https://wiki.home.example{path}");
        let headers = [("x-original-url", &*url), ("cookie", pass)];
        host.client.send("GET", "/api/auth/verify", &headers, None)
    };
    said.hear(&verify("/another", ""));
    said.hear(&verify("/wiki%2fpage", ""));

    // A browser that comes for its pass.
    let pass = format!("/api/auth/gate?next={}", escape(WIKI));
    root.user("ada");
    said.hear(&host.client.sign_in("ada", PASSWORD).get(&pass));
    said.hear(&host.client.key(&root.token).get(&pass));
    let cookies = format!("{}; portico_gate_tries=10", root.cookie);
    said.hear(&host.client.send("GET", &pass, &[("cookie", &cookies)], None));

    // An app could take this user for its own administrator.
    root.user_with("admin", "app-create");
    let given = host.client.sign_in("admin", PASSWORD).get(&pass);
    said.hear(&verify("/wiki", &pass_in(&given)));

    // A user of another provider has the same name.
    let given = root.get(&pass);
    let namesake = json!({"users": [{"name": "root", "provider": "oidc"}]});
    root.output_of("state.apply", &namesake);
    said.hear(&verify("/wiki", &pass_in(&given)));
}

/// The pass that an answer sets, `name=value`.
#[track_caller]
fn pass_in(answer: &Answer) -> String {
    let mut cookies = answer.assert_status(200).headers.iter();
    let (_, cookie) = cookies
        .find(|(_, value)| value.starts_with("portico_gate="))
        .expect("a pass");
    cookie.split(';').next().unwrap_or_default().to_owned()
}
