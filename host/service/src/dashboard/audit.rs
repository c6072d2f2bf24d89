//! `audit.*`: reads the audit log, which `crate::audit` writes.

use portico_model::{Timestamp, error::Error, time};
use portico_storage::{Access, AuditFilter, AuditRow};
use serde::Serialize;

use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, query},
    },
    shape::{
        Bound, Field, NULLABLE_TEXT, PAGE_SIZE, PROVIDER,
        Shape::{self, Bounded, Choice, Date, List, Named, Nullable, Position, Record, Text},
        Shaped, optional, records, required,
    },
};

const COUNT: Shape = Bounded(&Position, Bound::From(0));

const ENTRY: [Field; 14] = [
    required("number", COUNT).about("The row's number; later rows have larger numbers."),
    required("time", Date).about("When it was done or refused."),
    required("actorId", NULLABLE_TEXT).about(
        "The id of the user who did it, who may be gone; null for an anonymous caller and for the operator.",
    ),
    required(
        "authentication",
        Choice(&["none", "session", "key", "operator", "host", "proxy"]),
    )
    .about("How the caller authenticated; `host`: the embedding dashboard vouches for the caller."),
    required("credentialId", NULLABLE_TEXT)
        .about("The id of the key or the session; of a sign-in that of the session that began."),
    required("address", NULLABLE_TEXT).about("From which address, as far as it is known."),
    required("requestId", Text).about("The request, as its answer's header `x-request-id` has it."),
    required("procedure", Text).about("The procedure, `sign-in`, `sign-out`, or a command of the operator."),
    required("provider", Nullable(&PROVIDER)).about("The identity provider of a sign-in."),
    required("target", NULLABLE_TEXT).about(
        "The id of the first record that was created, or else of the record that the input named. For \
         `state.apply`: how much changed.",
    ),
    required("groups", NULLABLE_TEXT).about(
        "The ids of the groups that a sign-in by a provider added (`+`) and removed (`-`), or that an invite gave; \
         null if none.",
    ),
    required("created", COUNT).about("How many records were created."),
    required("outcome", Text).about(
        "`OK`, the code of the error, or `NOT_RECORDED`: a count of refusals without rows of their own.",
    ),
    required("times", COUNT).about("How often: identical refusals within seconds share a row."),
];

records! {
    struct Page {
        page: u32 = required("page", Bounded(&Position, Bound::From(1))).about("Which page, from 1."),
        page_size: u32 = required("pageSize", PAGE_SIZE).about("How many rows a page has."),
        actor_id: Option<String> = optional("actorId", Text).about("Only what the user with this id did."),
        procedure: Option<String> = optional("procedure", Text).about("Only calls of this procedure."),
        outcome: Option<String> = optional("outcome", Text)
            .about("Only rows with this outcome: `OK`, or the code of an error."),
        #[serde(default, deserialize_with = "time::deserialize_option")]
        from: Option<Timestamp> = optional("from", Date).about("Only from this moment on."),
        #[serde(default, deserialize_with = "time::deserialize_option")]
        until: Option<Timestamp> = optional("until", Date).about("Only before this moment."),
    }
}

pub(super) static ROWS: &[Row] = &[query(
    "audit.getPaginated",
    Page::SHAPE,
    Named(
        "AuditPage",
        &Record(&[
            required("items", List(&Named("AuditRow", &Record(&ENTRY)))).about("The rows, newest first."),
            required("totalCount", COUNT).about("How many rows match."),
        ]),
    ),
    |call| Box::pin(get_paginated(call)),
)
.large()
.about("The audit log, newest first: every change, every sign-in, and who was refused.")];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditPage {
    items: Vec<AuditRow>,
    total_count: u64,
}

async fn get_paginated(mut call: Call) -> Result<Output, Error> {
    let input: Page = call.input()?;
    let filter = AuditFilter {
        actor_id: input.actor_id,
        procedure: input.procedure,
        outcome: input.outcome,
        from: input.from,
        until: input.until,
    };
    let offset = u64::from(input.page - 1) * u64::from(input.page_size);
    // The page includes every refusal until now. A task of its own writes them even if the client leaves.
    let audit = call.resources.audit.clone();
    let flushing = tokio::spawn(async move { audit.flush().await });
    flushing.await.map_err(Error::internal)?;
    let mut transaction = call.begin(Access::Read).await?;
    json(&AuditPage {
        items: transaction.list_audit(&filter, offset, input.page_size).await?,
        total_count: transaction.count_audit(&filter).await?,
    })
}
