//! `icon.*`: the icons that people choose from.

use portico_model::error::Error;
use portico_rules::refusal::Refusal;

use crate::{
    procedures::{
        call::{Call, Output, SEARCH, Search, json},
        row::{Row, query},
    },
    shape::{
        Shape::{List, Named, Record, Text},
        required,
    },
};

/// How many icons are returned if the input does not say.
const LIMIT: u32 = 10;

pub(super) static ROWS: &[Row] = &[query(
    "icon.search",
    SEARCH,
    List(&Named(
        "Icon",
        &Record(&[
            required("name", Text).about("Its name: lower-case words joined by `-`."),
            required("url", Text).about("Where it is."),
        ]),
    )),
    |call| Box::pin(search(call)),
)
.protected()
.about("Icons of the configured sources whose names contain a text, the best first.")
.at("GET", "/api/icons/search")];

async fn search(mut call: Call) -> Result<Output, Error> {
    let input: Search = call.input()?;
    let limit = input.limit.unwrap_or(LIMIT) as usize;
    let found = call.resources.sandbox.icons().search(&input.query, limit).await;
    json(&found.ok_or(Refusal::NoIconCollection)?)
}
