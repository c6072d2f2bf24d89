//! `apiKeys.*`: keys for programs. A key always has its user's current permissions.

use portico_model::{
    Timestamp,
    error::{Code, Error},
    time,
};
use portico_storage::{Access, ApiKey};
use serde::{Deserialize, Serialize};

use super::{
    transaction::{found, referred},
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        NULLABLE_DATE, NULLABLE_TEXT,
        Shape::{Date, List, Named, Nothing, Optional, Record, Text},
        optional, required,
    },
};

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Create {
    user_id: Option<String>,
    name: Option<String>,
    #[serde(default, deserialize_with = "time::deserialize_option")]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    id: String,
    api_key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delete {
    api_key_id: String,
}

pub(super) static ROWS: &[Row] = &[
    query(
        "apiKeys.getAll",
        Nothing,
        List(&Named(
            "ApiKey",
            &Record(&[
                required("id", Text).about("The key's id: the part of the key before the dot."),
                required("name", NULLABLE_TEXT).about("The key's name; null if it has none."),
                required("userId", Text)
                    .about("The id of the key's user. The key has this user's permissions."),
                required("createdAt", Date).about("When it was made."),
                required("expiresAt", NULLABLE_DATE).about("When it ends; null = never."),
                required("lastUsedAt", NULLABLE_DATE).about("When it was last used, to the minute."),
            ]),
        )),
        |call| Box::pin(get_all(call)),
    )
    .about("All API keys, without their secrets."),
    mutation(
        "apiKeys.create",
        Optional(&Record(&[
            optional("userId", Text).about("The id of the key's user; the caller if absent."),
            optional("name", LABEL).about("What it is for: 1 to 64 characters on one line, trimmed."),
            optional("expiresAt", Date).about("When it ends; never if absent."),
        ])),
        Named(
            "CreatedApiKey",
            &Record(&[
                required("id", Text).about("The key's id."),
                required("apiKey", Text).about("The key, shown only here."),
            ]),
        ),
        |call| Box::pin(create(call)),
    )
    .about("Makes an API key. It always has its user's current permissions.")
    .refuses(&[Code::NotFound]),
    mutation(
        "apiKeys.delete",
        Record(&[required("apiKeyId", Text).about("Which key: its id.")]),
        Nothing,
        |call| Box::pin(delete(call)),
    )
    .about("Deletes an API key: it stops working at once.")
    .refuses(&[Code::NotFound]),
];

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_keys().await?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input = call.input::<Option<Create>>()?.unwrap_or_default();
    let mut fields = Fields::default();
    let name = input.name.map(|name| fields.label("name", &name, 64));
    fields.check()?;
    let user_id = input
        .user_id
        .or_else(|| call.identity.user_id().map(Into::into))
        .ok_or_else(|| Error::invalid_field("userId", "is required: the operator is not a user"))?;

    let issued = call.resources.secrets.api_key();
    let key = ApiKey {
        id: issued.id.clone(),
        name,
        user_id,
        created_at: call.resources.clock.now(),
        expires_at: input.expires_at,
        last_used_at: None,
    };
    let mut transaction = call.begin(Access::Write).await?;
    transaction
        .insert_key(&key, &issued.hash)
        .await
        .map_err(|error| referred(error, "User"))?;
    transaction.commit().await?;
    json(&Created {
        id: issued.id,
        api_key: issued.text,
    })
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: Delete = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    found(transaction.delete_key(&input.api_key_id).await?, "API key")?;
    transaction.commit().await?;
    json(&())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    #[test]
    fn a_date_that_cannot_be_read_is_an_error_and_not_a_key_without_an_end() {
        let expires_at = |date: Value| {
            let input = json!({"expiresAt": date});
            from_value::<Create>(input).map(|create| create.expires_at)
        };
        assert_eq!(expires_at(json!("1970-01-01T00:00:01Z")).unwrap(), Some(1000));
        assert_eq!(expires_at(json!(null)).unwrap(), None);
        assert!(from_value::<Create>(json!({})).unwrap().expires_at.is_none());
        for date in [json!("tomorrow"), json!(5)] {
            assert!(expires_at(date).is_err());
        }
    }
}
