//! nordada/homarr-tagged-apps, and Homarr's web client (`ping-indicator.tsx`): `widget.app.ping`.

use portico_tests::{Builder, Client, Session, administrator, free_port, wait_until};
use serde_json::{Value, json};

use super::{ask, read};

/// A service with an administrator, and the ids of apps with these ping URLs.
fn with_apps(
    ping: &str,
    urls: impl Fn(&str) -> Vec<Option<String>>,
) -> (portico_tests::Portico, Session, Vec<String>) {
    let server = Builder::default()
        .argument("--compat-homarr")
        .argument("--ping-allow=127.0.0.1")
        .argument(ping)
        .start();
    let admin = administrator(&server);
    let apps = urls(&server.address()).into_iter().map(|url| {
        let app =
            json!({ "name": "App", "iconUrl": "/i.svg", "href": "https://app.example/", "pingUrl": url });
        let app = admin.mutate("app.create", &app).data();
        app["id"].as_str().expect("an id").to_owned()
    });
    let apps = apps.collect();
    (server, admin, apps)
}

#[test]
fn pings_say_what_the_checks_of_portico_know() {
    let down = format!("http://127.0.0.1:{}/", free_port());
    let (server, admin, apps) = with_apps("--ping=users", |address| {
        let up = format!("http://{address}/api/health/live");
        let urls = [up, down.clone(), "http://10.0.0.1/".into()];
        urls.into_iter().map(Some).chain([None]).collect()
    });
    let ping = |id: &str| ask(&admin, "widget.app.ping", &json!({ "id": id }));
    wait_until("the first checks", || {
        let known = apps[..3].iter().map(|id| read(&ping(id)));
        known
            .into_iter()
            .all(|found| found["error"] != "not checked yet: ask again in some seconds")
    });
    let up = read(&ping(&apps[0]));
    assert_eq!(up["url"], format!("http://{}/api/health/live", server.address()));
    assert_eq!(up["statusCode"], 200);
    assert!(up["durationMs"].is_u64() && up.get("error").is_none(), "{up}");
    assert_eq!(
        read(&ping(&apps[1])),
        json!({ "url": down, "error": "no-connection" })
    );
    assert_eq!(
        read(&ping(&apps[2])),
        json!({ "url": "http://10.0.0.1/", "error": "private-address" })
    );
    // Not the link of an app that has no ping URL.
    ping(&apps[3]).assert_status(409);
    ping("no-such-app").assert_status(404);
    ask(&admin, "widget.app.ping", &json!({ "url": down })).assert_status(400);
    // People who are not signed in are told no more than `app.status` tells them.
    let anonymous = server.anonymous();
    ask(&anonymous, "widget.app.ping", &json!({ "id": apps[0] })).assert_status(403);
}

#[test]
fn pings_are_refused_where_checks_are_off() {
    let (_server, admin, apps) = with_apps("--ping=off", |address| vec![Some(format!("http://{address}/"))]);
    let refused = ask(&admin, "widget.app.ping", &json!({ "id": apps[0] }));
    refused.assert_status(403);
    assert_eq!(
        refused.json()["error"]["json"]["data"]["path"],
        Value::from("widget.app.ping")
    );
}
