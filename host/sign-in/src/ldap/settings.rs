//! The settings of a directory, checked at start.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, anyhow, bail, ensure};
use http::Uri;
use ldap3::Scope;
use portico_service::external::{GroupRules, SignUp};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};

use super::{
    filter::{Filter, Placeholder},
    wire::{Security, Server},
};
use crate::common::check_time_limit;

/// The settings of a directory. Errors name these fields as the command line does: `users_base` is
/// `ldap-users-base`.
#[derive(Clone)]
pub struct LdapSettings {
    /// `ldaps://HOST` or `ldap://HOST`, optionally with a port.
    pub url: String,
    /// Whether `ldap://` is encrypted with StartTLS before anything else is sent.
    pub start_tls: bool,
    /// Whether passwords may be sent unencrypted to another machine.
    pub allow_plain: bool,
    /// The CA certificates (PEM) to accept for the directory; with `None`, those that browsers trust.
    pub ca_file: Option<PathBuf>,
    /// The service account that searches; with `None`, the search is anonymous.
    pub bind_dn: Option<String>,
    /// The password of the service account.
    pub bind_password: Option<String>,
    /// The entry below which users are.
    pub users_base: String,
    /// How far below it to search: `sub`, `one` or `base`.
    pub users_scope: String,
    /// The filter that finds the entry of `{username}`.
    pub user_filter: String,
    /// The permanent id of an entry: an attribute with one value, or `dn`.
    pub id_attribute: String,
    /// The attribute with the user's name.
    pub name_attribute: String,
    /// The attribute with the user's email.
    pub mail_attribute: String,
    /// The entry below which groups are; with `None`, groups are managed in Portico.
    pub groups_base: Option<String>,
    /// The filter that finds the groups of the user with the entry `{dn}` and the name `{username}`.
    pub group_filter: String,
    /// The attribute with a group's name.
    pub group_name_attribute: String,
    /// Whether a user's primary group in Active Directory counts too, which is in no list of members.
    pub primary_group: bool,
    /// What becomes of the names of groups.
    pub group_rules: Arc<GroupRules>,
    /// The name of the group in which users must be to sign in; with `None`, every entry that the filter finds may.
    pub required_group: Option<String>,
    /// Whether a person without a user here becomes a new one.
    pub sign_up: bool,
    /// How long a sign-in may take in total.
    pub time_limit: Duration,
    /// The name of the directory that users see.
    pub label: String,
}

impl Default for LdapSettings {
    fn default() -> Self {
        Self {
            url: String::new(),
            start_tls: false,
            allow_plain: false,
            ca_file: None,
            bind_dn: None,
            bind_password: None,
            users_base: String::new(),
            users_scope: "sub".into(),
            user_filter: "(uid={username})".into(),
            id_attribute: "entryUUID".into(),
            name_attribute: "uid".into(),
            mail_attribute: "mail".into(),
            groups_base: None,
            group_filter: "(|(member={dn})(uniqueMember={dn}))".into(),
            group_name_attribute: "cn".into(),
            primary_group: false,
            group_rules: Arc::default(),
            required_group: None,
            sign_up: true,
            time_limit: Duration::from_secs(5),
            label: "LDAP".into(),
        }
    }
}

/// The settings, checked and parsed.
pub(super) struct Config {
    pub server: Server,
    /// Empty, like the password, to search anonymously.
    pub bind_dn: String,
    pub bind_password: String,
    pub users_base: String,
    pub users_scope: Scope,
    pub user_filter: Filter,
    pub id_attribute: String,
    pub name_attribute: String,
    pub mail_attribute: String,
    pub groups: Option<Groups>,
    pub group_rules: Arc<GroupRules>,
    pub required_group: Option<String>,
    pub sign_up: bool,
    pub time_limit: Duration,
    pub label: String,
}

pub(super) struct Groups {
    pub base: String,
    pub filter: Filter,
    pub name_attribute: String,
    /// Whether the primary group counts too.
    pub has_primary: bool,
}

impl Config {
    pub fn new(settings: LdapSettings) -> anyhow::Result<Self> {
        let users = [Placeholder::Username];
        let groups = [Placeholder::Dn, Placeholder::Username];
        let (bind_dn, bind_password) =
            service_account(settings.bind_dn.clone(), settings.bind_password.clone())?;
        check_time_limit("ldap-time-limit", settings.time_limit)?;
        ensure!(
            settings.required_group.is_none() || settings.groups_base.is_some(),
            "ldap-required-group needs ldap-groups-base, below which the group is looked for"
        );
        ensure!(
            !settings.primary_group || settings.groups_base.is_some(),
            "ldap-primary-group needs ldap-groups-base, below which the group is looked for"
        );
        ensure!(
            settings.groups_base.is_some() || *settings.group_rules == GroupRules::default(),
            "ldap-group-map, ldap-unmapped-groups, ldap-create-groups and ldap-admin-group need ldap-groups-base"
        );
        Ok(Self {
            server: server(&settings)?,
            bind_dn,
            bind_password,
            users_base: base("ldap-users-base", &settings.users_base)?,
            users_scope: scope(&settings.users_scope)?,
            user_filter: Filter::new(&settings.user_filter, &users).context("ldap-user-filter")?,
            id_attribute: attribute("ldap-id-attribute", &settings.id_attribute)?,
            name_attribute: attribute("ldap-name-attribute", &settings.name_attribute)?,
            mail_attribute: attribute("ldap-mail-attribute", &settings.mail_attribute)?,
            groups: match &settings.groups_base {
                Some(groups_base) => Some(Groups {
                    base: base("ldap-groups-base", groups_base)?,
                    filter: Filter::new(&settings.group_filter, &groups).context("ldap-group-filter")?,
                    name_attribute: attribute("ldap-group-name-attribute", &settings.group_name_attribute)?,
                    has_primary: settings.primary_group,
                }),
                None => None,
            },
            group_rules: settings.group_rules,
            required_group: settings.required_group,
            sign_up: settings.sign_up,
            time_limit: settings.time_limit,
            label: settings.label,
        })
    }
}

impl Config {
    pub fn sign_up(&self) -> SignUp {
        match self.sign_up {
            true => SignUp::On,
            false => SignUp::Off,
        }
    }
}

/// Does not show the password.
impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("Config");
        fields.field("server", &self.server).finish_non_exhaustive()
    }
}

fn server(settings: &LdapSettings) -> anyhow::Result<Server> {
    let expected = "ldap-url must be like ldaps://ldap.example or ldap://ldap.example:389";
    ensure!(!settings.url.is_empty(), "ldap-url is missing");
    let url: Uri = settings.url.parse().map_err(|_| anyhow!(expected))?;
    let is_bare = matches!(
        url.path_and_query().map(|path| path.as_str()),
        None | Some("" | "/")
    );
    let authority = url.authority().filter(|authority| {
        is_bare
            && !settings.url.contains('#')
            && !authority.as_str().contains('@')
            && !authority.host().is_empty()
    });
    let host = authority.with_context(|| expected)?.host();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = || ServerName::try_from(host.to_owned()).map_err(|_| anyhow!(expected));
    let is_tls = match url.scheme_str() {
        Some("ldaps") => true,
        Some("ldap") => false,
        _ => bail!(expected),
    };
    let port = url.port_u16().unwrap_or(if is_tls { 636 } else { 389 });
    ensure!(
        !(is_tls && settings.start_tls),
        "ldap-start-tls is for ldap://; ldaps:// is encrypted from its beginning"
    );
    let security = if is_tls {
        Security::Tls(tls(settings)?, name()?)
    } else if settings.start_tls {
        Security::StartTls(tls(settings)?, name()?)
    } else {
        ensure!(
            is_loopback(host) || settings.allow_plain,
            "ldap-url would send passwords to another machine as they are: use ldaps://, or set \
             ldap-start-tls; or ldap-allow-plain if you know better"
        );
        Security::Plain
    };
    Ok(Server {
        host: host.to_owned(),
        port,
        security,
    })
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    address.map_or(host.eq_ignore_ascii_case("localhost"), |address| {
        address.to_canonical().is_loopback()
    })
}

fn tls(settings: &LdapSettings) -> anyhow::Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    match &settings.ca_file {
        Some(file) => {
            let problem = || format!("ldap-ca-file: {}", file.display());
            let text = std::fs::read(file).with_context(problem)?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                roots
                    .add(certificate.with_context(problem)?)
                    .with_context(problem)?;
            }
            ensure!(!roots.is_empty(), "{} holds no certificate (PEM)", problem());
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn service_account(dn: Option<String>, password: Option<String>) -> anyhow::Result<(String, String)> {
    let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
    match (non_empty(dn), non_empty(password)) {
        (Some(dn), Some(password)) => Ok((dn, password)),
        (None, None) => Ok(Default::default()),
        (Some(_), None) => bail!("ldap-bind-password-file or PORTICO_LDAP_BIND_PASSWORD is missing"),
        (None, Some(_)) => bail!("ldap-bind-dn is missing"),
    }
}

fn base(setting: &str, text: &str) -> anyhow::Result<String> {
    ensure!(!text.trim().is_empty(), "{setting} is missing");
    ensure!(
        text.contains('=') && !text.contains(char::is_control),
        "{setting} must be a distinguished name like ou=people,dc=example"
    );
    Ok(text.trim().to_owned())
}

fn scope(text: &str) -> anyhow::Result<Scope> {
    match text {
        "sub" => Ok(Scope::Subtree),
        "one" => Ok(Scope::OneLevel),
        "base" => Ok(Scope::Base),
        _ => bail!("ldap-users-scope must be sub, one or base"),
    }
}

fn attribute(setting: &str, text: &str) -> anyhow::Result<String> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-.;".contains(character);
    ensure!(
        text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_name),
        "{setting} must be the name of an attribute"
    );
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> LdapSettings {
        LdapSettings {
            url: "ldaps://ldap.example".into(),
            users_base: "ou=people,dc=example".into(),
            ..LdapSettings::default()
        }
    }

    fn server_at(url: &str) -> anyhow::Result<Server> {
        let settings = LdapSettings {
            url: url.into(),
            ..good()
        };
        Ok(Config::new(settings)?.server)
    }

    #[test]
    fn the_url_gives_host_and_port() {
        for (url, host, port) in [
            ("ldaps://ldap.example", "ldap.example", 636),
            ("ldaps://ldap.example:1636/", "ldap.example", 1636),
            ("ldap://127.0.0.1", "127.0.0.1", 389),
            ("ldap://[::1]:1389", "::1", 1389),
            ("ldap://LocalHost", "LocalHost", 389),
        ] {
            let server = server_at(url).unwrap();
            assert_eq!((server.host.as_str(), server.port), (host, port));
        }
        for url in [
            "ldap.example",
            "http://ldap.example",
            "ldapi://%2frun%2fslapd",
            "ldaps://",
            "ldaps://me@ldap.example",
            "ldaps://ldap.example/dc=example",
            "ldaps://ldap.example?x",
            "ldaps://ldap.example/#x",
        ] {
            let error = server_at(url).unwrap_err().to_string();
            assert!(error.contains("ldap-url must be like"), "{url}: {error}");
        }
    }

    #[test]
    fn passwords_are_sent_unencrypted_to_other_machines_only_if_allowed() {
        let plain = |host: &str| LdapSettings {
            url: format!("ldap://{host}"),
            ..good()
        };
        for host in ["ldap.example", "192.0.2.1", "[2001:db8::1]", "localhost.example"] {
            let error = Config::new(plain(host)).unwrap_err().to_string();
            assert!(
                error.contains("would send passwords to another machine"),
                "{error}"
            );
            let allowed = LdapSettings {
                allow_plain: true,
                ..plain(host)
            };
            let security = Config::new(allowed).unwrap().server.security;
            assert!(matches!(security, Security::Plain));
            let encrypted = LdapSettings {
                start_tls: true,
                ..plain(host)
            };
            let security = Config::new(encrypted).unwrap().server.security;
            assert!(matches!(security, Security::StartTls(..)));
        }
    }

    #[test]
    fn an_error_names_the_setting() {
        type Change = fn(&mut LdapSettings);
        let wrong: [(&str, Change); 15] = [
            ("ldap-primary-group needs ldap-groups-base", |settings| {
                settings.primary_group = true;
            }),
            ("ldap-url is missing", |settings| settings.url.clear()),
            ("ldap-start-tls is for ldap://", |settings| {
                settings.start_tls = true;
            }),
            ("ldap-ca-file: /nowhere", |settings| {
                settings.ca_file = Some("/nowhere".into());
            }),
            ("ldap-ca-file: /dev/null holds no certificate", |settings| {
                settings.ca_file = Some("/dev/null".into());
            }),
            ("PORTICO_LDAP_BIND_PASSWORD is missing", |settings| {
                settings.bind_dn = Some("cn=portico".into());
            }),
            ("ldap-bind-dn is missing", |settings| {
                settings.bind_password = Some("secret".into());
            }),
            ("ldap-users-base is missing", |settings| {
                settings.users_base.clear();
            }),
            ("ldap-users-base must be", |settings| {
                settings.users_base = "people".into();
            }),
            ("ldap-users-scope", |settings| {
                settings.users_scope = "children".into();
            }),
            ("ldap-user-filter", |settings| {
                settings.user_filter = "(uid=alice)".into();
            }),
            ("ldap-id-attribute", |settings| {
                settings.id_attribute = "entry UUID".into();
            }),
            ("ldap-groups-base", |settings| {
                settings.groups_base = Some(" ".into());
            }),
            ("ldap-group-filter", |settings| {
                settings.groups_base = Some("ou=groups".into());
                settings.group_filter = "(member={user})".into();
            }),
            ("ldap-time-limit", |settings| settings.time_limit = Duration::ZERO),
        ];
        for (problem, change) in wrong {
            let mut settings = good();
            change(&mut settings);
            let error = format!("{:#}", Config::new(settings).unwrap_err());
            assert!(error.contains(problem), "{problem}: {error}");
        }
    }

    #[test]
    fn the_password_of_the_service_account_is_not_shown() {
        let settings = LdapSettings {
            bind_dn: Some("cn=portico".into()),
            bind_password: Some("a-secret".into()),
            ..good()
        };
        let shown = format!("{:?}", Config::new(settings).unwrap());
        assert!(!shown.contains("a-secret"), "{shown}");
    }
}
