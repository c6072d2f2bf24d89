//! One of the two that are compared: a whole service in this process, on one storage driver.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::ConnectInfo,
    http::{HeaderMap, HeaderValue, Request, header},
};
use portico_http::SessionTimes;
use portico_model::{Timestamp, error::Error, time::Clock};
use portico_postgres::PostgresStorage;
use portico_sandbox::{ExternalIdentity, Limits, Linking};
use portico_service::{
    identity::{self, Identity, PLAIN_COOKIE},
    service::{Service, report},
};
use portico_sqlite::SqliteStorage;
use portico_storage::{
    Access, Authentication, DashboardStorage, Ids, memory::MemoryStorage, secrets::Secrets,
};
use portico_tests::{SeededBytes, TestClock, TestService, postgresql::Postgresql, router};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

use super::{
    second_factors::PUBLIC_URL,
    steps::{Action, Caller, External, Step},
};

/// From where requests come.
const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// What a step came to. Two sides gave the same answer if theirs are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// `OK`, or the code of the error.
    pub code: String,
    /// The whole answer.
    pub text: String,
}

impl Outcome {
    /// The answer as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

pub struct Side {
    pub service: Arc<Service>,
    router: Router,
    /// Stands still during a step.
    clock: Arc<TestClock>,
    /// Follows from the seed of the step.
    random: Arc<SeededBytes>,
    _folder: Option<TempDir>,
}

impl Side {
    pub async fn memory() -> Self {
        Self::new(None, async |ids| {
            Arc::new(MemoryStorage::new().with_ids(ids)) as _
        })
        .await
    }

    pub async fn sqlite() -> Self {
        let folder = folder();
        let file = folder.path().join("portico.db");
        let open = async |ids| {
            let storage = SqliteStorage::open(&file).expect("open the database");
            Arc::new(storage.with_ids(ids)) as _
        };
        Self::new(Some(folder), open).await
    }

    /// On a new database of this server.
    pub async fn postgresql(server: &Postgresql) -> Self {
        static DATABASES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("side_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let url = server.create_database(&name);
        let open = async |ids| {
            let storage = PostgresStorage::open(&url).await.expect("open the database");
            Arc::new(storage.with_ids(ids)) as _
        };
        Self::new(None, open).await
    }

    async fn new(folder: Option<TempDir>, open: impl AsyncFnOnce(Ids) -> Arc<dyn DashboardStorage>) -> Self {
        let (clock, random) = (TestClock::at(0), SeededBytes::new(0));
        let storage = open(Ids::new(Secrets::new(random.clone()), clock.clone())).await;
        let service = TestService::over(storage)
            .clock(clock.clone())
            .random(random.clone())
            .limits(Limits {
                instances: 4,
                ..Limits::default()
            })
            .passkeys(PUBLIC_URL)
            .audit_when_read()
            .build()
            .await;
        Self {
            // Ids of requests are the same on both sides: they come from a proxy that is trusted.
            router: router(service.clone()),
            service,
            clock,
            random,
            _folder: folder,
        }
    }

    /// Takes one step.
    pub async fn take(&self, step: &Step) -> Outcome {
        self.clock.set(step.at);
        self.random.reseed(step.seed);
        let id = format!("step-{:06}", step.number);
        match &step.action {
            Action::Call { procedure, input } => {
                outcome(self.call(&step.caller, procedure, input.clone(), &id).await)
            }
            Action::SignIn {
                username,
                password,
                code,
            } => {
                let mut body = json!({"username": username, "password": password});
                if let Some(code) = code {
                    body["code"] = json!(code);
                }
                self.request("POST", "/api/auth/sign-in", &step.caller, &id, Some(body))
                    .await
            }
            Action::SignOut => {
                self.request("POST", "/api/auth/sign-out", &step.caller, &id, None)
                    .await
            }
            Action::Session => {
                self.request("GET", "/api/auth/session", &step.caller, &id, None)
                    .await
            }
            Action::ExternalSignIn(external) => outcome(self.external(external, &id).await),
            Action::UseKey { id: key } => outcome(self.use_key(key, step.at).await),
        }
    }

    /// The output of a procedure for the operator, who may call everything.
    pub async fn ask(&self, procedure: &str, input: Value) -> Value {
        let answer = self.call(&Caller::Operator, procedure, Some(input), "look").await;
        match answer {
            Ok(output) => serde_json::from_str(&output).expect("JSON"),
            Err(error) => panic!("{procedure} fails for the operator: {}", error.message),
        }
    }

    async fn call(
        &self,
        caller: &Caller,
        procedure: &str,
        input: Option<Value>,
        id: &str,
    ) -> Result<String, Error> {
        let found = self
            .service
            .table
            .find(procedure)
            .expect("a procedure of the table");
        let identity = self.identify(caller, id).await?;
        self.service.call(found, &identity, id, Ok(input)).await
    }

    /// Notes that a session is used. A router does that in the background, at an unknown moment,
    /// unless it has just been done.
    async fn note_use(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        let Caller::Shows(text) = caller else {
            return Ok(());
        };
        let headers = bearer(text);
        let (storage, now) = (&*self.service.storage, self.clock.now());
        let shown = identity::credentials_of(&headers, PLAIN_COOKIE);
        let context = Identity::anonymous().context(id);
        let known = identity::authenticate(storage, shown, &headers, &context, now).await;
        let Ok((identity, Some(used))) = known else {
            return Ok(());
        };
        if let Some(ends_at) = used.ends_at {
            let idle = SessionTimes::default().idle.as_millis() as Timestamp;
            let expires_at = (now + idle).min(ends_at);
            let mut transaction = storage
                .begin_dashboard(Access::Write, &identity.context(id))
                .await?;
            transaction.touch_session(&used.id, now, expires_at).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    async fn identify(&self, caller: &Caller, id: &str) -> Result<Identity, Error> {
        match caller {
            Caller::Anonymous => Ok(Identity::anonymous()),
            Caller::Operator => Ok(Identity::operator()),
            Caller::Vouched { id, permissions } => {
                let (id, permissions) = (id.clone(), permissions.clone());
                Ok(Identity::user(id, permissions, Authentication::Host))
            }
            Caller::Shows(text) => {
                let headers = bearer(text);
                let (storage, now) = (&*self.service.storage, self.clock.now());
                let shown = identity::credentials_of(&headers, PLAIN_COOKIE);
                let context = Identity::anonymous().context(id);
                let known = identity::authenticate(storage, shown, &headers, &context, now).await?;
                Ok(known.0)
            }
        }
    }

    /// A request as it comes in from outside, without the network.
    async fn request(
        &self,
        method: &str,
        path: &str,
        caller: &Caller,
        id: &str,
        body: Option<Value>,
    ) -> Outcome {
        self.note_use(caller, id)
            .await
            .expect("the use of a session is noted");
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .extension(ConnectInfo(HERE))
            .header(header::HOST, "localhost")
            .header("x-request-id", id);
        if let Caller::Shows(text) = caller {
            request.headers_mut().expect("headers").extend(bearer(text));
        }
        let request = match body {
            Some(body) => request
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string())),
            None => request.body(Body::empty()),
        };
        let answer = self.router.clone().oneshot(request.expect("a request")).await;
        let (head, body) = answer.expect("an answer").into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a body");
        let body = String::from_utf8_lossy(&body).into_owned();
        let json: Value = serde_json::from_str(&body).unwrap_or_default();
        let code = json["code"].as_str().unwrap_or("OK");
        let cookies: Vec<_> = head.headers.get_all(header::SET_COOKIE).iter().collect();
        Outcome {
            code: code.into(),
            text: json!({"status": head.status.as_u16(), "cookies": format!("{cookies:?}"), "body": json})
                .to_string(),
        }
    }

    async fn external(&self, external: &External, id: &str) -> Result<String, Error> {
        let identity = ExternalIdentity {
            provider: external.provider,
            subject: external.subject.clone(),
            name: external.name.clone(),
            email: external.email.clone(),
            email_verified: external.email_verified,
            image: external.image.clone(),
        };
        let context = Identity::anonymous().context(id);
        let mut instance = self.service.sandbox.enter(context).await?;
        let (plugin, store) = instance.parts().unwrap();
        let answer = plugin
            .portico_dashboard_sign_in()
            .call_external(store, &id.to_owned(), &identity, Linking::Off)
            .await;
        let user = instance
            .read_result(answer)
            .map_err(|error| report(error, "external", id))?;
        Ok(json!({"id": user.id, "name": user.name}).to_string())
    }

    async fn use_key(&self, id: &str, now: Timestamp) -> Result<String, Error> {
        let context = Identity::anonymous().context("use");
        let mut transaction = self
            .service
            .storage
            .begin_dashboard(Access::Write, &context)
            .await?;
        transaction.touch_key(id, now).await?;
        transaction.commit().await?;
        Ok("null".into())
    }
}

fn bearer(text: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("Bearer {text}")).expect("a header");
    headers.insert(header::AUTHORIZATION, value);
    headers
}

fn outcome(answer: Result<String, Error>) -> Outcome {
    match answer {
        Ok(text) => Outcome {
            code: "OK".into(),
            text,
        },
        Err(error) => {
            let (code, message) = (error.code.name(), error.message);
            let text = json!({"code": code, "message": message, "issues": error.issues}).to_string();
            Outcome {
                code: code.into(),
                text,
            }
        }
    }
}

/// A folder in memory where there is one: what lasts through a loss of power is tested elsewhere, and
/// waiting for a disk is most of what a commit costs.
fn folder() -> TempDir {
    let in_memory = Path::new("/dev/shm");
    let folder = if in_memory.is_dir() {
        tempfile::tempdir_in(in_memory)
    } else {
        tempfile::tempdir()
    };
    folder.expect("a temporary folder")
}
