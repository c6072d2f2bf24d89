//! Measures each step of a call separately, on one thread, without HTTP.
//!
//! A step includes the time of the steps within it. Caches are warmer than in a server under load.

use std::{path::Path, sync::Arc, time::Instant};

use axum::http::{HeaderMap, header};
use portico_model::{
    Caller,
    error::Error,
    time::{Clock, SystemClock},
};
use portico_sandbox::{self as sandbox, COMPONENT, Imports, Limits, Sandbox, icons::NoIcons};
use portico_server::{data_dir::DataDir, icons::IconSettings};
use portico_service::{
    audit::AuditSettings,
    identity::{self, Identity, PLAIN_COOKIE},
    procedures::Procedure,
    service::{Service, ServiceParts},
    throttle::Throttle,
};
use portico_sqlite::SqliteStorage;
use portico_storage::{
    Access, AppFilter, CallContext, MemoryRecords, Slice, Storage as _, Viewer,
    secrets::{Secrets, SystemRandom},
};
use serde_json::{Value, json};

use crate::data;

/// How often each step is timed, in turn with the others. The fastest time counts, because other work on the
/// machine can only add to it.
const ROUNDS: usize = 100;
/// How long one round of a step takes, in microseconds.
const ROUND_MICROS: f64 = 4_000.0;

const APPS: usize = 100;
/// The id of each call's request.
const REQUEST: &str = "steps";

/// Prints the microseconds of each step.
pub fn run() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let data = data::seed(&folder.path().join("data"), APPS, 1)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let steps = runtime.block_on(Steps::new(folder.path(), &data))?;
    let measured = runtime.block_on(steps.measure())?;
    println!("microseconds, the fastest of {ROUNDS} rounds");
    for (name, micros) in measured {
        println!("{micros:8.2}  {name}");
    }
    Ok(())
}

struct Steps {
    _data: DataDir,
    storage: Arc<SqliteStorage>,
    service: Arc<Service>,
    headers: HeaderMap,
    identity: Identity,
    app: String,
}

macro_rules! steps {
    ($($name:literal: $step:expr;)*) => {{
        let names = [$($name),*];
        let mut times = vec![Vec::new(); names.len()];
        for _ in 0..ROUNDS {
            let mut index = 0;
            $({
                // The first runs tell how many fit into a round.
                let mut runs = 3;
                loop {
                    let started = Instant::now();
                    for _ in 0..runs {
                        std::hint::black_box($step);
                    }
                    let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(runs);
                    if runs > 3 {
                        times[index].push(micros);
                        break;
                    }
                    runs = ((ROUND_MICROS / micros) as u32).max(4);
                }
                index += 1;
            })*
            debug_assert_eq!(index, names.len());
        }
        names.into_iter().zip(times.into_iter().map(|times: Vec<f64>| times.into_iter().fold(f64::INFINITY, f64::min))).collect()
    }};
}

impl Steps {
    async fn new(folder: &Path, data: &data::Data) -> anyhow::Result<Self> {
        let directory = DataDir::open(&folder.join("data"))?;
        let storage = Arc::new(SqliteStorage::open(&directory.database())?);
        let imports = Imports {
            storage: storage.clone(),
            icons: Arc::new(NoIcons::new(IconSettings::default().default_icon)),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
        };
        let sandbox = Sandbox::new(COMPONENT, None, Limits::default(), imports)?;
        let secrets = Secrets::new(Arc::new(SystemRandom));
        let call_time = std::time::Duration::from_secs(30);
        let parts: ServiceParts = ServiceParts {
            storage: storage.clone(),
            shared: Arc::new(MemoryRecords::new(Arc::new(SystemClock))),
            sandbox,
            clock: Arc::new(SystemClock),
            secrets,
            call_time,
            throttle: Throttle::off(),
            audit: AuditSettings::default(),
        };
        let service = Service::new(parts).await?;
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, format!("Bearer {}", data.keys[0]).parse()?);
        let now = SystemClock.now();
        let shown = identity::credentials_of(&headers, PLAIN_COOKIE);
        let (identity, _) = identity::authenticate(&*storage, shown, &headers, &anonymous(), now).await?;
        Ok(Self {
            _data: directory,
            storage,
            service,
            headers,
            identity,
            app: data.apps[0].clone(),
        })
    }

    async fn measure(&self) -> anyhow::Result<Vec<(&'static str, f64)>> {
        let caller = &Caller {
            user: self.identity.caller.clone(),
            context: REQUEST.into(),
        };
        let app = self.get_app().await?;
        let apps = self.list_apps().await?;
        let none = String::from("none");
        let (by_id, all) = (self.procedure("app.byId")?, self.procedure("app.all")?);
        Ok(steps! {
            "authenticate with a key": self.authenticate().await?;
            "storage: begin and end a read": self.begin().await?;
            "storage: begin, read one app, end": self.get_app().await?;
            "storage: begin, list 100 apps, end": self.list_apps().await?;
            "JSON of one app": serde_json::to_string(&app)?;
            "JSON of 100 apps": serde_json::to_string(&apps)?;
            "sandbox: a fresh instance, and its end": self.enter().await?;
            "sandbox: instance and app.byId, with its read": {
                let mut instance = self.enter().await?;
                let (plugin, store) = instance.parts().unwrap();
                let answer = plugin.portico_dashboard_apps().call_by_id(store, caller, &self.app).await;
                instance.answer(answer)?
            };
            "sandbox: instance and app.byId without an app": {
                let mut instance = self.enter().await?;
                let (plugin, store) = instance.parts().unwrap();
                let answer = plugin.portico_dashboard_apps().call_by_id(store, caller, &none).await;
                instance.answer(answer).err()
            };
            "sandbox: instance and app.all, with its list of 100": {
                let mut instance = self.enter().await?;
                let (plugin, store) = instance.parts().unwrap();
                let answer = plugin.portico_dashboard_apps().call_all(store, caller).await;
                instance.answer(answer)?
            };
            "service: the call app.byId, from JSON to JSON": self.call(by_id, Some(json!({"id": self.app}))).await?;
            "service: the call app.all, from JSON to JSON": self.call(all, None).await?;
        })
    }

    fn procedure(&self, name: &str) -> Result<&Procedure, Error> {
        let found = self.service.table.find(name);
        found
            .map(Arc::as_ref)
            .ok_or_else(|| Error::not_found("Procedure"))
    }

    async fn authenticate(&self) -> Result<Identity, Error> {
        let (shown, now) = (
            identity::credentials_of(&self.headers, PLAIN_COOKIE),
            SystemClock.now(),
        );
        let anonymous = anonymous();
        let authenticated = identity::authenticate(&*self.storage, shown, &self.headers, &anonymous, now);
        Ok(authenticated.await?.0)
    }

    async fn begin(&self) -> Result<(), Error> {
        let context = self.identity.context(REQUEST);
        drop(self.storage.begin(Access::Read, &context).await?);
        Ok(())
    }

    async fn get_app(&self) -> Result<Option<portico_model::App>, Error> {
        let context = self.identity.context(REQUEST);
        let mut transaction = self.storage.begin(Access::Read, &context).await?;
        Ok(transaction.get_app(&self.app, &Viewer::Everything).await?)
    }

    async fn list_apps(&self) -> Result<Vec<portico_model::App>, Error> {
        let context = self.identity.context(REQUEST);
        let mut transaction = self.storage.begin(Access::Read, &context).await?;
        Ok(transaction.list_apps(&AppFilter::EVERYTHING, Slice::ALL).await?)
    }

    async fn enter(&self) -> Result<sandbox::Instance, Error> {
        self.service.sandbox.enter(self.identity.context(REQUEST)).await
    }

    async fn call(&self, procedure: &Procedure, input: Option<Value>) -> Result<String, Error> {
        self.service
            .call(procedure, &self.identity, REQUEST, Ok(input))
            .await
    }
}

fn anonymous() -> CallContext {
    Identity::anonymous().context(REQUEST)
}
