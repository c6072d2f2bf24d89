//! schemathesis against the running service: it makes good and bad requests from the document and checks
//! every answer against it. `tests/schemathesis` says how it runs, and which check is left out and why.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use portico_tests::{Client, Fixtures, Portico, administrator};
use serde_json::{Value, json};

/// The same requests each time, as far as the answers are the same.
const SEED: u32 = 20_261_120;

#[test]
#[ignore = "make test-all"]
fn an_administrator_gets_no_5xx_and_no_answer_that_the_document_does_not_state() {
    let server = Portico::start();
    let root = administrator(&server);
    let key = root.key_of(&root.user_id);
    let groups = root.query("group.getAll", &Value::Null).data();
    let keys = root.query("apiKeys.getAll", &Value::Null).data();
    let (admins, own_key) = (&groups[0]["id"], &keys[0]["id"]);
    let known = json!({
        "user": root.user("alice").id,
        "group": root.group("group", &[]),
        "app": root.app("app"),
        "board": root.board("board", false),
        "homeBoard": root.board("home", true),
        "mobileHomeBoard": root.board("mobile", true),
        "defaultSearchEngine": root.search_engine("engine", "e"),
        "invite": root.invite().id,
    });
    schemathesis(&server)
        .args([
            "--max-time",
            "90",
            "--header",
            &format!("Authorization: {}", key.authorization()),
        ])
        .env("PORTICO_KNOWN", known.to_string())
        .env(
            "PORTICO_PROTECTED",
            json!([root.user_id, admins, own_key]).to_string(),
        )
        .must_succeed();
    // The caller was an administrator until the end.
    key.get("/api/users").assert_status(200);
    key.get(&format!("/api/apps/{}", known["app"].as_str().expect("an id")))
        .assert_status(200);
}

#[test]
#[ignore = "make test-all"]
fn an_anonymous_client_gets_no_5xx_and_no_answer_that_the_document_does_not_state() {
    // No user is there yet: creating the first one is among what is tried.
    let server = Portico::start();
    schemathesis(&server)
        .args(["--max-time", "30"])
        .env("PORTICO_KNOWN", "{}")
        .env("PORTICO_PROTECTED", "[]")
        .must_succeed();
    assert_eq!(server.anonymous().get("/api/health/ready").status, 200);
}

/// A run against a service.
fn schemathesis(server: &Portico) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemathesis");
    let mut command = Command::new(program());
    command
        .arg("--config-file")
        .arg(folder.join("schemathesis.toml"))
        .arg("run")
        .arg(format!("http://{}/api/openapi", server.address()))
        .args(["--url", &format!("http://{}", server.address())])
        .args(["--seed", &SEED.to_string(), "--no-color"])
        .env("PYTHONPATH", folder)
        .stdin(Stdio::null());
    command
}

/// The program that `make test-all` installs, or the one that `SCHEMATHESIS` names.
fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("SCHEMATHESIS") {
        return path.into();
    }
    let test = std::env::current_exe().expect("the path of this test");
    let target = test.ancestors().nth(3).expect("target/PROFILE/deps/TEST");
    let path = target.join("python/bin/schemathesis");
    assert!(
        path.is_file(),
        "{} is not there: `make test-all` installs it, or set SCHEMATHESIS",
        path.display()
    );
    path
}

trait MustSucceed {
    fn must_succeed(&mut self);
}

impl MustSucceed for Command {
    #[track_caller]
    fn must_succeed(&mut self) {
        let output = self.output().expect("run schemathesis");
        let text = String::from_utf8_lossy(&output.stdout);
        println!("{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}", output.status);
        assert!(text.contains(&format!("Seed: {SEED}")), "it did not say its seed");
    }
}
