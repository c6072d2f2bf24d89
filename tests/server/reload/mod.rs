//! A component file that changes while the host serves: `--watch` and SIGHUP.

mod requests;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use portico_sandbox::COMPONENT;
use portico_tests::{
    Answer, Builder, Client, Fixtures, MISSING, Portico, SetOnDrop, administrator, command, renamed, run,
    trpc_query_path, wait_until,
};
use serde_json::json;
use tempfile::TempDir;

/// What each component says of an app that is not there.
const OLD: &str = "App not found";
const NEW: &str = "App not there";

/// Another component: it says [`NEW`].
fn another() -> Vec<u8> {
    renamed(&COMPONENT, "not found", "not there")
}

/// A service on a component file.
struct Served {
    server: Portico,
    file: PathBuf,
    _folder: TempDir,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("plugin.wasm");
        fs::write(&file, &*COMPONENT).expect("write the file");
        let builder = Builder::default()
            .argument("--component")
            .argument(file.to_string_lossy());
        let builder = arguments
            .iter()
            .fold(builder, |builder, argument| builder.argument(*argument));
        Self {
            server: builder.start(),
            file,
            _folder: folder,
        }
    }

    /// Puts another file in its place, as a build does.
    fn put(&self, bytes: &[u8]) {
        let new = self.file.with_extension("new");
        fs::write(&new, bytes).expect("write the file");
        fs::rename(new, &self.file).expect("put it in place");
    }

    /// What the component says of an app that is not there.
    fn says(&self) -> String {
        message(&self.server.anonymous().get(&format!("/api/apps/{MISSING}")))
    }

    /// Loads the file by SIGHUP and waits for what the log says of it.
    #[track_caller]
    fn reload(&self, words: &str) -> String {
        let since = self.server.log().len();
        self.server.hang_up();
        self.server.wait_for_log(since, words)
    }
}

fn message(answer: &Answer) -> String {
    answer.error()["message"].as_str().expect("a message").to_owned()
}

/// The first digits of a file's SHA-256, as another program computes them.
fn hash(file: &Path) -> String {
    let sum = std::process::Command::new("sha256sum").arg(file).output();
    String::from_utf8(sum.expect("sha256sum").stdout).expect("a text")[..12].to_owned()
}

#[test]
fn a_changed_file_is_served_without_dropping_a_request() {
    let served = Served::start(&["--watch"]);
    let root = administrator(&served.server);
    let (id, ada) = (root.app("Jellyfin"), root.user("ada"));
    let before = hash(&served.file);
    let (answered, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let exchanged = Mutex::new(None);

    // Ada comes again and again: warm instances of the old one are kept for her.
    let missing = |call: usize| -> Vec<String> {
        let anonymous = served.server.anonymous();
        match call % 3 {
            0 => vec![message(&anonymous.get(&format!("/api/apps/{MISSING}")))],
            1 => vec![message(&ada.get(&format!("/api/apps/{MISSING}")))],
            _ => {
                let names = vec!["app.byId"; 20].join(",");
                let inputs: serde_json::Map<_, _> =
                    (0..20).map(|n| (n.to_string(), json!({"id": MISSING}))).collect();
                let path = trpc_query_path(&names, &inputs.into()).replace('?', "?batch=1&");
                let answers = ada.get(&path).json();
                let answers = answers.as_array().expect("a list").iter();
                let message =
                    |answer: &serde_json::Value| answer["error"]["message"].as_str().map(str::to_owned);
                answers
                    .map(|answer| message(answer).expect("a message"))
                    .collect()
            }
        }
    };
    thread::scope(|scope| {
        let _done = SetOnDrop(&done);
        for client in 0..3 {
            let (done, answered, exchanged) = (&done, &answered, &exchanged);
            let (id, ada, root, missing) = (&id, &ada, &root, &missing);
            scope.spawn(move || {
                let mut call = client;
                while !done.load(Ordering::SeqCst) {
                    let began_after: Option<()> = *exchanged.lock().expect("the lock");
                    let messages = missing(call);
                    // All calls of a request meet one component.
                    assert!(
                        messages.iter().all(|message| *message == messages[0]),
                        "{messages:?}"
                    );
                    assert!([OLD, NEW].contains(&messages[0].as_str()), "{messages:?}");
                    assert!(
                        began_after.is_none() || messages[0] == NEW,
                        "the old one answers a request that came later"
                    );
                    ada.get(&format!("/api/apps/{id}")).assert_status(200);
                    let new = root.app("Another");
                    root.delete(&format!("/api/apps/{new}")).assert_empty();
                    answered.fetch_add(4, Ordering::SeqCst);
                    call += 1;
                }
            });
        }
        let wait = |count: usize| {
            let count = answered.load(Ordering::SeqCst) + count;
            wait_until("sixty answers", || answered.load(Ordering::SeqCst) >= count);
        };
        wait(60);
        served.put(&another());
        let line = served.server.wait_for_log(0, "was exchanged");
        *exchanged.lock().expect("the lock") = Some(());
        for word in [&before, &hash(&served.file), "plugin.wasm"] {
            assert!(line.contains(word), "{word} is not in: {line}");
        }
        wait(60);
    });
    assert_eq!(served.says(), NEW);
}

#[test]
fn a_file_that_cannot_be_served_changes_nothing_and_the_log_says_why() {
    let served = Served::start(&[]);
    let refused = hash(&served.file);
    let text = |old, new| renamed(&COMPONENT, old, new);
    for (bytes, words) in [
        (COMPONENT[..COMPONENT.len() / 2].to_vec(), "is truncated"),
        (Vec::new(), "empty"),
        (b"hello".to_vec(), "not WebAssembly"),
        (text("@1.0.0", "@2.0.0"), "supports portico:dashboard@1.0.0"),
        (text("user.getAll", "user.getOld"), "does not know (user.getOld)"),
        // The procedures are the same, but their access differs.
        (text("app-create", "app-crowds"), "(app.create, app.createMany)"),
    ] {
        served.put(&bytes);
        let line = served.reload("the component stays");
        let new = hash(&served.file);
        for word in [words, "plugin.wasm", &refused, &new] {
            assert!(line.contains(word), "{word} is not in: {line}");
        }
        assert_eq!(served.says(), OLD);
    }
    fs::remove_file(&served.file).expect("remove it");
    let line = served.reload("the component stays");
    assert!(line.contains("cannot read"), "{line}");
    assert_eq!(served.says(), OLD);

    served.put(&another());
    served.reload("was exchanged");
    assert_eq!(served.says(), NEW);
}

#[test]
fn the_same_file_again_is_not_loaded() {
    let served = Served::start(&["--watch"]);
    served.put(&COMPONENT);
    let line = served.reload("the component stays");
    assert!(line.contains("holds the same"), "{line}");
    assert!(!served.server.log().contains("was exchanged"));
}

#[test]
fn a_file_that_is_being_written_is_left_alone_until_it_is_whole() {
    for watched in [true, false] {
        // On a busy machine a write may come so late that the file counts as whole before it.
        let is_left_alone = (0..20).any(|_| is_left_alone_while_it_is_written(watched));
        assert!(is_left_alone, "with --watch: {watched}");
    }
}

fn is_left_alone_while_it_is_written(watched: bool) -> bool {
    let served = Served::start(if watched { &["--watch"] } else { &[] });
    let bytes = another();
    let mut file = fs::File::create(&served.file).expect("open it");
    if !watched {
        served.server.hang_up();
    }
    for part in bytes.chunks(bytes.len().div_ceil(60)) {
        file.write_all(part).expect("write a part");
        thread::sleep(Duration::from_millis(50));
    }
    drop(file);
    let said = |words| served.server.log().contains(words);
    wait_until("an exchange or a refusal", || {
        said("was exchanged") || said("the component stays")
    });
    if said("the component stays") {
        return false;
    }
    assert_eq!(served.says(), NEW);
    true
}

#[test]
fn readiness_and_the_log_name_the_component_that_is_served() {
    let served = Served::start(&[]);
    let named = || {
        let answer = served.server.anonymous().get("/api/health/ready").json();
        let component = &answer["component"];
        assert_eq!(component["version"], "1.0.0", "{answer}");
        component["sha256"].as_str().expect("a hash").to_owned()
    };
    let before = named();
    assert!(
        before.starts_with(&hash(&served.file)) && before.len() == 64,
        "{before}"
    );
    let line = served.server.wait_for_log(0, "serves the component of ");
    assert!(line.contains(&before) && line.contains("1.0.0"), "{line}");
    served.put(&another());
    served.reload("was exchanged");
    let after = named();
    assert!(
        after.starts_with(&hash(&served.file)) && after != before,
        "{after}"
    );
    let line = served.server.wait_for_log(0, "was exchanged");
    assert!(line.contains(&after) && line.contains("1.0.0"), "{line}");
}

#[test]
fn without_a_file_there_is_nothing_to_load_again() {
    let mut server = Portico::start();
    server.hang_up();
    server.wait_for_log(0, "nothing to load again");
    server.anonymous().get("/api/health/ready").assert_status(200);
    assert!(server.stop().status.success());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let refused = run(command().args(["serve", "--watch", "--data"]).arg(data), "").failed();
    assert!(refused.contains("--component FILE"), "{refused}");
}

#[test]
fn components_that_were_exchanged_leave_nothing_behind() {
    let served = Served::start(&[]);
    let root = administrator(&served.server);
    let exchange = |round: usize| {
        // An instance of the old one waits for this user.
        root.get("/api/apps").assert_status(200);
        served.put(&if round.is_multiple_of(2) {
            another()
        } else {
            COMPONENT.to_vec()
        });
        served.reload("was exchanged");
    };
    (0..4).for_each(exchange);
    let count = || ["VmSize", "VmRSS", "Threads"].map(|name| served.server.status(name));
    let [size, resident, threads] = count();
    (4..24).for_each(exchange);
    let after = count();
    // One engine reserves more than 500 GiB of addresses.
    assert!(
        after[0] < size + (1 << 28),
        "addresses: {size} KiB became {} KiB",
        after[0]
    );
    assert!(
        after[1] < resident + (32 << 10),
        "memory: {resident} KiB became {} KiB",
        after[1]
    );
    assert!(after[2] <= threads + 2, "threads: {threads} became {}", after[2]);
    assert_eq!(served.says(), OLD);
}
