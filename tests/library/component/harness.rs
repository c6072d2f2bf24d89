//! The component by itself: in the sandbox, on storage in memory, with a clock and icons that the
//! test sets.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use portico_model::{Caller, NewAccount, Timestamp};
use portico_sandbox::{Instance, Limits, Sandbox, icons::Icons};
use portico_service::identity::Identity;
use portico_storage::{
    Access, DashboardStorage, DashboardTransaction, NewInvite, Storage, hash_secret, memory::MemoryStorage,
};
pub use portico_tests::callers::{anonymous, call_context, user};
pub use portico_tests::clock::NEW_YEAR;
use portico_tests::{TestClock, TestSandbox};

/// A component with everything that it can reach.
pub struct Harness {
    pub sandbox: Sandbox,
    pub storage: Arc<MemoryStorage>,
    pub clock: Arc<TestClock>,
}

/// Knows one icon.
pub struct OneIcon;

#[async_trait]
impl Icons for OneIcon {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        names
            .iter()
            .map(|name| (name == "Jellyfin").then(|| "https://icons.example/jellyfin.svg".into()))
            .collect()
    }

    fn default_icon(&self) -> String {
        "https://icons.example/default.svg".into()
    }
}

impl Harness {
    /// On empty storage in memory.
    pub fn new() -> Self {
        let storage = Arc::new(MemoryStorage::new());
        Self::over(storage.clone(), storage)
    }

    /// With a storage of the test's own between the component and memory.
    pub fn over(storage: Arc<MemoryStorage>, seen: Arc<dyn Storage>) -> Self {
        let clock = TestClock::at_new_year();
        let sandbox = TestSandbox::over(seen)
            .icons(Arc::new(OneIcon))
            .clock(clock.clone())
            // Storage that refuses here does so on purpose: waiting would not help.
            .limits(Limits {
                retry_wait: Duration::ZERO,
                ..Limits::default()
            })
            .build();
        Self {
            sandbox,
            storage,
            clock,
        }
    }

    /// A fresh instance.
    pub async fn enter(&self) -> Instance {
        self.sandbox
            .enter(Identity::operator().context("test"))
            .await
            .unwrap()
    }

    /// A transaction of the dashboard's own, to prepare and to look.
    pub async fn dashboard(&self) -> Box<dyn DashboardTransaction> {
        let context = Identity::operator().context("test");
        self.storage
            .begin_dashboard(Access::Write, &context)
            .await
            .unwrap()
    }

    /// Keeps an invite with the token `secret`.
    pub async fn invite(&self, id: &str, expiration_date: Timestamp) {
        let invite = NewInvite {
            id: id.into(),
            expiration_date,
            creator_id: None,
            note: None,
            group_ids: Vec::new(),
        };
        let mut dashboard = self.dashboard().await;
        dashboard
            .insert_invite(&invite, &hash_secret("secret"))
            .await
            .unwrap();
        dashboard.commit().await.unwrap();
    }
}

/// Calls a function of the component in a fresh instance:
/// `call!(harness, users.call_get_by_id(&caller, &id))`.
macro_rules! call {
    ($harness:expr, $interface:ident.$function:ident($($argument:expr),* $(,)?)) => {{
        let mut instance = $harness.enter().await;
        let (plugin, store) = instance.parts().unwrap();
        let answer = plugin.$interface().$function(store, $($argument),*).await;
        instance.read_result(answer)
    }};
}
pub(crate) use call;

pub fn account(name: &str) -> NewAccount {
    NewAccount {
        username: name.into(),
        password: "correct horse".into(),
        email: None,
    }
}

pub fn admin() -> Caller {
    user("another-user", &["admin"])
}

/// The context of a call by the operator.
pub fn context() -> portico_storage::CallContext {
    Identity::operator().context("test")
}
