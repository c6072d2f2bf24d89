//! `portico recover`: a new password for whoever lost theirs.

use anyhow::{Context as _, bail};
use clap::Args;
use portico_model::Provider;
use portico_service::{identity::Identity, service::Service};
use portico_storage::SessionUser;
use serde_json::json;

use super::{
    HostArgs, block_on,
    host::Host,
    print,
    settings::Settings,
    target::{self, REQUEST_ID},
    terminal::printable,
};

#[derive(Args)]
pub struct Recover {
    /// The username
    name: String,
    #[command(flatten)]
    host: HostArgs,
}

impl Recover {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        let (user, password) = block_on(recover(&settings, &self.name))?;
        let user = printable(&user);
        print(&format!("The new password of {user} is {password}"))?;
        print(&format!(
            "It is shown only now. All sessions and API keys of {user} have ended."
        ))
    }
}

async fn recover(settings: &Settings, name: &str) -> anyhow::Result<(String, String)> {
    let host = Host::open(settings).await?;
    let user = find_user(&host.service, name).await?;
    if user.provider != Provider::Credentials {
        bail!(
            "{} signs in elsewhere ({:?}): the password is there",
            user.name,
            user.provider
        );
    }
    let password = host.service.secrets.password();
    let input = json!({ "userId": user.id, "password": password });
    target::run(
        &host.service,
        "user.changePassword",
        &Identity::operator(),
        Some(input),
    )
    .await?;
    Ok((user.name, password))
}

/// The user with this name; of several providers' users, the one who signs in here.
pub async fn find_user(service: &Service, name: &str) -> anyhow::Result<SessionUser> {
    let context = Identity::operator().context(REQUEST_ID);
    let user = service.find_user(name, &context).await?;
    user.with_context(|| format!("there is no user {name:?}; `portico call user.getAll` lists them"))
}
