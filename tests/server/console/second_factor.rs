//! The second factor without JavaScript: in the profile, at the sign-in, and where it must be set up first.

use portico_model::time::{Clock as _, SystemClock};
use portico_tests::second_factor::{code_at, wrong_code};
use portico_tests::{Builder, Client, Fixtures, PASSWORD, Portico, administrator};
use serde_json::json;

use super::{Browser, page::Page};

const LOGIN: [(&str, &str); 2] = [("username", "bob"), ("password", PASSWORD)];

/// The value of a hidden field.
#[track_caller]
fn hidden(page: &Page, name: &str) -> String {
    let marker = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .html
        .split_once(&marker)
        .unwrap_or_else(|| panic!("no {name}: {}", page.html));
    rest.split('"').next().expect("a value").replace("&#38;", "&")
}

/// The recovery codes that a page shows.
fn codes(page: &Page) -> Vec<String> {
    let list = page.html.split("<ul class=\"codes\">").nth(1).unwrap_or_default();
    let list = list.split("</ul>").next().unwrap_or_default();
    let codes = list.split("<code>").skip(1);
    codes
        .map(|code| code.split('<').next().expect("a code").to_owned())
        .collect()
}

/// The code of this moment, and of the next step.
fn code(secret: &str, steps: u64) -> String {
    code_at(secret, SystemClock.now() + steps * 30_000)
}

#[test]
fn people_set_it_up_sign_in_with_it_and_remove_it() {
    let server = Portico::start();
    let root = administrator(&server);
    root.user("bob");
    let browser = Browser::of(&server, "bob");
    browser
        .open("/profile")
        .assert_shows("href=\"/profile/second-factor\"");
    browser
        .open("/profile/second-factor")
        .assert_shows("href=\"/profile/second-factor/new\"");
    let page = browser.open("/profile/second-factor/new");
    page.assert_shows("<svg class=\"qr\"");
    let (secret, uri) = (hidden(&page, "secret"), hidden(&page, "uri"));
    let grouped: Vec<_> = secret.as_bytes().chunks(4).map(String::from_utf8_lossy).collect();
    page.assert_shows(&grouped.join(" "));
    let add = |page: &Page, code: &str| {
        let fields = [("secret", &*secret), ("uri", &*uri), ("code", code)];
        browser.submit(page, "/profile/second-factor/add", &fields)
    };
    let page = add(&page, &wrong_code(&secret, SystemClock.now()));
    assert!(page.problem("code").is_some(), "{}", page.html);
    // The same secret again, so that the app need not scan another.
    assert_eq!(hidden(page.assert_status(422), "secret"), secret);
    page.assert_shows("<svg class=\"qr\"");
    let page = add(&page, &code(&secret, 0));
    page.assert_status(200);
    let recovery = codes(&page);
    assert_eq!(recovery.len(), 10, "{}", page.html);
    let page = browser.open("/profile/second-factor");
    page.assert_shows("Authenticator app")
        .assert_hides(&recovery[0])
        .assert_hides(&secret);

    // Signing in takes two steps now, and leads to the page that was asked for.
    let other = Browser::new(&server);
    let first = other.open("/sign-in?next=/boards");
    let fields = [LOGIN[0], LOGIN[1], ("next", "/boards")];
    let step = other.submit(&first, "/sign-in", &fields);
    step.assert_status(200).assert_hides(PASSWORD);
    let send = |page: &Page, code: &str| {
        let (ticket, kinds, next) = (
            hidden(page, "ticket"),
            hidden(page, "kinds"),
            hidden(page, "next"),
        );
        let fields = [
            ("ticket", &*ticket),
            ("kinds", &*kinds),
            ("next", &*next),
            ("code", code),
        ];
        other.submit(page, "/sign-in/code", &fields)
    };
    other.open("/profile").assert_shows("action=\"/sign-in\"");
    let step = send(&step, &wrong_code(&secret, SystemClock.now()));
    assert_eq!(
        step.problem("code").as_deref(),
        Some("The code is wrong, or was used before")
    );
    // The throttle makes even the right code wait a moment after a wrong one.
    let mut done = send(&step, &recovery[0]);
    while done.answer.status == 429 {
        done = send(&done, &recovery[0]);
    }
    assert_eq!(done.path, "/boards", "{}", done.html);

    // New recovery codes and removing both need a code.
    let page = browser.open("/profile/second-factor");
    page.assert_shows("9 recovery codes are left.");
    let renew = |page: &Page, code: &str| {
        browser.submit(page, "/profile/second-factor/recovery-codes", &[("code", code)])
    };
    let page = renew(&page, &recovery[1]);
    let renewed = codes(&page);
    assert_eq!(renewed.len(), 10, "{}", page.html);
    let links = page.html.split("href=\"/profile/second-factor/").skip(1);
    let mut links = links.map(|rest| rest.split('"').next().unwrap_or_default());
    let delete = links.find(|path| path.ends_with("/delete")).expect("a link");
    let delete = format!("/profile/second-factor/{delete}");
    let page = browser.open(&delete);
    let page = browser.submit(&page, &delete, &[("code", &recovery[2])]);
    assert!(page.problem("code").is_some(), "an earlier one: {}", page.html);
    let mut page = browser.submit(&page, &delete, &[("code", &renewed[0])]);
    while page.answer.status == 429 {
        page = browser.submit(&page, &delete, &[("code", &renewed[0])]);
    }
    assert_eq!(
        page.path, "/profile/second-factor?note=second-factor-removed",
        "{}",
        page.html
    );
    Browser::of(&server, "bob");
}

#[test]
fn people_who_must_have_one_are_led_through_and_an_administrator_takes_it_away() {
    let server = Builder::default()
        .argument("--second-factor=everyone")
        .argument("--sign-in-throttle=off")
        .start();
    // The first start leads there, too, and the first session begins with it.
    let browser = Browser::new(&server);
    let start = browser.open("/start");
    let account = [
        ("username", "root"),
        ("password", PASSWORD),
        ("email", "root@example.com"),
        ("appVisibility", "boards"),
    ];
    let step = browser.submit(&start, "/start", &account);
    step.assert_shows("Set up a second factor now");
    let confirm = |browser: &Browser, page: &Page, code: &str| {
        let [ticket, secret, uri, next] = ["ticket", "secret", "uri", "next"].map(|name| hidden(page, name));
        let fields = [
            ("ticket", &*ticket),
            ("secret", &*secret),
            ("uri", &*uri),
            ("next", &*next),
            ("code", code),
        ];
        browser.submit(page, "/sign-in/set-up", &fields)
    };
    // No page of those who are signed in opens before that.
    let elsewhere = browser.open("/profile");
    assert!(elsewhere.path.starts_with("/sign-in"), "{}", elsewhere.path);
    let secret = hidden(&step, "secret");
    let step = confirm(&browser, &step, &wrong_code(&secret, SystemClock.now()));
    assert_eq!(hidden(&step, "secret"), secret);
    let done = confirm(&browser, &step, &code(&secret, 0));
    assert_eq!(codes(&done).len(), 10, "{}", done.html);
    // Without a session the choice was not stored, and the next page says so.
    let next = "/welcome?note=visibility-not-stored";
    done.assert_shows(&format!("href=\"{next}\""));
    browser.open(next).assert_shows("your choice could not be stored");
    browser.open("/profile").assert_status(200).assert_shows("root");

    // A user who has lost theirs.
    let token = server.anonymous();
    let answer = token.post(
        "/api/auth/sign-in",
        &json!({"username": "root", "password": PASSWORD, "code": code(&secret, 1)}),
    );
    let root = server.key(answer.json()["token"].as_str().expect("a token"));
    let bob = root.user("bob").id;
    let other = Browser::new(&server).in_german();
    let step = other.submit(&other.open("/sign-in"), "/sign-in", &LOGIN);
    step.assert_shows("Jetzt einen zweiten Faktor einrichten");
    let of_bob = hidden(&step, "secret");
    let done = confirm(&other, &step, &code(&of_bob, 0));
    done.assert_shows("Ihre Wiederherstellungscodes");
    let page = browser.open(&format!("/users/{bob}"));
    page.assert_shows("Remove the second factor");
    let page = browser.submit(&page, &format!("/users/{bob}"), &[("section", "second-factor")]);
    assert!(page.path.ends_with("?note=saved"), "{}", page.html);
    browser
        .open(&format!("/users/{bob}"))
        .assert_shows("This user has none.");
    let page = other.open("/profile");
    assert!(
        page.path.starts_with("/sign-in"),
        "their session has ended: {}",
        page.path
    );

    // A new password leaves them, unless the administrator says otherwise.
    let step = other.submit(&other.open("/sign-in"), "/sign-in", &LOGIN);
    let of_bob = hidden(&step, "secret");
    confirm(&other, &step, &code(&of_bob, 0)).assert_status(200);
    let address = format!("/users/{bob}");
    let set = |more: &[(&str, &str)]| {
        let page = browser.open(&address);
        page.assert_shows("a passkey alone signs in");
        let fields = [
            &[("section", "password"), ("password", "another horse")][..],
            more,
        ]
        .concat();
        let page = browser.submit(&page, &address, &fields);
        assert!(page.path.ends_with("?note=saved"), "{}", page.html);
        browser.open(&address)
    };
    set(&[]).assert_shows("Remove the second factor");
    set(&[("removeFactors", "yes")])
        .assert_shows("This user has none.")
        .assert_hides("name=\"removeFactors\"");
}
