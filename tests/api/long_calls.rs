//! Calls that grow with the data run on the second runtime, a few at the same time; short ones do not wait for them.

use std::{
    mem::take,
    sync::{Arc, Mutex},
    thread,
};

use async_trait::async_trait;
use portico_sandbox::Limits;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Result, Storage, Transaction,
    memory::MemoryStorage,
};
use portico_tests::{Client, Fixtures, NO_INPUT, TestService, administrator_of, wait_until};
use serde_json::json;
use tokio::sync::Semaphore;

/// The name of the threads of the second runtime.
const SECOND: &str = "portico-second";

/// Storage that notes the names of the threads on which calls of users begin to read.
struct Threads {
    storage: MemoryStorage,
    names: Mutex<Vec<String>>,
    /// One call of the second runtime at a time passes it before it reads.
    gate: Semaphore,
}

impl Threads {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            storage: MemoryStorage::new(),
            names: Mutex::default(),
            gate: Semaphore::new(1),
        })
    }

    /// The names noted since the last look.
    fn noted(&self) -> Vec<String> {
        take(&mut *self.names.lock().expect("the names"))
    }

    async fn note(&self) {
        let name = thread::current().name().unwrap_or_default().to_owned();
        let is_second = name == SECOND;
        self.names.lock().expect("the names").push(name);
        if is_second {
            let _passed = self.gate.acquire().await;
        }
    }
}

#[async_trait]
impl Storage for Threads {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        self.note().await;
        self.storage.begin(access, context).await
    }
}

#[async_trait]
impl DashboardStorage for Threads {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        // Without a user, it is the look-up of the caller.
        if access == Access::Read && context.user_id.is_some() {
            self.note().await;
        }
        self.storage.begin_dashboard(access, context).await
    }
}

#[test]
fn what_grows_with_the_data_runs_on_the_second_runtime() {
    let storage = Threads::new();
    let listening = TestService::over(storage.clone()).listen();
    let admin = administrator_of(&listening.client);
    let id = admin.app("App");
    let page = json!({"page": 1, "pageSize": 10});
    let found = json!({"query": "a"});
    let board = json!({"name": "Board", "isPublic": true, "items": []});
    let board_id = admin.output_of("board.create", &board)["id"].clone();
    let is_second = |procedure: &str, input: &serde_json::Value| {
        storage.noted();
        admin.query(procedure, input).assert_status(200);
        let names = storage.noted();
        assert!(!names.is_empty(), "{procedure} reads nothing");
        names.iter().all(|name| name == SECOND)
    };
    for (procedure, input) in [
        ("app.all", &NO_INPUT),
        ("app.byIds", &json!([id])),
        ("app.getPaginated", &page),
        ("app.search", &found),
        ("user.selectable", &NO_INPUT),
        ("board.getAll", &NO_INPUT),
        ("group.getAll", &NO_INPUT),
        ("session.getAll", &NO_INPUT),
        ("audit.getPaginated", &page),
        ("state.export", &NO_INPUT),
    ] {
        assert!(is_second(procedure, input), "{procedure}");
    }
    // (Of `board.create` and `board.update` nothing would be noted, because they only write.)
    for (procedure, input) in [
        ("app.createMany", json!([{"name": "Another"}])),
        ("extras.saveOfBoard", json!({"id": board_id, "extras": null})),
    ] {
        storage.noted();
        admin.mutate(procedure, &input).assert_status(200);
        let names = storage.noted();
        assert!(!names.is_empty(), "{procedure} reads nothing");
        assert!(names.iter().all(|name| name == SECOND), "{procedure}: {names:?}");
    }
    for (procedure, input) in [
        ("app.byId", json!({"id": id})),
        ("user.getById", json!({"userId": admin.user_id})),
        ("board.byId", json!({"id": board_id})),
    ] {
        assert!(!is_second(procedure, &input), "{procedure}");
    }
}

#[test]
fn long_calls_run_a_few_at_once_and_short_calls_do_not_wait_for_them() {
    let storage = Threads::new();
    let limits = Limits {
        hashing: 2,
        ..Limits::default()
    };
    let listening = TestService::over(storage.clone()).limits(limits).listen();
    let admin = administrator_of(&listening.client);
    let id = admin.app("App");
    let short = || {
        let input = json!({"id": id});
        admin.query("app.byId", &input).assert_status(200);
    };
    short();
    let closed = storage.gate.try_acquire().expect("the gate is open");
    storage.noted();
    thread::scope(|scope| {
        let lists = [(); 6].map(|()| scope.spawn(|| admin.query("app.all", &NO_INPUT)));
        let mut begun = 0;
        let mut count = || {
            begun += storage.noted().iter().filter(|name| *name == SECOND).count();
            begun
        };
        wait_until("the start of two lists", || count() >= 2);
        for _ in 0..20 {
            short();
        }
        assert_eq!(count(), 2, "the others wait for a permit");
        drop(closed);
        for list in lists {
            list.join().expect("a list").assert_status(200);
        }
    });
}
