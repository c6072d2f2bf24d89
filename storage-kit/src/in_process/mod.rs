//! An implementation in Rust, in this process.
//!
//! Invariant: each transaction is a task of its own, which handles one call after the other. So a transaction that
//! waits does not block the others.

mod calls;
mod json;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use portico_storage::{Authentication, CallContext, Storage, Transaction};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use self::calls::{Begin, Call};
use crate::bridge::{Bridge, BridgeCall, BridgeError};
use crate::protocol::{Answer, Broken, Implementation, Request};

/// An implementation of [`Storage`] in this process, with its bridge.
pub struct InProcess {
    runtime: Runtime,
    storage: Arc<dyn Storage>,
    bridge: Arc<dyn Bridge>,
    transactions: HashMap<String, UnboundedSender<Request>>,
    sender: mpsc::Sender<(u64, Answer)>,
    answers: mpsc::Receiver<(u64, Answer)>,
}

impl InProcess {
    /// Runs this storage on a runtime of its own.
    ///
    /// # Panics
    ///
    /// If no threads can be started for the runtime.
    pub fn new(storage: Arc<dyn Storage>, bridge: impl Bridge) -> Self {
        let (sender, answers) = mpsc::channel();
        Self {
            runtime: Runtime::new().expect("threads for a runtime"),
            storage,
            bridge: Arc::new(bridge),
            transactions: HashMap::new(),
            sender,
            answers,
        }
    }
}

impl Implementation for InProcess {
    fn send(&mut self, request: &Request) -> Result<(), Broken> {
        let answers = self.sender.clone();
        let request = request.clone();
        let Some(name) = request.transaction.clone() else {
            let bridge = self.bridge.clone();
            self.runtime.spawn(async move {
                let answer = ask(&*bridge, &request).await;
                let _ = answers.send((request.id, answer));
            });
            return Ok(());
        };
        if request.call == "begin" {
            let (sender, mut requests) = unbounded_channel::<Request>();
            let storage = self.storage.clone();
            self.runtime.spawn(async move {
                let mut transaction = None;
                while let Some(request) = requests.recv().await {
                    let answer = call(&*storage, &mut transaction, &request).await;
                    let _ = answers.send((request.id, answer));
                }
            });
            self.transactions.insert(name.clone(), sender);
        }
        let transaction = self.transactions.get(&name);
        let sent = transaction.and_then(|sender| sender.send(request).ok());
        sent.ok_or_else(|| {
            Broken(format!(
                "the transaction {name} was not begun, or its task has panicked"
            ))
        })
    }

    fn receive(&mut self, within: Duration) -> Result<Option<(u64, Answer)>, Broken> {
        // The channel is never closed: this holds a sender itself.
        Ok(self.answers.recv_timeout(within).ok())
    }
}

async fn ask(bridge: &dyn Bridge, request: &Request) -> Answer {
    let call = json!({"call": request.call, "arguments": request.arguments});
    let call: BridgeCall = match serde_json::from_value(call) {
        Ok(call) => call,
        Err(error) => return failed(error.to_string()),
    };
    match bridge.call(call).await {
        Ok(value) => Answer::Ok(value),
        Err(BridgeError::Unsupported(reason)) => Answer::Error(json!({"unsupported": reason})),
        Err(BridgeError::Retry) => Answer::Error(json!({"retry": null})),
        Err(BridgeError::Failed(reason)) => failed(reason),
    }
}

/// Handles a call of a transaction.
async fn call(
    storage: &dyn Storage,
    transaction: &mut Option<Box<dyn Transaction>>,
    request: &Request,
) -> Answer {
    let arguments = request.arguments.clone();
    let answer = match (&request.call[..], transaction.as_mut()) {
        ("begin", _) => match serde_json::from_value::<Begin>(arguments) {
            Ok(begin) => storage
                .begin(begin.access.into(), &context(begin.session, begin.user))
                .await
                .map(|begun| {
                    *transaction = Some(begun);
                    Value::Null
                }),
            Err(error) => return failed(error.to_string()),
        },
        ("commit", Some(_)) => match transaction.take() {
            Some(transaction) => transaction.commit().await.map(Value::from),
            None => Ok(Value::Null),
        },
        ("drop", _) => {
            *transaction = None;
            Ok(Value::Null)
        }
        (name, Some(transaction)) => {
            let call = json!({"call": name, "arguments": arguments});
            match serde_json::from_value::<Call>(call) {
                Ok(call) => call.on(&mut **transaction).await,
                Err(error) => return failed(error.to_string()),
            }
        }
        (name, None) => return failed(format!("`{name}` of a transaction that is not open")),
    };
    match answer {
        Ok(value) => Answer::Ok(value),
        Err(error) => Answer::Error(json::error(error)),
    }
}

fn context(session: Option<String>, user: Option<String>) -> CallContext {
    CallContext {
        views_by_shares: false,
        user_id: user,
        authentication: session.map_or(Authentication::None, Authentication::Session),
        request_id: "storage kit".into(),
        audit: None,
        new_token: None,
    }
}

fn failed(reason: String) -> Answer {
    Answer::Error(json!({"failed": reason}))
}
