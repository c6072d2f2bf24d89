//! `state.*`: the whole dashboard as one document.
//!
//! `state.apply` has the steps of every procedure, for many records together: validate, read, hash, transact, return.
//! Invariants:
//! - One transaction applies the whole document, or nothing of it. The component, which is called inside that
//!   transaction, writes users and apps.
//! - The result is the difference between the state before and the state after, both read in that transaction. A dry
//!   run does the same and rolls back.
//! - Applying the document that `state.export` returns changes nothing.

mod apply;
mod component;
mod contents;
mod document;
mod export;
mod looks;
mod new_values;
mod plan;
mod report;
mod snapshot;
mod wanted;

pub(crate) use self::document::DOCUMENT;
use portico_model::error::{Code, Error};

use self::{
    component::Component,
    export::Exported,
    snapshot::{Keys, Snapshot},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::Shape::Nothing,
};

/// The most JSON values in a document. An app has about eight.
const MOST_VALUES: usize = 1_000_000;

pub(super) static ROWS: &[Row] = &[
    mutation("state.apply", DOCUMENT, report::REPORT, |call| {
        Box::pin(apply::run(call))
    })
    .about(
        "Makes the dashboard what a document says, all of it or nothing, and answers what that changed. \
         `CONFLICT`: there would be no administrator, a name is taken, or another call changed the same \
         records meanwhile.",
    )
    .large()
    .large_input(MOST_VALUES)
    .refuses(&[Code::Conflict]),
    query("state.export", Nothing, export::STATE, |call| {
        Box::pin(export(call))
    })
    .large()
    .about("The whole dashboard as a document, without secrets. Applying it changes nothing."),
];

async fn export(call: Call) -> Result<Output, Error> {
    let snapshot = Snapshot::read(&call).await?;
    let mut keys = Keys::default();
    let names = keys.unknown(snapshot.names());
    Component::new(&call).await?.learn(&mut keys, names).await?;
    let pictures = looks::read_pictures(&call, &snapshot).await?;
    json(&Exported::new(&snapshot, &keys, &pictures))
}
