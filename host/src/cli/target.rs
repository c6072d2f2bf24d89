//! Where a procedure is called: on the data directory, or on a running host.

use std::{path::PathBuf, sync::Arc};

use anyhow::bail;
use clap::Args;
use portico::{COMPONENT, identity::Identity, sandbox::Kind, service::Service, storage::Authentication};
use serde_json::Value;

use super::{HostArgs, block_on, host, host::Host, recover::find_user, remote, settings::Settings};

/// What the log and error messages call the request of a command.
pub const REQUEST_ID: &str = "command-line";

/// Without `--url` it is the data directory, which then no host may work on.
#[derive(Args)]
pub struct Target {
    /// Call a running host instead of working on the data directory
    #[arg(long)]
    url: Option<String>,
    /// The API key for the running host; better in the environment, where `ps` does not show it
    #[arg(long, env = "PORTICO_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    host: HostArgs,
}

/// A procedure of which only the running host may know.
pub struct Named<'a> {
    pub name: &'a str,
    /// None: as the component inside says.
    pub kind: Option<Kind>,
}

impl Target {
    /// The data directory that is set, also where a running host is called.
    pub fn data(&self, settings: &Settings) -> PathBuf {
        let data = self.host.data.data.clone();
        data.unwrap_or_else(|| settings.data())
    }

    /// Calls a procedure: as this user, or as the operator, who may do everything; of a running
    /// host, as the one whose key it is. None where it has no output.
    pub fn call(
        self,
        settings: Settings,
        procedure: Named,
        user: Option<&str>,
        input: Option<Value>,
    ) -> anyhow::Result<Option<Value>> {
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        let Some(url) = &self.url else {
            return block_on(local(&settings, procedure.name, user, input));
        };
        let cache = settings.cache.as_deref().map(std::path::absolute).transpose()?;
        let kind = match procedure.kind {
            Some(kind) => kind,
            // The host may be newer and know more: then it is for the host to say that a call is a query.
            None => block_on(host::without_data(COMPONENT, cache))?
                .table
                .find(procedure.name)
                .map_or(Kind::Mutation, |procedure| procedure.kind),
        };
        remote::call(url, self.key.as_deref(), procedure.name, kind, input)
    }
}

async fn local(
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

/// Runs a procedure; none where it has no output.
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
    // Nobody does it later.
    service.audit.flush().await;
    let output = output?;
    let output: Value = serde_json::from_str(&output)?;
    Ok((!output.is_null()).then_some(output))
}

async fn identity_of(service: &Service, name: &str) -> anyhow::Result<Identity> {
    let user = find_user(service, name).await?;
    Ok(Identity::user(user.id, user.permissions, Authentication::Host))
}
