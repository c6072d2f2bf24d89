//! Long lists are made on threads of low priority, short ones where they are asked for.

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

/// The name of threads of low priority.
const LOW: &str = "portico-low";

/// Storage that notes the names of the threads on which the component begins to read.
struct Threads {
    storage: MemoryStorage,
    names: Mutex<Vec<String>>,
    /// One thread of low priority at a time passes it before it reads.
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
}

#[async_trait]
impl Storage for Threads {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let name = thread::current().name().unwrap_or_default().to_owned();
        let is_low = name == LOW;
        self.names.lock().expect("the names").push(name);
        if is_low {
            let _passed = self.gate.acquire().await;
        }
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
        self.storage.begin_dashboard(access, context).await
    }
}

#[test]
fn a_list_that_was_long_is_made_on_a_thread_of_its_own_until_it_is_short() {
    let storage = Threads::new();
    let listening = TestService::over(storage.clone()).listen();
    let admin = administrator_of(&listening.client);
    let ids = admin.apps(400, "icon.png");
    let calls = |procedure: &str, input: serde_json::Value| {
        let on_its_own = || {
            storage.noted();
            admin.query(procedure, &input).assert_status(200);
            let names = storage.noted();
            assert_eq!(names.len(), 1, "{names:?}");
            names[0] == LOW
        };
        [on_its_own(), on_its_own(), on_its_own()]
    };
    let few = |count: usize| json!(ids[..count]);

    assert_eq!(calls("app.all", NO_INPUT), [true; 3]);
    // As long as such a list has not been read, it may be long: 400 apps with large icons would be.
    assert_eq!(calls("app.byIds", few(400)), [true; 3]);
    assert_eq!(calls("app.byIds", few(5)), [true, false, false]);
    assert_eq!(calls("app.byId", json!({"id": ids[0]})), [false; 3]);
    assert_eq!(
        calls("app.getPaginated", json!({"page": 1, "pageSize": 10})),
        [true, false, false]
    );

    for id in &ids[20..] {
        admin.output_of("app.delete", &json!({"id": id}));
    }
    let until_short = || (1..20).find(|_| !calls("app.all", NO_INPUT)[2]);
    assert!(until_short().is_some(), "20 apps are still read as a long list");
    assert_eq!(calls("app.all", NO_INPUT), [false; 3]);
}

#[test]
fn four_long_lists_are_made_at_once_and_short_calls_do_not_wait_for_them() {
    let storage = Threads::new();
    let limits = Limits {
        hashing: 2,
        ..Limits::default()
    };
    let listening = TestService::over(storage.clone()).limits(limits).listen();
    let admin = administrator_of(&listening.client);
    let ids = admin.apps(400, "icon.png");
    let list = || admin.query("app.all", &NO_INPUT);
    // From now on it is known that they are long, and not so large that only a few are answered at once.
    list().assert_status(200);
    let short = || {
        let input = json!({"id": ids[0]});
        admin.query("app.byId", &input).assert_status(200);
    };
    short();
    let closed = storage.gate.try_acquire().expect("the gate is open");
    storage.noted();
    thread::scope(|scope| {
        let lists = [(); 6].map(|()| scope.spawn(list));
        let mut begun = 0;
        wait_until("the start of four lists", || {
            begun += storage.noted().iter().filter(|name| *name == LOW).count();
            begun >= 4
        });
        for _ in 0..20 {
            short();
        }
        begun += storage.noted().iter().filter(|name| *name == LOW).count();
        assert_eq!(begun, 4, "the others wait for a permit");
        drop(closed);
        for list in lists {
            list.join().expect("a list").assert_status(200);
        }
    });
}
