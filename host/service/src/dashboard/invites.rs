//! `invite.*`: invites. Each lets one person register, until it expires.
//!
//! Invariants:
//! - An invite gives groups only if who made it may add members to groups, as `group.addMember` requires, when it is made
//!   and when it is used. Storage sees to the latter ([`DashboardTransaction::insert_invite`]).
//! - Without the right token, nothing is said about an invite, not even whether it exists.
//!
//! [`DashboardTransaction::insert_invite`]: portico_storage::DashboardTransaction::insert_invite

use std::collections::BTreeSet;

use portico_model::{
    Timestamp,
    error::{Code, Error},
    time,
};
use portico_rules::bounds;
use portico_rules::refusal::{Missing, Refusal};
use portico_storage::{Access, NewInvite, hash_secret};
use serde::Serialize;

use super::{
    transaction::{not_found_if_referred, require_found},
    validate::Fields,
};
use crate::{
    procedures::{
        call::{ById, Call, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound, NAMED, NULLABLE_TEXT,
        Shape::{self, Bounded, Date, List, Named, Nothing, Nullable, Record, Text},
        Shaped, optional, records, required,
    },
};

/// For whom an invite is.
const NOTE: Shape = Nullable(&Bounded(&Text, Bound::length(0..=*bounds::LABEL.end())));

records! {
    struct Create {
        #[serde(deserialize_with = "time::deserialize")]
        expiration_date: Timestamp = required("expirationDate", Date)
            .about("When it expires. A date in the past is accepted, too."),
        note: Option<String> = optional("note", NOTE)
            .about("For whom it is: at most 64 characters on one line, trimmed. Who has the link sees it."),
        group_ids: Option<Vec<String>> = optional("groupIds", Bounded(&List(&Text), Bound::count(bounds::ENTRIES)))
            .about("The groups that the new user joins: their ids. One that is deleted meanwhile is left out, and none \
                is given if the invite's creator is not an enabled administrator any more."),
    }

    struct Held {
        invite_id: String = required("inviteId", Text).about("The invite's id."),
        token: String = required("token", Text).about("The invite's secret."),
    }
}

#[derive(Serialize)]
struct Created {
    id: String,
    token: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeldInvite {
    #[serde(serialize_with = "time::serialize")]
    expiration_date: Timestamp,
    note: Option<String>,
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
                required("note", NULLABLE_TEXT).about("For whom it is."),
                required("groups", List(&NAMED)).about("The groups that the new user joins, by id."),
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
    .refuses(&[Code::NotFound])
    .at("POST", "/api/invites"),
    query(
        "invite.getByToken",
        Named("InviteReference", &Held::SHAPE),
        Named(
            "HeldInvite",
            &Record(&[
                required("expirationDate", Date).about("When it expires, or has expired."),
                required("note", NULLABLE_TEXT).about("For whom it is."),
            ]),
        ),
        |call| Box::pin(get_by_token(call)),
    )
    .for_holders_of_secret()
    .about(
        "The invite with this id and this token, before or after it expires. `FORBIDDEN`: there is none; it may have been \
         used or deleted.",
    )
    .refuses(&[Code::Forbidden]),
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
    let mut fields = Fields::default();
    let note = input.note.unwrap_or_default();
    let note = (!note.trim().is_empty()).then(|| fields.label("note", &note, bounds::LABEL));
    if let Some(note) = &note {
        fields.keeps_direction("note", note, None);
    }
    let given = input.group_ids.unwrap_or_default();
    fields.count("groupIds", given.len(), *bounds::ENTRIES.end());
    fields.check()?;
    let group_ids: BTreeSet<String> = given.into_iter().collect();

    let issued = call.resources.secrets.invite(call.resources.new_id());
    let (mut transaction, creator_id) = call.begin_as_creator().await?;
    let invite = NewInvite {
        id: issued.id.clone(),
        expiration_date: input.expiration_date,
        creator_id,
        note,
        group_ids: group_ids.into_iter().collect(),
    };
    let inserted = transaction.insert_invite(&invite, &issued.hash).await;
    inserted.map_err(|error| not_found_if_referred(error, Missing::Group))?;
    transaction.commit().await?;
    json(&Created {
        id: issued.id,
        token: issued.text,
    })
}

async fn get_by_token(mut call: Call) -> Result<Output, Error> {
    let input: Held = call.input()?;
    let token = hash_secret(&input.token);
    let mut transaction = call.begin(Access::Read).await?;
    let found = transaction.find_invite(&input.invite_id, &token).await?;
    let found = found.ok_or(Refusal::InvalidInvite)?;
    json(&HeldInvite {
        expiration_date: found.expiration_date,
        note: found.note,
    })
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    require_found(transaction.delete_invite(&input.id).await?, Missing::Invite)?;
    transaction.commit().await?;
    json(&())
}
