//! Settings of sign-in with OpenID Connect.

use std::{path::PathBuf, str::FromStr, sync::Arc};

use anyhow::{Context as _, bail};
use clap::Args;
use portico_http::PublicUrl;
use portico_service::external::{Linking, SignUp};
use portico_sign_in::{
    Secret,
    oidc::{ClientAuth, Oidc, OidcSettings, RequiredClaim},
};
use portico_storage::SharedRecords;
use serde::Deserialize;

use super::{
    group_rules::{GroupSettings, as_json},
    layers::layered,
    provider::{as_text, read_file, secret, switch, time_limit, value, value_or},
};

/// The only setting without a flag, because flags show in lists of processes.
pub const SECRET: &str = "PORTICO_OIDC_CLIENT_SECRET";

/// Sign-in with OpenID Connect; in the file under `[oidc]`, without `oidc-`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
// Ids default to the names of the fields, but must be unique among all flags.
#[command(next_help_heading = "OpenID Connect (the client's secret may be in PORTICO_OIDC_CLIENT_SECRET)")]
pub struct OidcArgs {
    /// The URL of the issuer, exactly as in its discovery document:
    /// https://id.example/realms/home
    #[arg(
        id = "oidc-issuer",
        long = "oidc-issuer",
        env = "PORTICO_OIDC_ISSUER",
        value_name = "URL"
    )]
    issuer: Option<String>,
    /// The client id that the issuer gave to this service
    #[arg(
        id = "oidc-client-id",
        long = "oidc-client-id",
        env = "PORTICO_OIDC_CLIENT_ID",
        value_name = "ID"
    )]
    client_id: Option<String>,
    /// The file with the client's secret [default: none, a public client]
    #[arg(
        id = "oidc-client-secret-file",
        long = "oidc-client-secret-file",
        env = "PORTICO_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE"
    )]
    client_secret_file: Option<PathBuf>,
    /// How the secret is sent: basic (in a header) or post (in the body) [default: post if the
    /// issuer offers only that, else basic]
    #[arg(
        id = "oidc-client-auth",
        long = "oidc-client-auth",
        env = "PORTICO_OIDC_CLIENT_AUTH",
        value_name = "WAY"
    )]
    client_auth: Option<String>,
    /// Other audiences that an ID token may have, separated by spaces [default: none]
    #[arg(
        id = "oidc-trusted-audiences",
        long = "oidc-trusted-audiences",
        env = "PORTICO_OIDC_TRUSTED_AUDIENCES",
        value_name = "LIST"
    )]
    #[serde(deserialize_with = "as_text")]
    trusted_audiences: Option<String>,
    /// The scopes to request besides openid, separated by spaces [default: profile email]
    #[arg(
        id = "oidc-scopes",
        long = "oidc-scopes",
        env = "PORTICO_OIDC_SCOPES",
        value_name = "LIST"
    )]
    scopes: Option<String>,
    /// The claim that holds the username: its name, a path to it (realm_access.roles), or a template
    /// of several ("{given_name} {family_name}") [default: preferred_username]
    #[arg(
        id = "oidc-name-claim",
        long = "oidc-name-claim",
        env = "PORTICO_OIDC_NAME_CLAIM",
        value_name = "CLAIM"
    )]
    name_claim: Option<String>,
    /// The claim that holds the email, likewise. Only the claim email counts as verified
    /// [default: email]
    #[arg(
        id = "oidc-email-claim",
        long = "oidc-email-claim",
        env = "PORTICO_OIDC_EMAIL_CLAIM",
        value_name = "CLAIM"
    )]
    email_claim: Option<String>,
    /// The claim that holds the user's groups, or a path to it, read at each sign-in; with .* at its
    /// end the names of what an object has [default: none, groups are managed in Portico]
    #[arg(
        id = "oidc-groups-claim",
        long = "oidc-groups-claim",
        env = "PORTICO_OIDC_GROUPS_CLAIM",
        value_name = "CLAIM"
    )]
    groups_claim: Option<String>,
    /// Which groups here the provider's groups are, as a JSON object: {"their group": "group here"};
    /// in the file a table. Several may be the same group [default: none]
    #[arg(
        id = "oidc-group-map",
        long = "oidc-group-map",
        env = "PORTICO_OIDC_GROUP_MAP",
        value_name = "JSON"
    )]
    #[serde(deserialize_with = "as_json")]
    group_map: Option<String>,
    /// What becomes of groups that are not in the map: match (the group here with the same name) or
    /// ignore [default: ignore with a map, else match]
    #[arg(
        id = "oidc-unmapped-groups",
        long = "oidc-unmapped-groups",
        env = "PORTICO_OIDC_UNMAPPED_GROUPS",
        value_name = "WHAT"
    )]
    unmapped_groups: Option<String>,
    /// Whether a sign-in makes the groups that do not exist here, without permissions
    /// [default: off]
    #[arg(
        id = "oidc-create-groups",
        long = "oidc-create-groups",
        env = "PORTICO_OIDC_CREATE_GROUPS",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    create_groups: Option<String>,
    /// The provider's group whose members are administrators: they are in the group admins here
    /// [default: none]
    #[arg(
        id = "oidc-admin-group",
        long = "oidc-admin-group",
        env = "PORTICO_OIDC_ADMIN_GROUP",
        value_name = "NAME"
    )]
    admin_group: Option<String>,
    /// What the claims of a user must have, as CLAIM=VALUE: it is VALUE, or a list with it
    /// [default: none, everyone whom the issuer knows may sign in]
    #[arg(
        id = "oidc-required-claim",
        long = "oidc-required-claim",
        env = "PORTICO_OIDC_REQUIRED_CLAIM",
        value_name = "CLAIM=VALUE"
    )]
    required_claim: Option<String>,
    /// Whether a person without a user here becomes a new one: on, off, or invite (with the link of
    /// an invite) [default: on]
    #[arg(
        id = "oidc-sign-up",
        long = "oidc-sign-up",
        env = "PORTICO_OIDC_SIGN_UP",
        value_name = "WHO"
    )]
    #[serde(deserialize_with = "as_text")]
    sign_up: Option<String>,
    /// Whether signing out goes on at the issuer, which has to know the URL to come back to:
    /// PUBLIC-URL/sign-in?local [default: off]
    #[arg(
        id = "oidc-sign-out",
        long = "oidc-sign-out",
        env = "PORTICO_OIDC_SIGN_OUT",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    sign_out: Option<String>,
    /// Whether a sign-in becomes the existing user with a password and the same email: off,
    /// verified (the email is verified on both sides) or unverified (only the issuer has to
    /// verify it) [default: off]
    #[arg(
        id = "oidc-linking",
        long = "oidc-linking",
        env = "PORTICO_OIDC_LINKING",
        value_name = "WHEN"
    )]
    linking: Option<String>,
    /// The CA certificates (PEM) to accept for the issuer [default: those that browsers trust]
    #[arg(
        id = "oidc-ca-file",
        long = "oidc-ca-file",
        env = "PORTICO_OIDC_CA_FILE",
        value_name = "FILE"
    )]
    ca_file: Option<PathBuf>,
    /// How long the issuer may take to answer, 1 to 60 [default: 10]
    #[arg(
        id = "oidc-time-limit",
        long = "oidc-time-limit",
        env = "PORTICO_OIDC_TIME_LIMIT",
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "as_text")]
    time_limit: Option<String>,
    /// The name of the issuer that users see [default: OpenID Connect]
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
    email_claim,
    groups_claim,
    group_map,
    unmapped_groups,
    create_groups,
    admin_group,
    required_claim,
    sign_up,
    sign_out,
    linking,
    ca_file,
    time_limit,
    label,
});

impl OidcArgs {
    /// The issuer's URL, as in the settings.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// The issuer, or `None` if OpenID Connect is not set up.
    pub fn provider(
        &self,
        public_url: Option<&PublicUrl>,
        records: Arc<dyn SharedRecords>,
    ) -> anyhow::Result<Option<Oidc>> {
        if value(&self.issuer).is_none() && value(&self.client_id).is_none() {
            return Ok(None);
        }
        Oidc::new(self.settings()?, public_url, records).map(Some)
    }

    fn settings(&self) -> anyhow::Result<OidcSettings> {
        let defaults = OidcSettings::default();
        let words = |text: &String| text.split_whitespace().map(Into::into).collect();
        Ok(OidcSettings {
            issuer: value_or(&self.issuer, defaults.issuer),
            client_id: value_or(&self.client_id, defaults.client_id),
            client_secret: secret(SECRET, "oidc-client-secret", self.client_secret_file.as_deref())?
                .map(Secret),
            client_auth: match value(&self.client_auth) {
                None => None,
                Some("basic") => Some(ClientAuth::Basic),
                Some("post") => Some(ClientAuth::Post),
                Some(other) => bail!("oidc-client-auth {other:?} must be basic or post"),
            },
            trusted_audiences: self.trusted_audiences.as_ref().map_or_else(Vec::new, words),
            scopes: self.scopes.as_ref().map_or(defaults.scopes, words),
            name_claim: parsed("oidc-name-claim", &self.name_claim)?.unwrap_or(defaults.name_claim),
            email_claim: parsed("oidc-email-claim", &self.email_claim)?.unwrap_or(defaults.email_claim),
            groups_claim: parsed("oidc-groups-claim", &self.groups_claim)?,
            group_rules: {
                let settings = GroupSettings {
                    map: &self.group_map,
                    unmapped: &self.unmapped_groups,
                    create: &self.create_groups,
                    admin: &self.admin_group,
                };
                Arc::new(settings.rules("oidc")?)
            },
            required_claim: match value(&self.required_claim) {
                None => None,
                Some(text) => Some(RequiredClaim::parse(text).context("oidc-required-claim")?),
            },
            sign_up: match value(&self.sign_up) {
                None => defaults.sign_up,
                Some("on") => SignUp::On,
                Some("invite") => SignUp::ByInvite,
                Some("off") => SignUp::Off,
                Some(other) => bail!("oidc-sign-up {other:?} must be on, invite or off"),
            },
            sign_out: switch("oidc-sign-out", &self.sign_out)?.unwrap_or(defaults.sign_out),
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

/// A claim, a path or a template.
fn parsed<T: FromStr<Err = anyhow::Error>>(
    name: &str,
    setting: &Option<String>,
) -> anyhow::Result<Option<T>> {
    let text = value(setting).filter(|text| !text.trim().is_empty());
    text.map(|text| text.parse().with_context(|| name.to_owned()))
        .transpose()
}
