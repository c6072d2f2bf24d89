//! `portico apply` and `portico export`: a dashboard as a file, on the data directory and on a
//! running host.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use portico_tests::{
    Builder, Client, Finished, Fixtures, PASSWORD, Portico, administrator, command, run, under_limit,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a document, and a data directory that is not there yet.
struct Home {
    folder: TempDir,
}

const DOCUMENT: &str = "\
groups:
  - name: admins
    permissions: [admin]
  - &family
    name: family
    permissions: [board-view-all]
users:
  - name: ada
    provider: credentials
    email: ada@example.org
    password: PASSWORD
    groups: [admins]
apps:
  - name: Jellyfin   # the icon is looked for
    href: https://jellyfin.example
  - id: nas
    name: Storage
    iconUrl: /icons/nas.svg
    description: |
      Photos
      and backups
searchEngines:
  - name: Wikipedia
    short: w
    urlTemplate: https://en.wikipedia.org/?search=%s
    iconUrl: /w.svg
boards:
  - name: Home
    creator: ada
    items:
      - app: Jellyfin
      - bookmarks: [Storage, Jellyfin]
    sharedWith: {groups: [family]}
";

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = Self { folder };
        home.write("home.yaml", &DOCUMENT.replace("PASSWORD", PASSWORD));
        home
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("write the document");
    }

    /// Runs a command in the folder, on a data directory there.
    fn portico(&self, data: &str, arguments: &[&str], input: &str) -> Finished {
        let mut command = command();
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .args(["--data", data]);
        let finished = run(&mut command, input);
        assert!(
            !finished.text().contains(PASSWORD),
            "a password is shown:\n{}",
            finished.text()
        );
        finished
    }

    fn apply(&self, arguments: &[&str]) -> Finished {
        self.portico("data", &[&["apply"], arguments].concat(), "")
    }

    fn export(&self, data: &str) -> String {
        self.portico(data, &["export"], "").succeeded()
    }
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
}

#[test]
fn a_document_is_applied_once_and_then_nothing_changes() {
    let home = Home::new();
    let all = "+ group admins\n+ group family\n+ user ada\n+ app Jellyfin\n+ app Storage\n+ search engine Wikipedia\n\
               + board Home\n7 created, 0 changed, 0 removed, 0 as wanted\n";
    let said = home.apply(&["home.yaml", "--dry-run"]).succeeded();
    assert_eq!(said, format!("{all}Nothing was written: this was a dry run\n"));
    let said = home.apply(&["home.yaml", "--dry-run"]).succeeded();
    assert!(said.starts_with(all), "the dry run wrote something:\n{said}");
    assert_eq!(home.apply(&["home.yaml"]).succeeded(), all);
    let nothing = "Nothing to change: 0 created, 0 changed, 0 removed, 7 as wanted\n";
    assert_eq!(home.apply(&["home.yaml"]).succeeded(), nothing);

    let export = home.export("data");
    assert_says(
        &export,
        &["name: ada", "email: ada@example.org", "id: nas", "urlTemplate"],
    );
    home.write("export.yaml", &export);
    // An export also says what the dashboard looks like.
    let with_looks = nothing.replace("7 as wanted", "8 as wanted");
    assert_eq!(home.apply(&["export.yaml", "--prune"]).succeeded(), with_looks);
    let said = home
        .portico("data", &["export", "-o", "export.json"], "")
        .succeeded();
    assert_eq!(said, "");
    assert_eq!(home.apply(&["export.json", "--prune"]).succeeded(), with_looks);
    let json = home
        .portico("data", &["export", "--format", "json"], "")
        .succeeded();
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["apps"][1]["description"], "Photos\nand backups");
    // By the standard input, and elsewhere: the same dashboard.
    home.portico("other", &["apply", "-"], &export).succeeded();
    assert_eq!(home.export("other"), export);
}

#[test]
fn changes_are_shown_and_records_that_are_not_named_stay_until_pruned() {
    let home = Home::new();
    home.apply(&["home.yaml"]).succeeded();
    home.write(
        "next.yaml",
        "\
users:
  - {name: ada, provider: credentials, email: a@b.example, groups: [admins, family]}
apps:
  - {id: nas, name: Storage, description: null}
",
    );
    let expected = "\
~ user ada
    email: \"ada@example.org\" -> \"a@b.example\"
    groups: +\"family\"
~ app Storage  description: \"Photos\\nand backups\" -> null
0 created, 2 changed, 0 removed, 0 as wanted; 1 app is not in the document (--prune removes it)
";
    assert_eq!(home.apply(&["next.yaml"]).succeeded(), expected);
    let said = home.apply(&["next.yaml", "--prune", "--dry-run"]).succeeded();
    assert_says(
        &said,
        &["- app Jellyfin\n", "~ board Home", "1 removed", "dry run"],
    );
    let said = home.apply(&["next.yaml", "--prune", "--json"]).succeeded();
    let answer: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(answer["removed"][0]["name"], "Jellyfin");
    assert_eq!(answer["dryRun"], false);
    assert!(!home.export("data").contains("Jellyfin"));
}

#[test]
fn faults_of_a_document_are_reported_with_their_lines() {
    let home = Home::new();
    let refused = |name: &str, text: &str, words: &[&str]| {
        home.write(name, text);
        assert_says(&home.apply(&[name]).failed(), words);
    };
    let admin = "groups: [{name: admins, permissions: [admin]}]\nusers:\n  - name: ada\n    provider: credentials\n    \
                 groups: [admins]\n";
    refused(
        "bad.yaml",
        &format!(
            "{admin}apps:\n  - name: a\n    href: nonsense\n  - name: b\n    pingUrl: ftp://x\n  - name: 5\n"
        ),
        &["the document breaks rules", "bad.yaml:11: apps[2].name must be"],
    );
    refused(
        "bad.yaml",
        &format!("{admin}apps:\n  - name: a\n    href: nonsense\n  - name: b\n    pingUrl: ftp://x\n"),
        &[
            "bad.yaml:8: apps[0].href must be",
            "bad.yaml:10: apps[1].pingUrl must",
        ],
    );
    refused(
        "bad.json",
        "{\"groups\": [\n{\"name\":\n5}]}",
        &["bad.json:3: groups[0].name must be"],
    );
    refused(
        "bad.yaml",
        "users:\n  - name: ada\n  oops",
        &["bad.yaml is not valid YAML", "line 3"],
    );
    refused(
        "bad.json",
        "{\"users\": [}",
        &["bad.json is not valid JSON", "line 1"],
    );
    refused(
        "bad.yaml",
        "- a list",
        &["bad.yaml is not a document", "searchEngines", "gate"],
    );
    refused("bad.yaml", "", &["bad.yaml is not a document"]);
    refused("bad.yaml", "aps: []", &["bad.yaml is not a document"]);
    refused("bad.json", "[{\"apps\": []}]", &["bad.json is not a document"]);
    refused(
        "bad.yaml",
        "apps: []\n---\ngroups: []",
        &[
            "bad.yaml is not valid YAML: a second document begins at line 3 (after ---): give each in a file of its own",
        ],
    );
    refused("bad.yaml", "apps: []", &["CONFLICT", "administrator"]);
    assert_says(&home.apply(&["none.yaml"]).failed(), &["cannot read none.yaml"]);
    assert!(!home.export("data").contains("- name:"), "something was written");

    // Misspelt keys have no effect, and a warning names them.
    home.write(
        "odd.yaml",
        &format!("{admin}app: []\napps:\n  - name: a\n    hfer: x\n"),
    );
    let finished = home.apply(&["odd.yaml"]);
    assert_says(
        &finished.stderr,
        &["odd.yaml:6: app\n", "odd.yaml:9: apps[0].hfer"],
    );
    finished.succeeded();
}

#[test]
fn an_export_never_takes_the_place_of_the_database() {
    let home = Home::new();
    home.apply(&["home.yaml"]).succeeded();
    let before = home.export("data");
    let path = |name: &str| home.folder.path().join(name);
    std::os::unix::fs::symlink("data/portico.db", path("link.yaml")).expect("a link");
    std::os::unix::fs::symlink("data", path("also-data")).expect("a link");
    for file in [
        "data/portico.db",
        "data/portico.db-wal",
        "data/lock",
        "also-data/../data/portico.db",
        "also-data/portico.db",
        "link.yaml",
    ] {
        for data in ["data", "other"] {
            let said = home.portico(data, &["export", "-o", file], "").failed();
            assert_says(&said, &["belongs to the data directory", file]);
        }
    }
    let said = home.portico("data", &["export", "-o", "data"], "").failed();
    assert_says(&said, &["it is a folder"]);
    let said = home
        .portico("data", &["export", "-o", "none/home.yaml"], "")
        .failed();
    assert_says(&said, &["there is no folder", "make it first"]);
    assert_eq!(home.export("data"), before);
}

#[test]
fn an_exported_file_is_replaced_as_a_whole_or_stays_as_it_was() {
    let server = Portico::start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).key;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("home.yaml");
    std::fs::write(&file, "what was there").expect("write it");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).expect("its mode");
    let mut export = command();
    export
        .args([
            "export",
            "--url",
            &format!("http://{}", server.address()),
            "-o",
            text(&file),
        ])
        .env("PORTICO_KEY", &key);
    // Less than the document takes.
    let said = run(&mut under_limit(&export, "--fsize=10"), "").failed();
    assert_says(&said, &["cannot write", "home.yaml"]);
    let content = || std::fs::read_to_string(&file).expect("the file");
    assert_eq!(content(), "what was there");
    // The rest of a killed export is removed as well.
    std::fs::write(folder.path().join(".portico-export-aB3xYz"), "half").expect("write it");
    run(&mut export, "").succeeded();
    assert!(content().contains("name: root"), "{}", content());
    let mode = std::fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
}

#[test]
fn texts_of_a_document_never_reach_the_terminal_as_commands() {
    let home = Home::new();
    home.apply(&["home.yaml"]).succeeded();
    // Marks of a direction; and, where the rules allow any text, letters from right to left, and colours by escape and C1
    // sequences.
    let allowed = "a \u{200f}b \u{61c}c";
    let odd = "\u{1b}[31m \u{9b}31m a \u{202e}b";
    let is_plain = |text: &str| !text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{200f}', '\u{61c}']);
    let document = json!({"apps": [{"id": "nas", "name": "Storage", "description": allowed, (odd): 1}]});
    home.write("odd.json", &document.to_string());
    let said = home.apply(&["odd.json"]);
    assert!(is_plain(&said.text()), "{}", said.text());
    assert_says(
        &said.stderr,
        &["nothing reads these keys", "\\u{1b}[31m \\u{9b}31m a \\u{202e}b"],
    );
    assert_says(&said.succeeded(), &["~ app Storage", "a \\u{200f}b \\u{61c}c"]);

    // In output for programs it is escaped, with the same meaning.
    let called = home
        .portico("data", &["call", "app.byId", "{\"id\": \"nas\"}"], "")
        .succeeded();
    let export = home.export("data");
    let json_export = home
        .portico("data", &["export", "--format", "json"], "")
        .succeeded();
    for text in [&called, &export, &json_export] {
        assert!(is_plain(text), "{text}");
    }
    let called: Value = serde_json::from_str(&called).expect("JSON");
    assert_eq!(called["description"], allowed);
    for (name, text) in [("export.yaml", &export), ("export.json", &json_export)] {
        home.write(name, text);
        assert_says(&home.apply(&[name]).succeeded(), &["Nothing to change"]);
    }

    // What is refused.
    home.write("odd.yaml", "apps:\n  - {\"a\\e[31m\": 1, \"a\\e[31m\": 2}");
    let twice = home.apply(&["odd.yaml"]).failed();
    assert_says(&twice, &["stands twice", "\\u{1b}[31m"]);
    let unknown_user = home
        .portico("data", &["call", "app.all", "--user", odd], "")
        .failed();
    let missing = home.portico("data", &["call", odd], "").failed();
    for text in [&twice, &unknown_user, &missing] {
        assert!(is_plain(text), "{text}");
    }
}

#[test]
fn a_running_host_takes_and_gives_documents() {
    let server = Portico::start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id).key;
    let home = Home::new();
    let url = format!("http://{}", server.address());
    let remote = |arguments: &[&str], key: &str| {
        let mut command = command();
        command.current_dir(home.folder.path()).env("PORTICO_KEY", key);
        run(command.args(arguments).args(["--url", &url]), "")
    };
    let said = remote(&["apply", "home.yaml"], &key).succeeded();
    assert_says(
        &said,
        &["+ user ada", "6 created", "1 user is not in the document"],
    );
    let said = remote(&["apply", "home.yaml"], &key).succeeded();
    assert_says(&said, &["Nothing to change"]);
    assert_eq!(admin.app_names(), ["Jellyfin", "Storage"]);
    let export = remote(&["export"], &key).succeeded();
    home.write("export.yaml", &export);
    let said = remote(&["apply", "export.yaml", "--prune"], &key).succeeded();
    assert_says(&said, &["Nothing to change"]);
    let bad = "apps:\n".to_owned() + &"  - name: a\n    href: nonsense\n".repeat(6);
    home.write("bad.yaml", &bad);
    let said = remote(&["apply", "bad.yaml"], &key).failed();
    let first_and_last = [
        "bad.yaml:3: apps[0].href must be",
        "bad.yaml:13: apps[5].href must be",
    ];
    assert_says(&said, &first_and_last);
    for arguments in [&["export"][..], &["apply", "home.yaml"]] {
        assert_says(&remote(arguments, "not-a-key").failed(), &["UNAUTHORIZED"]);
    }
    // A running host locks its data directory.
    let data = server.data();
    let said = home.portico(text(&data), &["export"], "").failed();
    assert_says(&said, &["another portico works on the data directory", "--url"]);
    assert_eq!(
        server.sign_in("ada", PASSWORD).get("/api/auth/session").json()["user"]["name"],
        json!("ada")
    );
}

#[test]
fn a_difference_between_the_dashboard_and_a_document_has_an_exit_code_of_its_own() {
    let home = Home::new();
    let diff = |arguments: &[&str]| home.portico("data", &[&["diff"], arguments].concat(), "");
    let differs = diff(&["home.yaml"]);
    assert_eq!(differs.status.code(), Some(2), "{}", differs.text());
    assert_says(&differs.stdout, &["+ group admins\n", "7 created", "dry run"]);
    assert!(!home.export("data").contains("- name:"), "something was written");

    home.apply(&["home.yaml"]).succeeded();
    assert_says(
        &diff(&["home.yaml", "--prune"]).succeeded(),
        &["Nothing to change"],
    );
    home.write("less.yaml", "apps: [{id: nas, name: Storage}]\n");
    assert_says(
        &diff(&["less.yaml"]).succeeded(),
        &["1 app is not in the document"],
    );
    let pruned = diff(&["less.yaml", "--prune", "--json"]);
    assert_eq!(pruned.status.code(), Some(2), "{}", pruned.text());
    let report: Value = serde_json::from_str(&pruned.stdout).expect("JSON");
    assert_eq!(report["removed"][0]["name"], "Jellyfin");
    assert!(home.export("data").contains("Jellyfin"), "something was removed");

    home.write("bad.yaml", "apps:\n  - name: a\n    href: nonsense\n");
    let refused = diff(&["bad.yaml"]);
    assert_eq!(refused.status.code(), Some(1), "{}", refused.text());
    assert_says(&refused.stderr, &["bad.yaml:3: apps[0].href must be"]);
}

#[test]
fn a_host_applies_a_document_before_it_serves() {
    let home = Home::new();
    let file = home.folder.path().join("home.yaml");
    let mut server = Builder::default()
        .argument("--apply")
        .argument(text(&file))
        .start();
    let ada = server.sign_in("ada", PASSWORD);
    assert_eq!(
        ada.get("/api/apps").assert_status(200).json()[0]["name"],
        "Jellyfin"
    );
    server.wait_for_log(0, "7 created");
    server.wait_for_log(0, "+ app Jellyfin");
    assert!(!server.log().contains(PASSWORD), "a password is shown");
    // What has changed meanwhile is as the document says after the next start.
    let id = ada.get("/api/apps").json()[0]["id"].clone();
    let path = format!("/api/apps/{}", id.as_str().expect("an id"));
    ada.send_json("PATCH", &path, &json!({"href": "https://other.example"}))
        .assert_status(200);
    server.restart();
    let app = server
        .anonymous()
        .key(&server.sign_in("ada", PASSWORD).token)
        .get(&path)
        .json();
    assert_eq!(app["href"], "https://jellyfin.example");
}

#[test]
fn a_host_does_not_start_with_a_document_that_breaks_a_rule() {
    let home = Home::new();
    let good = home.apply(&["home.yaml"]);
    good.succeeded();
    let before = home.export("data");
    let bad = "apps:\n  - {id: nas, name: Renamed}\n  - name: a\n    href: nonsense\n";
    home.write("bad.yaml", bad);
    let by_apply = home.apply(&["bad.yaml"]).failed();
    let words = by_apply.lines().nth(1).expect("a broken rule");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--apply", "bad.yaml"];
    let said = home.portico("data", &serve, "").failed();
    assert_says(&said, &["cannot apply bad.yaml", "nothing was changed", words]);
    assert!(words.contains("bad.yaml:4: apps[1].href must be"), "{words}");
    let said = home
        .portico(
            "data",
            &["serve", "--listen", "127.0.0.1:0", "--apply", "none.yaml"],
            "",
        )
        .failed();
    assert_says(&said, &["cannot read none.yaml"]);
    assert_eq!(home.export("data"), before);
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a text")
}
