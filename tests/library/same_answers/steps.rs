//! What a sequence is made of.
//!
//! A step says all that its effect depends on: the time, the seed of its random bytes, who acts, and
//! the whole input. Ids and secrets are made of those random bytes, so that they stay the same when
//! other steps are taken out of the sequence: what such a step would have made is then simply missing.

use std::fmt;

use portico_model::{Provider, Timestamp, time};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its place in the sequence as it was generated.
    pub number: usize,
    pub at: Timestamp,
    pub seed: u64,
    pub caller: Caller,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Caller {
    Anonymous,
    /// The operator at the machine.
    Operator,
    /// A client that shows this key or token.
    Shows(String),
    /// A user, present or gone, for whom an embedding dashboard vouches.
    Vouched {
        id: String,
        permissions: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Call {
        procedure: String,
        input: Option<Value>,
    },
    SignIn {
        username: String,
        password: String,
        /// That of a second factor.
        code: Option<String>,
    },
    SignOut,
    Session,
    /// An identity provider vouches for a user.
    ExternalSignIn(External),
    /// What a request with this key notes.
    UseKey {
        id: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct External {
    pub provider: Provider,
    pub subject: String,
    pub name: String,
    pub email: Option<String>,
    pub email_verified: bool,
    pub image: Option<String>,
}

impl Action {
    /// The procedure, or what else it is, for the distribution.
    pub fn name(&self) -> &str {
        match self {
            Self::Call { procedure, .. } => procedure,
            Self::SignIn { .. } => "(sign-in)",
            Self::SignOut => "(sign-out)",
            Self::Session => "(session)",
            Self::ExternalSignIn(_) => "(external sign-in)",
            Self::UseKey { .. } => "(use of a key)",
        }
    }

    fn input(&self) -> Value {
        match self {
            Self::Call { input, .. } => input.clone().unwrap_or_default(),
            Self::SignIn {
                username,
                password,
                code,
            } => json!({"username": username, "password": password, "code": code}),
            Self::SignOut | Self::Session => Value::Null,
            Self::ExternalSignIn(external) => json!(format!("{external:?}")),
            Self::UseKey { id } => json!({"id": id}),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = time::format(self.at).unwrap_or_default();
        let caller = match &self.caller {
            Caller::Anonymous => "an anonymous client".into(),
            Caller::Operator => "the operator".into(),
            Caller::Shows(text) => format!("a client that shows {text}"),
            Caller::Vouched { id, permissions } => format!("user {id} {permissions:?}"),
        };
        let input = plain(&self.action.input().to_string());
        write!(
            formatter,
            "#{} {at} {caller}: {} {input}",
            self.number,
            self.action.name()
        )
    }
}

/// A text in ASCII, so that what differs can be seen, and not too much of it.
pub fn plain(text: &str) -> String {
    const SHOWN: usize = 1_000;
    let length = text.chars().count();
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .flat_map(|character| match character {
            ' '..='~' => vec![character],
            other => other.escape_unicode().collect(),
        })
        .collect();
    if length > SHOWN {
        shown.push_str(&format!("… ({length} characters)"));
    }
    shown
}
