//! Long lists are made on threads of low priority, short ones where they are asked for.

use std::{
    mem::take,
    sync::{Arc, Mutex},
    thread,
};

use async_trait::async_trait;
use portico_storage::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Result, Storage, Transaction,
    memory::MemoryStorage,
};
use portico_tests::{Client, Fixtures, NO_INPUT, TestService, administrator_of};
use serde_json::json;

/// Storage that notes the names of the threads on which the component begins to read.
struct Threads {
    storage: MemoryStorage,
    names: Mutex<Vec<String>>,
}

impl Threads {
    /// The names noted since the last look.
    fn noted(&self) -> Vec<String> {
        take(&mut *self.names.lock().expect("the names"))
    }
}

#[async_trait]
impl Storage for Threads {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let name = thread::current().name().unwrap_or_default().to_owned();
        self.names.lock().expect("the names").push(name);
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
    let storage = Arc::new(Threads {
        storage: MemoryStorage::new(),
        names: Mutex::default(),
    });
    let listening = TestService::over(storage.clone()).listen();
    let admin = administrator_of(&listening.client);
    let ids = admin.apps(400, "icon.png");
    let calls = |procedure: &str, input: serde_json::Value| {
        let on_its_own = || {
            storage.noted();
            admin.query(procedure, &input).assert_status(200);
            let names = storage.noted();
            assert_eq!(names.len(), 1, "{names:?}");
            names[0] == "portico-list"
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
