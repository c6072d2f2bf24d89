//! The page on which a board is changed, over an API that fails: no edit is lost.

use axum::{
    Json, Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, Uri, header},
    routing::{get, post},
};
use portico::console::{self, ConsoleSettings};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// An API with one board of two apps, of which the storage has gone away since the page was opened.
fn failing() -> Router {
    let user = json!({"user": {
        "id": "u", "name": "Ada", "image": null, "colorScheme": "auto", "provider": "credentials",
        "permissions": ["admin"],
    }});
    // Calls carry the path parameters of the page, so procedures are read from the path itself.
    let query = async |uri: Uri| {
        let data = match uri.path().trim_start_matches("/api/trpc/") {
            "board.getRight" => json!({"right": "full"}),
            "board.byId" => json!({
                "id": "b", "name": "Home", "slug": null, "isPublic": false, "creatorId": "u", "items": [],
                "sections": [{"name": null, "collapsed": false, "items": [
                    {"kind": "app", "appId": "one", "size": "1x1"}, {"kind": "app", "appId": "two", "size": "2x2"},
                ]}],
            }),
            _ => return unavailable(),
        };
        (StatusCode::OK, Json(json!({"result": {"data": data}})))
    };
    Router::new()
        .route("/api/auth/session", get(async move || Json(user)))
        .route(
            "/api/trpc/{procedure}",
            get(query).merge(post(async || unavailable())),
        )
}

fn unavailable() -> (StatusCode, Json<Value>) {
    let data = json!({"code": "SERVICE_UNAVAILABLE", "httpStatus": 503});
    let error = json!({"message": "Storage is not available", "code": -32603, "data": data});
    (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"error": error})))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_not_emptied_because_its_apps_cannot_be_looked_up_and_nothing_can_be_saved() {
    let router = console::pages(failing(), ConsoleSettings::default());
    let ask = async |request: Request<Body>| {
        let answer = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        (parts, String::from_utf8(body.to_vec()).unwrap())
    };
    let page = Request::get("/boards/b/edit").body(Body::empty()).unwrap();
    let (parts, page) = ask(page).await;
    assert_eq!(parts.status, StatusCode::OK, "{page}");
    let items = ["section 0", "app 1 1x1 one", "app 2 2x2 two"];
    let assert_holds = |page: &str| {
        for item in items {
            assert!(
                page.contains(&format!("name=\"item\" value=\"{item}\"")),
                "{page}"
            );
        }
    };
    assert_holds(&page);
    let value = |name: &str| {
        let field = format!("name=\"{name}\" value=\"");
        page.split(&field).nth(1).unwrap().split('"').next().unwrap()
    };
    let mut form = form_fields(&[
        ("form-token", value("form-token")),
        ("read", value("read")),
        ("name", "Typed"),
        ("slug", "typed"),
    ]);
    for item in items {
        form.push_str(&form_fields(&[("item", item)]));
    }
    form.push_str(&form_fields(&[
        ("item", "note 3 2x2"),
        ("text-3", "Do not lose this"),
    ]));
    let cookie = parts.headers[header::SET_COOKIE].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    for step in ["save", "size 9"] {
        let request = Request::post("/boards/b/edit")
            .header(header::COOKIE, cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin")
            .body(Body::from(form.clone() + &form_fields(&[("do", step)])));
        let (parts, page) = ask(request.unwrap()).await;
        let expected = match step {
            "save" => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::OK,
        };
        assert_eq!(parts.status, expected, "{page}");
        assert_holds(&page);
        for kept in ["value=\"Typed\"", "value=\"typed\"", "Do not lose this"] {
            assert!(page.contains(kept), "{kept} is not in {page}");
        }
    }
}

fn form_fields(fields: &[(&str, &str)]) -> String {
    let field = |(name, value): &(&str, &str)| format!("{name}={}&", value.replace(' ', "+"));
    fields.iter().map(field).collect()
}
