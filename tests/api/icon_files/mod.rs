//! The icons of apps and search engines as browsers get them: fetched once by the service, and served by it.

mod command;
mod web;

use portico_icons::engine_icon;
use portico_tests::{
    Answer, Builder, Client, Fixtures, MISSING, Portico, Session, administrator, escape, wait_until,
};
use serde_json::json;

use web::{GIF, SVG, Web};

const FOR_LONG: &str = "private, max-age=31536000, immutable";
const SVG_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// A service that may fetch from this host.
fn start(web: &Web) -> (Portico, Session) {
    let server = Builder::default()
        .environment("PORTICO_ICONS_ALLOW", web.origin())
        .start();
    let admin = administrator(&server);
    (server, admin)
}

/// An app with this icon: its id.
fn app(admin: &impl Client, icon_url: &str) -> String {
    let input = json!({"name": "App", "iconUrl": icon_url});
    let app = admin.mutate("app.create", &input).data();
    app["id"].as_str().expect("an id").to_owned()
}

/// The path of the icon of an app of that name.
fn app_icon(id: &str, icon_url: &str) -> String {
    portico_icons::app_icon(id, icon_url, "App")
}

/// The icon of a new app.
fn icon(admin: &impl Client, icon_url: &str) -> Answer {
    admin.get(&app_icon(&app(admin, icon_url), icon_url))
}

#[track_caller]
fn assert_picture(answer: &Answer, kind: &str, body: &str) {
    answer.assert_status(200);
    assert_eq!(answer.header("content-type"), Some(kind), "{answer}");
    assert_eq!(answer.text(), body);
    assert_eq!(answer.header("cache-control"), Some(FOR_LONG));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let length = body.len().to_string();
    assert_eq!(answer.header("content-length"), Some(length.as_str()));
}

#[track_caller]
fn assert_no_picture(answer: &Answer) {
    answer.assert_status(404);
    assert_eq!(answer.header("cache-control"), Some("private, max-age=300"));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.text(), "There is no picture");
}

#[test]
fn an_icon_is_fetched_once_and_served_without_its_host_after_a_restart() {
    let web = Web::start();
    let (mut server, admin) = start(&web);
    let url = web.url("/x.svg");
    let path = app_icon(&app(&admin, &url), &url);
    for client in [&admin as &dyn Client, &server.anonymous()] {
        let answer = client.get(&path);
        assert_picture(&answer, "image/svg+xml", SVG);
        assert_eq!(answer.header("content-security-policy"), Some(SVG_POLICY));
    }
    assert_eq!(web.requests(), ["/x.svg"]);
    // Now nothing may be fetched from there.
    server.stop().succeeded();
    let other = Web::start();
    server.start_again_with(&["--icons-allow", &other.origin()]);
    assert_picture(&admin.get(&path), "image/svg+xml", SVG);
    assert_eq!(web.requests().len(), 1);
}

#[test]
fn a_browser_that_has_the_icon_is_told_so() {
    let web = Web::start();
    let (_server, admin) = start(&web);
    let url = web.url("/x.svg");
    let path = app_icon(&app(&admin, &url), &url);
    let tag = admin.get(&path).header("etag").expect("a tag").to_owned();
    for tags in [&tag, &format!("W/{tag}"), &format!("\"a\", {tag}"), "*"] {
        let answer = admin.send("GET", &path, &[("if-none-match", tags)], None);
        answer.assert_status(304);
        assert_eq!((answer.text().as_str(), answer.header("etag")), ("", Some(&*tag)));
        assert_eq!(answer.header("cache-control"), Some(FOR_LONG));
    }
    let answer = admin.send("GET", &path, &[("if-none-match", "\"a\"")], None);
    assert_picture(&answer, "image/svg+xml", SVG);
    let head = admin.send("HEAD", &path, &[], None);
    head.assert_status(200);
    assert_eq!(head.header("content-type"), Some("image/svg+xml"));
    assert!(head.body.is_empty());
}

#[test]
fn another_icon_has_another_address_and_an_old_address_is_not_kept() {
    let web = Web::start();
    let (_server, admin) = start(&web);
    let (old, new) = (web.url("/x.svg"), web.url("/x.gif"));
    let id = app(&admin, &old);
    assert_picture(&admin.get(&app_icon(&id, &old)), "image/svg+xml", SVG);
    admin
        .mutate("app.update", &json!({"id": id, "iconUrl": new}))
        .data();
    assert_picture(&admin.get(&app_icon(&id, &new)), "image/gif", GIF);
    for path in [app_icon(&id, &old), format!("/icons/apps/{id}")] {
        let answer = admin.get(&path);
        assert_eq!((answer.status, answer.text().as_str()), (200, GIF));
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
    }
}

#[test]
fn the_type_comes_from_the_content_and_what_is_no_picture_is_not_served() {
    let web = Web::start();
    let (_server, admin) = start(&web);
    let gif = icon(&admin, &web.url("/x.gif"));
    assert_picture(&gif, "image/gif", GIF);
    let policy = gif.header("content-security-policy");
    assert_eq!(policy, Some("default-src 'none'; frame-ancestors 'none'"));
    assert_picture(&icon(&admin, "data:image/png;base64,R0lGODlh"), "image/gif", GIF);
    for url in [web.url("/page.png"), web.url("/missing.png")] {
        assert_no_picture(&icon(&admin, &url));
    }
    for url in [
        "data:image/png,<!doctype html><script>alert(1)</script>",
        "/icons/x.svg",
        "mdi:home",
    ] {
        assert_no_picture(&icon(&admin, url));
    }
    let largest = icon(&admin, &web.url("/large.gif?1048576"));
    assert_eq!((largest.status, largest.body.len()), (200, 1 << 20));
    assert_no_picture(&icon(&admin, &web.url("/large.gif?1048577")));
}

#[test]
fn a_slow_host_holds_a_request_up_for_seconds_and_its_icon_comes_later() {
    let web = Web::start();
    let (_server, admin) = start(&web);
    let url = web.url("/x.svg");
    let path = app_icon(&app(&admin, &url), &url);
    web.hold(true);
    let early = admin.get(&path);
    early.assert_status(404);
    assert_eq!(early.header("cache-control"), Some("private, max-age=10"));
    web.hold(false);
    wait_until("the picture", || admin.get(&path).status == 200);
    assert_eq!(web.requests().len(), 1);
}

#[test]
fn nothing_is_requested_from_a_private_address_that_is_not_allowed() {
    let (web, other) = (Web::start(), Web::start());
    let (server, admin) = start(&web);
    let port = other
        .origin()
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .expect("a port")
        .to_owned();
    let hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"];
    for host in hosts {
        let url = format!("http://{host}:{port}/x.svg");
        for url in [web.url(&format!("/to?{url}")), url] {
            let since = server.log().len();
            assert_no_picture(&icon(&admin, &url));
            let line = server.wait_for_log(since, "no icon from");
            assert!(
                line.contains("private network") && line.contains("--icons-allow"),
                "{line}"
            );
        }
    }
    assert_eq!(other.requests(), [""; 0]);
    // Within the host that is allowed, it may redirect.
    let url = web.url("/to?/x.gif");
    assert_picture(&icon(&admin, &url), "image/gif", GIF);
}

#[test]
fn a_caller_gets_the_icon_of_an_app_exactly_if_they_see_the_app() {
    let web = Web::start();
    let server = Builder::default()
        .argument("--app-visibility=boards")
        .environment("PORTICO_ICONS_ALLOW", web.origin())
        .start();
    let admin = administrator(&server);
    let url = web.url("/x.svg");
    let (shown, hidden) = (app(&admin, &url), app(&admin, &url));
    let items = json!([{"kind": "app", "appId": shown}]);
    admin.board_of("Public", true, &items);
    let alice = admin.user("alice");
    for client in [&server.anonymous() as &dyn Client, &alice] {
        assert_picture(&client.get(&app_icon(&shown, &url)), "image/svg+xml", SVG);
        for id in [&*hidden, MISSING, "selectable", "a/../../x", "é%&?#"] {
            let refused = client.get(&app_icon(id, &url));
            let as_the_api = client.query("app.byId", &json!({"id": id}));
            assert_eq!(refused.seen(), as_the_api.seen(), "{id}");
            refused.assert_status(404);
        }
    }
    assert_picture(&admin.get(&app_icon(&hidden, &url)), "image/svg+xml", SVG);
}

#[test]
fn what_has_the_default_icon_gets_a_tile_with_its_letter() {
    let server = Builder::default()
        .argument("--app-visibility=boards")
        .environment("PORTICO_ICON_SOURCES", "")
        .start();
    let admin = administrator(&server);
    let url = "/icons/default.svg";
    for icon_url in [
        url,
        "https://cdn.jsdelivr.net/gh/homarr-labs/dashboard-icons@master/svg/homarr.svg",
    ] {
        let input = json!({"name": "<b>x", "iconUrl": icon_url});
        let created = admin.mutate("app.create", &input).data();
        let path = app_icon(created["appId"].as_str().expect("an id"), icon_url);
        let tile = admin.get(&path);
        tile.assert_status(200);
        assert_eq!(tile.header("content-type"), Some("image/svg+xml"), "{tile}");
        assert_eq!(tile.header("content-security-policy"), Some(SVG_POLICY));
        assert!(tile.text().contains(">B<"), "{tile}");
        server.anonymous().get(&path).assert_status(404);
    }
    let plain = server.anonymous().get(url);
    plain.assert_status(200);
    assert_eq!(plain.header("content-type"), Some("image/svg+xml"), "{plain}");
}

#[test]
fn the_icon_of_a_search_engine_is_for_those_who_may_choose_it() {
    let web = Web::start();
    let (server, admin) = start(&web);
    let url = web.url("/x.gif");
    let input = json!({
        "name": "Wikipedia", "short": "w", "urlTemplate": "https://wikipedia.example/%s", "iconUrl": url,
    });
    let engine = admin.mutate("searchEngine.create", &input).data();
    let path = engine_icon(engine["id"].as_str().expect("an id"), &url, "");
    assert_picture(&admin.user("alice").get(&path), "image/gif", GIF);
    server.anonymous().get(&path).assert_status(401);
    admin.get(&engine_icon(MISSING, &url, "")).assert_status(404);
}

#[test]
fn those_who_may_create_apps_see_an_icon_before_it_is_used() {
    let (web, other) = (Web::start(), Web::start());
    let (server, admin) = start(&web);
    let preview = |url: &str| format!("/icons/preview?url={}", escape(url));
    let path = preview(&web.url("/x.svg?a=b&c=d+e"));
    server.anonymous().get(&path).assert_status(401);
    admin.user("alice").get(&path).assert_status(403);
    let foreign = [("sec-fetch-site", "cross-site")];
    admin.send("GET", &path, &foreign, None).assert_status(403);
    admin
        .user_with("bob", "board-full-all")
        .get(&path)
        .assert_status(403);
    assert_eq!(web.requests(), [""; 0]);
    for permission in ["app-create", "app-modify-all", "app-full-all"] {
        let seen = admin.user_with(permission, permission).get(&path);
        assert_eq!((seen.status, seen.text().as_str()), (200, SVG), "{permission}");
        assert_eq!(seen.header("content-security-policy"), Some(SVG_POLICY));
    }
    assert_eq!(web.requests(), ["/x.svg?a=b&c=d+e"]);
    for (url, reason) in [
        (web.url("/page.png"), "not a picture"),
        (web.url("/missing"), "the status 404"),
        (other.url("/x.svg"), "has an address of a private network"),
        ("/icons/x.svg".to_owned(), "a path without a host"),
        (String::new(), "a path without a host"),
    ] {
        let refused = admin.get(&preview(&url));
        refused.assert_status(404);
        assert_eq!(refused.header("cache-control"), Some("no-store"));
        assert!(refused.text().contains(reason), "{refused}");
    }
    assert_eq!(other.requests(), [""; 0]);
}

/// What a page can do to its reader is tested in `host/icons/src/pages/tests.rs`.
#[test]
fn an_address_suggests_name_and_icon_to_those_who_may_create_apps_by_the_rules_of_icons() {
    let (web, other) = (Web::start(), Web::start());
    let (server, admin) = start(&web);
    let input = json!({"href": web.url("/page")});
    server
        .anonymous()
        .query("app.readAddress", &input)
        .assert_status(401);
    admin
        .user("alice")
        .query("app.readAddress", &input)
        .assert_status(403);
    admin
        .user_with("bob", "board-full-all")
        .query("app.readAddress", &input)
        .assert_status(403);
    assert_eq!(web.requests(), [""; 0]);
    let carol = admin.user_with("carol", "app-create");
    let found = carol.query("app.readAddress", &input).data();
    let expected = json!({"name": "My & your NAS", "iconUrl": web.url("/y.gif"), "reason": null});
    assert_eq!(found, expected);
    let path = format!("/api/apps/read-address?href={}", escape(&web.url("/to?/page")));
    assert_eq!(carol.get(&path).json()["name"], "My & your NAS");
    for (href, reason) in [
        (other.url("/page"), "not-allowed"),
        (web.url(&format!("/to?{}", other.url("/page"))), "not-allowed"),
        (web.url("/missing"), "no-answer"),
        (web.url("/x.gif"), "no-answer"),
        ("nas".to_owned(), "no-answer"),
    ] {
        let found = carol.query("app.readAddress", &json!({"href": href})).data();
        assert_eq!(
            (&found["reason"], &found["iconUrl"]),
            (&json!(reason), &json!(null)),
            "{href}"
        );
    }
    assert_eq!(other.requests(), [""; 0]);
    carol
        .query("app.readAddress", &json!({"href": "x".repeat(8193)}))
        .assert_status(400);
}

/// A link on another site, which people follow with their cookie, makes the service fetch nothing.
#[test]
fn another_site_cannot_make_the_service_look_at_an_address() {
    let web = Web::start();
    let (_server, admin) = start(&web);
    let input = escape(&json!({"href": web.url("/page")}).to_string());
    let path = format!("/api/trpc/app.readAddress?input={input}");
    for site in ["cross-site", "same-site"] {
        let foreign = [("sec-fetch-site", site)];
        admin.send("GET", &path, &foreign, None).assert_status(403);
    }
    assert_eq!(web.requests(), [""; 0]);
    for site in ["same-origin", "none"] {
        let own = [("sec-fetch-site", site)];
        admin.send("GET", &path, &own, None).assert_status(200);
    }
}

#[test]
fn a_name_that_no_app_has_yet_gets_a_letter_until_there_is_an_icon() {
    let web = Web::start();
    let (server, admin) = start(&web);
    let path = "/icons/named/jellyfin";
    server.anonymous().get(path).assert_status(401);
    admin.user("alice").get(path).assert_status(403);
    let foreign = [("sec-fetch-site", "cross-site")];
    admin.send("GET", path, &foreign, None).assert_status(403);
    let letter = admin.get(path);
    letter.assert_status(200);
    assert_eq!(letter.header("content-type"), Some("image/svg+xml"));
    assert!(letter.text().contains(">J<"), "{letter}");
}

#[test]
fn other_paths_and_methods_are_refused() {
    let web = Web::start();
    let (_server, admin) = start(&web);
    let url = web.url("/x.svg");
    let path = app_icon(&app(&admin, &url), &url);
    for other in [
        "/icons",
        "/icons/",
        "/icons/apps",
        "/icons/x/y/z",
        "/icons/preview/x",
    ] {
        admin.get(other).assert_status(404);
    }
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let refused = admin.send(method, &path, &[], None);
        refused.assert_status(405);
        assert_eq!(refused.header("allow"), Some("GET,HEAD"));
    }
    assert_eq!(web.requests(), [""; 0]);
    // What is about the request itself does not reach the API.
    let headers = [("trpc-accept", "application/jsonl"), ("range", "bytes=0-1")];
    assert_picture(&admin.send("GET", &path, &headers, None), "image/svg+xml", SVG);
}

#[test]
fn before_there_is_a_user_pages_of_other_sites_get_what_they_get_from_the_api() {
    let server = Portico::start();
    let foreign = [("sec-fetch-site", "cross-site")];
    for path in ["/icons/preview?url=x".to_owned(), app_icon(MISSING, "x")] {
        let refused = server.anonymous().send("GET", &path, &foreign, None);
        refused.assert_status(403);
        assert!(refused.text().contains("There is no user yet"), "{refused}");
    }
}
