//! Looks: the administrators' page, what every page shows of it, uploads, and colours in the menu of the account.

use portico_tests::{Client, Fixtures, Portico, administrator, procedures::picture};
use serde_json::{Value, json};

use super::Browser;

/// A GIF of one pixel.
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;";

const LOOKS: &str = "/manage/looks";

fn looks(client: &impl Client) -> Value {
    client.query("site.get", &Value::Null).data()
}

/// The address of the style sheet of a page.
fn theme(html: &str) -> Option<String> {
    let (_, rest) = html.split_once("<link rel=\"stylesheet\" href=\"/theme/")?;
    Some(format!("/theme/{}", rest.split('"').next()?))
}

#[test]
fn an_administrator_tries_looks_and_saves_them_for_everyone() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user("bob");
    let browser = Browser::of(&server, "root");
    let page = browser.open(LOOKS);
    assert_eq!(theme(&page.html), None, "Portico's own looks need no style sheet");
    let fields = [
        ("name", "Casa"),
        ("ownAccent", "yes"),
        ("accentColor", "#FFDD00"),
        ("density", "icons"),
        ("columns", "4"),
        ("wideScreens", "yes"),
    ];
    let with = |more: &[(&'static str, &'static str)]| [&fields[..], more].concat();
    let tried = browser.upload(&page, LOOKS, &with(&[("do", "try")]), ("logo-file", GIF));
    tried
        .assert_status(200)
        .assert_shows("This is how it would look")
        .assert_shows("<span>Casa</span>");
    let sheet = theme(&tried.html).expect("a style sheet");
    assert!(
        sheet.starts_with("/theme/FFDD00-0-") || sheet.starts_with("/theme/ffdd00-0-"),
        "{sheet}"
    );
    assert_eq!(looks(&root)["name"], Value::Null, "nothing is saved");
    let (_, logo) = tried.html.split_once("name=\"logo\" value=\"").expect("the logo");
    let logo = logo.split('"').next().expect("its id").to_owned();
    assert_eq!(logo.len(), 64);

    let saved = browser.submit(&tried, LOOKS, &[&with(&[])[..], &[("logo", &*logo)][..]].concat());
    assert_eq!(saved.path, "/manage/looks?note=saved", "{}", saved.html);
    let stored = json!({"name": "Casa", "logo": logo, "accentColor": "#ffdd00", "wallpaper": null, "density": "icons",
        "columns": 4, "wideScreens": true, "appVisibility": "everyone", "fixedAppVisibility": null, "startBoard": null,
        "pingAllow": [], "fixedPingAllow": null});
    assert_eq!(looks(&root), stored);

    let anonymous = Browser::new(&server);
    let page = anonymous.open("/sign-in");
    page.assert_shows("· Casa</title>")
        .assert_shows(&format!("<img class=\"logo\" src=\"/api/pictures/{logo}\""));
    let manifest = anonymous.send("GET", "/manifest.webmanifest", &[], None);
    assert_eq!(manifest.header("set-cookie"), None);
    let manifest = manifest.json();
    assert_eq!(
        (
            &manifest["name"],
            &manifest["theme_color"],
            &manifest["icons"][0]["src"]
        ),
        (
            &json!("Casa"),
            &json!("#ffdd00"),
            &json!(format!("/api/pictures/{logo}"))
        )
    );
    let icons = manifest["icons"].as_array().expect("icons");
    let types: Vec<_> = icons.iter().map(|icon| &icon["type"]).collect();
    assert_eq!(types, ["image/gif", "image/png", "image/png", "image/png"]);
    let bob = Browser::of(&server, "bob").open("/");
    bob.assert_shows("data-tiles=\"icons\" data-columns=\"4\" data-wide");
    let sheet = theme(&page.html).expect("a style sheet");
    let served = server.anonymous().get(&sheet);
    served.assert_status(200);
    assert_eq!(served.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(
        served.header("cache-control"),
        Some("public, max-age=31536000, immutable")
    );
    let other = sheet.replace(".css", "0.css");
    assert_eq!(
        server.anonymous().get(&other).header("cache-control"),
        Some("no-cache")
    );
    for none in [
        "/theme/x.css",
        "/theme/ff0000-0",
        "/theme/ff0000-..-0.css",
        "/theme/red-0-0.css",
    ] {
        server.anonymous().send("GET", none, &[], None).assert_status(404);
    }
    Browser::of(&server, "bob").open(LOOKS).assert_status(403);

    let page = browser.open(LOOKS);
    let fields = [
        ("density", "comfortable"),
        ("logo", &*logo),
        ("logo-remove", "yes"),
        ("wideScreens", "yes"),
    ];
    browser
        .submit(&page, LOOKS, &fields)
        .assert_hides("<img class=\"logo\"");
    assert_eq!(looks(&root)["logo"], Value::Null);
    assert_eq!(looks(&root)["accentColor"], Value::Null);
}

#[test]
fn two_tabs_keep_each_others_fields_and_what_is_refused_says_why() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root").in_german();
    let (first, second) = (browser.open(LOOKS), browser.open(LOOKS));
    let read = |html: &str, field: &str| {
        let (_, rest) = html
            .split_once(&format!("name=\"was-{field}\" value=\""))
            .expect("a fingerprint");
        rest.split('"').next().expect("its text").to_owned()
    };
    let names = [
        "name",
        "accentColor",
        "logo",
        "wallpaper",
        "density",
        "columns",
        "wideScreens",
    ];
    let with_read = |html: &str, fields: &[(&str, &str)]| {
        let read: Vec<_> = names
            .iter()
            .map(|name| (format!("was-{name}"), read(html, name)))
            .collect();
        let fields = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        read.into_iter().chain(fields).collect::<Vec<_>>()
    };
    let send = |page: &super::page::Page, fields: Vec<(String, String)>| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        browser.submit(page, LOOKS, &fields)
    };
    let own = [("density", "comfortable"), ("wideScreens", "yes")];
    send(
        &first,
        with_read(&first.html, &[&own[..], &[("name", "Casa")]].concat()),
    );
    send(
        &second,
        with_read(&second.html, &[&own[..], &[("columns", "3")]].concat()),
    );
    assert_eq!(
        (&looks(&root)["name"], &looks(&root)["columns"]),
        (&json!("Casa"), &json!(3))
    );
    let both = send(
        &second,
        with_read(&second.html, &[&own[..], &[("name", "Villa")]].concat()),
    );
    both.assert_status(422)
        .assert_shows("inzwischen geändert, zu: Casa");
    assert_eq!(looks(&root)["name"], "Casa");
    // A field that has no place of its own for a problem is named.
    let fields = [("density", "icons"), ("wideScreens", "yes"), ("columns", "4")];
    send(&second, with_read(&second.html, &fields))
        .assert_status(422)
        .assert_shows("Spalten: Das wurde inzwischen geändert, zu: 3");

    let page = browser.open(LOOKS);
    let wrong = browser.upload(&page, LOOKS, &own, ("logo-file", b"<svg onload=alert(1)>"));
    wrong
        .assert_status(422)
        .assert_shows("muss ein PNG, JPEG, WebP, GIF, AVIF oder ICO sein");
    let large = vec![0; (1 << 20) + 1];
    let wrong = browser.upload(&page, LOOKS, &own, ("wallpaper-file", &large));
    wrong
        .assert_status(422)
        .assert_shows("Das Bild hat 1,1 MB; es darf höchstens 1,0 MB haben");
}

#[test]
fn an_icon_is_uploaded_in_the_form_of_its_app() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/new");
    let fields = [("name", "NAS"), ("href", "http://nas.example")];
    let page = browser.upload(&page, "/apps/new", &fields, ("icon-file", GIF));
    assert_eq!(page.path, "/apps?note=created", "{}", page.html);
    let app = root.query("app.all", &Value::Null).data()[0].clone();
    let icon = app["iconUrl"].as_str().expect("an icon");
    assert!(icon.starts_with("/api/pictures/"), "{icon}");
    browser.open("/").assert_shows(&format!("<img src=\"{icon}\""));
    let id = app["id"].as_str().expect("an id");
    let answer = root.get(&format!("/icons/apps/{id}"));
    assert_eq!((answer.status, answer.header("location")), (307, Some(icon)));

    let edit = format!("/apps/{id}/edit");
    let page = browser.open(&edit);
    page.assert_shows(&format!("<img src=\"{icon}\""));
    let refused = browser.upload(
        &page,
        &edit,
        &[("name", "NAS"), ("iconUrl", icon)],
        ("icon-file", b"no picture"),
    );
    refused.assert_status(422);
    assert!(refused.problem("iconUrl").is_some(), "{}", refused.html);
}

#[test]
fn a_wallpaper_is_on_pages_with_tiles_and_on_no_others() {
    let server = Portico::start();
    let root = administrator(&server);
    let created = root
        .mutate("picture.create", &json!({"image": picture("wall")}))
        .data();
    root.mutate("site.update", &json!({"wallpaper": created["id"]}))
        .assert_done();
    let browser = Browser::of(&server, "root");
    let home = browser.open("/");
    home.assert_shows(" data-wall");
    let sheet = theme(&home.html).expect("a style sheet");
    let css = server.anonymous().get(&sheet).text();
    assert!(css.contains(created["url"].as_str().expect("a URL")), "{css}");
    browser.open("/apps").assert_hides(" data-wall");
}

#[test]
fn colours_are_chosen_in_the_menu_of_the_account() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    for colors in ["light", "auto", "dark"] {
        let page = browser.open("/profile");
        let page = browser.submit(&page, "/colors", &[("colorScheme", colors)]);
        page.assert_status(200)
            .assert_shows(&format!("data-colors=\"{colors}\""));
        page.assert_shows(&format!("value=\"{colors}\" aria-pressed=\"true\""));
    }
    assert_eq!(browser.open("/colors").path, "/profile");
    assert!(Browser::new(&server).open("/colors").path.starts_with("/sign-in"));
}
