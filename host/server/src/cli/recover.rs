//! `portico recover`: a new password for a user who has lost theirs, or an account without the second factors that were lost.

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
    /// Only remove the user's second factors; the password stays
    #[arg(long)]
    second_factor: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl Recover {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        if self.second_factor {
            let (user, had_some) = block_on(remove_second_factors(&settings, &self.name))?;
            let user = printable(&user);
            return print(&match had_some {
                true => format!(
                    "{user} has no second factor now and signs in with the password alone. All sessions of {user} have ended."
                ),
                false => format!("{user} has no second factor: nothing was changed."),
            });
        }
        let (user, password) = block_on(recover(&settings, &self.name))?;
        let user = printable(&user);
        print(&format!("The new password of {user} is {password}"))?;
        print(&format!(
            "It is shown only now. All sessions and API keys of {user} have ended, and second factors are removed. {user} may \
             sign in, even if disabled before."
        ))
    }
}

async fn recover(settings: &Settings, name: &str) -> anyhow::Result<(String, String)> {
    let host = Host::open(settings).await?;
    let user = local::find_user(&host.service, name).await?;
    if user.provider != Provider::Credentials {
        bail!(
            "{} signs in elsewhere ({:?}): the password is there. To enable a disabled user: portico call \
             user.setDisabled '{{\"userId\": {:?}, \"disabled\": false}}'. To remove a second factor that was lost: portico \
             recover --second-factor",
            user.name,
            user.provider,
            user.id
        );
    }
    let password = host.service.secrets.password();
    let call = async |procedure, input| {
        local::run(&host.service, procedure, &Identity::operator(), Some(input)).await
    };
    // The new password comes first, and no one knows it yet: wherever this fails or is killed, the account is not weaker.
    let changed = json!({ "userId": user.id, "password": password });
    call("user.changePassword", changed).await?;
    // Only what is there is removed, and has a row in the audit log.
    let own = json!({ "userId": user.id });
    let found = call("secondFactor.getOfUser", own.clone())
        .await?
        .unwrap_or_default();
    if found["factors"] != json!([]) || found["recoveryCodes"] != 0 {
        call("secondFactor.deleteOfUser", own).await?;
    }
    let enabled = json!({ "userId": user.id, "disabled": false });
    call("user.setDisabled", enabled).await?;
    Ok((user.name, password))
}

/// Returns the name of the user, and whether there was anything to remove.
async fn remove_second_factors(settings: &Settings, name: &str) -> anyhow::Result<(String, bool)> {
    let host = Host::open(settings).await?;
    let users = local::find_users(&host.service, name).await?;
    let [user] = &users[..] else {
        // Of users of several providers the command cannot tell who has lost it.
        let ids = users
            .iter()
            .map(|user| format!("{} ({})", user.id, user.provider.name()));
        let ids = ids.collect::<Vec<_>>().join(", ");
        bail!(
            "several users have the name {name:?}: {ids}. To remove the second factor of one of them: portico call \
             secondFactor.deleteOfUser '{{\"userId\": \"ID\"}}'"
        );
    };
    let input = json!({ "userId": user.id });
    let procedure = "secondFactor.deleteOfUser";
    let removed = local::run(&host.service, procedure, &Identity::operator(), Some(input)).await?;
    let removed = removed.unwrap_or_default();
    Ok((user.name.clone(), removed["deleted"] != 0))
}
