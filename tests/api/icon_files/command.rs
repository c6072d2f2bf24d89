//! `portico icons fetch`.

use std::fs;

use portico_tests::{Client, Finished, Fixtures, Portico, administrator, command, run};
use serde_json::json;

use super::{app, app_icon, assert_picture, web::SVG, web::Web};

fn fetch(arguments: &[&str]) -> Finished {
    run(command().args(["icons", "fetch"]).args(arguments), "")
}

#[test]
fn all_icons_are_fetched_and_then_no_host_is_needed() {
    let web = Web::start();
    let mut server = Portico::start();
    let admin = administrator(&server);
    let url = web.url("/x.svg");
    let id = app(&admin, &url);
    app(&admin, &url);
    for icon_url in [
        &web.url("/page.png"),
        "data:image/gif;base64,R0lGODlh",
        "/x.svg",
        "http://127.0.0.1:9/x\u{202e}y",
    ] {
        app(&admin, icon_url);
    }
    let input = json!({
        "name": "Wikipedia", "short": "w", "urlTemplate": "https://wikipedia.example/%s", "iconUrl": web.url("/x.gif"),
    });
    admin.mutate("searchEngine.create", &input).data();
    server.stop().succeeded();

    let data = server.data();
    let data = data.to_str().expect("a text");
    let origin = web.origin();
    let arguments = ["--data", data, "--icons-allow", &origin];
    let said = fetch(&arguments).succeeded();
    for words in [
        format!("no icon from {}: it is not a picture", web.url("/page.png")),
        "no icon from http://127.0.0.1:9/x\\u{202e}y: 127.0.0.1 has an address".to_owned(),
        "4 icons: 2 fetched, 0 were there, 2 failed".to_owned(),
        "1 more are part of their apps".to_owned(),
        "1 are paths or names".to_owned(),
    ] {
        assert!(said.contains(&words), "{words} is not in:\n{said}");
    }
    let mut requests = web.requests();
    requests.sort();
    assert_eq!(requests, ["/page.png", "/x.gif", "/x.svg"]);
    let said = fetch(&arguments).succeeded();
    assert!(
        said.contains("4 icons: 0 fetched, 2 were there, 2 failed"),
        "{said}"
    );
    let requests = web.requests();
    assert_eq!(requests.iter().filter(|path| *path != "/page.png").count(), 2);

    server.start_again();
    assert_picture(&admin.get(&app_icon(&id, &url)), "image/svg+xml", SVG);
}

#[test]
fn a_running_host_serves_what_the_command_fetches_into_its_folder() {
    let web = Web::start();
    let server = Portico::start();
    let admin = administrator(&server);
    let url = web.url("/x.svg");
    let id = app(&admin, &url);
    let path = app_icon(&id, &url);
    admin.get(&path).assert_status(404);

    let host = format!("http://{}", server.address());
    let data = server.data();
    let key = admin.key_of(&admin.user_id).key;
    let origin = web.origin();
    let arguments = ["--url", &host, "--key", &key, "--icons-allow", &origin, "--data"];
    let missing = data.join("missing");
    let said = fetch(&[&arguments[..], &[missing.to_str().expect("a text")]].concat()).failed();
    assert!(
        said.contains("there is no data directory") && !missing.exists(),
        "{said}"
    );
    let arguments = [&arguments[..], &[data.to_str().expect("a text")]].concat();
    let said = fetch(&arguments).succeeded();
    assert!(
        said.contains("1 icons: 1 fetched, 0 were there, 0 failed"),
        "{said}"
    );
    assert_picture(&admin.get(&path), "image/svg+xml", SVG);
    let pictures = fs::read_dir(data.join("icons/pictures")).expect("the folder");
    assert_eq!(pictures.count(), 1);
}

#[test]
fn the_command_fails_if_no_icon_could_be_had() {
    let web = Web::start();
    let mut server = Portico::start();
    let admin = administrator(&server);
    server.stop().succeeded();
    let data = server.data();
    let data = data.to_str().expect("a text");
    let said = fetch(&["--data", data]).succeeded();
    assert!(said.contains("0 icons"), "{said}");
    server.start_again();
    app(&admin, &web.url("/x.svg"));
    server.stop().succeeded();
    let said = fetch(&["--data", data]).failed();
    assert!(said.contains("none of the icons could be had"), "{said}");
    assert!(said.contains("to the setting `allow` of `[icons]`"), "{said}");
    let said = fetch(&["--data", data, "--icons-allow", "nas.lan"]).failed();
    assert!(
        said.contains("--icons-allow") && said.contains("http://nas.lan:8080"),
        "{said}"
    );
    // The settings file also allows it.
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, format!("[icons]\nallow = [\"{}\"]\n", web.origin())).expect("write it");
    let file = file.path().to_str().expect("a text");
    let said = fetch(&["--data", data, "--config", file]).succeeded();
    assert!(said.contains("1 icons: 1 fetched"), "{said}");
}
