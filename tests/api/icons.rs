//! Icons that are found by an app's name in sources on the network.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use portico_tests::{Builder, Client, Portico, Session, administrator};
use serde_json::{Value, json};

const DEFAULT: &str = "https://cdn.jsdelivr.net/gh/homarr-labs/dashboard-icons@master/svg/homarr.svg";

/// Serves this index on any path, as often as asked, and counts how often that is.
fn serve_index(index: Value) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let head = BufReader::new(stream.try_clone().expect("the same connection")).lines();
            if head
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .count()
                == 0
            {
                continue;
            }
            counter.fetch_add(1, Ordering::SeqCst);
            let body = index.to_string();
            let head = format!(
                "content-type: application/json\r\ncontent-length: {}\r\n",
                body.len()
            );
            // The other side may have given up.
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}connection: close\r\n\r\n{body}");
        }
    });
    // An index is cached on disk under its URL, and a port may be used again: each URL is unique.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a clock")
        .as_nanos();
    (format!("http://{address}/{now}.json"), asked)
}

fn start(sources: &str) -> (Portico, Session) {
    let server = Builder::default()
        .environment("PORTICO_ICON_SOURCES", sources)
        .start();
    let admin = administrator(&server);
    (server, admin)
}

fn icons(admin: &Session, names: &[&str]) -> Vec<String> {
    let apps: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "iconUrl": null}))
        .collect();
    let created = admin.mutate("app.createMany", &json!(apps)).data();
    let created = created.as_array().expect("a list").iter();
    created
        .map(|app| app["iconUrl"].as_str().expect("an icon").to_owned())
        .collect()
}

#[test]
fn an_icon_is_found_by_the_exact_name_then_by_its_beginning_and_svg_comes_first() {
    let (tree, asked) = serve_index(json!({"tree": [
        {"path": "png/jellyfin.png"}, {"path": "svg/jellyfin.svg"}, {"path": "svg/jellyfin-vue.svg"},
        {"path": "png/home-assistant.png"}, {"path": "svg/home-assistant-alt.svg"}, {"path": "README.md"},
        {"path": "svg/nextcloud-blue.svg"}, {"path": "png/nextcloud-black.png"},
    ]}));
    let (files, _) = serve_index(json!({"files": [
        {"name": "/svg/jellyfin.svg"}, {"name": "/svg/grafana.svg"}, {"name": "/LICENSE"},
    ]}));
    let sources = format!("{tree}|https://one.example/,{files}|https://two.example");
    let (_server, admin) = start(&sources);
    let found = icons(
        &admin,
        &[
            "Jellyfin",
            " HOME  assistant ",
            "nextcloud",
            "Grafana",
            "unheard of",
        ],
    );
    assert_eq!(found[0], "https://one.example/svg/jellyfin.svg");
    assert_eq!(
        found[1], "https://one.example/png/home-assistant.png",
        "the exact name before the beginning"
    );
    assert!(found[2].starts_with("https://one.example/"), "{found:?}");
    assert_eq!(found[3], "https://two.example/svg/grafana.svg");
    assert_eq!(found[4], DEFAULT);
    // The same answer as long as the sources are the same, without asking them again.
    let again = icons(&admin, &["nextcloud", "Jellyfin"]);
    assert_eq!(again, [found[2].clone(), found[0].clone()]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
