//! `invite.*`: invites. Each lets one person register, until it expires.

use portico_model::{
    Timestamp,
    error::{Code, Error},
    time,
};
use portico_rules::refusal::Missing;
use portico_storage::{Access, NewInvite};
use serde::Serialize;

use super::transaction::require_found;
use crate::{
    procedures::{
        call::{ById, Call, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        NAMED,
        Shape::{Date, List, Named, Nothing, Nullable, Record, Text},
        Shaped, records, required,
    },
};

records! {
    struct Create {
        #[serde(deserialize_with = "time::deserialize")]
        expiration_date: Timestamp = required("expirationDate", Date)
            .about("When it expires. A date in the past is accepted, too."),
    }
}

#[derive(Serialize)]
struct Created {
    id: String,
    token: String,
}

pub(super) static ROWS: &[Row] = &[
    query(
        "invite.getAll",
        Nothing,
        List(&Named(
            "Invite",
            &Record(&[
                required("id", Text).about("The invite's id."),
                required("expirationDate", Date).about("When it expires."),
                required("creator", Nullable(&NAMED)).about("The user who made it; null for the operator."),
            ]),
        )),
        |call| Box::pin(get_all(call)),
    )
    .large()
    .about("All invites that were not used, without their secrets.")
    .at("GET", "/api/invites"),
    mutation(
        "invite.createInvite",
        Create::SHAPE,
        Named(
            "CreatedInvite",
            &Record(&[
                required("id", Text).about("The invite's id."),
                required("token", Text).about("The invite's secret, shown only here."),
            ]),
        ),
        |call| Box::pin(create(call)),
    )
    .about("Makes an invite: it lets one person register, until it expires.")
    .at("POST", "/api/invites"),
    mutation("invite.deleteInvite", ID, Nothing, |call| Box::pin(delete(call)))
        .about("Deletes an invite: it can no longer be used to register.")
        .refuses(&[Code::NotFound])
        .at("DELETE", "/api/invites/{id}"),
];

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_invites().await?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: Create = call.input()?;
    let issued = call.resources.secrets.invite(call.resources.new_id());
    let (mut transaction, creator_id) = call.begin_as_creator().await?;
    let invite = NewInvite {
        id: issued.id.clone(),
        expiration_date: input.expiration_date,
        creator_id,
    };
    transaction.insert_invite(&invite, &issued.hash).await?;
    transaction.commit().await?;
    json(&Created {
        id: issued.id,
        token: issued.text,
    })
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    require_found(transaction.delete_invite(&input.id).await?, Missing::Invite)?;
    transaction.commit().await?;
    json(&())
}
