//! Settings of an issuer that vouches for users.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use portico_http::PublicUrl;
use portico_service::external::Linking;
use portico_sign_in::{
    Secret,
    oidc::{ClientAuth, Oidc, OidcSettings},
};
use serde::Deserialize;

use super::{
    layers::layered,
    provider::{as_text, read_file, secret, time_limit, value, value_or},
};

/// The one setting that is no flag: whoever lists processes reads those.
const SECRET: &str = "PORTICO_OIDC_CLIENT_SECRET";

/// Sign-in by OpenID Connect; in the file under `[oidc]`, without `oidc-`. What is wrong in here is reported
/// when the host starts, and does not keep it from that: so all of it is text.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
// The ids, which are the names of the fields otherwise, are those of all flags together.
#[command(next_help_heading = "OpenID Connect (the client's secret may be in PORTICO_OIDC_CLIENT_SECRET)")]
pub struct OidcArgs {
    /// The issuer that people may sign in with, as it writes its URL itself:
    /// https://id.example/realms/home
    #[arg(
        id = "oidc-issuer",
        long = "oidc-issuer",
        env = "PORTICO_OIDC_ISSUER",
        value_name = "URL"
    )]
    issuer: Option<String>,
    /// What the issuer knows this service by
    #[arg(
        id = "oidc-client-id",
        long = "oidc-client-id",
        env = "PORTICO_OIDC_CLIENT_ID",
        value_name = "ID"
    )]
    client_id: Option<String>,
    /// The file with the client's secret; without one it is a public client
    #[arg(
        id = "oidc-client-secret-file",
        long = "oidc-client-secret-file",
        env = "PORTICO_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE"
    )]
    client_secret_file: Option<PathBuf>,
    /// How the secret is sent: basic (a header) or post (the body) [default: post if the issuer
    /// offers nothing else, and basic otherwise]
    #[arg(
        id = "oidc-client-auth",
        long = "oidc-client-auth",
        env = "PORTICO_OIDC_CLIENT_AUTH",
        value_name = "WAY"
    )]
    client_auth: Option<String>,
    /// Who else may be in the audience of an ID token, between spaces [default: none]
    #[arg(
        id = "oidc-trusted-audiences",
        long = "oidc-trusted-audiences",
        env = "PORTICO_OIDC_TRUSTED_AUDIENCES",
        value_name = "LIST"
    )]
    #[serde(deserialize_with = "as_text")]
    trusted_audiences: Option<String>,
    /// What the issuer is asked for beside openid, between spaces [default: profile email]
    #[arg(
        id = "oidc-scopes",
        long = "oidc-scopes",
        env = "PORTICO_OIDC_SCOPES",
        value_name = "LIST"
    )]
    scopes: Option<String>,
    /// The claim that holds the username [default: preferred_username]
    #[arg(
        id = "oidc-name-claim",
        long = "oidc-name-claim",
        env = "PORTICO_OIDC_NAME_CLAIM",
        value_name = "NAME"
    )]
    name_claim: Option<String>,
    /// The claim that says who is in which group, at each sign-in [default: none, groups are
    /// managed here]
    #[arg(
        id = "oidc-groups-claim",
        long = "oidc-groups-claim",
        env = "PORTICO_OIDC_GROUPS_CLAIM",
        value_name = "NAME"
    )]
    groups_claim: Option<String>,
    /// Whether somebody becomes the user with a password who has the same email: off, verified
    /// (the email is, on both sides) or unverified (here it need not be) [default: off]
    #[arg(
        id = "oidc-linking",
        long = "oidc-linking",
        env = "PORTICO_OIDC_LINKING",
        value_name = "WHEN"
    )]
    linking: Option<String>,
    /// The certificates (PEM) of those who may vouch for the issuer [default: those that browsers
    /// trust]
    #[arg(
        id = "oidc-ca-file",
        long = "oidc-ca-file",
        env = "PORTICO_OIDC_CA_FILE",
        value_name = "FILE"
    )]
    ca_file: Option<PathBuf>,
    /// How long the issuer may take, 1 to 60 [default: 10]
    #[arg(
        id = "oidc-time-limit",
        long = "oidc-time-limit",
        env = "PORTICO_OIDC_TIME_LIMIT",
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "as_text")]
    time_limit: Option<String>,
    /// What people know the issuer as [default: OpenID Connect]
    #[arg(
        id = "oidc-label",
        long = "oidc-label",
        env = "PORTICO_OIDC_LABEL",
        value_name = "TEXT"
    )]
    label: Option<String>,
}

layered!(OidcArgs {
    issuer,
    client_id,
    client_secret_file,
    client_auth,
    trusted_audiences,
    scopes,
    name_claim,
    groups_claim,
    linking,
    ca_file,
    time_limit,
    label,
});

impl OidcArgs {
    /// The issuer; none: there is no such setting.
    pub fn provider(&self, public_url: Option<&PublicUrl>) -> anyhow::Result<Option<Oidc>> {
        if value(&self.issuer).is_none() && value(&self.client_id).is_none() {
            return Ok(None);
        }
        Oidc::new(self.settings()?, public_url).map(Some)
    }

    fn settings(&self) -> anyhow::Result<OidcSettings> {
        let defaults = OidcSettings::default();
        let words = |text: &String| text.split_whitespace().map(Into::into).collect();
        let is_said = |text: &String| !text.trim().is_empty();
        Ok(OidcSettings {
            issuer: value_or(&self.issuer, defaults.issuer),
            client_id: value_or(&self.client_id, defaults.client_id),
            client_secret: secret(
                SECRET,
                "oidc-client-secret-file",
                self.client_secret_file.as_deref(),
            )?
            .map(Secret),
            client_auth: match value(&self.client_auth) {
                None => None,
                Some("basic") => Some(ClientAuth::Basic),
                Some("post") => Some(ClientAuth::Post),
                Some(other) => bail!("oidc-client-auth {other:?} must be basic or post"),
            },
            trusted_audiences: self.trusted_audiences.as_ref().map_or_else(Vec::new, words),
            scopes: self.scopes.as_ref().map_or(defaults.scopes, words),
            name_claim: value_or(&self.name_claim, defaults.name_claim),
            groups_claim: self.groups_claim.clone().filter(is_said),
            label: value_or(&self.label, defaults.label),
            time_limit: time_limit("oidc-time-limit", &self.time_limit, defaults.time_limit)?,
            linking: match value(&self.linking) {
                None | Some("off") => Linking::Off,
                Some("verified") => Linking::Verified,
                Some("unverified") => Linking::Unverified,
                Some(other) => bail!("oidc-linking {other:?} must be off, verified or unverified"),
            },
            ca: match &self.ca_file {
                Some(file) => Some(read_file("oidc-ca-file", file)?),
                None => None,
            },
        })
    }
}
