//! The rows of the procedure table: what a procedure takes, answers and refuses, who may call it, where
//! clients find it, and the function that runs it.
//!
//! Invariants:
//! - A row of a component's procedure leaves kind and access to the component, which describes them; every
//!   other row states its own.
//! - A procedure that is reached at its route alone is never part of a procedure call or a batch.

use portico_model::error::Code;
use portico_sandbox::{Access, Cost, Described, Kind};
use portico_storage::ADMIN;
use serde::Serialize;

use super::call::Run;
use crate::{audit::Action, identity::Identity, shape::Shape, words};

/// The most JSON values in one input, unless a row says otherwise. A thousand apps have about ten thousand.
pub const MOST_VALUES: usize = 100_000;

/// The largest record of any list, in ASCII, as JSON, in bytes: a user. Nearly all of it is the image.
const LARGEST_RECORD: usize = 351_000;

/// A record whose texts are all short, such as a user without the image or a row of the audit log, in bytes.
pub(crate) const SMALL_RECORD: usize = 4_000;

/// Method and path of a procedure in REST.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Route {
    /// The method.
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

/// The transports of a procedure.
#[derive(Clone, Copy)]
pub(crate) enum Transports {
    /// Procedure calls and the command line, and REST if it has a route. This function runs it.
    Calls(Run),
    /// Its route alone. A function of [`sign_in`](crate::sign_in) runs it: its answer is more than JSON.
    Route,
}

/// The calls of a procedure that the audit log records. Of a query, only 401, 403 and 429 count as refusals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// Every successful call of a mutation, even if it changed nothing, and refusals.
    Calls,
    /// Successful calls only if they changed a record, and refusals.
    Changes,
    /// None, or the procedure records them itself.
    None,
}

/// The method of procedure calls of this kind, and of routes that no other method is stated for.
pub const fn method(kind: Kind) -> &'static str {
    match kind {
        Kind::Query => "GET",
        Kind::Mutation => "POST",
    }
}

/// What running a procedure takes, and so the permit that it waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Little: it needs no permit.
    Light,
    /// It hashes a password.
    Hashing,
    /// It makes a long list.
    LongList,
    /// It may take seconds.
    Long,
}

/// One procedure.
#[derive(Clone)]
pub struct Procedure {
    /// The name that clients call it by.
    pub name: String,
    /// What it does. The contract says it for the component's procedures.
    pub about: &'static str,
    /// Query or mutation.
    pub kind: Kind,
    /// Who may call it.
    pub access: Access,
    /// Whether it is the component's, which describes it.
    pub is_described: bool,
    /// Whether it hashes a password, for which it waits for a permit.
    pub hashes: bool,
    /// Whether it may take seconds: then it waits for a permit to do so.
    pub long: bool,
    /// The shape of its input.
    pub input: Shape,
    /// The shape of its answer.
    pub output: Shape,
    /// Whether its answer holds a list.
    pub holds_list: bool,
    /// Its place in REST.
    pub route: Option<Route>,
    /// Whether its input may be as large as the larger of the two limits.
    pub large: bool,
    /// The most JSON values in its input.
    pub values: usize,
    /// How it may refuse a valid input of a permitted caller.
    pub refusals: &'static [Code],
    /// Whether the throttle counts its calls.
    pub throttled: bool,
    /// Whether it sets the password of an existing user: their session may go on under another token.
    pub sets_password: bool,
    /// Whether it first reads the app with the `id` of its input.
    pub reads_app: bool,
    /// The largest record of a list that it answers, in ASCII, as JSON, in bytes.
    pub record_size: usize,
    pub(crate) transports: Transports,
    pub(crate) recorded: Recorded,
}

impl Procedure {
    /// The first sentence of what it does, without the full stop.
    pub fn summary(&self) -> &'static str {
        words::summary(self.about)
    }

    /// A call of it, as the audit log names it.
    pub fn action<'a>(&'a self, identity: &'a Identity, request_id: &'a str) -> Action<'a> {
        Action {
            procedure: &self.name,
            kind: self.kind,
            identity,
            request_id,
        }
    }

    /// What running it takes, unless it reads a list that is estimated to be long.
    pub(crate) fn work(&self) -> Work {
        if self.hashes {
            Work::Hashing
        } else if self.long {
            Work::Long
        } else {
            Work::Light
        }
    }

    /// Whether it only reads, and never waits for a permit first: then it may read in the snapshot in which
    /// its caller was looked up.
    pub fn is_read_only(&self) -> bool {
        let waits = self.work() != Work::Light || matches!(self.access, Access::Onboarding);
        self.kind == Kind::Query && !waits
    }
}

/// Who may call a procedure whose row states it.
#[derive(Clone, Copy)]
enum Callers {
    Anyone,
    SignedIn,
    Administrators,
}

/// Kind and callers of a procedure that the component does not describe.
#[derive(Clone, Copy)]
struct Stated {
    kind: Kind,
    callers: Callers,
}

/// A row of the table. It becomes a [`Procedure`] once kind and access are known.
pub(crate) struct Row {
    pub name: &'static str,
    /// Empty: the contract says it.
    about: &'static str,
    /// None: the component describes kind and access.
    stated: Option<Stated>,
    long: bool,
    large: bool,
    values: usize,
    input: Shape,
    output: Shape,
    route: Option<Route>,
    refusals: &'static [Code],
    throttled: bool,
    sets_password: bool,
    reads_app: bool,
    record_size: usize,
    transports: Transports,
    recorded: Recorded,
}

const fn row(name: &'static str, input: Shape, output: Shape, transports: Transports) -> Row {
    Row {
        name,
        about: "",
        stated: None,
        long: false,
        large: false,
        values: MOST_VALUES,
        input,
        output,
        route: None,
        refusals: &[],
        throttled: false,
        sets_password: false,
        reads_app: false,
        record_size: LARGEST_RECORD,
        transports,
        recorded: Recorded::Calls,
    }
}

/// A procedure of the component, which describes its kind and its access.
pub(crate) const fn described(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    row(name, input, output, Transports::Calls(run))
}

/// A query for administrators.
pub(crate) const fn query(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    described(name, input, output, run).stated(Kind::Query, Callers::Administrators)
}

/// A mutation for administrators.
pub(crate) const fn mutation(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    described(name, input, output, run).stated(Kind::Mutation, Callers::Administrators)
}

/// A procedure that clients reach at its route alone: a query with `GET`, a mutation with `POST`. Anyone may call
/// it.
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
        Self {
            stated: Some(Stated { kind, callers }),
            ..self
        }
    }

    const fn callable_by(self, callers: Callers) -> Self {
        match self.stated {
            Some(Stated { kind, .. }) => self.stated(kind, callers),
            None => self,
        }
    }

    /// Anyone may call it.
    pub const fn public(self) -> Self {
        self.callable_by(Callers::Anyone)
    }

    /// Any signed-in caller may call it.
    pub const fn protected(self) -> Self {
        self.callable_by(Callers::SignedIn)
    }

    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub const fn refuses(self, refusals: &'static [Code]) -> Self {
        Self { refusals, ..self }
    }

    /// It may take seconds.
    pub const fn long(self) -> Self {
        Self { long: true, ..self }
    }

    /// Its input may be as large as the larger of the two limits, and hold this many JSON values.
    pub const fn large(self, values: usize) -> Self {
        Self {
            large: true,
            values,
            ..self
        }
    }

    pub const fn at(self, method: &'static str, path: &'static str) -> Self {
        Self {
            route: Some(Route { method, path }),
            ..self
        }
    }

    /// The throttle counts its calls.
    pub const fn throttled(self) -> Self {
        Self {
            throttled: true,
            ..self
        }
    }

    /// It sets the password of an existing user.
    pub const fn sets_password(self) -> Self {
        Self {
            sets_password: true,
            ..self
        }
    }

    /// It first reads the app with the `id` of its input. Only for what anyone may call: storage may read the app
    /// before the caller is known.
    pub const fn reads_app(self) -> Self {
        Self {
            reads_app: true,
            ..self
        }
    }

    /// No record of a list that it answers is larger than this, in ASCII, as JSON, in bytes.
    pub const fn record_size(self, record_size: usize) -> Self {
        Self { record_size, ..self }
    }

    pub const fn recorded(self, recorded: Recorded) -> Self {
        Self { recorded, ..self }
    }

    /// The procedure, with the kind and the access that the component describes.
    pub fn with(&self, described: Described) -> Procedure {
        self.procedure(described.kind, described.access, described.cost == Cost::Hash)
    }

    /// The procedure of a row that states kind and access itself.
    pub fn procedure_as_stated(&self) -> Option<Procedure> {
        let Stated { kind, callers } = self.stated?;
        let access = match callers {
            Callers::Anyone => Access::Public,
            Callers::SignedIn => Access::Protected,
            Callers::Administrators => Access::OneOf(vec![ADMIN.into()]),
        };
        Some(self.procedure(kind, access, false))
    }

    fn procedure(&self, kind: Kind, access: Access, hashes: bool) -> Procedure {
        // Anyone could keep the cores busy with hashing, or guess at an invite.
        let is_open_and_hashes = hashes && matches!(access, Access::Public | Access::Onboarding);
        Procedure {
            name: self.name.into(),
            about: match self.about {
                "" => words::about(self.name).unwrap_or_default(),
                about => about,
            },
            reads_app: self.reads_app && matches!(access, Access::Public),
            kind,
            access,
            is_described: self.stated.is_none(),
            hashes,
            long: self.long,
            input: self.input,
            output: self.output,
            holds_list: self.output.holds_list(),
            route: self.route,
            large: self.large,
            values: self.values,
            refusals: self.refusals,
            throttled: self.throttled || is_open_and_hashes,
            sets_password: self.sets_password,
            record_size: self.record_size,
            transports: self.transports,
            recorded: self.recorded,
        }
    }
}
