//! `user.createPasswordLink` and `user.setPasswordByLink`: a new password for a user who has forgotten theirs.
//!
//! Invariants:
//! - A link sets one password, within a day. It ends when the user gets another password in any way, and when the user
//!   is disabled or deleted. It is good only as long as who made it is an administrator. Storage sees to that.
//! - Whoever may set a user's password may make a link: an administrator, but not for their own password, for which they
//!   need the previous one.
//! - Storage has only the hash of the token. No list, export or log has the token.

use portico_model::{
    Caller, Provider, Timestamp,
    error::{Code, Error},
    time,
};
use portico_rules::refusal::{Missing, Refusal};
use portico_storage::{Access, AccountKey, DashboardTransaction, PasswordLink, SecretHash, hash_secret};
use serde::Serialize;

use super::transaction::not_found_if_referred;
use crate::{
    identity::Identity,
    procedures::{
        call::{Call, Created, ID, Output, json},
        row::{Row, mutation},
        users::PASSWORD,
    },
    shape::{
        Shape::{Date, Named, Record, Text},
        Shaped, records, required,
    },
};

/// How long a link can be used, in milliseconds.
const LIFETIME: Timestamp = 24 * 60 * 60 * 1000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    token: String,
    #[serde(serialize_with = "time::serialize")]
    expires_at: Timestamp,
}

records! {
    struct NewLink {
        user_id: String = required("userId", Text).about("The user's id."),
    }

    struct Set {
        token: String = required("token", Text).about("The link's secret."),
        password: String = required("password", PASSWORD).about("The new password: 8 to 255 characters."),
    }
}

pub(super) static ROWS: &[Row] = &[
    mutation(
        "user.createPasswordLink",
        NewLink::SHAPE,
        Named(
            "PasswordLink",
            &Record(&[
                required("token", Text)
                    .about("The link's secret, shown only here. The console's page for it is `/new-password?token=…`."),
                required("expiresAt", Date).about("When it expires: a day from now."),
            ]),
        ),
        |call| Box::pin(create(call)),
    )
    .about(
        "Makes a link with which a user who has forgotten their password sets a new one, once and within a day. It \
         replaces the user's earlier link. `FORBIDDEN`: the caller's own password, or the user belongs to an external \
         provider; `CONFLICT`: the user is disabled.",
    )
    .refuses(&[Code::Forbidden, Code::NotFound, Code::Conflict]),
    mutation("user.setPasswordByLink", Set::SHAPE, ID, |call| {
        Box::pin(set(call))
    })
    .public()
    .hashes()
    .about(
        "Sets a new password with a link, ends the user's sessions and API keys, and returns the user's id. \
         `FORBIDDEN`: the link was used, was replaced, has expired or has ended otherwise.",
    )
    .refuses(&[Code::Forbidden]),
];

async fn create(mut call: Call) -> Result<Output, Error> {
    let NewLink { user_id } = call.input()?;
    if call.identity.user_id() == Some(&user_id) {
        return Err(Refusal::OwnPasswordLink.into());
    }
    let (mut transaction, creator_id) = call.begin_as_creator().await?;
    let account = transaction.get_account(&AccountKey::Id(user_id)).await?;
    let account = account.ok_or_else(|| Error::not_found(Missing::User))?;
    if account.provider != Provider::Credentials {
        return Err(Refusal::ExternalUser.into());
    }
    if account.disabled {
        return Err(Refusal::UserDisabled.into());
    }
    if !call
        .resources
        .passwords
        .allows(&mut *transaction, &account.id)
        .await?
    {
        return Err(Refusal::PasswordsOfAdministrators.into());
    }
    let issued = call.resources.secrets.password_link();
    let link = PasswordLink {
        user_id: account.id,
        expires_at: call.resources.clock.now() + LIFETIME,
        creator_id,
    };
    let stored = transaction.put_password_link(&link, &issued.hash).await;
    stored.map_err(|error| not_found_if_referred(error, Missing::User))?;
    transaction.commit().await?;
    json(&Link {
        token: issued.text,
        expires_at: link.expires_at,
    })
}

async fn set(mut call: Call) -> Result<Output, Error> {
    let input: Set = call.input()?;
    let token = hash_secret(&input.token);
    let mut transaction = call.begin(Access::Read).await?;
    user_of(&call, &mut *transaction, &token).await?;
    drop(transaction);
    let hash = hash_password(&mut call, &input.password).await?;

    // Whoever has the link counts as no user, even with a session: so all sessions and keys of the user end.
    let context = Identity::anonymous().context(call.request_id.clone());
    let context = context.audited(call.audited.clone());
    let storage = &call.resources.storage;
    let mut transaction = storage.begin_dashboard(Access::Write, &context).await?;
    let user_id = user_of(&call, &mut *transaction, &token).await?;
    let account = transaction.get_account(&AccountKey::Id(user_id.clone())).await?;
    let account = account.ok_or_else(unusable)?;
    let replaced = account.password_hash.as_deref();
    let is_used = transaction.delete_password_link(&user_id).await?
        && transaction.set_password_if(&user_id, replaced, &hash).await?;
    if !is_used {
        return Err(unusable());
    }
    transaction.commit().await?;
    json(&Created { id: user_id })
}

/// The id of the user whose link has this token. The message is the same for every reason, so that it does not reveal
/// which links exist.
async fn user_of(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
    token: &SecretHash,
) -> Result<String, Error> {
    let now = call.resources.clock.now();
    let user_id = transaction.find_password_link(token, now).await?;
    let user_id = user_id.ok_or_else(unusable)?;
    match call.resources.passwords.allows(transaction, &user_id).await? {
        true => Ok(user_id),
        false => Err(unusable()),
    }
}

fn unusable() -> Error {
    Refusal::DeadPasswordLink.into()
}

/// Checks a password by the component's rules and hashes it. The link is what permits it, so the component gets the
/// operator as the caller.
async fn hash_password(call: &mut Call, password: &str) -> Result<String, Error> {
    let caller = Caller {
        user: Identity::operator().caller,
        context: (*call.request_id).into(),
    };
    let mut instance = call.enter().await?;
    let (plugin, store) = instance.parts()?;
    let state = plugin.portico_dashboard_state();
    let answer = state.call_hash_password(store, &caller, password).await;
    instance.read_result(answer)
}
