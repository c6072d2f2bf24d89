//! The dashboard side: what Portico does where it is the dashboard itself.
//!
//! Small and ordinary, and host code: keys, sessions, invites, groups, boards, search engines, and
//! the whole of it as one document (`state`). It never writes users or apps itself. Each procedure
//! has the same steps in the same order: read the input, validate, transact, answer. Unless their
//! row says otherwise, they need `admin`.

mod audit;
mod boards;
mod groups;
mod invites;
mod keys;
mod onboarding;
mod search_engines;
mod sessions;
mod state;
mod validate;

pub(crate) use self::state::DOCUMENT;

use portico_model::error::{Code, Error};
use portico_sandbox::{Access, Kind};
use portico_storage::{self as storage, ADMIN, Constraint, DashboardTransaction};

use crate::{
    procedures::{Call, MOST_VALUES, Procedure, Route, Run},
    shape::{Bound, Shape},
};

/// A name of something, or another text on one line. [`validate::Fields::label`] holds it.
const LABEL: Shape = Shape::Bounded(&Shape::Text, Bound::Length(1, 64));

/// Every procedure of the dashboard side.
pub(crate) fn procedures() -> impl Iterator<Item = Procedure> {
    let groups = [
        keys::ROWS,
        sessions::ROWS,
        invites::ROWS,
        groups::ROWS,
        boards::ROWS,
        search_engines::ROWS,
        onboarding::ROWS,
        state::ROWS,
        audit::ROWS,
    ];
    groups.into_iter().flatten().map(Row::procedure)
}

/// Who may call a procedure.
#[derive(Clone, Copy)]
enum Who {
    Anyone,
    SignedIn,
    Administrators,
}

/// A procedure of the dashboard side.
struct Row {
    name: &'static str,
    about: &'static str,
    kind: Kind,
    who: Who,
    long: bool,
    large: bool,
    values: usize,
    input: Shape,
    output: Shape,
    route: Option<Route>,
    refusals: &'static [Code],
    run: Run,
}

const fn query(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    Row {
        name,
        about: "",
        kind: Kind::Query,
        who: Who::Administrators,
        long: false,
        large: false,
        values: MOST_VALUES,
        input,
        output,
        route: None,
        refusals: &[],
        run,
    }
}

const fn mutation(name: &'static str, input: Shape, output: Shape, run: Run) -> Row {
    Row {
        kind: Kind::Mutation,
        ..query(name, input, output, run)
    }
}

impl Row {
    const fn public(self) -> Self {
        Self {
            who: Who::Anyone,
            ..self
        }
    }

    const fn protected(self) -> Self {
        Self {
            who: Who::SignedIn,
            ..self
        }
    }

    const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    const fn refuses(self, refusals: &'static [Code]) -> Self {
        Self { refusals, ..self }
    }

    const fn long(self) -> Self {
        Self { long: true, ..self }
    }

    /// With so many values of JSON.
    const fn large(self, values: usize) -> Self {
        Self {
            large: true,
            values,
            ..self
        }
    }

    const fn at(self, method: &'static str, path: &'static str) -> Self {
        Self {
            route: Some(Route { method, path }),
            ..self
        }
    }

    fn procedure(&self) -> Procedure {
        let access = match self.who {
            Who::Anyone => Access::Public,
            Who::SignedIn => Access::Protected,
            Who::Administrators => Access::OneOf(vec![ADMIN.into()]),
        };
        Procedure {
            name: self.name.into(),
            about: self.about,
            kind: self.kind,
            access,
            hashes: false,
            long: self.long,
            input: self.input,
            output: self.output,
            route: self.route,
            large: self.large,
            values: self.values,
            refusals: self.refusals,
            run: self.run,
        }
    }
}

impl Call {
    async fn begin(&self, access: storage::Access) -> Result<Box<dyn DashboardTransaction>, Error> {
        Ok(self
            .service
            .storage
            .begin_dashboard(access, &self.context())
            .await?)
    }

    /// A transaction of a user who is still there, to write what refers to them.
    async fn begin_as_creator(&self) -> Result<(Box<dyn DashboardTransaction>, Option<String>), Error> {
        let creator = self.identity.user_id().map(ToOwned::to_owned);
        let mut transaction = self.begin(storage::Access::Write).await?;
        if let Some(creator) = &creator
            && transaction.get_session_user(creator).await?.is_none()
        {
            return Err(Error::unauthorized());
        }
        Ok((transaction, creator))
    }

    fn new_id(&self) -> String {
        self.service.secrets.id(self.service.clock.now())
    }
}

/// True, or there is no such thing.
fn found(found: bool, what: &str) -> Result<(), Error> {
    if found {
        Ok(())
    } else {
        Err(Error::not_found(what))
    }
}

/// True, or the name is taken.
fn free(free: bool, what: &str) -> Result<(), Error> {
    if free {
        Ok(())
    } else {
        Err(Error::new(Code::Conflict, format!("{what} is taken")))
    }
}

/// What a reference to nothing means for the one who made it.
fn referred(error: storage::Error, what: &str) -> Error {
    match error {
        storage::Error::Constraint(Constraint::Reference) => Error::not_found(what),
        error => error.into(),
    }
}
