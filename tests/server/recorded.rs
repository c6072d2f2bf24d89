//! Components that were built for a recorded version of the contract keep running.

use std::path::{Path, PathBuf};

use portico_tests::{Builder, Client, administrator, command, run};
use serde_json::json;

/// The components in `fixtures/`, one for each recorded version.
fn components() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let files = std::fs::read_dir(folder).expect("tests/fixtures");
    let paths = files.map(|file| file.expect("a file").path());
    let components: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "wasm"))
        .collect();
    assert!(!components.is_empty());
    components
}

#[test]
fn every_recorded_component_still_runs() {
    for component in components() {
        let path = component.to_str().expect("a path that is text");
        let server = Builder::default().argument("--component").argument(path).start();
        let root = administrator(&server);
        let input =
            json!({"name": "Jellyfin", "iconUrl": "/jellyfin.svg", "href": "https://jellyfin.example"});
        let created = root.mutate("app.create", &input).data();
        let read = root.query("app.byId", &json!({"id": created["appId"]})).data();
        assert_eq!(read["name"], "Jellyfin", "{path}: {created} {read}");
        let page = root
            .query("app.getPaginated", &json!({"page": 1, "pageSize": 10}))
            .data();
        assert_eq!(page["totalCount"], 1, "{path}");
        let users = root.query("user.getAll", &json!(null)).data();
        assert_eq!(users[0]["name"], "root", "{path}");
    }
}

#[test]
fn every_recorded_component_is_one_that_this_host_can_run() {
    for component in components() {
        let text = run(command().arg("inspect").arg(&component), "").succeeded();
        assert!(text.contains("can run it"), "{text}");
    }
}
