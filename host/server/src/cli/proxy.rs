//! Settings of sign-in by a proxy in front.

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use portico_http::{HttpSettings, ProxySignIn};
use serde::Deserialize;

use super::{
    layers::layered,
    provider::{as_text, switch, value},
};

/// Sign-in by a proxy in front; in the file under `[proxy]`, without `proxy-`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
// Ids default to the names of the fields, but must be unique among all flags.
#[command(next_help_heading = "Sign-in by a proxy in front (--trusted-proxies)")]
pub struct ProxyArgs {
    /// The header in which a trusted proxy says who has signed in there, e.g. Remote-User. Every
    /// program at the addresses of --trusted-proxies can be any user with it [default: none, off]
    #[arg(
        id = "proxy-user-header",
        long = "proxy-user-header",
        env = "PORTICO_PROXY_USER_HEADER",
        value_name = "NAME"
    )]
    user_header: Option<String>,
    /// The header with their username [default: that of --proxy-user-header]
    #[arg(
        id = "proxy-name-header",
        long = "proxy-name-header",
        env = "PORTICO_PROXY_NAME_HEADER",
        value_name = "NAME"
    )]
    name_header: Option<String>,
    /// The header with their email [default: none]
    #[arg(
        id = "proxy-email-header",
        long = "proxy-email-header",
        env = "PORTICO_PROXY_EMAIL_HEADER",
        value_name = "NAME"
    )]
    email_header: Option<String>,
    /// The header with the names of their groups [default: none, groups are managed in Portico]
    #[arg(
        id = "proxy-groups-header",
        long = "proxy-groups-header",
        env = "PORTICO_PROXY_GROUPS_HEADER",
        value_name = "NAME"
    )]
    groups_header: Option<String>,
    /// The character between the names of groups: , ; or | [default: ,]
    #[arg(
        id = "proxy-groups-separator",
        long = "proxy-groups-separator",
        env = "PORTICO_PROXY_GROUPS_SEPARATOR",
        value_name = "CHARACTER"
    )]
    groups_separator: Option<String>,
    /// Whether a person without a user here becomes a new one [default: on]
    #[arg(
        id = "proxy-sign-up",
        long = "proxy-sign-up",
        env = "PORTICO_PROXY_SIGN_UP",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    sign_up: Option<String>,
}

layered!(ProxyArgs {
    user_header,
    name_header,
    email_header,
    groups_header,
    groups_separator,
    sign_up,
});

impl ProxyArgs {
    /// The headers, or `None` if no proxy signs people in.
    pub fn sign_in(&self, http: &HttpSettings) -> anyhow::Result<Option<ProxySignIn>> {
        let Some(user) = value(&self.user_header) else {
            let others = [&self.name_header, &self.email_header, &self.groups_header];
            ensure!(
                others.into_iter().all(|header| value(header).is_none()),
                "proxy-user-header must be set"
            );
            return Ok(None);
        };
        let header = |setting: &str, name: &str| {
            let parsed = name.parse();
            parsed.with_context(|| format!("{setting} {name:?} must be the name of a header"))
        };
        let optional = |setting, name| value(name).map(|name| header(setting, name)).transpose();
        let sign_in = ProxySignIn {
            user: header("proxy-user-header", user)?,
            name: optional("proxy-name-header", &self.name_header)?,
            email: optional("proxy-email-header", &self.email_header)?,
            groups: optional("proxy-groups-header", &self.groups_header)?,
            separator: match value(&self.groups_separator) {
                None | Some(",") => ',',
                Some(";") => ';',
                Some("|") => '|',
                Some(other) => bail!("proxy-groups-separator {other:?} must be , ; or |"),
            },
            sign_up: switch("proxy-sign-up", &self.sign_up)?.unwrap_or(true),
        };
        let checked = sign_in.check(http.public_url.as_ref(), &http.trusted_proxies);
        checked.map_err(anyhow::Error::msg)?;
        Ok(Some(sign_in))
    }
}
