//! Clients of the service: anonymous, with a session or with a key. All behind one trait.

use std::sync::{Arc, RwLock};

use serde_json::{Value, json};
use ureq::http;

use crate::{Answer, PATIENCE, escape};

/// The input of a procedure that takes none.
pub const NO_INPUT: Value = Value::Null;

/// The address of a service, shared by its clients: a restart moves it to another port.
#[derive(Clone)]
pub struct Endpoint {
    address: Arc<RwLock<String>>,
    agent: ureq::Agent,
}

impl Endpoint {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            address: Arc::new(RwLock::new(address.to_owned())),
            agent: agent(),
        }
    }

    pub(crate) fn move_to(&self, address: &str) {
        address.clone_into(&mut self.address.write().expect("the lock"));
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        self.address.read().expect("the lock").clone()
    }
}

/// Sends requests, and follows no redirect.
pub fn agent() -> ureq::Agent {
    // One connection for each request: none is left over from a service that was killed.
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .max_idle_connections(0)
        .timeout_global(Some(PATIENCE))
        .build()
        .new_agent()
}

/// The path of a query as procedure call.
pub fn trpc_query_path(procedure: &str, input: &Value) -> String {
    match input {
        Value::Null => format!("/api/trpc/{procedure}"),
        input => format!("/api/trpc/{procedure}?input={}", escape(&input.to_string())),
    }
}

/// A client that sends requests. Clients differ in the headers that say who they are.
pub trait Client {
    /// Where the requests go.
    fn endpoint(&self) -> &Endpoint;

    /// The headers that say who this is.
    fn credentials(&self) -> Vec<(String, String)>;

    /// Sends a request as it is and gives what came back, or why nothing did.
    fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> anyhow::Result<Answer> {
        let uri = format!("http://{}{path}", self.endpoint().address());
        let mut request = http::Request::builder().method(method).uri(uri);
        for (name, value) in self.credentials() {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let agent = &self.endpoint().agent;
        let mut response = match body {
            Some(body) => agent.run(request.body(body)?)?,
            None => agent.run(request.body(())?)?,
        };
        let headers = response.headers().iter();
        let headers = headers.map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        });
        Ok(Answer {
            status: response.status().as_u16(),
            headers: headers.collect(),
            body: response.body_mut().with_config().limit(256 << 20).read_to_vec()?,
            request: format!(
                "{method} {path} {}",
                String::from_utf8_lossy(body.unwrap_or_default())
            ),
        })
    }

    /// Sends a request that must get a response.
    #[track_caller]
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        match self.try_send(method, path, headers, body) {
            Ok(answer) => answer.checked(path),
            Err(error) => panic!("{method} {path} got no answer: {error:#}"),
        }
    }

    /// Sends JSON to a service that may answer with a 5xx, because something it needs is broken.
    #[track_caller]
    fn send_allowing_5xx(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string);
        let headers: &[_] = match body {
            Some(_) => &[("content-type", "application/json")],
            None => &[],
        };
        match self.try_send(method, path, headers, body.as_deref().map(str::as_bytes)) {
            Ok(answer) => answer.checked_with_5xx(),
            Err(error) => panic!("{method} {path} got no answer: {error:#}"),
        }
    }

    /// Sends JSON.
    #[track_caller]
    fn send_json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_text(method, path, &body.to_string())
    }

    /// Sends a text that says it is JSON.
    #[track_caller]
    fn send_text(&self, method: &str, path: &str, body: &str) -> Answer {
        self.send(
            method,
            path,
            &[("content-type", "application/json")],
            Some(body.as_bytes()),
        )
    }

    /// `GET`.
    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None)
    }

    /// `POST` with JSON.
    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Answer {
        self.send_json("POST", path, body)
    }

    /// `PUT` with JSON.
    #[track_caller]
    fn put(&self, path: &str, body: &Value) -> Answer {
        self.send_json("PUT", path, body)
    }

    /// `PATCH` with JSON.
    #[track_caller]
    fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send_json("PATCH", path, body)
    }

    /// `DELETE` without a body.
    #[track_caller]
    fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None)
    }

    /// Calls a query procedure; [`NO_INPUT`] for one that takes none.
    #[track_caller]
    fn query(&self, procedure: &str, input: &Value) -> Answer {
        self.get(&trpc_query_path(procedure, input))
    }

    /// Calls a mutation procedure.
    #[track_caller]
    fn mutate(&self, procedure: &str, input: &Value) -> Answer {
        self.post(&format!("/api/trpc/{procedure}"), input)
    }
}

/// A client without credentials.
#[derive(Clone)]
pub struct Anonymous {
    pub(crate) endpoint: Endpoint,
}

impl Anonymous {
    /// A client without credentials, of the service at this address.
    pub fn at(address: &str) -> Self {
        Self {
            endpoint: Endpoint::new(address),
        }
    }

    /// A client with this API key, or with the token of a session.
    pub fn key(&self, key: &str) -> Key {
        Key::new(&self.endpoint, key)
    }

    /// Signs in.
    #[track_caller]
    pub fn sign_in(&self, name: &str, password: &str) -> Session {
        let body = json!({"username": name, "password": password});
        let answer = self.post("/api/auth/sign-in", &body);
        answer.assert_status(200);
        let cookie = answer
            .header("set-cookie")
            .unwrap_or_else(|| panic!("no cookie: {answer}"));
        let text = |pointer: &str| match answer.json().pointer(pointer).and_then(|text| text.as_str()) {
            Some(text) => text.to_owned(),
            None => panic!("no {pointer}: {answer}"),
        };
        Session {
            endpoint: self.endpoint.clone(),
            cookie: cookie.split(';').next().unwrap_or_default().to_owned(),
            token: text("/token"),
            user_id: text("/user/id"),
        }
    }
}

impl Client for Anonymous {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn credentials(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A browser that signed in: it sends the cookie that it was given.
#[derive(Clone)]
pub struct Session {
    pub(crate) endpoint: Endpoint,
    /// `name=value`, as the service set it.
    pub cookie: String,
    /// The token of the same session, as the body of the answer gave it.
    pub token: String,
    /// Whose session it is.
    pub user_id: String,
}

impl Session {
    /// The session after this response, if the response has set another cookie.
    pub fn renewed(&self, answer: &Answer) -> Option<Self> {
        let cookie = answer.header("set-cookie")?.split(';').next()?;
        let (_, token) = cookie.split_once('=')?;
        Some(Self {
            cookie: cookie.to_owned(),
            token: token.to_owned(),
            ..self.clone()
        })
    }

    /// The same session through its token: `Authorization: Bearer`.
    pub fn bearer(&self) -> Key {
        Key::new(&self.endpoint, &self.token)
    }
}

impl Client for Session {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn credentials(&self) -> Vec<(String, String)> {
        vec![("cookie".to_owned(), self.cookie.clone())]
    }
}

/// A program with an API key.
#[derive(Clone)]
pub struct Key {
    endpoint: Endpoint,
    /// The key, `<id>.<secret>`, or a session's token.
    pub key: String,
    header: &'static str,
}

impl Key {
    /// A program that shows this key to the service behind this endpoint.
    pub fn new(endpoint: &Endpoint, key: &str) -> Self {
        Self {
            endpoint: endpoint.clone(),
            key: key.to_owned(),
            header: "authorization",
        }
    }

    /// The value of the header `Authorization`.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.key)
    }

    /// The same key in the header `ApiKey`.
    pub fn in_api_key_header(&self) -> Self {
        Self {
            header: "apikey",
            ..self.clone()
        }
    }
}

impl Client for Key {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn credentials(&self) -> Vec<(String, String)> {
        let value = match self.header {
            "authorization" => self.authorization(),
            _ => self.key.clone(),
        };
        vec![(self.header.to_owned(), value)]
    }
}
