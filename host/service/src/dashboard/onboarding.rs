//! `onboard.*`: the progress of the first setup.

use portico_model::error::Error;
use portico_storage::Access;
use serde::Serialize;

use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, query},
    },
    shape::{
        Shape::{Choice, Named, Nothing, Record},
        required,
    },
};

#[derive(Serialize)]
struct CurrentStep {
    current: &'static str,
}

pub(super) static ROWS: &[Row] = &[query(
    "onboard.currentStep",
    Nothing,
    Named(
        "CurrentStep",
        &Record(&[required("current", Choice(&["user", "finish"]))
            .about("`user`: the first user has to be created; `finish`: there is one.")]),
    ),
    |call| Box::pin(current_step(call)),
)
.public()
.about("How far the first setup has come.")];

async fn current_step(call: Call) -> Result<Output, Error> {
    let is_over = call.begin(Access::Read).await?.has_users().await?;
    json(&CurrentStep {
        current: if is_over { "finish" } else { "user" },
    })
}
