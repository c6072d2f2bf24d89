//! `portico recover`: a new password for a user who has lost theirs.

use anyhow::bail;
use clap::Args;
use portico_model::Provider;
use portico_service::identity::Identity;
use serde_json::json;

use super::{
    host::Host,
    local,
    output::print,
    process::block_on,
    settings::{HostArgs, Settings},
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
            "It is shown only now. All sessions and API keys of {user} have ended. {user} may sign in, even if \
             disabled before."
        ))
    }
}

async fn recover(settings: &Settings, name: &str) -> anyhow::Result<(String, String)> {
    let host = Host::open(settings).await?;
    let user = local::find_user(&host.service, name).await?;
    if user.provider != Provider::Credentials {
        bail!(
            "{} signs in elsewhere ({:?}): the password is there. To enable a disabled user: portico call \
             user.setDisabled '{{\"userId\": {:?}, \"disabled\": false}}'",
            user.name,
            user.provider,
            user.id
        );
    }
    let password = host.service.secrets.password();
    // The new password comes last: if this fails or is killed earlier, the old password, the sessions and the keys
    // remain.
    for (procedure, input) in [
        (
            "user.setDisabled",
            json!({ "userId": user.id, "disabled": false }),
        ),
        (
            "user.changePassword",
            json!({ "userId": user.id, "password": password }),
        ),
    ] {
        local::run(&host.service, procedure, &Identity::operator(), Some(input)).await?;
    }
    Ok((user.name, password))
}
