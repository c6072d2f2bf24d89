//! The page that shows the document to people.

use std::process::Command;

use portico_tests::{Client, Fixtures, PASSWORD, Portico, administrator, node};

#[test]
fn the_page_and_its_parts_may_only_do_what_a_page_of_ours_needs() {
    let server = Portico::start();
    let anonymous = server.anonymous();
    for (path, content_type) in [
        ("/api/docs", "text/html; charset=utf-8"),
        ("/api/docs/start.js", "text/javascript; charset=utf-8"),
        ("/api/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
        ("/api/docs/swagger-ui.css", "text/css; charset=utf-8"),
    ] {
        let answer = anonymous.get(path);
        answer.assert_status(200);
        assert_eq!(answer.header("content-type"), Some(content_type), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        let policy: Vec<_> = answer
            .header("content-security-policy")
            .unwrap_or_default()
            .split("; ")
            .collect();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(&rule), "{path}: {policy:?}");
        }
        assert!(
            !policy.iter().any(|rule| rule.contains("unsafe")),
            "{path}: {policy:?}"
        );
    }
    let policy = anonymous
        .get("/api/openapi")
        .header("content-security-policy")
        .map(str::to_owned);
    assert_eq!(
        policy.as_deref(),
        Some("default-src 'none'; frame-ancestors 'none'")
    );
}

#[test]
fn the_page_names_nothing_that_is_elsewhere_and_holds_no_script_of_its_own() {
    let server = Portico::start();
    for path in ["/api/docs", "/api/docs/start.js"] {
        let text = server.anonymous().get(path).text();
        assert!(!text.contains("://") && !text.contains("=\"/"), "{path}: {text}");
    }
    let page = server.anonymous().get("/api/docs").text();
    let scripts = page.matches("<script").count();
    assert_eq!(
        (scripts, page.matches("<script src=\"docs/").count()),
        (2, 2),
        "{page}"
    );
    assert_eq!(page.matches("></script>").count(), scripts, "{page}");
    assert!(
        !page.contains("style=") && !page.contains("<style") && !page.contains(" on"),
        "{page}"
    );
}

#[test]
fn paths_beside_the_page_are_not_found() {
    let server = Portico::start();
    let anonymous = server.anonymous();
    for path in [
        "/api/docs/",
        "/api/docs/x",
        "/api/docs/..%2fopenapi",
        "/api/docs/README.md",
    ] {
        assert_eq!(anonymous.get(path).status, 404, "{path}");
    }
    for path in ["/api/docs", "/api/docs/start.js", "/api/openapi"] {
        let answer = anonymous.send("POST", path, &[], None);
        assert_eq!(answer.assert_status(405).header("allow"), Some("GET,HEAD"));
        let head = anonymous.send("HEAD", path, &[], None);
        assert!(head.assert_status(200).body.is_empty());
    }
}

#[test]
#[ignore = "make test-all"]
fn a_browser_shows_the_page_and_tries_operations_out() {
    let folder = node::client("console");
    let server = Portico::start();
    let administrator = administrator(&server);
    let key = administrator.key_of(&administrator.user_id);
    let done = node::succeed(
        Command::new("node")
            .args(["--test", "--test-reporter=spec", "docs.test.mjs"])
            .current_dir(folder)
            .env("PORTICO_URL", format!("http://{}", server.address()))
            .env("PORTICO_KEY", &key.key)
            .env("PORTICO_PASSWORD", PASSWORD)
            .env("CHROMIUM", node::chromium()),
    );
    println!("{done}");
}
