//! What the calls of a service share.
//!
//! Invariant: [`HotSwap`](crate::hot_swap::HotSwap) exchanges only the sandbox. Everything else is shared by the calls
//! of the old component and of the new one, so limits carry over.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock, atomic::AtomicU64},
    time::Duration,
};

use portico_model::{error::Error, time::Clock};
use portico_rules::refusal::Refusal;
use portico_sandbox::Sandbox;
use portico_storage::{DashboardStorage, secrets::Secrets};
use tokio::{sync::Mutex, time::timeout};

use crate::{
    audit::Audit,
    gate::place::GateHosts,
    metrics,
    reachability::Reachability,
    second_factor::{Passkeys, SecondFactorPolicy, Tickets},
    second_runtime::{Permits, WorkPermit, acquire},
    sign_in::{PasswordSignIn, WaysIn},
    throttle::Throttle,
};

/// Storage, sandbox, clock, secrets, audit log, and the limits that all calls share.
pub struct Resources {
    /// The users, the apps, and the records of the dashboard side.
    pub storage: Arc<dyn DashboardStorage>,
    pub sandbox: Sandbox,
    pub clock: Arc<dyn Clock>,
    /// Makes keys, tokens and ids.
    pub secrets: Secrets,
    /// Records changes and refusals.
    pub audit: Arc<Audit>,
    /// Limits how often a client may try to sign in.
    pub throttle: Throttle,
    /// Who may sign in with a password that Portico stores.
    pub passwords: PasswordSignIn,
    /// The providers by which people sign in, where passwords are off.
    pub(crate) ways_in: Arc<OnceLock<WaysIn>>,
    /// Where apps can be for the gate, if there is one.
    pub(crate) gate_hosts: Arc<OnceLock<GateHosts>>,
    /// Who must have a second factor.
    pub second_factor: SecondFactorPolicy,
    /// Sign-ins whose second factor is still missing.
    pub(crate) tickets: Arc<Tickets>,
    /// The passkeys of users; `None` if passkeys are off.
    pub(crate) passkeys: Option<Arc<Passkeys>>,
    /// Checks whether apps can be reached; `None`: nothing does.
    pub reachability: Option<Arc<dyn Reachability>>,
    /// The longest time of one call, waiting included.
    pub call_time: Duration,
    /// How many calls have changed apps, or where apps are.
    pub(crate) app_changes: Arc<AtomicU64>,
    /// Permits to hash a password: `Limits::hashing` of them.
    pub(crate) hashing: Permits,
    /// Permits for calls that grow with the data: as many as those to hash.
    pub(crate) large: Permits,
    /// Held while the hash of an imported API key is checked and replaced.
    pub(crate) adopting: Arc<Mutex<()>>,
}

impl Resources {
    /// The same resources around another sandbox.
    pub(crate) fn with_sandbox(&self, sandbox: Sandbox) -> Self {
        Self {
            storage: self.storage.clone(),
            sandbox,
            clock: self.clock.clone(),
            secrets: self.secrets.clone(),
            audit: self.audit.clone(),
            throttle: self.throttle.clone(),
            passwords: self.passwords,
            ways_in: self.ways_in.clone(),
            gate_hosts: self.gate_hosts.clone(),
            second_factor: self.second_factor,
            tickets: self.tickets.clone(),
            passkeys: self.passkeys.clone(),
            reachability: self.reachability.clone(),
            call_time: self.call_time,
            app_changes: self.app_changes.clone(),
            hashing: self.hashing.clone(),
            large: self.large.clone(),
            adopting: self.adopting.clone(),
        }
    }

    /// Says where apps can be for the gate. It is said once.
    pub fn set_gate_hosts(&self, hosts: GateHosts) {
        self.gate_hosts.get_or_init(|| hosts);
    }

    /// A new id of a record.
    pub(crate) fn new_id(&self) -> String {
        self.secrets.id(self.clock.now())
    }

    /// Waits for a permit to hash a password. A call that holds one waits neither for an instance nor for the memory
    /// that a hash needs.
    pub async fn acquire_hash_permit(&self, address: Option<IpAddr>) -> Result<WorkPermit, Error> {
        let too_many = Refusal::TooManyPasswords;
        acquire(
            &self.hashing,
            &metrics::HASHING,
            self.sandbox.limits().wait,
            address,
            too_many,
        )
        .await
    }

    /// How many calls wait for a permit to hash a password.
    pub fn waiting_to_hash(&self) -> usize {
        self.hashing.waiting()
    }

    /// Waits for a permit of a call that grows with the data.
    pub async fn acquire_large_permit(&self, address: Option<IpAddr>) -> Result<WorkPermit, Error> {
        let too_many = Refusal::TooManyLongCalls;
        acquire(
            &self.large,
            &metrics::LARGE,
            self.sandbox.limits().wait,
            address,
            too_many,
        )
        .await
    }

    /// Stops what takes longer than one call may.
    pub async fn in_time<T>(&self, running: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        timeout(self.call_time, running).await.map_err(|_| too_long())?
    }
}

/// The error of a call that takes longer than it may.
pub(crate) fn too_long() -> Error {
    Refusal::CallTooLong.into()
}
