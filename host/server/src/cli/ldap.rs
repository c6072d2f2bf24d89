//! Settings of sign-in with LDAP.

use std::{path::PathBuf, sync::Arc};

use anyhow::ensure;
use clap::Args;
use portico_sign_in::ldap::{Ldap, LdapSettings};
use serde::Deserialize;

use super::{
    group_rules::{GroupSettings, as_json},
    layers::layered,
    provider::{as_text, secret, switch, time_limit, value, value_or},
};

/// The only setting without a flag, because flags show in lists of processes.
pub const PASSWORD: &str = "PORTICO_LDAP_BIND_PASSWORD";

/// Sign-in with the password in a directory; in the file under `[ldap]`, without `ldap-`.
#[derive(Args, Deserialize, Default, Clone)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
// Ids default to the names of the fields, but must be unique among all flags.
#[command(next_help_heading = "LDAP (the password of ldap-bind-dn may be in PORTICO_LDAP_BIND_PASSWORD)")]
pub struct LdapArgs {
    /// The URL of the directory: ldaps://HOST[:PORT], or ldap:// with StartTLS
    #[arg(
        id = "ldap-url",
        long = "ldap-url",
        env = "PORTICO_LDAP_URL",
        value_name = "URL"
    )]
    url: Option<String>,
    /// Whether to encrypt ldap:// with StartTLS before anything else is sent [default: off]
    #[arg(
        id = "ldap-start-tls",
        long = "ldap-start-tls",
        env = "PORTICO_LDAP_START_TLS",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    start_tls: Option<String>,
    /// Whether passwords may be sent unencrypted to another machine [default: off]
    #[arg(
        id = "ldap-allow-plain",
        long = "ldap-allow-plain",
        env = "PORTICO_LDAP_ALLOW_PLAIN",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    allow_plain: Option<String>,
    /// The CA certificates (PEM) to accept for the directory [default: those that browsers trust]
    #[arg(
        id = "ldap-ca-file",
        long = "ldap-ca-file",
        env = "PORTICO_LDAP_CA_FILE",
        value_name = "FILE"
    )]
    ca_file: Option<PathBuf>,
    /// The service account that searches the directory [default: none, search anonymously]
    #[arg(
        id = "ldap-bind-dn",
        long = "ldap-bind-dn",
        env = "PORTICO_LDAP_BIND_DN",
        value_name = "DN"
    )]
    bind_dn: Option<String>,
    /// The file with the password of the service account
    #[arg(
        id = "ldap-bind-password-file",
        long = "ldap-bind-password-file",
        env = "PORTICO_LDAP_BIND_PASSWORD_FILE",
        value_name = "FILE"
    )]
    bind_password_file: Option<PathBuf>,
    /// The entry below which users are
    #[arg(
        id = "ldap-users-base",
        long = "ldap-users-base",
        env = "PORTICO_LDAP_USERS_BASE",
        value_name = "DN"
    )]
    users_base: Option<String>,
    /// How far below it to search: sub, one or base [default: sub]
    #[arg(
        id = "ldap-users-scope",
        long = "ldap-users-scope",
        env = "PORTICO_LDAP_USERS_SCOPE",
        value_name = "SCOPE"
    )]
    users_scope: Option<String>,
    /// The filter that finds the entry of a username [default: (uid={username})]
    #[arg(
        id = "ldap-user-filter",
        long = "ldap-user-filter",
        env = "PORTICO_LDAP_USER_FILTER",
        value_name = "FILTER"
    )]
    user_filter: Option<String>,
    /// The attribute that identifies an entry permanently, or dn [default: entryUUID]
    #[arg(
        id = "ldap-id-attribute",
        long = "ldap-id-attribute",
        env = "PORTICO_LDAP_ID_ATTRIBUTE",
        value_name = "NAME"
    )]
    id_attribute: Option<String>,
    /// The attribute with the user's name [default: uid]
    #[arg(
        id = "ldap-name-attribute",
        long = "ldap-name-attribute",
        env = "PORTICO_LDAP_NAME_ATTRIBUTE",
        value_name = "NAME"
    )]
    name_attribute: Option<String>,
    /// The attribute with the user's email [default: mail]
    #[arg(
        id = "ldap-mail-attribute",
        long = "ldap-mail-attribute",
        env = "PORTICO_LDAP_MAIL_ATTRIBUTE",
        value_name = "NAME"
    )]
    mail_attribute: Option<String>,
    /// Whether the directory decides who is in which group [default: on with ldap-groups-base]
    #[arg(
        id = "ldap-groups",
        long = "ldap-groups",
        env = "PORTICO_LDAP_GROUPS",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    groups: Option<String>,
    /// The entry below which groups are
    #[arg(
        id = "ldap-groups-base",
        long = "ldap-groups-base",
        env = "PORTICO_LDAP_GROUPS_BASE",
        value_name = "DN"
    )]
    groups_base: Option<String>,
    /// The filter that finds the groups of a user, by {dn} or {username}
    /// [default: (|(member={dn})(uniqueMember={dn}))]
    #[arg(
        id = "ldap-group-filter",
        long = "ldap-group-filter",
        env = "PORTICO_LDAP_GROUP_FILTER",
        value_name = "FILTER"
    )]
    group_filter: Option<String>,
    /// The attribute with a group's name [default: cn]
    #[arg(
        id = "ldap-group-name-attribute",
        long = "ldap-group-name-attribute",
        env = "PORTICO_LDAP_GROUP_NAME_ATTRIBUTE",
        value_name = "NAME"
    )]
    group_name_attribute: Option<String>,
    /// Whether the primary group of a user in Active Directory counts too, which is in no list of
    /// members [default: off]
    #[arg(
        id = "ldap-primary-group",
        long = "ldap-primary-group",
        env = "PORTICO_LDAP_PRIMARY_GROUP",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    primary_group: Option<String>,
    /// Which groups here the provider's groups are, as a JSON object: {"their group": "group here"};
    /// in the file a table. Several may be the same group [default: none]
    #[arg(
        id = "ldap-group-map",
        long = "ldap-group-map",
        env = "PORTICO_LDAP_GROUP_MAP",
        value_name = "JSON"
    )]
    #[serde(deserialize_with = "as_json")]
    group_map: Option<String>,
    /// What becomes of groups that are not in the map: match (the group here with the same name) or
    /// ignore [default: ignore with a map, else match]
    #[arg(
        id = "ldap-unmapped-groups",
        long = "ldap-unmapped-groups",
        env = "PORTICO_LDAP_UNMAPPED_GROUPS",
        value_name = "WHAT"
    )]
    unmapped_groups: Option<String>,
    /// Whether a sign-in makes the groups that do not exist here, without permissions
    /// [default: off]
    #[arg(
        id = "ldap-create-groups",
        long = "ldap-create-groups",
        env = "PORTICO_LDAP_CREATE_GROUPS",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    create_groups: Option<String>,
    /// The provider's group whose members are administrators: they are in the group admins here
    /// [default: none]
    #[arg(
        id = "ldap-admin-group",
        long = "ldap-admin-group",
        env = "PORTICO_LDAP_ADMIN_GROUP",
        value_name = "NAME"
    )]
    admin_group: Option<String>,
    /// The group below ldap-groups-base in which users must be to sign in [default: none]
    #[arg(
        id = "ldap-required-group",
        long = "ldap-required-group",
        env = "PORTICO_LDAP_REQUIRED_GROUP",
        value_name = "NAME"
    )]
    required_group: Option<String>,
    /// Whether a person without a user here becomes a new one [default: on]
    #[arg(
        id = "ldap-sign-up",
        long = "ldap-sign-up",
        env = "PORTICO_LDAP_SIGN_UP",
        value_name = "ON|OFF"
    )]
    #[serde(deserialize_with = "as_text")]
    sign_up: Option<String>,
    /// How long a sign-in may take in total, 1 to 60 [default: 5]
    #[arg(
        id = "ldap-time-limit",
        long = "ldap-time-limit",
        env = "PORTICO_LDAP_TIME_LIMIT",
        value_name = "SECONDS"
    )]
    #[serde(deserialize_with = "as_text")]
    time_limit: Option<String>,
    /// The name of the directory that users see [default: LDAP]
    #[arg(
        id = "ldap-label",
        long = "ldap-label",
        env = "PORTICO_LDAP_LABEL",
        value_name = "TEXT"
    )]
    label: Option<String>,
}

layered!(LdapArgs {
    url,
    start_tls,
    allow_plain,
    ca_file,
    bind_dn,
    bind_password_file,
    users_base,
    users_scope,
    user_filter,
    id_attribute,
    name_attribute,
    mail_attribute,
    groups,
    groups_base,
    group_filter,
    group_name_attribute,
    primary_group,
    group_map,
    unmapped_groups,
    create_groups,
    admin_group,
    required_group,
    sign_up,
    time_limit,
    label,
});

impl LdapArgs {
    /// The directory, or `None` if LDAP is not set up.
    pub fn provider(&self) -> anyhow::Result<Option<Ldap>> {
        let required = [&self.url, &self.users_base, &self.bind_dn];
        if required.into_iter().all(|setting| value(setting).is_none()) {
            return Ok(None);
        }
        Ldap::new(self.settings()?).map(Some)
    }

    fn settings(&self) -> anyhow::Result<LdapSettings> {
        let defaults = LdapSettings::default();
        let groups = switch("ldap-groups", &self.groups)?;
        ensure!(
            groups != Some(true) || value(&self.groups_base).is_some(),
            "ldap-groups-base is missing, and ldap-groups is on"
        );
        Ok(LdapSettings {
            url: value_or(&self.url, defaults.url),
            start_tls: switch("ldap-start-tls", &self.start_tls)?.unwrap_or_default(),
            allow_plain: switch("ldap-allow-plain", &self.allow_plain)?.unwrap_or_default(),
            ca_file: self.ca_file.clone(),
            bind_dn: self.bind_dn.clone(),
            bind_password: secret(PASSWORD, "ldap-bind-password", self.bind_password_file.as_deref())?,
            users_base: value_or(&self.users_base, defaults.users_base),
            users_scope: value_or(&self.users_scope, defaults.users_scope),
            user_filter: value_or(&self.user_filter, defaults.user_filter),
            id_attribute: value_or(&self.id_attribute, defaults.id_attribute),
            name_attribute: value_or(&self.name_attribute, defaults.name_attribute),
            mail_attribute: value_or(&self.mail_attribute, defaults.mail_attribute),
            groups_base: value(&self.groups_base)
                .filter(|_| groups != Some(false))
                .map(Into::into),
            group_filter: value_or(&self.group_filter, defaults.group_filter),
            group_name_attribute: value_or(&self.group_name_attribute, defaults.group_name_attribute),
            primary_group: switch("ldap-primary-group", &self.primary_group)?.unwrap_or_default(),
            group_rules: {
                let settings = GroupSettings {
                    map: &self.group_map,
                    unmapped: &self.unmapped_groups,
                    create: &self.create_groups,
                    admin: &self.admin_group,
                };
                Arc::new(settings.rules("ldap")?)
            },
            required_group: value(&self.required_group).map(Into::into),
            sign_up: switch("ldap-sign-up", &self.sign_up)?.unwrap_or(defaults.sign_up),
            time_limit: time_limit("ldap-time-limit", &self.time_limit, defaults.time_limit)?,
            label: value_or(&self.label, defaults.label),
        })
    }
}
