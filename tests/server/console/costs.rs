//! What a form and a page may cost: bounds, and where long ones are read and written.

use std::{collections::BTreeMap, time::Duration};

use portico_tests::{Client, Fixtures, Portico, administrator, raw};
use serde_json::{Value, json};

use super::Browser;
use crate::hostile_clients::growth;

const KIB: usize = 1 << 10;

/// The name of the threads that serve no requests.
const SECOND: &str = "portico-second";

/// The processor time of the threads of this name, and that of all others.
fn times_of(server: &Portico, name: &str) -> [Duration; 2] {
    let threads = format!("/proc/{}/task", server.process_id());
    let mut times = [Duration::ZERO; 2];
    for thread in std::fs::read_dir(threads).expect("the threads").flatten() {
        // It may end at any time.
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let Some((start, fields)) = stat.rsplit_once(')') else {
            continue;
        };
        let is_named = start.ends_with(&format!("({name}"));
        // Fields 14 and 15 of proc(5), in ticks of 10 ms.
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(|ticks| ticks.parse::<u64>().expect("a number"));
        times[usize::from(!is_named)] += Duration::from_millis(10 * ticks.sum::<u64>());
    }
    times
}

/// Asserts that work is done on the second runtime: it takes more processor time there than elsewhere.
#[track_caller]
fn assert_on_second(server: &Portico, what: &str, mut work: impl FnMut()) {
    let before = times_of(server, SECOND);
    let spent = || {
        let now = times_of(server, SECOND);
        [now[0] - before[0], now[1] - before[1]]
    };
    // Some of it, so that ticks of 10 ms measure it.
    for _ in 0..200 {
        work();
        if spent()[0] > Duration::from_millis(500) {
            break;
        }
    }
    let [second, others] = spent();
    println!("{what}: {second:?} there, {others:?} elsewhere");
    assert!(second > others, "{what}: {second:?} there, {others:?} elsewhere");
}

#[test]
fn each_form_has_a_bound_from_which_on_nothing_of_it_is_read() {
    let server = Portico::start();
    let root = administrator(&server);
    let board = root.board_of("kitchen", false, &json!([]));
    let board = format!("/boards/{board}/edit");
    let bounds = BTreeMap::from([
        ("/sign-in", 64),
        ("/register", 64),
        ("/users/new", 64),
        ("/profile/password", 64),
        ("/apps/new", 1536),
        ("/engines/new", 1536),
        ("/profile", 384),
        ("/status", 256),
        ("/manage/looks", 2176),
        (&*board, 2_816),
        ("/apps/many", 8 * KIB),
        ("/state", 16 * KIB),
    ]);
    for (path, bound) in bounds {
        let refused = |kind: (&str, &str), sent: &str| {
            let headers = [
                ("content-type", "application/x-www-form-urlencoded"),
                ("cookie", &*root.cookie),
                kind,
            ];
            let request = raw::head("POST", path, &headers) + sent;
            let answer = raw::send(&server.address(), request.as_bytes());
            assert_eq!(answer.status, 413, "{path}: {answer}");
            let text = format!("The form is larger than {bound} KiB");
            assert!(answer.text().contains(&text), "{path}: {answer}");
        };
        let bytes = bound * KIB + 1;
        // Without any of it, it could not be refused later.
        refused(("content-length", &bytes.to_string()), "");
        let chunk = format!("{bytes:x}\r\n{}", "x".repeat(bytes));
        refused(("transfer-encoding", "chunked"), &chunk);
    }
}

#[test]
fn a_value_over_the_bound_of_its_field_is_not_shown_again() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let long = "<".repeat(10_000);
    let fits = "<".repeat(60);
    let page = browser.open("/profile");
    let fields = [("section", "person"), ("name", &long), ("email", "a@b.example")];
    let refused = browser.submit(&page, "/profile", &fields);
    refused.assert_status(422).assert_shows("a@b.example");
    assert!(refused.problem("name").is_some(), "{}", refused.html);
    assert!(refused.html.len() < page.html.len() + 5_000, "{}", refused.html);

    let page = browser.open("/apps/new");
    let description = "<".repeat(513);
    let icon = format!("data:image/png;base64,{}", "A".repeat(70_000));
    let href = "x".repeat(9_000);
    let fields = [
        ("name", &fits[..]),
        ("description", &description),
        ("href", &href),
        ("iconUrl", &icon),
        ("pingUrl", "ftp://nas"),
    ];
    let refused = browser.submit(&page, "/apps/new", &fields);
    refused.assert_status(422);
    refused
        .assert_shows(&super::escaped(&fits))
        .assert_shows("ftp://nas");
    for field in ["description", "href", "iconUrl", "pingUrl"] {
        assert!(refused.problem(field).is_some(), "{field}: {}", refused.html);
    }
    assert!(refused.html.len() < page.html.len() + 5_000, "{}", refused.html);

    // Nor what a link of another site puts into a page.
    let page = browser.open(&format!("/apps?q={}", "x".repeat(20_000)));
    page.assert_status(200).assert_hides("xxx");
}

#[test]
fn a_list_of_too_many_apps_is_refused_without_reading_it() {
    let server = Portico::start();
    administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/many");
    for (list, problem) in [
        ("a\n".repeat(400_000), "this list has 400000"),
        (
            "a|".repeat(400_000),
            "Line 1</span><p class=\"problem\">too many columns",
        ),
        // White space and quotation marks, which were looked at again and again.
        (format!(",{}", "\" ".repeat(300_000)), "The list is empty"),
    ] {
        let (refused, grown) = growth(&server, || {
            browser.submit(&page, "/apps/many", &[("list", &list)])
        });
        refused.assert_status(422);
        let shown: String = refused.html.chars().take(8_000).collect();
        assert!(shown.contains(problem), "{problem}: {shown}");
        assert!(grown < 32, "it took {grown} MiB");
    }
}

#[test]
fn bookmarks_are_a_file_of_which_the_icons_are_not_kept() {
    let server = Portico::start();
    let root = administrator(&server);
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/many");
    let icon = "A".repeat(7_000);
    let links = (0..1_000).map(|number| {
        format!("<DT><A HREF=\"https://{number}.example\" ICON=\"data:image/png;base64,{icon}\">App {number}</A>\n")
    });
    let head = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n".to_owned();
    let file = links.fold(head, |file, link| file + &link);
    let (looked, grown) = growth(&server, || {
        let fields = [("list", "what is pasted does not count")];
        browser.upload(&page, "/apps/many", &fields, ("file", file.as_bytes()))
    });
    looked
        .assert_status(200)
        .assert_shows("1000 apps")
        .assert_shows("https://999.example")
        .assert_hides("data:image")
        .assert_hides("does not count");
    assert!(grown < 64, "it took {grown} MiB");
    assert_eq!(root.app_names().len(), 0);
    let pasted = [("list", "what is pasted stays")];
    let refused = browser.upload(&page, "/apps/many", &pasted, ("file", b"Caf\xe9;http://a"));
    refused
        .assert_status(422)
        .assert_shows("The file is not text in UTF-8: save it as UTF-8")
        .assert_shows("what is pasted stays");
}

#[test]
fn long_forms_and_pages_are_read_and_written_on_the_second_runtime() {
    let server = Portico::start();
    let root = administrator(&server);
    let app = json!({
        "name": "<".repeat(60), "iconUrl": "/i.svg", "href": format!("https://a.example/{}", "&".repeat(3_000)),
    });
    let apps = root.output_of("app.createMany", &json!(vec![app; 200]));
    let apps = apps.as_array().expect("apps").iter();
    let items: Vec<Value> = apps
        .map(|app| json!({"kind": "app", "appId": app["id"]}))
        .collect();
    let board = root.board_of("public", true, &json!(items));
    let stranger = server.anonymous();
    for coding in ["identity", "gzip"] {
        assert_on_second(&server, "a board", || {
            let headers = [("accept-encoding", coding)];
            let page = stranger.send("GET", &format!("/boards/{board}"), &headers, None);
            page.assert_status(200);
        });
    }
    let browser = Browser::of(&server, "root");
    let page = browser.open("/apps/many");
    let list = "a|<".repeat(200_000);
    assert_on_second(&server, "a list of apps", || {
        browser
            .submit(&page, "/apps/many", &[("list", &list)])
            .assert_status(422);
    });
    let input = json!(vec![json!({"name": "x".repeat(60)}); 30_000]).to_string();
    assert_on_second(&server, "an input", || {
        let answer = root.send_text("POST", "/api/trpc/app.createMany", &input);
        answer.assert_refused(400, "BAD_REQUEST");
    });
    let document = format!("{{\"apps\": [{}", "[".repeat(3_000_000));
    let page = browser.open("/state");
    assert_on_second(&server, "a document", || {
        browser
            .submit(&page, "/state", &[("document", &document)])
            .assert_status(422);
    });
}
