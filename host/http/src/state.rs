//! What all requests share.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicBool},
};

use axum::extract::FromRef;
use portico_model::{Provider, Timestamp};
use portico_service::{
    external::ProxyUsers,
    gate::{Gate, GateHosts},
    hot_swap::HotSwap,
    identity::Authenticate,
    metrics::expect_sign_ins,
    service::Service,
};

use crate::{
    file::File,
    settings::{HttpLimits, HttpSettings},
    trpc::turns::Turns,
};

/// The state of one router.
pub(crate) struct Http {
    pub live: HotSwap,
    pub limits: HttpLimits,
    pub settings: HttpSettings,
    /// Identifies callers, in an embedding dashboard; `None` if callers are identified by keys and sessions.
    pub authenticate: Option<Arc<dyn Authenticate>>,
    /// For each key or session, when its use was last noted.
    pub noted: Mutex<HashMap<String, Timestamp>>,
    /// The users for whom a proxy has vouched.
    pub proxy_users: ProxyUsers,
    /// The gate in front of apps.
    pub gate: Option<Gate>,
    /// Whether an administrator has been seen in storage.
    pub has_administrator: AtomicBool,
    pub turns: Turns,
    /// The OpenAPI document, made at its first request.
    pub document: OnceLock<File>,
}

impl Http {
    pub fn new(
        live: HotSwap,
        settings: HttpSettings,
        authenticate: Option<Arc<dyn Authenticate>>,
    ) -> Arc<Self> {
        let providers = &settings.providers;
        for (provider, is_on) in [
            (Provider::Credentials, true),
            (Provider::Ldap, providers.ldap.is_some()),
            (
                Provider::Oidc,
                providers.oidc.is_some() || settings.proxy_sign_in.is_some(),
            ),
        ] {
            if is_on {
                expect_sign_ins(provider);
            }
        }
        let gate = settings.gate.as_ref();
        let gate = gate.map(|gate| {
            let (domain, names) = (gate.domain.clone(), gate.reserved_names.clone());
            if let Some(own) = settings.public_url.clone() {
                let hosts = GateHosts {
                    domain: domain.clone(),
                    own,
                };
                live.service().resources().set_gate_hosts(hosts);
            }
            Gate::new(domain, names, settings.sessions)
        });
        Arc::new(Self {
            gate,
            live,
            limits: settings.limits.clone(),
            settings,
            authenticate,
            noted: Mutex::default(),
            proxy_users: ProxyUsers::default(),
            has_administrator: AtomicBool::new(false),
            turns: Turns::default(),
            document: OnceLock::new(),
        })
    }
}

/// What a handler works with: the service that was current when the request arrived.
#[derive(Clone)]
pub(crate) struct Shared {
    pub service: Arc<Service>,
    http: Arc<Http>,
}

impl Deref for Shared {
    type Target = Http;

    fn deref(&self) -> &Http {
        &self.http
    }
}

impl FromRef<Arc<Http>> for Shared {
    fn from_ref(http: &Arc<Http>) -> Self {
        Self {
            service: http.live.service(),
            http: http.clone(),
        }
    }
}
