//! Calls on the data directory, without a running host.

use std::sync::Arc;

use anyhow::bail;
use portico_service::{identity::Identity, service::Service};
use portico_storage::{Authentication, SessionUser};
use serde_json::Value;

use super::{host::Host, settings::Settings};

/// The request id of a command, in the log and in error messages.
pub const REQUEST_ID: &str = "command-line";

/// Opens the data directory and calls a procedure, as this user or as the operator.
pub async fn call(
    settings: &Settings,
    procedure: &str,
    user: Option<&str>,
    input: Option<Value>,
) -> anyhow::Result<Option<Value>> {
    let host = Host::open(settings).await?;
    let identity = match user {
        Some(name) => identity_of(&host.service, name).await?,
        None => Identity::operator(),
    };
    run(&host.service, procedure, &identity, input).await
}

/// Calls a procedure. Returns `None` if it has no output.
pub async fn run(
    service: &Arc<Service>,
    procedure: &str,
    identity: &Identity,
    input: Option<Value>,
) -> anyhow::Result<Option<Value>> {
    let Some(procedure) = service.table.find(procedure) else {
        bail!("there is no procedure {procedure}; `portico procedures` lists them");
    };
    let output = service.call(procedure, identity, REQUEST_ID, Ok(input)).await;
    // The command ends after this, so the background task would not do it.
    service.audit.flush().await;
    let output = output?;
    let output: Value = serde_json::from_str(&output)?;
    Ok((!output.is_null()).then_some(output))
}

/// The user with this name. If users of several providers have it, one with a password comes first.
pub async fn find_user(service: &Service, name: &str) -> anyhow::Result<SessionUser> {
    Ok(find_users(service, name).await?.swap_remove(0))
}

/// The users with this name, at least one: of each provider at most one.
pub async fn find_users(service: &Service, name: &str) -> anyhow::Result<Vec<SessionUser>> {
    let context = Identity::operator().context(REQUEST_ID);
    let users = service.find_users(name, &context).await?;
    if users.is_empty() {
        bail!("there is no user {name:?}; `portico call user.getAll` lists them");
    }
    Ok(users)
}

async fn identity_of(service: &Service, name: &str) -> anyhow::Result<Identity> {
    let user = find_user(service, name).await?;
    Ok(Identity::user(user.id, user.permissions, Authentication::Host))
}
