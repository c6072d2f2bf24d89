//! `portico call`.

use std::io::Read;

use anyhow::{Context as _, bail};
use clap::Args;
use portico::{identity::Identity, service::Service, storage::Authentication};
use serde_json::Value;

use super::{HostArgs, block_on, host::Host, print, recover::find_user, remote, settings::Settings};

/// What the log and error messages call the request of a command.
pub const REQUEST_ID: &str = "command-line";

#[derive(Args)]
pub struct Call {
    /// The procedure, as `portico procedures` lists it
    procedure: String,
    /// Its input as JSON; `-` reads it from the standard input
    input: Option<String>,
    /// Act as this user; without it as the operator, who may do everything
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    user: Option<String>,
    /// Call a running host instead of working on the data directory
    #[arg(long)]
    url: Option<String>,
    /// The API key for the running host; better in the environment, where `ps` does not show it
    #[arg(long, env = "PORTICO_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    host: HostArgs,
}

impl Call {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let input = read_input(self.input.as_deref())?;
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        let output = match &self.url {
            Some(url) => remote::call(url, self.key.as_deref(), &self.procedure, input)?,
            None => block_on(local(&settings, &self.procedure, self.user.as_deref(), input))?,
        };
        if let Some(output) = output {
            print(&serde_json::to_string_pretty(&output)?)?;
        }
        Ok(())
    }
}

fn read_input(argument: Option<&str>) -> anyhow::Result<Option<Value>> {
    let text = match argument {
        None => return Ok(None),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read the standard input")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    Ok(Some(
        serde_json::from_str(&text).context("the input is not valid JSON")?,
    ))
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
    service: &std::sync::Arc<Service>,
    procedure: &str,
    identity: &Identity,
    input: Option<Value>,
) -> anyhow::Result<Option<Value>> {
    let Some(procedure) = service.table.find(procedure) else {
        bail!("there is no procedure {procedure}; `portico procedures` lists them");
    };
    let output = service.call(procedure, identity, REQUEST_ID, Ok(input)).await?;
    let output: Value = serde_json::from_str(&output)?;
    Ok((!output.is_null()).then_some(output))
}

async fn identity_of(service: &Service, name: &str) -> anyhow::Result<Identity> {
    let user = find_user(service, name).await?;
    Ok(Identity::user(user.id, user.permissions, Authentication::Host))
}
