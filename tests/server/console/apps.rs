//! Apps: the list, the form with its icons, many at once, and deleting.

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

use super::{Browser, escaped};

const HOSTILE: &str = "\"><script>alert('1')</script>";

#[test]
fn an_app_is_created_found_changed_and_deleted_without_javascript() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    browser.open("/apps").assert_shows("No apps yet");
    let page = browser.open("/apps/new");
    let fields = [
        ("name", "Nextcloud"),
        ("href", "https://cloud.example"),
        ("iconUrl", "/n.svg"),
        ("description", "Files\r\nand more"),
        ("pingUrl", ""),
    ];
    let page = browser.submit(&page, "/apps/new", &fields);
    assert_eq!(page.path, "/apps?note=created");
    page.assert_shows("Created.")
        .assert_shows("Nextcloud")
        .assert_shows("href=\"https://cloud.example\"");
    root.app("other");
    browser
        .open("/apps?q=CLOUD")
        .assert_shows("Nextcloud")
        .assert_hides("other");
    browser.open("/apps?q=missing").assert_shows("No app has");

    let app = root.query("app.search", &json!({ "query": "cloud" })).data()[0].clone();
    assert_eq!(app["description"], "Files\nand more");
    let path = format!("/apps/{}", app["id"].as_str().unwrap());
    let page = browser.open(&format!("{path}/edit"));
    page.assert_shows("Seen by");
    // It stays where a form is shown again.
    let nameless = [("name", ""), ("iconUrl", "/n.svg")];
    let again = browser.submit(&page, &format!("{path}/edit"), &nameless);
    again.assert_status(422).assert_shows("Seen by");
    page.assert_shows("value=\"Nextcloud\"")
        .assert_shows("value=\"/n.svg\"")
        .assert_shows("value=\"https://cloud.example\"");
    let fields = [("name", "Cloud"), ("iconUrl", "/n.svg"), ("href", "")];
    let page = browser.submit(&page, &format!("{path}/edit"), &fields);
    assert_eq!(page.path, "/apps?note=saved");
    let changed = root.query("app.byId", &json!({ "id": app["id"] })).data();
    assert_eq!(
        (&changed["name"], &changed["href"], &changed["description"]),
        (&json!("Cloud"), &Value::Null, &Value::Null)
    );

    let board = root.board_of(
        "kitchen",
        false,
        &json!([{ "kind": "bookmarks", "appIds": [app["id"]] }]),
    );
    root.board_of("garden", true, &json!([]));
    let page = browser.open(&format!("{path}/delete"));
    page.assert_shows("Delete “<bdi>Cloud</bdi>”?")
        .assert_shows(&format!("<a href=\"/boards/{board}\">kitchen</a>"))
        .assert_hides("garden")
        .assert_hides("maybe");
    let page = browser.submit(&page, &format!("{path}/delete"), &[]);
    assert_eq!(page.path, "/apps?note=deleted");
    page.assert_hides("Cloud");
    for gone in ["edit", "delete"] {
        browser.open(&format!("{path}/{gone}")).assert_status(404);
    }
}

#[test]
fn what_is_wrong_with_an_app_stands_at_its_field_and_what_was_typed_stays() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/new");
    let fields = [
        ("name", ""),
        ("href", "javascript:alert(1)"),
        ("iconUrl", "data:text/html,x"),
        ("description", HOSTILE),
        ("pingUrl", "ftp://nas"),
    ];
    let page = browser.submit(&page, "/apps/new", &fields);
    page.assert_status(422);
    for (field, problem) in [
        ("name", "must not be empty"),
        ("href", "must not be a URL of the scheme javascript:"),
        (
            "iconUrl",
            "must be an image where it is a data URI: data:image/...,...",
        ),
        ("pingUrl", "must be a URL with http: or https:"),
    ] {
        assert_eq!(page.problem(field).as_deref(), Some(problem), "{field}");
    }
    page.assert_shows("value=\"javascript:alert(1)\"")
        .assert_shows("value=\"data:text/html,x\"")
        .assert_shows("value=\"ftp://nas\"")
        .assert_shows(&escaped(HOSTILE))
        .assert_hides("<script>alert")
        .assert_hides("src=\"data:text");
    let german = Browser::of(&server, "root").in_german();
    let page = german.open("/apps/new");
    let page = german.submit(&page, "/apps/new", &[("name", "x"), ("href", "/nowhere")]);
    assert_eq!(
        page.problem("href").as_deref(),
        Some("muss eine vollständige Adresse sein, etwa https://nas.example")
    );
}

#[test]
fn hostile_texts_of_apps_are_shown_as_texts() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let app = json!({
        "name": HOSTILE, "description": HOSTILE, "iconUrl": format!("https://x.example/{HOSTILE}"),
        "href": "https://a.example/?\"onmouseover=alert(1)",
    });
    let app = root.mutate("app.create", &app).data();
    let path = format!("/apps/{}", app["id"].as_str().unwrap());
    for page in ["/apps".into(), format!("{path}/edit"), format!("{path}/delete")] {
        browser
            .open(&page)
            .assert_status(200)
            .assert_shows(&escaped(HOSTILE))
            .assert_hides("<script>alert")
            .assert_hides("\"onmouseover")
            .assert_hides("src=\"https:");
    }
    browser
        .open("/apps?q=%22%3E%3Cscript%3Ealert%28%27%31%27%29%3C%2Fscript%3Ex")
        .assert_shows("No app has")
        .assert_hides("<script>alert");
}

#[test]
fn icons_are_searched_in_the_form_and_one_that_is_chosen_counts() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/new");
    let fields = [
        ("name", "Typed"),
        ("icon-query", "no such icon"),
        ("do", "find-icon"),
    ];
    let page = browser.submit(&page, "/apps/new", &fields);
    page.assert_status(200)
        .assert_shows("value=\"Typed\"")
        .assert_shows("value=\"no such icon\"")
        .assert_shows("No icon was found for “no such icon”.");
    // Enter searches for a new text, and creates once its results are there.
    let fields = [("name", "Typed"), ("icon-query", "nas"), ("by-enter", "1")];
    let page = browser.submit(&page, "/apps/new", &fields);
    page.assert_status(200)
        .assert_shows("name=\"icon-query-shown\" value=\"nas\"");
    let fields = [
        ("name", "Typed"),
        ("iconUrl", "/typed.svg"),
        ("icon-choice", "https://icons.example/chosen.svg"),
        ("icon-query", "nas"),
        ("icon-query-shown", "nas"),
        ("by-enter", "1"),
    ];
    let page = browser.submit(&page, "/apps/new", &fields);
    assert_eq!(page.path, "/apps?note=created");
    let page = browser.open("/apps/new");
    let fields = [("name", "Without an icon"), ("iconUrl", "")];
    assert_eq!(
        browser.submit(&page, "/apps/new", &fields).path,
        "/apps?note=created"
    );
    let apps = root.query("app.all", &Value::Null).data();
    assert_eq!(apps[0]["iconUrl"], "https://icons.example/chosen.svg");
    assert_ne!(apps[1]["iconUrl"], "");
    // What a script asks for while people type.
    browser
        .open("/icon-search?icon-query=%3Cscript%3E")
        .assert_status(200)
        .assert_shows("No icon was found for “&#60;script&#62;”.")
        .assert_hides("<html");
}

#[test]
fn many_apps_come_from_a_list_all_of_them_or_none() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/many");
    let wrong =
        "Good | https://good.example\r\n\r\n | https://nameless.example\r\nBad | javascript:1 | /i.svg | <b>";
    for button in ["look", "add"] {
        let page = browser.submit(&page, "/apps/many", &[("list", wrong), ("do", button)]);
        page.assert_status(422)
            .assert_shows("Line 3</span><p class=\"problem\">Name: must not be empty")
            .assert_shows(
                "Line 4</span><p class=\"problem\">Link: must not be a URL of the scheme javascript:",
            )
            .assert_shows("Bad | javascript:1 | /i.svg | &#60;b&#62;")
            .assert_hides("Nothing is made yet.");
    }
    // What only the API knows.
    let unknown = "A | http://a b/ | https://i.example/x";
    let refused = browser.submit(&page, "/apps/many", &[("list", unknown), ("do", "add")]);
    refused
        .assert_status(422)
        .assert_shows("Line 1</span><p class=\"problem\">Link: must be an absolute URL");
    let page = browser.submit(&page, "/apps/many", &[("list", "Files | file:///srv")]);
    page.assert_status(200)
        .assert_shows("Nothing is made yet.")
        .assert_shows("The tile does not open it");
    assert_eq!(root.app_names().len(), 0);
    for (list, problem) in [
        (" \r\n ", "The list is empty"),
        (
            "a|b|c|d|https://e|f",
            "Line 1</span><p class=\"problem\">too many columns",
        ),
        ("a,b\n\"c", "The quotation mark of line 2 is not closed"),
    ] {
        browser
            .submit(&page, "/apps/many", &[("list", list)])
            .assert_status(422)
            .assert_shows(problem);
    }
    let long: Vec<String> = (0..1001).map(|number| format!("App {number}")).collect();
    browser
        .submit(&page, "/apps/many", &[("list", &long.join("\n"))])
        .assert_status(422)
        .assert_shows("At most 1000 apps at once; this list has 1001");
    assert_eq!(root.app_names().len(), 0);
    let list = "Name,URL,Icon\r\n\"One, two\",https://one.example,/1.svg\r\nThree,,\r\n";
    let page = browser.submit(&page, "/apps/many", &[("list", list)]);
    page.assert_status(200)
        .assert_shows("One, two")
        .assert_shows("Nothing is made yet.");
    assert_eq!(root.app_names().len(), 0);
    let page = browser.submit(&page, "/apps/many", &[("list", list), ("do", "add")]);
    assert_eq!(page.path, "/apps?note=created");
    assert_eq!(root.app_names(), ["One, two", "Three"]);
    // The way back.
    let apps = root.query("app.all", &Value::Null).data();
    let [first, second] = [0, 1].map(|place| apps[place]["id"].as_str().unwrap());
    let page = browser.open(&format!("/apps/delete?id={first}&id={second}&id=none"));
    page.assert_shows("Delete 2 apps?").assert_shows("One, two");
    let ids = [("id", first), ("id", second)];
    let page = browser.submit(&page, "/apps/delete", &ids);
    assert_eq!(page.path, "/apps?note=deleted");
    assert_eq!(root.app_names().len(), 0);
    browser.open("/apps/delete").assert_shows("Nothing is selected.");
}

#[test]
fn the_list_has_pages() {
    let server = Portico::start();
    let root = administrator(&server);
    root.apps(60, "/i.svg");
    let browser = Browser::of(&server, "root");
    let rows = |path: &str| browser.open(path).html.matches("<tr>").count() - 1;
    assert_eq!((rows("/apps"), rows("/apps?page=2")), (50, 10));
    browser
        .open("/apps")
        .assert_shows("60 apps")
        .assert_shows("Page 1 of 2")
        .assert_shows("href=\"/apps?q=&#38;page=2\"");
    browser
        .open("/apps?page=99999&note=deleted")
        .assert_status(200)
        .assert_shows("Deleted.")
        .assert_shows("Page 2 of 2");
    assert_eq!(rows("/apps?page=99999"), 10);
}

#[test]
fn people_see_and_do_what_their_permissions_allow() {
    let server = Portico::start();
    let root = administrator(&server);
    let app = root.app("nextcloud");
    root.user("guest");
    root.user_with("creator", "app-create");
    root.user_with("editor", "app-modify-all");
    root.user_with("owner", "app-full-all");
    let (edit, delete) = (format!("/apps/{app}/edit"), format!("/apps/{app}/delete"));
    let pages = ["/apps/new", "/apps/many", &edit, &delete];
    for (name, allowed) in [("guest", 0), ("creator", 2), ("editor", 3), ("owner", 4)] {
        let browser = Browser::of(&server, name);
        let list = browser.open("/apps");
        for (index, path) in pages.iter().enumerate() {
            let link = format!("href=\"{path}\"");
            if index < allowed {
                list.assert_shows(&link);
                browser.open(path).assert_status(200);
            } else {
                list.assert_hides(&link);
                let token = browser.open("/").token();
                let fields = [("name", "x"), ("iconUrl", "/x"), ("list", "x")];
                browser.open(path).assert_status(403);
                browser.send_form(path, &token, &fields).assert_status(403);
            }
        }
    }
    let anonymous = Browser::new(&server);
    for path in pages.iter().chain([&"/apps", &"/icon-search?icon-query=a"]) {
        let page = anonymous.open(path);
        assert!(page.path.starts_with("/sign-in?next="), "{}", page.path);
    }
    assert_eq!(root.app_names(), ["nextcloud"]);
}

#[test]
fn two_tabs_that_change_one_app_keep_each_others_fields() {
    let server = Portico::start();
    let root = administrator(&server);
    let id = root.app("nextcloud");
    let path = format!("/apps/{id}/edit");
    let (one, other) = (Browser::of(&server, "root"), Browser::of(&server, "root"));
    let (first, second) = (one.open(&path), other.open(&path));
    let icon = root.query("app.byId", &json!({ "id": id })).data()["iconUrl"].clone();
    let icon = icon.as_str().unwrap();
    let was = |page: &super::page::Page, field: &str| {
        let (_, rest) = page
            .html
            .split_once(&format!("name=\"was-{field}\" value=\""))
            .unwrap();
        rest[..16].to_owned()
    };
    let save = |browser: &Browser, page: &super::page::Page, name: &str, description: &str| {
        let prints = ["name", "description", "href", "iconUrl"].map(|field| was(page, field));
        let fields = [
            ("name", name),
            ("description", description),
            ("iconUrl", icon),
            ("href", ""),
            ("was-name", &prints[0]),
            ("was-description", &prints[1]),
            ("was-href", &prints[2]),
            ("was-iconUrl", &prints[3]),
        ];
        browser.submit(page, &path, &fields)
    };
    let stored = || {
        let app = root.query("app.byId", &json!({ "id": id })).data();
        (
            app["name"].as_str().unwrap().to_owned(),
            app["description"].clone(),
        )
    };
    assert_eq!(save(&one, &first, "Cloud", "").path, "/apps?note=saved");
    // The other tab still has the old name, and changes only the description.
    assert_eq!(
        save(&other, &second, "nextcloud", "Files").path,
        "/apps?note=saved"
    );
    assert_eq!(stored(), ("Cloud".to_owned(), json!("Files")));
    // Both have changed the name.
    let refused = save(&other, &second, "Files", "Files");
    refused.assert_status(422);
    assert_eq!(
        refused.problem("name").as_deref(),
        Some("This was changed meanwhile, to: Cloud. Save again to replace it.")
    );
    assert_eq!(stored().0, "Cloud");
    assert_eq!(save(&other, &refused, "Files", "Files").path, "/apps?note=saved");
    assert_eq!(stored().0, "Files");
    // Of two changed fields the other tab edits one: saving again replaces only that one.
    let third = other.open(&path);
    let fresh = one.open(&path);
    assert_eq!(save(&one, &fresh, "A", "D").path, "/apps?note=saved");
    let refused = save(&other, &third, "B", "Files");
    refused.assert_status(422);
    assert_eq!(save(&other, &refused, "B", "Files").path, "/apps?note=saved");
    assert_eq!(stored(), ("B".to_owned(), json!("D")));
}

#[test]
fn a_new_app_begins_with_its_address_and_goes_on_without_an_answer() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/new");
    page.assert_shows("id=\"address\"")
        .assert_shows("/apps/catalogue");
    // A port that one service has, in a private network.
    let page = browser.open("/apps/new?href=192.168.1.2:8123&list=%2Fapps%3Fpage%3D3");
    page.assert_hides("id=\"address\"")
        .assert_shows("value=\"Home Assistant\"")
        .assert_shows("value=\"http://192.168.1.2:8123\"")
        .assert_shows("--icons-allow http://192.168.1.2:8123")
        .assert_shows("value=\"/apps?page=3\"");
    let fields = [
        ("name", "Home Assistant"),
        ("href", "http://192.168.1.2:8123"),
        ("iconUrl", ""),
        ("list", "/apps?page=3"),
    ];
    let page = browser.submit(&page, "/apps/new", &fields);
    assert_eq!(page.path, "/apps?page=3&note=created");
    let app = root
        .query("app.search", &json!({ "query": "home assistant" }))
        .data();
    assert_eq!(app[0]["href"], "http://192.168.1.2:8123");
    // The name of a host, and a text that is none.
    for (typed, name, link) in [
        ("jellyfin.invalid", "Jellyfin", "https://jellyfin.invalid"),
        ("two words", "", "two words"),
        (HOSTILE, "", HOSTILE),
    ] {
        let page = browser.open(&format!("/apps/new?href={}", portico_tests::escape(typed)));
        page.assert_status(200)
            .assert_shows(&format!("value=\"{}\"", escaped(link)))
            .assert_shows(&format!(
                "id=\"name\" name=\"name\" type=\"text\" value=\"{name}\""
            ))
            .assert_hides("<script>alert");
    }
    root.user("grace");
    Browser::of(&server, "grace")
        .open("/apps/new?href=nas")
        .assert_status(403);
}

#[test]
fn a_service_of_the_catalogue_is_added_with_one_click_and_a_link_if_its_host_is_known() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    for path in ["/welcome", "/apps/catalogue"] {
        let page = browser.open(path);
        page.assert_shows("value=\"jellyfin\"")
            .assert_shows("/icons/named/jellyfin");
    }
    let page = browser.open("/apps/catalogue");
    let page = browser.submit(
        &page,
        "/apps/catalogue",
        &[("host", "nas.lan:5000"), ("add", "jellyfin")],
    );
    assert_eq!(page.path, "/apps/catalogue?host=nas.lan#service-jellyfin");
    page.assert_hides("value=\"jellyfin\"")
        .assert_shows("value=\"nas.lan\"");
    let page = browser.submit(
        &page,
        "/apps/catalogue",
        &[("host", "nas.lan"), ("add", "mealie")],
    );
    let page = browser.submit(&page, "/apps/catalogue", &[("host", ""), ("add", "grafana")]);
    let apps = root.query("app.all", &Value::Null).data();
    let apps: Vec<_> = apps
        .as_array()
        .unwrap()
        .iter()
        .map(|app| (&app["name"], &app["href"]))
        .collect();
    assert_eq!(
        apps,
        [
            (&json!("Grafana"), &Value::Null),
            (&json!("Jellyfin"), &json!("http://nas.lan:8096")),
            (&json!("Mealie"), &Value::Null),
        ]
    );
    // Enter in the field adds nothing, and so does a service that is not in the catalogue.
    for fields in [
        [("host", "nas"), ("by-enter", "1")],
        [("host", "nas"), ("add", "x")],
    ] {
        browser
            .submit(&page, "/apps/catalogue", &fields)
            .assert_status(200);
    }
    let page = browser.submit(&page, "/apps/catalogue", &[("host", HOSTILE), ("add", "immich")]);
    page.assert_status(422)
        .assert_shows(&escaped(HOSTILE))
        .assert_hides("<script>alert");
    assert!(page.problem("host").is_some());
    assert_eq!(
        root.query("app.all", &Value::Null)
            .data()
            .as_array()
            .unwrap()
            .len(),
        3
    );
    root.user("grace");
    let grace = Browser::of(&server, "grace");
    grace.open("/apps/catalogue").assert_status(403);
    assert_eq!(grace.open("/welcome").path, "/");
    let token = grace.open("/profile").token();
    grace
        .send_own_form("/welcome", &token, &[("add", "immich")])
        .assert_status(403);
}
