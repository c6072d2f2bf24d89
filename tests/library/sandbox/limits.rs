//! Limits that are shorter than the real ones, so that the tests are quick.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use portico_model::{NewAccount, error::Code};
use portico_sandbox::{COMPONENT, Instance, Limits, icons::Icons};
use portico_sqlite::SqliteStorage;
use portico_storage::{Access, DashboardStorage, memory::MemoryStorage};
use portico_tests::{TestSandbox, command, hostile_component, run};
use rustix::time::{ClockId, clock_gettime};

use portico_tests::callers::call_context;

use super::harness::{anonymous, ask, by_id, context, honest, hostile, sandbox, sandbox_over, user};

#[tokio::test]
async fn a_call_that_keeps_waiting_is_ended() {
    let sandbox = hostile(Limits {
        duration: Duration::from_millis(300),
        ..Limits::default()
    });
    let error = ask(&sandbox, "wait").await.unwrap_err();
    assert_eq!(
        (error.code, &*error.message),
        (Code::Timeout, "The call took too long")
    );
}

#[tokio::test]
async fn what_a_component_passes_to_its_host_is_bounded() {
    let sandbox = hostile(Limits::default());
    for misbehaviour in ["icons:1000:256", "ids:1000", "insert:1000"] {
        ask(&sandbox, misbehaviour).await.unwrap();
    }
    let (list, name) = ("a list that is too long", "a name that is too long");
    for (misbehaviour, words) in [
        ("icons:1001:1", list),
        ("icons:1:257", name),
        ("icons:1100:65536", list),
        ("icons:3500:65536", "too much data"),
        ("ids:1001", list),
        ("insert:1001", list),
    ] {
        let error = ask(&sandbox, misbehaviour).await.unwrap_err();
        let cause = format!("{:#}", error.cause.expect("a cause"));
        assert!(
            error.code == Code::InternalServerError && cause.contains(words),
            "{misbehaviour}: {cause}"
        );
    }
}

fn time_of_thread() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

/// Icons that take a while of processor time for each call, on the thread of the call.
struct LaboriousIcons(AtomicU32);

#[async_trait]
impl Icons for LaboriousIcons {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let began = time_of_thread();
        while time_of_thread() - began < Duration::from_millis(20) {}
        vec![None; names.len()]
    }

    fn default_icon(&self) -> String {
        "/icon.svg".into()
    }
}

#[tokio::test]
async fn what_the_host_does_for_a_call_counts_as_its_processor_time() {
    let icons = Arc::new(LaboriousIcons(AtomicU32::new(0)));
    let component = std::fs::read(hostile_component()).unwrap();
    let sandbox = TestSandbox::over(Arc::new(MemoryStorage::new()))
        .icons(icons.clone())
        .limits(Limits {
            time: Duration::from_millis(200),
            ..Limits::default()
        })
        .build_with(&*component)
        .unwrap();
    let error = ask(&sandbox, "wait").await.unwrap_err();
    assert!(error.message.contains("processor time"), "{error}");
    // Each of them takes at least 20 ms.
    let lookups = icons.0.load(Ordering::SeqCst);
    assert!((1..=10).contains(&lookups), "{lookups}");
}

/// One instruction copies for longer than a tick.
#[tokio::test]
async fn copying_memory_counts_for_as_long_as_it_takes() {
    let time = Duration::from_secs(1);
    let sandbox = hostile(Limits {
        time,
        ..Limits::default()
    });
    let began = time_of_thread();
    let error = ask(&sandbox, "copy").await.unwrap_err();
    let used = time_of_thread() - began;
    assert!(error.message.contains("processor time"), "{error}");
    assert!(used < 2 * time, "{used:?}");
}

#[tokio::test]
async fn a_write_transaction_is_held_no_longer_than_it_may_be() {
    let sandbox = hostile(Limits {
        write_time: Duration::from_secs(1),
        ..Limits::default()
    });
    let error = ask(&sandbox, "loop-in-write:App").await.unwrap_err();
    assert_eq!(error.code, Code::Timeout);
    assert!(error.message.contains("writing"), "{error}");
    // The app is not there, and the next writer does not wait.
    assert_eq!(
        by_id(&sandbox, None, "App").await.unwrap_err().code,
        Code::NotFound
    );
    ask(&sandbox, "trap-after-commit:App").await.unwrap_err();
    by_id(&sandbox, None, "App").await.unwrap();
}

#[tokio::test]
async fn waiting_for_the_turn_to_write_does_not_count_as_writing() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(&folder.path().join("portico.db")).unwrap();
    let storage = Arc::new(storage);
    // Long enough for a commit on a slow disk.
    let write_time = Duration::from_secs(3);
    let limits = Limits {
        write_time,
        ..Limits::default()
    };
    let sandbox = sandbox_over(storage.clone(), COMPONENT, limits).unwrap();
    let ada = user("ada", &["admin"]);
    let turn = storage.begin_dashboard(Access::Write, &context(None)).await;
    let deleting = async {
        let mut instance = sandbox.enter_for("ada", context(Some("ada"))).await.unwrap();
        let (plugin, store) = instance.parts().unwrap();
        let apps = plugin.portico_dashboard_apps();
        let answer = apps.call_delete(store, &ada, &"app".to_owned()).await;
        instance.read_result(answer)
    };
    let mut deleting = std::pin::pin!(deleting);
    let waited = tokio::time::timeout(2 * write_time, &mut deleting).await;
    assert!(waited.is_err(), "it did not wait");
    drop(turn.unwrap());
    deleting.await.unwrap();
}

#[tokio::test]
async fn a_call_whose_list_takes_too_long_ends_and_so_does_the_statement() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("portico.db");
    let storage = Arc::new(SqliteStorage::open(&path).unwrap());
    // A list of apps without end.
    let database = rusqlite::Connection::open(&path).unwrap();
    let endless = "
        DROP TABLE app;
        CREATE VIEW app (number, id, name, name_key, description, icon_url, href, ping_url) AS
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT i, 'id', 'name', 'name', NULL, 'icon', NULL, NULL FROM n WHERE i < 0;";
    database.execute_batch(endless).unwrap();
    let limits = Limits {
        duration: Duration::from_millis(200),
        ..Limits::default()
    };
    let sandbox = sandbox_over(storage.clone(), COMPONENT, limits).unwrap();
    let ada = user("ada", &[]);
    // More than storage has connections and threads.
    for _ in 0..20 {
        let mut instance = sandbox.enter_for("ada", context(Some("ada"))).await.unwrap();
        let (plugin, store) = instance.parts().unwrap();
        let answer = plugin.portico_dashboard_apps().call_all(store, &ada).await;
        let error = instance.read_result(answer).unwrap_err();
        assert_eq!(
            (error.code, &*error.message),
            (Code::Timeout, "The call took too long")
        );
    }
    let mut reading = storage
        .begin_dashboard(Access::Read, &context(None))
        .await
        .unwrap();
    assert_eq!(reading.list_groups().await.unwrap(), []);
}

#[tokio::test]
async fn a_call_that_gets_no_memory_in_time_is_told_to_try_again() {
    let sandbox = hostile(Limits {
        large_calls: 1,
        wait: Duration::ZERO,
        ..Limits::default()
    });
    let (first, second) = tokio::join!(ask(&sandbox, "hold:100"), ask(&sandbox, "hold:100"));
    let refusals: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0].code, Code::ServiceUnavailable);
    ask(&sandbox, "hold:100").await.unwrap();
}

#[tokio::test]
async fn a_call_that_gets_no_turn_in_time_is_told_to_try_again() {
    let sandbox = hostile(Limits {
        instances: 1,
        wait: Duration::ZERO,
        time: Duration::from_secs(1),
        ..Limits::default()
    });
    let (first, second) = tokio::join!(ask(&sandbox, "loop"), ask(&sandbox, "look"));
    assert_eq!(first.unwrap_err().code, Code::Timeout);
    assert_eq!(second.unwrap_err().code, Code::ServiceUnavailable);
    ask(&sandbox, "look").await.unwrap();
}

/// The component that ships, with no memory to share out.
#[tokio::test]
async fn an_ordinary_call_asks_for_no_memory_and_one_that_hashes_does() {
    let sandbox = honest(Limits {
        medium_calls: 0,
        large_calls: 0,
        wait: Duration::ZERO,
        ..Limits::default()
    });
    let names: Vec<_> = (0..2000).map(|number| format!("Name {number}")).collect();
    let keys = sandbox.name_keys(context(None), &names).await.unwrap();
    assert_eq!(keys.len(), 2000);
    let missing = by_id(&sandbox, None, "missing").await.unwrap_err();
    assert_eq!(missing.code, Code::NotFound);

    let account = NewAccount {
        username: "ada".into(),
        password: "correct horse".into(),
        email: None,
    };
    let mut instance = sandbox.enter(context(None)).await.unwrap();
    let (plugin, store) = instance.parts().unwrap();
    let users = plugin.portico_dashboard_users();
    let answer = users.call_init_user(store, &anonymous(), &account).await;
    assert_eq!(
        instance.read_result(answer).unwrap_err().code,
        Code::ServiceUnavailable
    );
}

/// All instances and all memory of other calls are taken: a call that hashes has its own.
#[tokio::test]
async fn a_call_that_hashes_waits_for_no_other_call() {
    let sandbox = honest(Limits {
        instances: 2,
        medium_calls: 2,
        large_calls: 0,
        hashing: 1,
        wait: Duration::ZERO,
        ..Limits::default()
    });
    let hash = async |instance: &mut Instance| {
        let (plugin, store) = instance.parts().unwrap();
        let sign_in = plugin.portico_dashboard_sign_in();
        let answer = sign_in
            .call_password(store, &call_context(), "unknown", "correct horse")
            .await;
        instance.read_result(answer).unwrap_err().code
    };
    let mut other = sandbox.enter(context(None)).await.unwrap();
    assert_eq!(hash(&mut other).await, Code::Unauthorized);
    let refusal = sandbox
        .enter(context(None))
        .await
        .err()
        .expect("no instance is left");
    assert_eq!(refusal.code, Code::ServiceUnavailable);
    for _ in 0..2 {
        let mut hashing = sandbox.enter_to_hash(context(None)).await.unwrap();
        assert_eq!(hash(&mut hashing).await, Code::Unauthorized);
    }
    // Its memory was not taken from the others.
    drop(other);
    let mut other = sandbox.enter(context(None)).await.unwrap();
    assert_eq!(hash(&mut other).await, Code::Unauthorized);
}

#[test]
fn a_file_that_is_too_long_for_a_component_is_not_compiled() {
    let limits = Limits::default();
    let mut file = b"\0asm".to_vec();
    file.resize(limits.file + 1, 0);
    let Err(error) = sandbox(&*file, limits) else {
        panic!("it was taken")
    };
    assert!(error.to_string().contains("16777216 bytes"), "{error:#}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.wasm");
    std::fs::write(&path, &file).unwrap();
    let mut command = command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]);
    command
        .arg(folder.path().join("data"))
        .arg("--component")
        .arg(&path);
    let text = run(&mut command, "").failed();
    assert!(
        text.contains("large.wasm") && text.contains("16777216 bytes"),
        "{text}"
    );
}
