//! Until there is a user, a page of another site cannot make a browser create the administrator.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use axum::{body::Body, extract::ConnectInfo, http::Request};
use portico_model::Provider;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Result, Storage, Transaction,
    memory::MemoryStorage,
};
use portico_tests::{Answer, Builder, PASSWORD, Portico, TestService, raw, router};
use serde_json::json;
use tower::ServiceExt;

use super::harness::{user, write};

/// Sends a request of the first user's with these headers and no others.
#[track_caller]
fn become_administrator(server: &Portico, headers: &[(&str, &str)]) -> Answer {
    let body = json!({"username": "root", "password": PASSWORD}).to_string();
    ask(server, "POST", "/api/trpc/user.initUser", headers, &body)
}

#[track_caller]
fn ask(server: &Portico, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers = [headers, &[("content-type", "application/json")]].concat();
    let request = raw::with_headers(method, path, &headers, body);
    raw::send(&server.address(), request.as_bytes())
}

/// A name of another site that leads here; a page of another site that asks for this address.
const FOREIGN: [&[(&str, &str)]; 10] = [
    &[("host", "evil.example"), ("origin", "http://evil.example")],
    &[
        ("host", "evil.example:7575"),
        ("origin", "http://evil.example:7575"),
        ("sec-fetch-site", "same-origin"),
    ],
    &[("host", "portico.lan"), ("sec-fetch-site", "none")],
    &[("host", "evil.example"), ("sec-fetch-mode", "cors")],
    &[
        ("host", "localhost.evil.example"),
        ("origin", "http://localhost.evil.example"),
    ],
    &[("host", "127.0.0.1:7575"), ("origin", "http://evil.example")],
    &[("host", "127.0.0.1:7575"), ("origin", "null")],
    &[("host", "127.0.0.1:7575"), ("origin", "http://127.0.0.1:1")],
    &[("host", "localhost"), ("sec-fetch-site", "cross-site")],
    &[("host", "localhost"), ("sec-fetch-site", "same-site")],
];

#[test]
fn before_the_first_user_browsers_are_served_only_at_known_hosts() {
    let server = Portico::start();
    for headers in FOREIGN {
        let refused = become_administrator(&server, headers);
        refused.assert_refused(403, "FORBIDDEN");
        assert!(refused.text().contains("public-url"), "{refused}");
        // Every other path as well.
        for path in ["/api/auth/providers", "/api/docs", "/api/apps", "/api/none"] {
            ask(&server, "GET", path, headers, "").assert_refused(403, "FORBIDDEN");
        }
    }
    let home: [&[(&str, &str)]; 8] = [
        &[("host", "127.0.0.1:7575"), ("origin", "http://127.0.0.1:7575")],
        &[
            ("host", "[::1]:7575"),
            ("origin", "http://[::1]:7575"),
            ("sec-fetch-site", "same-origin"),
        ],
        &[("host", "192.0.2.1"), ("origin", "https://192.0.2.1")],
        &[("host", "localhost:7575"), ("sec-fetch-site", "same-origin")],
        &[
            ("host", "localhost"),
            ("sec-fetch-site", "none"),
            ("sec-fetch-mode", "navigate"),
        ],
        // What `fetch` of Node says.
        &[("host", "127.0.0.1:7575"), ("sec-fetch-mode", "cors")],
        // curl and scripts, under any host name.
        &[("host", "127.0.0.1:7575")],
        &[("host", "portico.lan")],
    ];
    for headers in home {
        ask(&server, "GET", "/api/auth/providers", headers, "").assert_status(200);
    }
    become_administrator(&server, home[0]).assert_status(200);
    // From then on every host name is served; access depends on credentials.
    for headers in FOREIGN {
        ask(&server, "GET", "/api/auth/providers", headers, "").assert_status(200);
        become_administrator(&server, headers).assert_refused(403, "FORBIDDEN");
    }
}

#[test]
fn the_host_of_the_public_url_is_accepted() {
    let server = Builder::default()
        .environment("PORTICO_PUBLIC_URL", "https://Portico.example")
        .start();
    for headers in FOREIGN {
        become_administrator(&server, headers).assert_refused(403, "FORBIDDEN");
    }
    let elsewhere = [("host", "portico.example"), ("origin", "https://evil.example")];
    become_administrator(&server, &elsewhere).assert_refused(403, "FORBIDDEN");
    let home = [
        ("host", "portico.example"),
        ("origin", "https://portico.example"),
        ("sec-fetch-site", "same-origin"),
    ];
    become_administrator(&server, &home).assert_status(200);
}

/// Storage that counts what is begun on it.
#[derive(Default)]
struct Counting {
    storage: MemoryStorage,
    begun: AtomicUsize,
}

#[async_trait]
impl Storage for Counting {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.storage.begin(access, context).await
    }
}

#[async_trait]
impl DashboardStorage for Counting {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.storage.begin_dashboard(access, context).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storage_is_asked_once_whether_an_administrator_exists() {
    let storage = Arc::new(Counting::default());
    let router = router(TestService::over(storage.clone()).build().await);
    // A route that reads nothing itself, under a host name that another site may have given.
    let ask = async || {
        let before = storage.begun.load(Ordering::SeqCst);
        let request = Request::get("/api/auth/providers")
            .header("host", "portico.lan")
            .header("origin", "http://portico.lan")
            .extension(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 1))))
            .body(Body::empty());
        let answer = router.clone().oneshot(request.unwrap()).await.unwrap();
        (
            answer.status().as_u16(),
            storage.begun.load(Ordering::SeqCst) - before,
        )
    };
    for _ in 0..2 {
        assert_eq!(ask().await, (403, 1));
    }
    // A user who is not an administrator may be deleted; then the first user is still to come.
    let bob = user("bob", Provider::Credentials, None);
    write(&*storage, async |transaction| {
        transaction.insert_user(&bob).await.unwrap();
    })
    .await;
    for _ in 0..2 {
        assert_eq!(ask().await, (200, 1));
    }
    write(&*storage, async |transaction| {
        transaction.delete_user("bob").await.unwrap()
    })
    .await;
    assert_eq!(ask().await, (403, 1));
    // The last administrator cannot be deleted.
    write(&*storage, async |transaction| {
        transaction.insert_user(&bob).await.unwrap();
        transaction.grant_admin("bob").await.unwrap();
    })
    .await;
    assert_eq!(ask().await, (200, 1));
    for _ in 0..3 {
        assert_eq!(ask().await, (200, 0));
    }
}
