//! `onboard.*`: how far the first setup has come.

use serde::Serialize;

use super::{Row, query};
use crate::{
    error::Error,
    procedures::{Call, Output, json},
    shape::{
        Shape::{Choice, Nothing, Record},
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
    Record(&[required("current", Choice(&["user", "finish"]))]),
    |call| Box::pin(current_step(call)),
)
.public()];

async fn current_step(call: Call) -> Result<Output, Error> {
    let is_over = call.service.has_users(&call.request_id).await?;
    json(&CurrentStep {
        current: if is_over { "finish" } else { "user" },
    })
}
