//! The rows of the procedure table: what a procedure takes, returns and refuses, who may call it, where clients find
//! it, and the function that runs it.
//!
//! Invariants:
//! - A row of a component's procedure leaves kind, access and cost to the component, which describes them; every
//!   other row states its own.
//! - A procedure that is reached only at its route is never part of a procedure call or a batch.

use std::ops::Deref;

use portico_model::error::Code;
use portico_rules::permissions::Permission;
use portico_sandbox::{Access, Cost, Described, Kind};
use serde::Serialize;

use super::call::Run;
use crate::{audit::Action, identity::Identity, shape::Shape, words};

/// The most JSON values in one input, unless a row says otherwise. A thousand apps have about ten thousand.
pub const MOST_VALUES: usize = 100_000;

/// Method and path of a procedure in REST.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Route {
    pub method: &'static str,
    /// The path; `{key}` becomes a key of the input.
    pub path: &'static str,
}

impl Route {
    /// The keys in its path, in order.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        parameters(self.path)
    }

    /// Whether both paths match the same requests: their parameters may have other names.
    pub fn is_at(&self, path: &str) -> bool {
        let plain = |part: &str| !part.starts_with('{');
        let parts = self.path.split('/').zip(path.split('/'));
        self.path.split('/').count() == path.split('/').count()
            && parts
                .into_iter()
                .all(|(one, other)| one == other || !(plain(one) || plain(other)))
    }
}

/// The names of the parameters in a path, in order.
pub fn parameters(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('/');
    parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

#[derive(Clone, Copy)]
pub(crate) enum Transports {
    /// Procedure calls and the command line, and REST if it has a route. This function runs it.
    Calls(Run),
    /// Only its route. A function of [`sign_in`](crate::sign_in) runs it, because its answer is more than JSON.
    Route,
}

/// The calls of a procedure that the audit log records. For a query, only 401, 403 and 429 count as refusals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// Every successful call of a mutation, even if it changed nothing, and refusals.
    Calls,
    /// Successful calls only if they changed a record, and refusals.
    Changes,
    /// No calls, or the procedure records them itself.
    None,
}

/// The method of procedure calls of this kind, and of routes without a method of their own.
pub const fn method(kind: Kind) -> &'static str {
    match kind {
        Kind::Query => "GET",
        Kind::Mutation => "POST",
    }
}

/// One procedure: its row, and what the component or the row says about its kind, access and cost.
pub struct Procedure {
    row: &'static Row,
    /// Query or mutation.
    pub kind: Kind,
    /// Who may call it.
    pub access: Access,
    /// The most that a call may cost, and so where it runs.
    pub cost: Cost,
}

impl Deref for Procedure {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.row
    }
}

impl Procedure {
    /// What it does. The contract says it for the component's procedures.
    pub fn about(&self) -> &'static str {
        match self.row.about {
            "" => words::about(self.name).unwrap_or_default(),
            about => about,
        }
    }

    /// The first sentence of what it does, without the full stop.
    pub fn summary(&self) -> &'static str {
        words::summary(self.about())
    }

    /// A call of it, as the audit log names it.
    pub fn action<'a>(&'a self, identity: &'a Identity, request_id: &'a str) -> Action<'a> {
        Action {
            procedure: self.name,
            kind: self.kind,
            identity,
            request_id,
        }
    }

    /// Whether the throttle counts its calls: otherwise anyone could keep the cores busy with hashing, or guess an
    /// invite or a link for a new password.
    pub fn is_throttled(&self) -> bool {
        self.takes_secret
            || self.cost == Cost::Hash && matches!(self.access, Access::Public | Access::Onboarding)
    }

    /// Whether it is the component's, which describes it.
    pub fn is_described(&self) -> bool {
        self.stated.is_none()
    }
}

/// Who may call a procedure whose row states it.
#[derive(Clone, Copy)]
enum Callers {
    Anyone,
    SignedIn,
    Holders(Permission),
}

/// What the row says about a procedure that the component does not describe.
#[derive(Clone, Copy)]
struct Stated {
    kind: Kind,
    callers: Callers,
    cost: Cost,
}

/// A row of the table. It becomes a [`Procedure`] once kind, access and cost are known.
pub struct Row {
    /// The name by which clients call it.
    pub name: &'static str,
    /// Its description; empty if the contract has it.
    about: &'static str,
    /// `None` if the component describes kind, access and cost.
    stated: Option<Stated>,
    pub input: Shape,
    pub output: Shape,
    /// Its place in REST.
    pub route: Option<Route>,
    /// The codes with which it may refuse a valid input of a permitted caller.
    pub refusals: &'static [Code],
    /// Whether a secret in its input is what permits it, so that the throttle counts its calls.
    pub(crate) takes_secret: bool,
    /// The most JSON values in its input, if that may be as large as the larger of the two limits.
    pub large_input: Option<usize>,
    pub(crate) transports: Transports,
    pub(crate) recorded: Recorded,
}

const fn row(name: &'static str, input: Shape, output: Shape, transports: Transports) -> Row {
    Row {
        name,
        about: "",
        stated: None,
        input,
        output,
        route: None,
        refusals: &[],
        takes_secret: false,
        large_input: None,
        transports,
        recorded: Recorded::Calls,
    }
}

/// A procedure of the component, which describes its kind and its access.
pub(crate) const fn described(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    row(name, input, output, Transports::Calls(run))
}

pub(crate) const fn query(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    described(name, input, output, run).stated(Kind::Query, Callers::Holders(Permission::Admin))
}

pub(crate) const fn mutation(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    described(name, input, output, run).stated(Kind::Mutation, Callers::Holders(Permission::Admin))
}

/// A procedure that clients reach only at its route: a query with `GET`, a mutation with `POST`. Anyone may call it.
pub(crate) const fn route_only(
    name: &'static str,
    kind: Kind,
    path: &'static str,
    input: Shape,
    output: Shape,
) -> Row {
    row(name, input, output, Transports::Route)
        .stated(kind, Callers::Anyone)
        .at(method(kind), path)
}

impl Row {
    const fn stated(self, kind: Kind, callers: Callers) -> Self {
        let cost = Cost::Small;
        Self {
            stated: Some(Stated { kind, callers, cost }),
            ..self
        }
    }

    const fn callable_by(self, callers: Callers) -> Self {
        match self.stated {
            Some(stated) => Self {
                stated: Some(Stated { callers, ..stated }),
                ..self
            },
            None => self,
        }
    }

    /// Anyone may call it.
    pub(crate) const fn public(self) -> Self {
        self.callable_by(Callers::Anyone)
    }

    /// Anyone may call it who has the secret that its input names.
    pub(crate) const fn for_holders_of_secret(self) -> Self {
        Self {
            takes_secret: true,
            ..self.public()
        }
    }

    /// Any signed-in caller may call it.
    pub(crate) const fn protected(self) -> Self {
        self.callable_by(Callers::SignedIn)
    }

    /// Callers with this permission may call it.
    pub(crate) const fn needs(self, permission: Permission) -> Self {
        self.callable_by(Callers::Holders(permission))
    }

    /// The cost of a call grows with the data.
    pub(crate) const fn large(self) -> Self {
        self.costs(Cost::Large)
    }

    /// A call hashes a password.
    pub(crate) const fn hashes(self) -> Self {
        self.costs(Cost::Hash)
    }

    const fn costs(self, cost: Cost) -> Self {
        match self.stated {
            Some(stated) => Self {
                stated: Some(Stated { cost, ..stated }),
                ..self
            },
            None => self,
        }
    }

    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(crate) const fn refuses(self, refusals: &'static [Code]) -> Self {
        Self { refusals, ..self }
    }

    /// Its input may be as large as the larger of the two limits, and hold this many JSON values.
    pub(crate) const fn large_input(self, values: usize) -> Self {
        Self {
            large_input: Some(values),
            ..self
        }
    }

    pub(crate) const fn at(self, method: &'static str, path: &'static str) -> Self {
        Self {
            route: Some(Route { method, path }),
            ..self
        }
    }

    pub(crate) const fn recorded(self, recorded: Recorded) -> Self {
        Self { recorded, ..self }
    }

    /// The procedure, with what the component describes.
    pub(crate) fn with(&'static self, described: Described) -> Procedure {
        Procedure {
            row: self,
            kind: described.kind,
            access: described.access,
            cost: described.cost,
        }
    }

    /// The procedure of a row that states kind, access and cost itself.
    pub(crate) fn procedure_as_stated(&'static self) -> Option<Procedure> {
        let Stated { kind, callers, cost } = self.stated?;
        let access = match callers {
            Callers::Anyone => Access::Public,
            Callers::SignedIn => Access::Protected,
            Callers::Holders(permission) => {
                Access::OneOf(permission.given_by().iter().map(|&name| name.into()).collect())
            }
        };
        Some(Procedure {
            row: self,
            kind,
            access,
            cost,
        })
    }
}
