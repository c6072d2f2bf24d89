//! A database and how to reach it, from `postgres://…`.
//!
//! Invariants:
//! - What the log and errors show of it contains no password.
//! - With `sslmode=verify-full`, no connection is made to a server without a valid certificate for its
//!   name.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::clock::ServerClock;
use super::limits::Limits;
use super::servers::Servers;
use super::tls::{Check, Tls};
use super::versions::application_name;

/// How long connecting to one server may take, unless the URL says something else.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// After this time without a response from the other machine's kernel, a connection is lost.
const LOST_AFTER: Duration = Duration::from_secs(15);
/// How long a connection is silent before the kernel asks whether the other machine is there.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// A database and how to reach it.
pub(super) struct Target {
    pub servers: Servers,
    pub tls: Tls,
    /// How long connecting to one server may take, the handshakes included.
    pub connect_limit: Duration,
    pub limits: Limits,
    shown: String,
    /// The number of the installation, once it is known ([`super::versions`]).
    pub installation: OnceLock<i32>,
    pub clock: Arc<ServerClock>,
}

impl Target {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`.
    pub fn parse(url: &str) -> anyhow::Result<Self> {
        ensure!(
            is_url(url),
            "the database is not given as postgres://USER:PASSWORD@HOST/DATABASE"
        );
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        // Part of such a password would be read, and shown, as a host or a parameter.
        ensure!(
            !query.contains(['?', '@']) && base.matches('@').count() <= 1,
            "in the URL of the database, @ and ? in a user, a password or a parameter are written %40 and %3F"
        );
        let (mut mode, mut root_file, mut rest) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = || {
                let value = percent_decode_str(value).decode_utf8();
                value.with_context(|| format!("{name} in the URL of the database is not UTF-8"))
            };
            match name {
                "sslmode" => mode = Some(value()?.into_owned()),
                "sslrootcert" => root_file = Some(PathBuf::from(value()?.into_owned())),
                "sslcert" | "sslkey" | "load_balance_hosts" => {
                    bail!("{name} in the URL of the database is not supported")
                }
                _ => rest.push(parameter),
            }
        }
        // The error names a parameter, but never its value.
        let parse = |base: &str, rest: &[&str]| {
            let url = format!("{base}?{}", rest.join("&"));
            url.parse::<Config>()
                .context("the URL of the database is not right")
        };
        let named = parse(base, &rest)?;
        ensure!(
            !named.get_hosts().is_empty(),
            "the URL of the database names no host: postgres://USER:PASSWORD@HOST/DATABASE"
        );
        rest.retain(|parameter| !["host", "hostaddr", "port"].contains(&name_of(parameter)));
        let mut config = parse(&without_hosts(base), &rest)?;
        let (mode, check) = tls_of(mode.as_deref(), root_file.is_some())?;
        config.ssl_mode(mode);
        let timeout = *config.get_connect_timeout().unwrap_or(&CONNECT_TIMEOUT);
        config.connect_timeout(timeout);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(LOST_AFTER);
        }
        config
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE / 3);
        let name = application_name(config.get_application_name());
        config.application_name(name);
        let tls = Tls::new(check, root_file.as_deref())?;
        Ok(Self {
            servers: Servers::new(&config, &named, tls.clone(), timeout),
            tls,
            connect_limit: timeout,
            limits: Limits::default(),
            shown: shown(&named),
            installation: OnceLock::new(),
            clock: Arc::default(),
        })
    }

    /// The database, for the log and for errors: without a password.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// Whether this is the URL of a database of PostgreSQL.
pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn name_of(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

/// This URL without the hosts before the path.
fn without_hosts(base: &str) -> String {
    let at = base.find('@').map(|at| at + 1);
    let hosts = at.or_else(|| Some(base.find("://")? + 3)).unwrap_or_default();
    let path = base[hosts..].find('/').map_or(base.len(), |path| hosts + path);
    format!("{}{}", &base[..hosts], &base[path..])
}

/// Whether a connection is encrypted, and which certificates count. As in libpq, `require` checks the
/// certificate if there is a file of roots.
fn tls_of(mode: Option<&str>, has_roots: bool) -> anyhow::Result<(SslMode, Check)> {
    Ok(match mode.unwrap_or("prefer") {
        "disable" => (SslMode::Disable, Check::Nothing),
        "prefer" => (SslMode::Prefer, Check::Nothing),
        "require" if has_roots => (SslMode::Require, Check::Chain),
        "require" => (SslMode::Require, Check::Nothing),
        "verify-ca" => (SslMode::Require, Check::Chain),
        "verify-full" => (SslMode::Require, Check::ChainAndName),
        other => bail!("sslmode={other} is not one of disable, prefer, require, verify-ca and verify-full"),
    })
}

fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(index, host)| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(folder) => format!("{}:{port}", folder.display()),
        }
    });
    let hosts: Vec<_> = hosts.collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{}/{database}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        format!("{:#}", Target::parse(url).err().expect("a refusal"))
    }

    #[test]
    fn what_is_shown_has_no_password() {
        let target = Target::parse("postgres://ann:s3cret@one,two:6543/home?sslmode=disable").unwrap();
        assert_eq!(target.shown(), "postgres://one:5432,two:6543/home");
        let socket = Target::parse("postgresql://ann:s3cret@%2Frun%2Fpg/home").unwrap();
        assert_eq!(socket.shown(), "postgres:///run/pg:5432/home");
        let escaped = Target::parse("postgres://ann:s3%40%3Fcret@one/home").unwrap();
        assert_eq!(escaped.shown(), "postgres://one:5432/home");
        assert_eq!(escaped.servers.hosts()[0].get_password(), Some(&b"s3@?cret"[..]));
        let by_parameter = Target::parse("postgres:///home?host=/run/pg&user=ann&password=s3cret").unwrap();
        assert_eq!(by_parameter.shown(), "postgres:///run/pg:5432/home");
    }

    #[test]
    fn no_error_shows_a_password() {
        for url in [
            "postgres://ann:s3cret@one:port/home",
            "postgres://ann:s3cret@one/home?sslmode=never",
            "postgres://ann:s3cret@one/home?sslrootcert=/is/nowhere",
            "postgres://ann:s3cret@one/home?target_session_attrs=some",
            "postgres://ann:s3cret@one/home?unknown=1",
            "postgres://ann:s3cret@/home",
            "postgres://ann:@s3cret@one/home",
            "postgres://ann:?s3cret@one/home",
            "postgres://ann:?s3cret@one/home?sslmode=disable",
            "postgres://ann:x?s3cret&x@one/home",
            "ann:s3cret@one",
        ] {
            let refusal = refusal(url);
            assert!(!refusal.contains("s3cret"), "{refusal}");
        }
    }

    #[test]
    fn the_mode_of_tls_decides_which_certificates_count() {
        let none = Check::Nothing;
        for (mode, has_roots, ssl_mode, check) in [
            (None, false, SslMode::Prefer, none),
            (Some("disable"), true, SslMode::Disable, none),
            (Some("require"), false, SslMode::Require, none),
            (Some("require"), true, SslMode::Require, Check::Chain),
            (Some("verify-ca"), false, SslMode::Require, Check::Chain),
            (Some("verify-full"), false, SslMode::Require, Check::ChainAndName),
        ] {
            assert_eq!(tls_of(mode, has_roots).unwrap(), (ssl_mode, check), "{mode:?}");
        }
    }

    #[test]
    fn what_a_url_says_holds_for_each_of_its_servers() {
        let url = "postgres://ann:s%2F@one:5433,two:5434/home?application_name=here&connect_timeout=2\
            &options=-c%20geqo%3Doff&keepalives_retries=3&tcp_user_timeout=9&target_session_attrs=read-write";
        let target = Target::parse(url).unwrap();
        let hosts = ["one:5433", "two:5434"].map(|host| {
            let one = Target::parse(&url.replace("one:5433,two:5434", host)).unwrap();
            one.servers.hosts().to_vec()
        });
        assert_eq!(target.servers.hosts(), hosts.concat());
        assert_eq!(target.connect_limit, Duration::from_secs(2));
        let by_parameter = url.replace("one:5433,two:5434", "") + "&host=one&host=two&port=5433,5434";
        assert_eq!(
            Target::parse(&by_parameter).unwrap().servers.hosts(),
            hosts.concat()
        );
    }
}
