//! What the service says about itself, and the steps of the first setup.

use serde_json::json;

use super::{Procedure, mutation, query};
use crate::outcome::Output;

pub(super) static PROCEDURES: &[Procedure] = &[
    query("info.getInfo", |caller, _| {
        Box::pin(async {
            caller.user().await?;
            Ok(json!({ "version": env!("CARGO_PKG_VERSION") }).into())
        })
    }),
    // Portico has two steps, and goes from the first to the second when the first user is created.
    mutation("onboard.nextStep", |_, _| {
        Box::pin(async { Ok(Output::nothing()) })
    }),
    // Portico sends no statistics and serves no pages for search engines.
    mutation("serverSettings.initSettings", |_, _| {
        Box::pin(async { Ok(Output::nothing()) })
    }),
];
