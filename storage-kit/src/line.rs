//! The line to an implementation: requests are sent in order, responses come in any order.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::protocol::{Answer, Broken, Implementation, Request};

/// How long a call that waits for no other transaction may take.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends requests, and stores the responses until they are needed.
pub(crate) struct Line<'a> {
    target: &'a mut dyn Implementation,
    next: u64,
    answers: HashMap<u64, Answer>,
}

impl<'a> Line<'a> {
    pub fn new(target: &'a mut dyn Implementation) -> Self {
        Self {
            target,
            next: 1,
            answers: HashMap::new(),
        }
    }

    /// Sends a request; returns its id.
    pub fn send(&mut self, transaction: Option<&str>, call: &str, arguments: &Value) -> Result<u64, Broken> {
        let mut arguments = arguments.clone();
        if call == "begin"
            && let Some(members) = arguments.as_object_mut()
        {
            members.entry("session").or_insert(Value::Null);
            members.entry("user").or_insert(Value::Null);
        }
        let id = self.next;
        self.next += 1;
        self.target.send(&Request {
            id,
            transaction: transaction.map(str::to_owned),
            call: call.to_owned(),
            arguments,
        })?;
        Ok(id)
    }

    /// Waits for the response to this request; `None` if it does not come within this time.
    pub fn wait_for_answer(&mut self, id: u64, within: Duration) -> Result<Option<Answer>, Broken> {
        let end = Instant::now() + within;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Ok(Some(answer));
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.target.receive(left)? {
                Some((id, answer)) => drop(self.answers.insert(id, answer)),
                None => return Ok(None),
            }
        }
    }

    /// Sends a request that waits for no other transaction, and returns its response.
    pub fn call(
        &mut self,
        transaction: Option<&str>,
        call: &str,
        arguments: &Value,
    ) -> Result<Answer, Broken> {
        let id = self.send(transaction, call, arguments)?;
        let answer = self.wait_for_answer(id, WAIT_TIMEOUT)?;
        let seconds = WAIT_TIMEOUT.as_secs();
        answer.ok_or_else(|| Broken(format!("`{call}` was not answered within {seconds} seconds")))
    }

    /// Drops a transaction. Accepts any response.
    pub fn drop_transaction(&mut self, name: &str) -> Result<(), Broken> {
        self.call(Some(name), "drop", &json!({})).map(drop)
    }
}
