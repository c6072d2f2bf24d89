//! `portico demo`: a sample household to look around.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use portico_tests::{Anonymous, Client, Fixtures, command, run};
use serde_json::{Value, json};

/// A demo that runs.
pub(crate) struct Demo {
    child: Child,
    pub address: String,
    /// What it wrote.
    said: String,
    /// The passwords that it showed, by name.
    pub passwords: BTreeMap<String, String>,
}

impl Demo {
    /// Starts it, with a folder for temporary files.
    pub fn start(folder: &tempfile::TempDir) -> Self {
        let mut child = command()
            .args(["demo", "--listen", "127.0.0.1:0"])
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start it");
        let mut lines = BufReader::new(child.stdout.take().expect("its standard output")).lines();
        let mut said = String::new();
        while !said.contains("Ctrl-C stops.") {
            let line = lines.next().expect("more words").expect("a text");
            said.push_str(&line);
            said.push('\n');
        }
        let (_, address) = said.split_once("Open http://").expect("where to click");
        let address = address.split_whitespace().next().expect("an address").to_owned();
        let passwords = said.lines().filter_map(|line| {
            let mut words = line.strip_prefix("  ")?.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.to_owned()))
        });
        Self {
            child,
            address,
            passwords: passwords.collect(),
            said,
        }
    }

    pub fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        assert!(told.expect("the command kill").success());
        assert!(self.child.wait().expect("wait for it").success());
        self.said
    }
}

#[test]
fn a_demo_shows_a_household_to_three_people_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let demo = Demo::start(&folder);
    let anonymous = Anonymous::at(&demo.address);
    let people: Vec<_> = demo.passwords.keys().map(String::as_str).collect();
    assert_eq!(people, ["ada", "ben", "kim"], "{}", demo.said);
    let [ada, ben, kim] = ["ada", "ben", "kim"].map(|name| anonymous.sign_in(name, &demo.passwords[name]));
    // Each sees what they may.
    assert_eq!(ada.app_names().len(), 42);
    assert_eq!(ben.app_names().len(), 42);
    assert_eq!(
        kim.app_names(),
        [
            "Audiobookshelf",
            "Jellyfin",
            "Kolibri",
            "Minecraft",
            "Radio",
            "Scratch"
        ]
    );
    kim.query("user.getAll", &Value::Null)
        .assert_refused(403, "FORBIDDEN");
    let home = ben.query("board.getVisible", &Value::Null).data();
    assert_eq!(portico_tests::names(&home), ["Home", "Kids"]);
    // The first page shows the home board, and an icon is a picture without the network.
    let page = kim.get("/").assert_status(200).text();
    assert!(page.contains("Minecraft") && !page.contains("TrueNAS"), "{page}");
    let apps = kim.query("app.all", &Value::Null).data();
    let id = apps[0]["id"].as_str().expect("an id");
    let icon = kim.get(&format!("/icons/apps/{id}"));
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"), "{icon}");
    // It is there to be changed.
    let more = json!({"name": "More", "iconUrl": "/icon.svg"});
    ben.mutate("app.create", &more).assert_status(200);

    let passwords = demo.passwords.clone();
    demo.stop();
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
    let again = Demo::start(&folder);
    assert!(passwords.values().all(|password| !again.said.contains(password)));
    let ada = Anonymous::at(&again.address).sign_in("ada", &again.passwords["ada"]);
    assert_eq!(ada.app_names().len(), 42);
    again.stop();
}

#[test]
fn a_demo_listens_on_this_machine_only() {
    for address in ["0.0.0.0:0", "192.0.2.1:7575", "[::]:0"] {
        let refused = run(command().args(["demo", "--listen", address]), "").failed();
        assert!(refused.contains("listens on this machine only"), "{refused}");
    }
}
