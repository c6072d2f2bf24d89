//! The command line of Portico, which needs Portico's own forms from such a host.

use portico_tests::{Client, Fixtures, NO_INPUT, command, run};
use serde_json::Value;

use super::with_administrator;

#[test]
fn the_command_line_works_with_a_host_for_clients_of_homarr() {
    let (server, admin, key) = with_administrator();
    admin.app("An app");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("home.yaml");
    let file = file.to_str().expect("a text");
    let url = format!("http://{}", server.address());
    let portico = |arguments: &[&str]| {
        let mut command = command();
        command.args(arguments).args(["--url", &url, "--key", &key.key]);
        run(&mut command, "").succeeded()
    };

    let apps: Value = serde_json::from_str(&portico(&["call", "app.all"])).expect("JSON");
    assert_eq!(
        apps,
        admin
            .send("GET", "/api/apps", &[("portico-native", "1")], None)
            .json()
    );
    assert_eq!(apps[0]["name"], "An app");
    // What one command writes, the others read.
    portico(&["export", "-o", file]);
    portico(&["diff", file]);
    portico(&["apply", file]);
    let data = server.data();
    let said = portico(&["icons", "fetch", "--data", data.to_str().expect("a text")]);
    assert!(said.contains("1 are paths or names"), "{said}");
    // A change.
    let made = portico(&["call", "apiKeys.create"]);
    let made: Value = serde_json::from_str(&made).expect("JSON");
    assert!(made["apiKey"].is_string(), "{made}");
    assert_eq!(admin.query("apiKeys.getAll", &NO_INPUT).status, 200);
}
