//! The sandbox by itself, with limits and icons of the test's own.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use portico_model::{App, error::Error};
use portico_sandbox::{COMPONENT, Instance, Limits, Sandbox, Wasm, icons::Icons};
use portico_service::identity::Identity;
use portico_storage::{Authentication, CallContext, Storage, memory::MemoryStorage};
pub use portico_tests::callers::{anonymous, user};
use portico_tests::{TestSandbox, hostile_component};

/// Looks for icons for a while and finds none.
struct SlowIcons;

#[async_trait]
impl Icons for SlowIcons {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        vec![None; names.len()]
    }

    fn default_icon(&self) -> String {
        "/icon.svg".into()
    }
}

/// A sandbox with this component over empty storage.
pub fn sandbox<'a>(component: impl Into<Wasm<'a>>, limits: Limits) -> anyhow::Result<Sandbox> {
    sandbox_over(Arc::new(MemoryStorage::new()), component, limits)
}

/// The same over this storage.
pub fn sandbox_over<'a>(
    storage: Arc<dyn Storage>,
    component: impl Into<Wasm<'a>>,
    limits: Limits,
) -> anyhow::Result<Sandbox> {
    TestSandbox::over(storage)
        .icons(Arc::new(SlowIcons))
        .limits(limits)
        .without_cache()
        .build_with(component)
}

/// A sandbox with the hostile component.
pub fn hostile(limits: Limits) -> Sandbox {
    let component = std::fs::read(hostile_component()).expect("the hostile component");
    sandbox(&*component, limits).expect("it fits")
}

/// A sandbox with the component that ships.
pub fn honest(limits: Limits) -> Sandbox {
    sandbox(COMPONENT, limits).expect("it fits")
}

/// The context of a call by this user, or of an anonymous call.
pub fn context(user: Option<&str>) -> CallContext {
    CallContext {
        views_by_shares: false,
        user_id: user.map(Into::into),
        authentication: user.map_or(Authentication::None, |_| Authentication::Host),
        ..Identity::anonymous().context("test")
    }
}

/// Calls `apps.by-id` for this user, as the service does.
pub async fn by_id(sandbox: &Sandbox, user: Option<&str>, id: &str) -> Result<App, Error> {
    let mut instance = match user {
        Some(user_id) => sandbox.enter_for(user_id, context(user)).await?,
        None => sandbox.enter(context(user)).await?,
    };
    let answer = by_id_in(&mut instance, id).await;
    instance.leave();
    answer
}

/// Calls `apps.by-id` in this instance.
pub async fn by_id_in(instance: &mut Instance, id: &str) -> Result<App, Error> {
    let (plugin, store) = instance.parts().unwrap();
    let apps = plugin.portico_dashboard_apps();
    let answer = apps.call_by_id(store, &anonymous(), &id.to_owned()).await;
    instance.read_result(answer)
}

/// Asks the hostile component for a misbehaviour.
pub async fn ask(sandbox: &Sandbox, misbehaviour: &str) -> Result<App, Error> {
    by_id(sandbox, None, &format!("hostile:{misbehaviour}")).await
}
