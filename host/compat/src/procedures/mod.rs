//! The procedures of Homarr that Portico does not have, or has in another form.

mod boards;
mod extras;
mod grid;
mod info;
mod lists;
mod pings;
mod users;
mod view;

use std::{future::Future, pin::Pin};

use axum::http::Method;
use serde_json::Value;

use crate::{
    caller::Caller,
    outcome::{Failure, Outcome},
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Query,
    Mutation,
}

impl Kind {
    /// The method of calls.
    pub fn method(self) -> Method {
        match self {
            Self::Query => Method::GET,
            Self::Mutation => Method::POST,
        }
    }
}

/// What a procedure does for a caller with an input, which is null if there is none.
pub(crate) type Run = for<'a> fn(&'a Caller, Value) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

pub(crate) struct Procedure {
    pub name: &'static str,
    pub kind: Kind,
    pub run: Run,
    /// Whether Portico has a procedure of this name, in another form. Clients that speak plain JSON are not clients of
    /// Homarr: they get Portico's.
    pub is_portico_s: bool,
}

impl Procedure {
    /// Marks a procedure whose name Portico also has.
    const fn instead(self) -> Self {
        Self {
            is_portico_s: true,
            ..self
        }
    }
}

const fn query(name: &'static str, run: Run) -> Procedure {
    Procedure {
        name,
        kind: Kind::Query,
        run,
        is_portico_s: false,
    }
}

const fn mutation(name: &'static str, run: Run) -> Procedure {
    Procedure {
        name,
        kind: Kind::Mutation,
        run,
        is_portico_s: false,
    }
}

/// All procedures of this crate.
pub(crate) fn all() -> impl Iterator<Item = &'static Procedure> {
    let all = [
        boards::PROCEDURES,
        info::PROCEDURES,
        lists::PROCEDURES,
        pings::PROCEDURES,
        users::PROCEDURES,
    ];
    all.into_iter().flatten()
}

/// The procedure of this name, if it is one of this crate.
pub(crate) fn find(name: &str) -> Option<&'static Procedure> {
    all().find(|procedure| procedure.name == name)
}

fn text<'a>(input: &'a Value, key: &str) -> Result<&'a str, Failure> {
    input[key]
        .as_str()
        .ok_or_else(|| Failure::bad_input(key, "must be a text"))
}

fn boolean(input: &Value, key: &str) -> Result<bool, Failure> {
    let value = input[key].as_bool();
    value.ok_or_else(|| Failure::bad_input(key, "must be true or false"))
}
