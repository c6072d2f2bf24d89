//! Documents of the desired state, as people write them in YAML: applied to a dashboard that has some records, and rolled
//! back. A document is refused or accepted; it never fails inside.

use std::sync::{Arc, OnceLock};

use portico_model::{error::Code, time::SystemClock};
use portico_sandbox::{COMPONENT, Imports, Limits, Sandbox, icons::NoIcons};
use portico_service::{
    audit::AuditSettings,
    identity::Identity,
    second_factor::SecondFactorPolicy,
    service::{Service, ServiceParts},
    sign_in::PasswordSignIn,
    throttle::Throttle,
};
use portico_storage::{
    MemoryRecords,
    memory::MemoryStorage,
    secrets::{Secrets, SystemRandom},
};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::yaml;

/// A service, with what makes it run.
struct Running {
    runtime: Runtime,
    service: Arc<Service>,
}

pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let Ok(mut document) = yaml::read(text) else {
        return;
    };
    if let Some(document) = document.as_object_mut() {
        document.insert("dryRun".into(), true.into());
    }
    static RUNNING: OnceLock<Running> = OnceLock::new();
    let running = RUNNING.get_or_init(begin);
    let applied = running.runtime.block_on(apply(&running.service, document));
    if let Err((code, message)) = applied {
        assert_ne!(code, Code::InternalServerError, "{message}");
    }
}

async fn apply(service: &Service, document: Value) -> Result<(), (Code, String)> {
    let apply = service.table.find("state.apply").expect("a procedure").clone();
    let operator = Identity::operator();
    let applied = service.call(&apply, &operator, "fuzz", Ok(Some(document)));
    let applied = applied.await;
    applied.map(drop).map_err(|error| (error.code, error.message))
}

fn begin() -> Running {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let service = runtime.block_on(async {
        let storage = Arc::new(MemoryStorage::new());
        let imports = Imports {
            storage: storage.clone(),
            icons: Arc::new(NoIcons::new("/icon.svg")),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
        };
        let sandbox = Sandbox::new(COMPONENT, None, Limits::default(), imports).expect("a sandbox");
        let parts = ServiceParts {
            storage,
            shared: Arc::new(MemoryRecords::new(Arc::new(SystemClock))),
            sandbox,
            clock: Arc::new(SystemClock),
            secrets: Secrets::new(Arc::new(SystemRandom)),
            call_time: std::time::Duration::from_secs(10),
            throttle: Throttle::off(),
            passwords: PasswordSignIn::default(),
            second_factor: SecondFactorPolicy::default(),
            passkeys: None,
            audit: AuditSettings::off(),
            reachability: None,
        };
        let service = Service::new(parts).await.expect("a service");
        let document = json!({
            "groups": [{"name": "admins", "permissions": ["admin"]}, {"name": "family"}],
            "users": [
                {"name": "ann", "provider": "credentials", "password": "correct horse", "groups": ["admins"]},
            ],
            "apps": [{"name": "Jellyfin", "iconUrl": "https://icons.example/jellyfin.svg"}],
            "boards": [{"name": "home", "isPublic": true, "items": [{"app": "Jellyfin"}]}],
        });
        apply(&service, document).await.expect("a dashboard");
        service
    });
    Running { runtime, service }
}
