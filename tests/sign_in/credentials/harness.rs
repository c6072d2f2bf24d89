//! The service inside the test, over real connections, by clocks that the test sets.

use std::sync::Arc;

use portico_model::Provider;
use portico_sandbox::Limits;
use portico_service::{
    identity::Identity,
    second_factor::SecondFactorPolicy,
    service::{Service, WorkPermit},
    sign_in::PasswordSignIn,
    throttle::Throttle,
};
use portico_storage::{
    Access, AccountKey, CallContext, DashboardStorage, DashboardTransaction, MemoryRecords, NewUser,
    ProviderName, memory::MemoryStorage,
};
use portico_tests::{Anonymous, Answer, Client, Listening, TestClock, TestService, new_user};
use serde_json::json;
use tokio::runtime::Runtime;

/// A running service.
pub struct Host {
    pub storage: Arc<MemoryStorage>,
    pub service: Arc<Service>,
    /// The clock of the service.
    pub clock: Arc<TestClock>,
    /// The clock of the throttle.
    pub throttle_clock: Arc<TestClock>,
    /// A client that is anonymous.
    pub client: Anonymous,
    pub runtime: Runtime,
}

impl Host {
    /// Without limits to sign-ins.
    pub fn start() -> Self {
        Self::with(|_| Throttle::off(), |service| service)
    }

    /// The same with these limits of calls.
    pub fn with_limits(limits: Limits) -> Self {
        Self::with(|_| Throttle::off(), |service| service.limits(limits))
    }

    /// Without limits to sign-ins, for these people.
    pub fn for_these(passwords: PasswordSignIn) -> Self {
        Self::with(|_| Throttle::off(), |service| service.passwords(passwords))
    }

    /// Without limits to sign-ins, with passkeys for people who open it at this URL.
    pub fn with_passkeys(public_url: &str) -> Self {
        Self::with_passkeys_for(public_url, SecondFactorPolicy::Optional)
    }

    /// The same, where these people must have a second factor.
    pub fn with_passkeys_for(public_url: &str, policy: SecondFactorPolicy) -> Self {
        Self::with(
            |_| Throttle::off(),
            |service| service.passkeys(public_url).second_factor(policy),
        )
    }

    /// With limits to sign-ins. `X-Forwarded-For` says where clients come from.
    pub fn throttled() -> Self {
        Self::throttled_with(Limits::default())
    }

    /// The same with these limits of calls.
    pub fn throttled_with(limits: Limits) -> Self {
        let throttle = |clock: Arc<TestClock>| Throttle::new(Arc::new(MemoryRecords::new(clock)));
        Self::with(throttle, |service| service.limits(limits))
    }

    /// With limits to sign-ins, and with passkeys for people who open it at this URL.
    pub fn throttled_with_passkeys(public_url: &str) -> Self {
        let throttle = |clock: Arc<TestClock>| Throttle::new(Arc::new(MemoryRecords::new(clock)));
        Self::with(throttle, |service| service.passkeys(public_url))
    }

    fn with(
        throttle: impl FnOnce(Arc<TestClock>) -> Throttle,
        settings: impl FnOnce(TestService) -> TestService,
    ) -> Self {
        let storage = Arc::new(MemoryStorage::new());
        let (clock, throttle_clock) = (TestClock::at_new_year(), TestClock::at_new_year());
        let service = TestService::over(storage.clone())
            .clock(clock.clone())
            .throttle(throttle(throttle_clock.clone()));
        let Listening {
            service,
            client,
            runtime,
        } = settings(service).listen();
        Self {
            storage,
            service,
            clock,
            throttle_clock,
            client,
            runtime,
        }
    }

    /// Works on storage as the dashboard itself, and commits.
    pub fn store<T>(&self, work: impl AsyncFnOnce(&mut dyn DashboardTransaction) -> T) -> T {
        self.runtime.block_on(write(&*self.storage, work))
    }

    /// Keeps a user with this hash.
    pub fn insert_user(&self, name: &str, provider: Provider, hash: Option<&str>) {
        let user = user(name, provider, hash);
        self.store(async |transaction| transaction.insert_user(&user).await.unwrap());
    }

    /// The hash that a user has.
    pub fn hash_of(&self, name: &str) -> String {
        let key = AccountKey::Name(ProviderName {
            provider: Provider::Credentials,
            name_key: name.into(),
        });
        let account = self.store(async |transaction| transaction.get_account(&key).await.unwrap());
        account.unwrap().password_hash.unwrap()
    }

    /// All permits to hash a password: a call that needs one waits until they are dropped.
    pub fn take_all_hash_permits(&self) -> Vec<WorkPermit> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let permits = (0..cores).map(|_| self.runtime.block_on(self.service.acquire_hash_permit(None)));
        permits.map(|permit| permit.expect("a permit")).collect()
    }

    /// Tries to sign in from this address.
    pub fn sign_in_from(&self, address: &str, name: &str, password: &str) -> Answer {
        let body = json!({"username": name, "password": password}).to_string();
        let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
        self.client
            .send("POST", "/api/auth/sign-in", &headers, Some(body.as_bytes()))
    }
}

/// Works on storage, and commits.
pub async fn write<T>(
    storage: &dyn DashboardStorage,
    work: impl AsyncFnOnce(&mut dyn DashboardTransaction) -> T,
) -> T {
    let context: CallContext = Identity::operator().context("test");
    let mut transaction = storage.begin_dashboard(Access::Write, &context).await.unwrap();
    let answer = work(&mut *transaction).await;
    transaction.commit().await.unwrap();
    answer
}

/// A user whose id is the name.
pub fn user(name: &str, provider: Provider, hash: Option<&str>) -> NewUser {
    let mut user = new_user(name, name);
    user.user.provider = provider;
    user.password_hash = hash.map(Into::into);
    user
}
