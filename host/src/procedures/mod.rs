//! The procedure table: every procedure, with its shapes, its REST route and what runs it.
//!
//! It drives procedure calls, REST, the command line and the access tests. Kind and access of the
//! component's procedures come from its `describe`; a row without a described procedure, or the other
//! way round, stops the host at its start. The dashboard side states its own.

pub(crate) mod apps;
pub(crate) mod users;

use std::{collections::HashMap, future::Future, io, pin::Pin, sync::Arc};

use anyhow::bail;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    dashboard,
    error::{Code, Error},
    identity::Identity,
    model::Caller,
    openapi::{self, words},
    sandbox::{Access, Described, Instance, Kind},
    service::Service,
    shape::Shape,
    storage::{AuditedCall, CallContext, SharedSnapshot},
};

/// What `state.apply` takes.
pub const DOCUMENT: Shape = dashboard::DOCUMENT;

/// An answer, as JSON; `null` where the procedure has no output.
pub type Output = String;

type Running = Pin<Box<dyn Future<Output = Result<Output, Error>> + Send>>;

/// What runs a procedure.
pub(crate) type Run = fn(Call) -> Running;

/// Where a procedure stands in REST.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path; `{key}` becomes a key of the input.
    pub path: &'static str,
}

/// One procedure.
pub struct Procedure {
    /// As clients call it.
    pub name: String,
    /// What it does: of the component's, what the contract says.
    pub about: &'static str,
    /// Query or mutation.
    pub kind: Kind,
    /// Who may call it.
    pub access: Access,
    /// Whether it hashes a password, for which it waits for a turn.
    pub hashes: bool,
    /// Whether it may take seconds: then it waits for a turn among those.
    pub long: bool,
    /// What it takes.
    pub input: Shape,
    /// What it answers.
    pub output: Shape,
    /// Where it stands in REST.
    pub route: Option<Route>,
    /// Whether its input may be as large as the larger of the two limits.
    pub large: bool,
    /// The most values of JSON in its input.
    pub values: usize,
    /// How it may refuse a good input of a caller who may call it.
    pub refusals: &'static [Code],
    pub(crate) run: Run,
}

impl Procedure {
    /// What it does, in its first sentence and without the stop.
    pub fn summary(&self) -> &'static str {
        openapi::summary(self.about)
    }

    /// Whether it is limited how often somebody may try: it hashes, and anyone may call it.
    pub fn is_throttled(&self) -> bool {
        self.hashes && matches!(self.access, Access::Public | Access::Onboarding)
    }

    /// Whether it sets the password of a user who is there: their session may go on under another token.
    pub fn sets_password(&self) -> bool {
        self.name == "user.changePassword"
    }

    /// Whether all that it does is to read, without waiting for a turn before: then it may do so in the
    /// state in which its caller was looked up.
    pub fn just_reads(&self) -> bool {
        let waits = self.hashes || self.long || matches!(self.access, Access::Onboarding);
        self.kind == Kind::Query && !waits
    }
}

/// Values of JSON in one input. A thousand apps have about ten thousand.
pub(crate) const MOST_VALUES: usize = 100_000;

/// What the host knows of a procedure of the component.
struct Row {
    name: &'static str,
    input: Shape,
    output: Shape,
    route: Option<Route>,
    large: bool,
    refusals: &'static [Code],
    run: Run,
}

const fn row(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    Row {
        name,
        input,
        output,
        route: None,
        large: false,
        refusals: &[],
        run,
    }
}

impl Row {
    const fn at(self, method: &'static str, path: &'static str) -> Self {
        Self {
            route: Some(Route { method, path }),
            ..self
        }
    }

    const fn large(self) -> Self {
        Self { large: true, ..self }
    }

    const fn refuses(self, refusals: &'static [Code]) -> Self {
        Self { refusals, ..self }
    }
}

/// All procedures, in order.
pub struct Table {
    procedures: Vec<Procedure>,
    by_name: HashMap<String, usize>,
}

impl Table {
    /// The procedures that the component describes.
    pub fn new(described: Vec<Described>) -> anyhow::Result<Self> {
        let mut rows: HashMap<_, _> = users::ROWS
            .iter()
            .chain(apps::ROWS)
            .map(|row| (row.name, row))
            .collect();
        let mut procedures = Vec::new();
        let mut unknown = Vec::new();
        for described in described {
            let Some(row) = rows.remove(described.name.as_str()) else {
                let name = described.name.chars().take(100);
                unknown.push(name.flat_map(char::escape_debug).collect::<String>());
                continue;
            };
            procedures.push(Procedure {
                about: words::about(&described.name).unwrap_or_default(),
                name: described.name,
                kind: described.kind,
                access: described.access,
                hashes: described.hashes,
                long: false,
                input: row.input,
                output: row.output,
                route: row.route,
                large: row.large,
                values: MOST_VALUES,
                refusals: row.refusals,
                run: row.run,
            });
        }
        let mut lacking: Vec<_> = rows.into_keys().collect();
        lacking.sort_unstable();
        let what_to_do = "run the portico that it was built for, or build it anew";
        if !unknown.is_empty() {
            bail!(
                "the component describes procedures that this host does not know ({}): {what_to_do}",
                unknown[..unknown.len().min(10)].join(", ")
            );
        }
        if !lacking.is_empty() {
            bail!(
                "the component does not describe procedures that this host calls ({}): {what_to_do}",
                lacking.join(", ")
            );
        }
        Ok(Self::of(procedures))
    }

    /// And then those of the dashboard side.
    pub fn with_dashboard(mut self) -> Self {
        self.procedures.extend(dashboard::procedures());
        Self::of(self.procedures)
    }

    fn of(procedures: Vec<Procedure>) -> Self {
        let names = procedures.iter().enumerate();
        let by_name = names.map(|(index, row)| (row.name.clone(), index)).collect();
        Self { procedures, by_name }
    }

    /// Refuses another component's procedures unless they are those in here: routes, description
    /// and clients rely on them.
    pub(crate) fn check_same(&self, described: &Self) -> anyhow::Result<()> {
        let differs = |new: &&Procedure| {
            self.find(&new.name).is_none_or(|old| {
                old.kind != new.kind || old.access != new.access || old.hashes != new.hashes
            })
        };
        let differing: Vec<_> = described
            .iter()
            .filter(differs)
            .map(|row| row.name.as_str())
            .collect();
        if !differing.is_empty() {
            bail!(
                "who may call these procedures, or how, differs from those that are served ({}): restart to \
                 serve it",
                differing.join(", ")
            );
        }
        Ok(())
    }

    /// The procedure with this name.
    pub fn find(&self, name: &str) -> Option<&Procedure> {
        self.by_name.get(name).map(|index| &self.procedures[*index])
    }

    /// All procedures, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Procedure> {
        self.procedures.iter()
    }
}

/// One call of a procedure.
pub(crate) struct Call {
    pub service: Arc<Service>,
    pub identity: Arc<Identity>,
    pub request_id: String,
    /// Checked against the procedure's shape.
    pub input: Value,
    /// How long the component's answer may be as JSON, in bytes.
    pub longest_answer: usize,
    /// Whether it may hash a password.
    pub hashes: bool,
    /// What is recorded of it; none: nothing.
    pub audited: Option<Arc<AuditedCall>>,
    /// What its reads have in common with those of its request.
    pub snapshot: SharedSnapshot,
}

impl Call {
    /// The input, as the type that the procedure takes.
    pub fn input<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        serde_json::from_value(self.input.take()).map_err(|error| {
            Error::internal(anyhow::Error::from(error).context("the shape of an input does not fit its type"))
        })
    }

    /// Who calls, as the component sees them.
    pub fn caller(&self) -> &Caller {
        &self.identity.caller
    }

    /// On whose behalf transactions run.
    pub fn context(&self) -> CallContext {
        self.identity
            .context(&self.request_id)
            .audited(self.audited.clone())
            .within(self.snapshot.clone())
    }

    /// What the component answered, as JSON.
    pub fn json<T: Serialize>(&self, value: &T) -> Result<Output, Error> {
        let mut output = Bounded {
            // Most answers are no longer.
            bytes: Vec::with_capacity(512),
            most: self.longest_answer,
        };
        serde_json::to_writer(&mut output, value).map_err(Error::internal)?;
        String::from_utf8(output.bytes).map_err(Error::internal)
    }

    /// An instance of the component: a fresh one, or one that only ever served this user. What hashes
    /// may sign somebody in or make an account: then it is not one caller's.
    pub async fn enter(&self) -> Result<Instance, Error> {
        let sandbox = &self.service.sandbox;
        match self.identity.user_id() {
            _ if self.hashes => sandbox.enter_to_hash(self.context()).await,
            Some(user_id) => sandbox.enter_for(user_id, self.context()).await,
            _ => sandbox.enter(self.context()).await,
        }
    }
}

/// `{id}`: which record.
#[derive(Deserialize)]
pub(crate) struct ById {
    pub id: String,
}

/// `{id}`: the record that was created.
#[derive(Serialize)]
pub(crate) struct Created {
    pub id: String,
}

/// `{query, limit?}`.
#[derive(Deserialize)]
pub(crate) struct Search {
    pub query: String,
    #[serde(default)]
    pub limit: Option<i32>,
}

/// Takes so many bytes and no more.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Bounded {
    #[cold]
    fn too_long(&self) -> io::Error {
        io::Error::other(format!(
            "the component's answer is longer than {} bytes",
            self.most
        ))
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // JSON comes in many small pieces.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > self.most - self.bytes.len() {
            return Err(self.too_long());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Output, Error> {
    serde_json::to_string(value).map_err(Error::internal)
}

/// What runs a procedure of the component: reads the input, enters the sandbox, calls the
/// function, and gives what it answers as JSON.
macro_rules! component {
    ($interface:ident.$function:ident($($argument:expr),*)) => {
        component!($interface.$function(_input: serde::de::IgnoredAny => $($argument),*))
    };
    ($interface:ident.$function:ident($input:ident: $type:ty => $($argument:expr),*)) => {
        component!($interface.$function($input: $type => $($argument),*), |answer| answer)
    };
    ($interface:ident.$function:ident($input:ident: $type:ty => $($argument:expr),*), |$answer:ident| $output:expr) => {
        |mut call: $crate::procedures::Call| {
            Box::pin(async move {
                let $input: $type = call.input()?;
                let mut instance = call.enter().await?;
                let answer = $crate::sandbox::ask!(instance.$interface.$function(call.caller(), $($argument),*));
                let answer = instance.answer(answer);
                instance.leave();
                let $answer = answer?;
                call.json(&$output)
            })
        }
    };
}
use component;
