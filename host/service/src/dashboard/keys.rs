//! `apiKeys.*`: keys for programs. A key may do what its user may do at the moment, or less.

use portico_model::{
    Timestamp,
    error::{Code, Error},
    time,
};
use portico_rules::refusal::{Missing, Refusal};
use portico_rules::rule::Rule;
use portico_rules::sentences::Word;
use portico_rules::{bounds, permissions::Permission};
use portico_storage::{Access, ApiKey, Authentication, CredentialKey, DashboardTransaction, KeyLimits};
use serde::Serialize;

use super::{
    groups::in_order,
    transaction::{not_found_if_referred, require_found},
    validate::{Fields, LABEL},
};
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        NULLABLE_DATE, NULLABLE_TEXT,
        Shape::{self, Boolean, Choice, Date, Exact, List, Named, Nothing, Nullable, Optional, Record, Text},
        Shaped, optional, records, required,
    },
};

records! {
    #[derive(Default)]
    struct NewKey {
        name: Option<String> = optional("name", LABEL)
            .about("What it is for: 1 to 64 characters on one line, trimmed."),
        #[serde(default, deserialize_with = "time::deserialize_option")]
        expires_at: Option<Timestamp> = optional("expiresAt", Date).about("When it ends, in the future; never if absent."),
        permissions: Option<Vec<String>> = optional("permissions", Nullable(&List(&Choice(&Permission::NAMES))))
            .about("Its permissions: it has those that both these and its user's give. All of the user's if absent or null."),
        read_only: Option<bool> = optional("readOnly", Boolean)
            .about("Whether it may only call queries, whatever its user may do; false if absent."),
    }

    #[derive(Default)]
    struct Create {
        user_id: Option<String> = optional("userId", Text)
            .about("The id of the key's user; the caller if absent."),
        ..key: NewKey,
    }

    struct Delete {
        api_key_id: String = required("apiKeyId", Text).about("Which key: its id."),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    id: String,
    api_key: String,
}

/// The most keys that a user may create for themselves.
const MOST_OWN_KEYS: usize = 100;

const KEYS: Shape = List(&Named(
    "ApiKey",
    &Record(&[
        required("id", Text).about("The key's id: the part of the key before the dot."),
        required("name", NULLABLE_TEXT).about("The key's name; null if it has none."),
        required("userId", Text).about("The id of the key's user. The key may do at most what this user may do."),
        required("permissions", Nullable(&List(&Text)))
            .about("The permissions that were chosen for it, of which it has those that its user has too; null = all."),
        required("readOnly", Boolean).about("Whether it may only call queries."),
        required("createdAt", Date).about("When it was made."),
        required("expiresAt", NULLABLE_DATE).about("When it ends; null = never."),
        required("lastUsedAt", NULLABLE_DATE).about("When it was last used, to the minute."),
    ]),
));

const CREATED: Shape = Named(
    "CreatedApiKey",
    &Record(&[
        required("id", Text).about("The key's id."),
        required("apiKey", Text).about("The key, shown only here."),
    ]),
);

pub(super) static ROWS: &[Row] = &[
    query("apiKeys.getAll", Nothing, KEYS, |call| Box::pin(get_all(call)))
        .large()
        .about("All API keys, without their secrets."),
    query("apiKeys.getOwn", Nothing, KEYS, |call| Box::pin(get_own(call)))
        .protected()
        .large()
        .about("The caller's own API keys, without their secrets.")
        .at("GET", "/api/apiKeys/own"),
    mutation(
        "apiKeys.create",
        Optional(&Exact(Create::FIELDS)),
        CREATED,
        |call| Box::pin(create(call)),
    )
    .about("Makes an API key. It may do what its user may do at the moment, or less. An unknown key is refused. `FORBIDDEN`: \
         the call came with a key that may do less than its user.")
    .refuses(&[Code::Forbidden, Code::NotFound]),
    mutation(
        "apiKeys.createOwn",
        Optional(&Exact(NewKey::FIELDS)),
        CREATED,
        |call| Box::pin(create_own(call)),
    )
    .protected()
    .about(
        "Makes an API key of the caller. An unknown key is refused. A key that makes another one does not outlive it: \
         `expiresAt` is at most its own. `CONFLICT`: the caller has 100 keys; `FORBIDDEN`: the call came with a key that may do less than its user.",
    )
    .at("POST", "/api/apiKeys/own")
    .refuses(&[Code::Conflict, Code::Forbidden]),
    mutation("apiKeys.delete", Delete::SHAPE, Nothing, |call| Box::pin(delete(call)))
        .about("Deletes an API key: it stops working at once.")
        .refuses(&[Code::NotFound]),
    mutation("apiKeys.deleteOwn", Delete::SHAPE, Nothing, |call| {
        Box::pin(delete_own(call))
    })
    .protected()
    .about("Deletes one of the caller's own API keys. Another's does not exist for them: `NOT_FOUND`.")
    .at("DELETE", "/api/apiKeys/own/{apiKeyId}")
    .refuses(&[Code::NotFound]),
];

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_keys(None).await?)
}

async fn get_own(call: Call) -> Result<Output, Error> {
    // The operator is not a user, and has no keys.
    let user_id = call.identity.user_id().unwrap_or_default();
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_keys(Some(user_id)).await?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input = call.input::<Option<Create>>()?.unwrap_or_default();
    let name = check(&call, &input.key)?;
    let user_id = input
        .user_id
        .or_else(|| call.identity.user_id().map(Into::into))
        .ok_or_else(|| Error::invalid_field("userId", Rule::RequiredOfOperator))?;

    let transaction = call.begin(Access::Write).await?;
    insert(&call, transaction, user_id, name, input.key).await
}

async fn create_own(mut call: Call) -> Result<Output, Error> {
    let input = call.input::<Option<NewKey>>()?.unwrap_or_default();
    let name = check(&call, &input)?;
    let user_id = call.identity.user_id();
    let user_id = user_id.ok_or(Refusal::OperatorIsNoUser)?;

    let mut transaction = call.begin(Access::Write).await?;
    if let Authentication::Key(id) = &call.identity.authentication {
        let calling = transaction
            .find_credential(&CredentialKey::Key(id.clone()))
            .await?;
        let calling = calling.ok_or_else(Error::unauthorized)?;
        if let Some(end) = calling.expires_at
            && input.expires_at.is_none_or(|expires_at| expires_at > end)
        {
            let end = Word(time::format(end).unwrap_or_default());
            return Err(Error::invalid_field("expiresAt", Rule::NotBefore { end }));
        }
    }
    if transaction.list_keys(Some(user_id)).await?.len() >= MOST_OWN_KEYS {
        let most = MOST_OWN_KEYS;
        return Err(Refusal::TooManyOwnKeys { most }.into());
    }
    insert(&call, transaction, user_id.into(), name, input).await
}

/// Checks what is wanted of a key, and returns its name.
fn check(call: &Call, input: &NewKey) -> Result<Option<String>, Error> {
    let mut fields = Fields::default();
    if input
        .expires_at
        .is_some_and(|end| end <= call.resources.clock.now())
    {
        fields.refuse("expiresAt", Rule::NotInFuture);
    }
    let name = input.name.as_ref().map(|name| {
        fields.keeps_direction("name", name, None);
        fields.label("name", name, bounds::LABEL)
    });
    fields.check()?;
    Ok(name)
}

/// Stores a new key, commits, and returns the key.
async fn insert(
    call: &Call,
    mut transaction: Box<dyn DashboardTransaction>,
    user_id: String,
    name: Option<String>,
    input: NewKey,
) -> Result<Output, Error> {
    let limits = KeyLimits {
        permissions: input.permissions.map(in_order),
        read_only: input.read_only.unwrap_or_default(),
    };
    let issued = call.resources.secrets.api_key();
    let key = ApiKey {
        id: issued.id.clone(),
        name,
        user_id,
        limits,
        created_at: call.resources.clock.now(),
        expires_at: input.expires_at,
        last_used_at: None,
    };
    if let Some(audited) = call.audited.as_ref().filter(|_| key.limits.are_set()) {
        audited.summarise(summary(&key));
    }
    transaction
        .insert_key(&key, &issued.hash)
        .await
        .map_err(|error| not_found_if_referred(error, Missing::User))?;
    transaction.commit().await?;
    json(&Created {
        id: issued.id,
        api_key: issued.text,
    })
}

/// A key with less than its user, as the audit log names it.
fn summary(key: &ApiKey) -> String {
    let mut summary = key.id.clone();
    if key.limits.read_only {
        summary.push_str(" readOnly");
    }
    if let Some(permissions) = &key.limits.permissions {
        summary.push_str(&format!(" permissions={}", permissions.join(",")));
    }
    summary
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: Delete = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    require_found(transaction.delete_key(&input.api_key_id).await?, Missing::ApiKey)?;
    transaction.commit().await?;
    json(&())
}

async fn delete_own(mut call: Call) -> Result<Output, Error> {
    let input: Delete = call.input()?;
    call.identity.check_deletes_key(&input.api_key_id)?;
    let user_id = call.identity.user_id().unwrap_or_default();
    let mut transaction = call.begin(Access::Write).await?;
    let keys = transaction.list_keys(Some(user_id)).await?;
    // Another user's key counts as missing.
    let own = keys.iter().any(|key| key.id == input.api_key_id);
    require_found(
        own && transaction.delete_key(&input.api_key_id).await?,
        Missing::ApiKey,
    )?;
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
            from_value::<Create>(input).map(|create| create.key.expires_at)
        };
        assert_eq!(expires_at(json!("1970-01-01T00:00:01Z")).unwrap(), Some(1000));
        assert_eq!(expires_at(json!(null)).unwrap(), None);
        assert!(from_value::<Create>(json!({})).unwrap().key.expires_at.is_none());
        for date in [json!("tomorrow"), json!(5)] {
            assert!(expires_at(date).is_err());
        }
    }
}
