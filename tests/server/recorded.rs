//! Components that were built for a recorded version of the contract keep running, as long as this host's version is
//! compatible with it; others are refused with words that say what to do.

use std::path::{Path, PathBuf};

use portico_tests::{Builder, Client, administrator, command, run};
use serde_json::json;

/// The version before which all are refused.
const FIRST: &str = "1.0.0";

/// The components in `fixtures/`, one for each recorded version, that this host must run, and those that it must not.
fn components() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let files = std::fs::read_dir(folder).expect("tests/fixtures");
    let paths = files.map(|file| file.expect("a file").path());
    let components: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "wasm"))
        .collect();
    let is_run = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_str().expect("a text");
        name.trim_start_matches("portico-") >= FIRST
    };
    let (run, refused): (Vec<_>, Vec<_>) = components.into_iter().partition(is_run);
    assert!(!run.is_empty() && !refused.is_empty(), "{run:?} {refused:?}");
    (run, refused)
}

#[test]
fn every_recorded_component_still_runs() {
    for component in components().0 {
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
    for component in components().0 {
        let text = run(command().arg("inspect").arg(&component), "").succeeded();
        assert!(text.contains("can run it"), "{text}");
    }
}

#[test]
fn an_incompatible_component_is_refused_with_what_to_do() {
    for component in components().1 {
        let text = run(command().arg("inspect").arg(&component), "").failed();
        for words in [
            "made for portico:dashboard@0.2.0",
            "supports portico:dashboard@1",
            "run a portico that supports",
        ] {
            assert!(text.contains(words), "{words} is not in: {text}");
        }
    }
}
