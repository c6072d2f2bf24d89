//! The gate in front of apps. Which addresses are those of an app is tested in `host/service/src/gate/index.rs`, and what a
//! proxy may ask in `host/http/src/gate/question.rs`.

mod names;

use portico_tests::{
    Answer, Builder, Client, Fixtures, PASSWORD, Portico, Session, administrator, escape,
    postgresql::Postgresql, raw, wait_until,
};
use serde_json::{Value, json};

const HOST: &str = "portico.home.example";
const WIKI: &str = "https://wiki.home.example/page?x=1";
const BROWSER: (&str, &str) = ("accept", "text/html,*/*");

fn builder() -> Builder {
    builder_at("http://portico.home.example")
}

/// A host of this public URL.
fn builder_at(url: &str) -> Builder {
    Builder::default()
        .argument("--trusted-proxies=127.0.0.1")
        .argument(format!("--public-url={url}"))
        .argument("--gate-domain=home.example")
        .argument("--app-visibility=boards")
}

/// A host with a gate, and an administrator.
struct Host {
    server: Portico,
    root: Session,
}

impl Host {
    fn start() -> Self {
        let server = builder().start();
        let root = administrator(&server);
        Self { server, root }
    }

    /// An app at this link, on a board that is shared with these users.
    fn app(&self, name: &str, href: &str, users: &[&str]) -> String {
        let app = json!({"name": name, "iconUrl": "/icon.svg", "href": href});
        let app = self.root.make("app.create", &app, "appId");
        let board = self
            .root
            .board_of(name, false, &json!([{"kind": "app", "appId": app}]));
        self.share(&board, users);
        app
    }

    /// The board of an app, which has its name.
    fn board(&self, name: &str) -> String {
        let boards = self.root.query("board.getAll", &Value::Null).data();
        let mut boards = boards.as_array().expect("boards").iter();
        let board = boards.find(|board| board["name"] == name).expect("a board");
        board["id"].as_str().expect("an id").to_owned()
    }

    fn share(&self, board: &str, users: &[&str]) {
        let shares = json!({"boardId": board, "users": users, "groups": []});
        self.root.mutate("board.share", &shares).assert_done();
    }

    fn send(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut all = vec![("host", HOST)];
        all.extend(headers);
        raw::send(
            &self.server.address(),
            raw::with_headers("GET", path, &all, "").as_bytes(),
        )
    }

    /// Asks about this URL, as Traefik and Caddy do.
    fn verify(&self, url: &str, headers: &[(&str, &str)]) -> Answer {
        let (scheme, rest) = url.split_once("://").expect("a URL");
        let (host, path) = rest.split_once('/').expect("a path");
        let path = format!("/{path}");
        let mut all = vec![
            ("x-forwarded-method", "GET"),
            ("x-forwarded-proto", scheme),
            ("x-forwarded-host", host),
            ("x-forwarded-uri", &path),
        ];
        all.extend(headers);
        self.send("/api/auth/verify", &all)
    }

    /// Asks whether the bearer of this cookie may open the wiki.
    fn status(&self, cookie: &str) -> u16 {
        self.verify(WIKI, &[("cookie", cookie)]).status
    }

    /// Asks for a pass, to go on to this URL.
    fn ask_for_pass(&self, session: &Session, next: &str) -> Answer {
        let path = format!("/api/auth/gate?next={}", escape(next));
        self.send(&path, &[("cookie", &session.cookie)])
    }

    /// The cookie of a pass, `name=value`.
    fn pass(&self, session: &Session) -> String {
        let answer = self.ask_for_pass(session, WIKI);
        assert_eq!(answer.assert_status(200).json(), json!({"url": WIKI}));
        let mut cookies = answer.headers.iter().filter(|(name, _)| name == "set-cookie");
        let cookie = &cookies.next().expect("a pass").1;
        assert!(cookie.starts_with("portico_gate=portico_gate_"), "{cookie}");
        assert!(
            cookie.contains("; Domain=home.example; Path=/; ") && cookie.contains("; HttpOnly; SameSite=Lax")
        );
        cookie.split(';').next().expect("a pair").to_owned()
    }
}

#[test]
fn people_who_see_an_app_pass_until_the_right_the_session_or_the_user_is_gone() {
    let host = Host::start();
    let ada = host.root.user_with("Ada L, Esq", "board-create");
    let app = host.app("Wiki", "https://Wiki.home.example", &[&ada.id]);
    host.app("Vault", "https://vault.home.example/", &[]);
    let session = host.server.sign_in("Ada L, Esq", PASSWORD);
    let pass = host.pass(&session);
    assert_eq!(host.pass(&session), pass, "one session has one pass");

    let cookies = format!("theme=dark; {pass}; other=1");
    let answer = host.verify(WIKI, &[("cookie", &cookies), ("remote-user", "root")]);
    answer.assert_status(204);
    let header = |name: &str| answer.header(name).unwrap_or("missing").to_owned();
    assert_eq!(header("remote-user"), "ada%20l%2C%20esq");
    assert_eq!(header("remote-name"), "ada%20l%2C%20esq");
    assert_eq!(header("remote-email"), "");
    assert_eq!(header("remote-groups"), "Ada%20L%2C%20Esq-group");
    assert_eq!(header("cookie"), "theme=dark; other=1");

    // What is said of a body that the proxy does not send along changes nothing.
    let encoded = [("cookie", &*pass), ("content-encoding", "gzip")];
    host.verify(WIKI, &encoded).assert_status(204);

    // An app that they do not see, a host of no app, and an address that programs read differently.
    for url in [
        "https://vault.home.example/",
        "https://unknown.home.example/",
        "https://portico.home.example/",
    ] {
        let refused = host.verify(url, &[("cookie", &pass)]);
        refused.assert_refused(403, "FORBIDDEN");
        let page = host.verify(url, &[("cookie", &pass), BROWSER, ("accept-language", "de")]);
        page.assert_status(403);
        assert!(page.text().starts_with("<!doctype html>"), "{page}");
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("default-src 'none'; style-src http://portico.home.example;"),
            "{policy}"
        );
    }
    // The log names the address as it was read.
    host.server.wait_for_log(0, "https://unknown.home.example:443");
    let page = host
        .verify("https://vault.home.example/", &[("cookie", &pass), BROWSER])
        .text();
    assert!(page.contains("Ask an administrator"), "{page}");
    assert!(!page.contains("Vault"), "{page}");

    // A right that is lost, and comes back.
    let board = host.board("Wiki");
    host.share(&board, &[]);
    assert_eq!(host.status(&pass), 403);
    host.ask_for_pass(&session, WIKI).assert_refused(403, "FORBIDDEN");
    host.share(&board, &[&ada.id]);
    assert_eq!(host.status(&pass), 204);

    // A link that changes, and further addresses.
    let change = |href: &str| json!({"id": app, "name": "Wiki", "href": href});
    host.root
        .mutate("app.update", &change("https://moved.home.example"))
        .assert_status(200);
    assert_eq!(host.status(&pass), 403);
    let gate = json!({"addresses": [" HTTPS://wiki.home.example:443 "], "isOpen": false});
    host.root
        .put(&format!("/api/apps/{app}/gate"), &gate)
        .assert_status(200);
    assert_eq!(host.status(&pass), 204);
    let read = host.root.get(&format!("/api/apps/{app}/gate")).json();
    assert_eq!(read["addresses"], json!(["https://wiki.home.example/"]));
    host.root
        .put(
            &format!("/api/apps/{app}/gate"),
            &json!({"addresses": ["https://u@a.b/?x"], "isOpen": false}),
        )
        .assert_bad_field("addresses");

    // A new password ends the pass with the token of its session; so do the ends of a session.
    let change = json!({"userId": ada.id, "previousPassword": PASSWORD, "password": "another password"});
    let renewed = session.mutate("user.changePassword", &change);
    let session = session.renewed(&renewed).expect("another cookie");
    assert_eq!(host.status(&pass), 401);
    let pass = host.pass(&session);
    assert_eq!(host.status(&pass), 204);
    let out = session.post("/api/auth/sign-out", &json!({}));
    out.assert_status(200);
    let removed = out.headers.iter().filter(|(name, _)| name == "set-cookie");
    assert!(
        removed
            .into_iter()
            .any(|(_, cookie)| cookie.starts_with("portico_gate=; Domain=home.example; Path=/; Max-Age=0"))
    );
    assert_eq!(host.status(&pass), 401);
    for end in ["user.setDisabled", "user.delete"] {
        let session = host.server.sign_in("Ada L, Esq", "another password");
        let pass = host.pass(&session);
        assert_eq!(host.status(&pass), 204);
        let mut input = json!({"userId": ada.id});
        if end == "user.setDisabled" {
            input["disabled"] = true.into();
        }
        host.root.mutate(end, &input).assert_status(200);
        assert_eq!(host.status(&pass), 401, "{end}");
        if end == "user.setDisabled" {
            host.root
                .mutate(end, &json!({"userId": ada.id, "disabled": false}))
                .assert_status(200);
        }
    }
}

#[test]
fn a_person_is_led_to_sign_in_and_a_program_is_told() {
    let host = Host::start();
    let app = host.app("Wiki", "https://wiki.home.example/", &[]);
    let to_sign_in = format!("http://portico.home.example/gate?next={}", escape(WIKI));
    let person = host.verify(WIKI, &[BROWSER]);
    person.assert_status(302);
    assert_eq!(
        person.header("location").map(str::to_lowercase),
        Some(to_sign_in.to_lowercase())
    );
    let program = host.verify(WIKI, &[("accept", "application/json")]);
    program.assert_refused(401, "UNAUTHORIZED");
    assert_eq!(
        program.header("www-authenticate"),
        Some("Portico realm=\"home.example\"")
    );
    assert_eq!(program.header("location"), None);
    // nginx understands no redirect.
    let nginx = host.send("/api/auth/verify", &[("x-original-url", WIKI), BROWSER]);
    nginx.assert_refused(401, "UNAUTHORIZED");
    assert_eq!(nginx.header("location"), person.header("location"));
    // A very long address is shortened, and not cut.
    let long = format!(
        "https://wiki.home.example/{}?{}",
        "a/".repeat(300),
        "x".repeat(3000)
    );
    let location = host
        .verify(&long, &[BROWSER])
        .header("location")
        .unwrap()
        .to_owned();
    assert!(
        location
            .to_lowercase()
            .ends_with(&escape("https://wiki.home.example/").to_lowercase()),
        "{location}"
    );

    // For everyone only if the app says so and is on a public board.
    let open = json!({"id": app, "addresses": [], "isOpen": true});
    host.root.mutate("gate.update", &open).assert_done();
    host.verify(WIKI, &[]).assert_status(401);
    let board = host
        .root
        .board_of("Public", true, &json!([{"kind": "app", "appId": app}]));
    let everyone = host.verify(WIKI, &[("cookie", "a=b")]);
    everyone.assert_status(204);
    assert_eq!(
        (everyone.header("remote-user"), everyone.header("cookie")),
        (Some(""), Some("a=b"))
    );
    let grace = host.root.user("grace");
    let session = host.server.sign_in("grace", PASSWORD);
    let pass = host.pass(&session);
    assert_eq!(
        host.verify(WIKI, &[("cookie", &pass)]).header("remote-user"),
        Some(&*grace.name)
    );
    host.root
        .mutate(
            "gate.update",
            &json!({"id": app, "addresses": [], "isOpen": false}),
        )
        .assert_done();
    host.verify(WIKI, &[]).assert_status(401);
    host.root.mutate("gate.update", &open).assert_done();
    host.root
        .mutate("board.delete", &json!({"id": board}))
        .assert_status(200);
    host.verify(WIKI, &[]).assert_status(401);
}

#[test]
fn a_pass_opens_nothing_of_the_api_and_a_session_nothing_of_the_gate() {
    let host = Host::start();
    host.app("Wiki", "https://wiki.home.example/", &[]);
    let pass = host.pass(&host.root);
    let (_, text) = pass.split_once('=').expect("a pair");
    let bearer = format!("Bearer {text}");
    let as_session = format!("portico_session={text}");
    for credential in [
        ("authorization", &*bearer),
        ("apikey", text),
        ("cookie", &pass),
        ("cookie", &as_session),
    ] {
        host.send("/api/auth/session", &[credential])
            .assert_refused(401, "UNAUTHORIZED");
        host.send("/api/apps", &[credential])
            .assert_refused(401, "UNAUTHORIZED");
        host.send(&format!("/api/auth/gate?next={}", escape(WIKI)), &[credential])
            .assert_refused(401, "UNAUTHORIZED");
    }
    assert_eq!(host.status(&pass), 204);
    // The other way round: neither a session nor a key passes, and a program gets no pass.
    let token = format!("portico_gate={}", host.root.token);
    for credential in [
        ("cookie", &*host.root.cookie),
        ("cookie", &token),
        ("authorization", &*bearer),
    ] {
        assert_eq!(host.verify(WIKI, &[credential]).status, 401, "{credential:?}");
    }
    let bearer = format!("Bearer {}", host.root.token);
    host.send(
        &format!("/api/auth/gate?next={}", escape(WIKI)),
        &[("authorization", &bearer)],
    )
    .assert_refused(403, "FORBIDDEN");
}

#[test]
fn a_browser_goes_on_only_to_an_app_that_its_user_may_open() {
    let host = Host::start();
    let ada = host.root.user("ada");
    host.app("Wiki", "https://wiki.home.example/", &[&ada.id]);
    host.app("Vault", "https://vault.home.example/", &[]);
    host.app("Far", "https://wiki.example/", &[&ada.id]);
    let session = host.server.sign_in("ada", PASSWORD);
    for next in [
        "",
        "/",
        "//wiki.home.example/",
        "wiki.home.example/",
        "https://wiki.home.example",
        "http://wiki.home.example/",
        "https://vault.home.example/",
        "https://wiki.example/",
        "https://evil.example/",
        "https://wiki.home.example@evil.example/",
        "https://wiki.home.example:443@evil.example/",
        "https://evil.example\\@wiki.home.example/",
        "https://wiki.home.example\\.evil.example/",
        "https://wiki.home.example.evil.example/",
        "https://evil.example/#https://wiki.home.example/",
        "https://wiki.home.example%2f.evil.example/",
        "https://wiki.home.example#@evil.example/",
        "https:wiki.home.example/",
        "\thttps://evil.example/",
        "javascript://wiki.home.example/%0aalert(1)",
        "data:text/html,x",
    ] {
        let answer = host.ask_for_pass(&session, next);
        answer.assert_refused(403, "FORBIDDEN");
        assert_eq!(answer.header("set-cookie"), None, "{next}");
    }
    let twice = format!("/api/auth/gate?next={0}&next={0}", escape(WIKI));
    host.send(&twice, &[("cookie", &session.cookie)])
        .assert_refused(403, "FORBIDDEN");
    host.pass(&session);
    // A browser that does not keep its pass is not redirected without end.
    let path = format!("/api/auth/gate?next={}", escape(WIKI));
    let come = |tries: &str| {
        host.send(
            &path,
            &[(
                "cookie",
                &format!("{}; portico_gate_tries={tries}", session.cookie),
            )],
        )
    };
    let again = come("8");
    let counted = again.headers.iter().any(|(name, cookie)| {
        name == "set-cookie" && cookie.starts_with("portico_gate_tries=9; Path=/gate;")
    });
    assert!(counted, "{again}");
    come("10").assert_refused(403, "FORBIDDEN");
    // The pass of another account, or a broken one, from another host of the domain does not hide this one.
    let pass = host.pass(&session);
    let both = format!("portico_gate=x; portico_gate=portico_gate_y; {pass}");
    assert_eq!(host.status(&both), 204);
}

#[test]
fn behind_tls_no_other_host_of_the_domain_says_how_often_a_browser_came() {
    let server = builder_at("https://portico.home.example").start();
    let root = administrator(&server);
    let host = Host { server, root };
    host.app("Wiki", "https://wiki.home.example/", &[]);
    let path = format!("/api/auth/gate?next={}", escape(WIKI));
    let come = |tries: &str| {
        let cookies = format!("{}; {tries}", host.root.cookie);
        host.send(&path, &[("cookie", &cookies)])
    };
    let given = come("portico_gate_tries=99");
    given.assert_status(200);
    let counted = "__Host-portico_gate_tries=1; Path=/; Max-Age=10; HttpOnly; SameSite=Lax; Secure";
    let mut cookies = given.headers.iter().filter(|(name, _)| name == "set-cookie");
    assert!(cookies.any(|(_, cookie)| cookie == counted), "{given}");
    come("__Host-portico_gate_tries=10").assert_refused(403, "FORBIDDEN");
}

#[test]
fn only_a_trusted_proxy_is_answered_and_only_where_there_is_a_gate() {
    for (arguments, status, code) in [
        (
            &["--trusted-proxies=10.9.9.9", "--gate-domain=home.example"][..],
            403,
            "FORBIDDEN",
        ),
        (&["--trusted-proxies=127.0.0.1"], 404, "NOT_FOUND"),
        // Unsafe settings turn it off: every client could say that it is the proxy, or no browser would take the cookie.
        (
            &["--trusted-proxies=0.0.0.0/0", "--gate-domain=home.example"],
            404,
            "NOT_FOUND",
        ),
        (
            &["--trusted-proxies=127.0.0.1", "--gate-domain=other.example"],
            404,
            "NOT_FOUND",
        ),
    ] {
        let builder = arguments.iter().fold(Builder::default(), |builder, argument| {
            builder.argument(*argument)
        });
        let server = builder
            .argument("--public-url=http://portico.home.example")
            .start();
        let root = administrator(&server);
        let host = Host { server, root };
        for headers in [&[][..], &[("x-forwarded-for", "10.9.9.9")]] {
            host.verify(WIKI, headers).assert_refused(status, code);
        }
    }
    // A question that contradicts itself.
    let host = Host::start();
    host.app("Wiki", "https://wiki.home.example/", &[]);
    let pass = host.pass(&host.root);
    for smuggled in [
        ("x-forwarded-host", "wiki.home.example"),
        ("x-forwarded-uri", "/"),
        ("x-forwarded-proto", "https"),
        ("x-original-url", "https://other.home.example/"),
    ] {
        host.verify(WIKI, &[("cookie", &pass), smuggled])
            .assert_refused(403, "FORBIDDEN");
    }
    assert_eq!(host.status(&pass), 204);
}

#[test]
fn a_visit_has_a_row_once_an_hour_and_is_counted() {
    let host = Host::start();
    let ada = host.root.user("ada");
    let app = host.app("Wiki", "https://wiki.home.example/", &[&ada.id]);
    let pass = host.pass(&host.server.sign_in("ada", PASSWORD));
    host.app("Vault", "https://vault.home.example/", &[]);
    for _ in 0..3 {
        let answer = host.verify(WIKI, &[("cookie", &pass), ("x-forwarded-for", "192.0.2.7")]);
        answer.assert_status(204);
        host.verify("https://vault.home.example/", &[("cookie", &pass)])
            .assert_status(403);
    }
    let rows = || {
        let filter = json!({"page": 1, "pageSize": 10, "procedure": "gate"});
        host.root.query("audit.getPaginated", &filter).data()["items"].clone()
    };
    wait_until("the rows are written", || {
        rows().as_array().map(Vec::len) == Some(2)
    });
    let rows = rows();
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["outcome"] == "OK")
        .expect("a visit");
    assert_eq!((&row["actorId"], &row["target"]), (&json!(ada.id), &json!(app)));
    assert_eq!(
        (&row["authentication"], &row["address"]),
        (&json!("session"), &json!("192.0.2.7"))
    );
    assert_eq!(row["times"], 1);
    assert!(
        rows.as_array()
            .unwrap()
            .iter()
            .any(|row| row["outcome"] == "FORBIDDEN")
    );
}

#[test]
#[ignore = "make test-all"]
fn what_changes_at_one_host_on_postgresql_counts_at_another_with_the_next_request() {
    let postgresql = Postgresql::shared();
    let url = postgresql.create_database("home");
    let start = || builder().environment("PORTICO_DATABASE", &url).start();
    let server = start();
    let here = Host {
        root: administrator(&server),
        server,
    };
    let server = start();
    let there = Host {
        root: server.sign_in("root", PASSWORD),
        server,
    };
    let ada = here.root.user("ada");
    let app = here.app("Wiki", "https://wiki.home.example/", &[&ada.id]);
    let board = here.board("Wiki");
    let session = here.server.sign_in("ada", PASSWORD);
    let pass = here.pass(&session);
    // The other one has the addresses in memory from here on.
    assert_eq!(there.status(&pass), 204);
    here.share(&board, &[]);
    assert_eq!(there.status(&pass), 403);
    here.share(&board, &[&ada.id]);
    assert_eq!(there.status(&pass), 204);
    let change = json!({"userId": ada.id, "previousPassword": PASSWORD, "password": "another password"});
    let renewed = session.mutate("user.changePassword", &change);
    assert_eq!(there.status(&pass), 401, "the session has another token");
    let session = session.renewed(&renewed).expect("another cookie");
    let pass = here.pass(&session);
    assert_eq!(there.status(&pass), 204);
    session.post("/api/auth/sign-out", &json!({})).assert_status(200);
    assert_eq!(there.status(&pass), 401);
    let session = there.server.sign_in("ada", "another password");
    let pass = there.pass(&session);
    assert_eq!(here.status(&pass), 204);
    let disable = json!({"userId": ada.id, "disabled": true});
    here.root.mutate("user.setDisabled", &disable).assert_status(200);
    assert_eq!(there.status(&pass), 401);
    // Of addresses the other host hears within a second; the one that changes them knows at once. An app that is gone opens nothing.
    let pass = there.pass(&there.root);
    for (href, status) in [
        ("https://moved.home.example/", 403),
        ("https://wiki.home.example/", 204),
    ] {
        let change = json!({"id": app, "name": "Wiki", "href": href});
        here.root.mutate("app.update", &change).assert_status(200);
        assert_eq!(here.status(&pass), status);
        wait_until("the other host follows", || there.status(&pass) == status);
    }
    here.root
        .mutate("app.delete", &json!({"id": app}))
        .assert_status(200);
    assert_eq!(there.status(&pass), 403);
}
