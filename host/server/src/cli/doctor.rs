//! `portico doctor`: looks at everything that a host needs, and says what to do.
//!
//! Invariant: nothing of the data changes, and a host may serve meanwhile.

use std::{
    net::{SocketAddr, TcpStream},
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use portico_http::HttpLimits;
use portico_icons::AllowList;
use portico_model::time::{self, Clock as _, SystemClock};
use portico_postgres::copying as postgres;
use portico_server::data_dir::DataDir;
use portico_sqlite::copying as sqlite;
use portico_storage::MemoryRecords;
use tokio::time::timeout;
use ureq::Agent;

use super::{
    data_check,
    database::Database,
    environment,
    healthcheck::{self, Check},
    listen,
    output::print,
    process::block_on,
    serve::{Serve, providers_to_check},
    settings::Settings,
    terminal::printable,
};

const HELP: &str = "\
Takes the settings of `portico serve`, from the same flags, variables and file, and looks at what a host
with them would need. Nothing is changed, and a host may serve meanwhile. Run it as the user that the
host runs as.

A line begins with `ok`, with `warn` (it works, and may not be what you want) or with `fail` (the host
does not start, or a part of it does not work). The exit code is 1 if a line begins with `fail`.

Examples:
  portico doctor --data /var/lib/portico
  sudo -u portico portico doctor --config /etc/portico/portico.toml";

/// How long anything on the network may take that has no limit of its own in the settings.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// How far the clock of this machine may be from that of the database's server, in milliseconds.
const MOST_LEAD: u64 = 60_000;
/// 2026-01-01: an earlier time is that of a machine whose clock was never set.
const EARLIEST: u64 = 1_767_225_600_000;

#[derive(Args)]
#[command(after_long_help = HELP)]
pub struct Doctor {
    #[command(flatten)]
    serve: Serve,
}

/// What was found, and what to do about it.
pub enum Finding {
    Good(String),
    Doubtful(String),
    Bad(String),
}

use Finding::{Bad, Doubtful, Good};

impl Doctor {
    pub fn run(self, settings: Settings) -> anyhow::Result<ExitCode> {
        let mut report = Report { is_bad: false };
        let (settings, listen) = match self.serve.settle(settings) {
            Ok((settings, start)) => (settings, start.listen),
            Err(error) => {
                report.line("settings", Bad(format!("{error:#}")))?;
                return Ok(ExitCode::FAILURE);
            }
        };
        report.lines("settings", check_settings(&settings))?;
        report.line("data", data_check::check(&settings.data()))?;
        let (database, lead) = block_on(async { Ok(check_database(&settings).await) })?;
        report.line("clock", check_clock(SystemClock.now(), lead))?;
        report.line("database", database)?;
        report.lines(
            "provider",
            block_on(async { Ok(check_providers(&settings, listen).await) })?,
        )?;
        report.lines("icons", check_icons(&settings))?;
        report.lines("proxy", check_proxy(&settings, listen))?;
        report.line("host", check_host(listen))?;
        Ok(if report.is_bad {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Prints findings as they come.
struct Report {
    is_bad: bool,
}

impl Report {
    fn line(&mut self, what: &str, finding: Finding) -> anyhow::Result<()> {
        let (verdict, text) = match finding {
            Good(text) => ("ok", text),
            Doubtful(text) => ("warn", text),
            Bad(text) => {
                self.is_bad = true;
                ("fail", text)
            }
        };
        // One line each, whatever a server said.
        print(&format!(
            "{verdict:<5} {what:<9} {}",
            printable(&text.replace('\n', " "))
        ))
    }

    fn lines(&mut self, what: &str, findings: Vec<Finding>) -> anyhow::Result<()> {
        findings
            .into_iter()
            .try_for_each(|finding| self.line(what, finding))
    }
}

fn check_settings(settings: &Settings) -> Vec<Finding> {
    let mut findings: Vec<_> = environment::unread().into_iter().map(Doubtful).collect();
    if let Err(error) = Database::check(settings) {
        findings.push(Bad(format!("{error:#}")));
    }
    if let Some(file) = settings.component.as_ref().filter(|file| !file.is_file()) {
        findings.push(Bad(format!(
            "there is no component {}: leave out --component to run the built-in one",
            file.display()
        )));
    }
    if findings.is_empty() {
        findings.push(Good("they are read, and fit together".into()));
    }
    findings
}

/// What there is to say of the database, and by how many milliseconds this machine is ahead of its server.
async fn check_database(settings: &Settings) -> (Finding, Option<i64>) {
    if Database::check(settings).is_err() {
        return (
            Doubtful("not looked at, because its setting is wrong".into()),
            None,
        );
    }
    let Some(url) = &settings.database else {
        return (check_sqlite(settings), None);
    };
    match timeout(TIME_LIMIT, postgres::DatabaseReader::open(url)).await {
        Ok(Ok(reader)) => {
            let text = format!("{} answers, and has the tables of this version", reader.shown());
            (Good(text), Some(reader.lead()))
        }
        Ok(Err(error)) => (Bad(format!("{error:#}")), None),
        Err(_) => {
            let seconds = TIME_LIMIT.as_secs();
            let text = format!(
                "PostgreSQL has not answered within {seconds} seconds: check its address, and that it runs"
            );
            (Bad(text), None)
        }
    }
}

fn check_sqlite(settings: &Settings) -> Finding {
    let data = settings.data();
    match DataDir::has_database(&data) {
        Ok(false) => Good("there is none yet; the host creates it (SQLite)".into()),
        Ok(true) => match sqlite::DatabaseReader::open(&DataDir::database_in(&data)) {
            Ok(_) => Good("SQLite; it is whole, and has the tables of this version".into()),
            Err(error) => Bad(format!("{error:#}")),
        },
        Err(error) => Bad(format!("{error:#}")),
    }
}

fn check_clock(now: u64, lead: Option<i64>) -> Finding {
    let shown = time::format(now).unwrap_or_default();
    if now < EARLIEST {
        return Bad(format!(
            "it is {shown} here, so the clock of this machine was not set: sessions and certificates depend on it"
        ));
    }
    match lead {
        Some(lead) if lead.unsigned_abs() > MOST_LEAD => Doubtful(format!(
            "the clock of this machine is {} seconds {} that of the database's server, whose time is used: set it",
            lead.unsigned_abs() / 1000,
            if lead > 0 { "ahead of" } else { "behind" }
        )),
        Some(_) => Good(format!("{shown}, as at the database's server")),
        None => Good(format!(
            "{shown}; if that is wrong, set the clock of this machine"
        )),
    }
}

async fn check_providers(settings: &Settings, listen: SocketAddr) -> Vec<Finding> {
    let records = Arc::new(MemoryRecords::new(Arc::new(SystemClock)));
    let (oidc, ldap) = providers_to_check(settings, listen, records);
    let mut findings = Vec::new();
    match oidc {
        Ok(None) => {}
        Ok(Some(oidc)) => findings.push(match oidc.check().await {
            Ok(()) => Good("the OpenID Connect issuer answers".into()),
            Err(error) => Bad(format!(
                "the OpenID Connect issuer does not answer rightly: {error:#}: check --oidc-issuer and --oidc-ca-file"
            )),
        }),
        Err(error) => findings.push(Bad(format!("sign-in by OpenID Connect is off: {error:#}"))),
    }
    match ldap {
        Ok(None) => {}
        Ok(Some(ldap)) => findings.push(match ldap.check().await {
            Ok(None) => Good("the LDAP directory answers, and accepts the service account".into()),
            Ok(Some(odd)) => Doubtful(format!("the LDAP directory answers; {odd}")),
            Err(error) => Bad(format!(
                "the LDAP directory cannot be used: {error:#}: check --ldap-url, --ldap-ca-file and --ldap-bind-dn"
            )),
        }),
        Err(error) => findings.push(Bad(format!("sign-in by LDAP is off: {error:#}"))),
    }
    match settings.proxy.sign_in(&settings.http.http(HttpLimits::default())) {
        Ok(None) => {}
        Ok(Some(proxy)) => findings.push(Good(format!(
            "a proxy signs people in by the header {}, as can every program at the addresses of --trusted-proxies",
            proxy.user
        ))),
        Err(error) => findings.push(Bad(format!("sign-in by a proxy is off: {error:#}"))),
    }
    if findings.is_empty() {
        findings.push(Good(
            "none is set up: people sign in with passwords of Portico".into(),
        ));
    }
    findings
}

fn check_icons(settings: &Settings) -> Vec<Finding> {
    let sources = &settings.icons.sources;
    if sources.is_empty() {
        return vec![Good(
            "no sources: apps without an icon get the default one".into(),
        )];
    }
    let asked: Vec<_> = sources
        .iter()
        .map(|source| {
            (
                source.index.clone(),
                thread::spawn({
                    let url = source.index.clone();
                    move || answers(&url)
                }),
            )
        })
        .collect();
    let mut silent = Vec::new();
    for (url, asked) in asked {
        if let Err(error) = asked
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the check ended")))
        {
            silent.push(format!("{url}: {error:#}"));
        }
    }
    let count = sources.len();
    if silent.is_empty() {
        let own = if settings.icons.allow == AllowList::default() {
            "none"
        } else {
            "those of --icons-allow"
        };
        return vec![Good(format!(
            "{count} sources answer; private hosts that may be asked: {own}"
        ))];
    }
    let heading = format!(
        "{} of {count} sources do not answer, so `app.createMany` finds fewer icons; without internet, set \
         PORTICO_ICON_SOURCES to nothing: {}",
        silent.len(),
        silent.join("; ")
    );
    vec![Doubtful(heading)]
}

/// Whether a server answers, whatever it says. Blocks.
fn answers(url: &str) -> anyhow::Result<()> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(TIME_LIMIT))
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let status = agent.get(url).call().context("no answer")?.status();
    anyhow::ensure!(status.as_u16() < 400, "status {}", status.as_u16());
    Ok(())
}

/// How people reach the host, and whether it knows who they are.
fn check_proxy(settings: &Settings, listen: SocketAddr) -> Vec<Finding> {
    let proxies = settings.http.trusted_proxies.clone().unwrap_or_default();
    let Some(public_url) = &settings.http.public_url else {
        return vec![if !listen.ip().is_loopback() {
            Doubtful(format!(
                "other machines reach {listen} without TLS, so passwords are sent unencrypted: put a proxy with TLS in \
                 front, and set --public-url and --trusted-proxies"
            ))
        } else if proxies.is_empty() {
            Good("none: only this machine reaches the host".into())
        } else {
            Doubtful(
                "--trusted-proxies is set and --public-url is not: set it to the URL that people open".into(),
            )
        }];
    };
    let mut findings = Vec::new();
    match settings.http.gate(&settings.http.http(HttpLimits::default())) {
        Ok(None) => {}
        Ok(Some(gate)) if settings.apps.by_board() == Some(false) => findings.push(Doubtful(format!(
            "the gate at hosts of {} lets every user open every app: set --app-visibility to boards, so that people open \
             what is on their boards",
            gate.domain
        ))),
        Ok(Some(gate)) => findings.push(Good(format!(
            "a gate is in front of apps at hosts of {}",
            gate.domain
        ))),
        Err(error) => findings.push(Bad(format!("the gate is off: {error:#}"))),
    }
    if proxies.are_all() {
        findings.push(Doubtful(
            "--trusted-proxies has all addresses, so every client can claim to be another one: name only the proxy".into(),
        ));
    }
    if public_url.is_secure() && proxies.is_empty() {
        findings.push(Doubtful(
            "--trusted-proxies is not set, so X-Forwarded-For is ignored and all people count as one address: name the \
             proxy"
                .into(),
        ));
    }
    findings.push(
        match healthcheck::ask(&public_url.to_string(), Check::Live, TIME_LIMIT) {
            Ok(_) => Good(format!("{public_url} leads to a Portico")),
            Err(error) => Doubtful(format!(
                "{error:#}: while a host serves, {public_url} has to lead to it, also from here"
            )),
        },
    );
    findings
}

fn check_host(listen: SocketAddr) -> Finding {
    if listen.port() == 0 {
        return Good("it will choose a port by itself".into());
    }
    let url = format!("http://{}", listen::seen_from_here(listen));
    match healthcheck::ask(&url, Check::Ready, TIME_LIMIT) {
        Ok(answer) => Good(answer),
        Err(error) if TcpStream::connect(listen::seen_from_here(listen)).is_err() => Good(format!(
            "none serves at {url}; `portico serve` starts one ({})",
            error.root_cause()
        )),
        Err(error) => Bad(format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    fn proxy(text: &str, listen: &str) -> Vec<String> {
        let findings = check_proxy(&settings(text), listen.parse().unwrap());
        let shown = findings.into_iter().map(|finding| match finding {
            Good(text) => format!("ok {text}"),
            Doubtful(text) => format!("warn {text}"),
            Bad(text) => format!("fail {text}"),
        });
        shown.collect()
    }

    #[test]
    fn a_clock_that_was_never_set_is_bad_and_one_that_differs_is_doubtful() {
        assert!(matches!(check_clock(0, None), Bad(_)));
        assert!(matches!(check_clock(EARLIEST, None), Good(_)));
        assert!(matches!(check_clock(EARLIEST, Some(-60_000)), Good(_)));
        for (lead, said) in [(61_000, "61 seconds ahead of"), (i64::MIN, "seconds behind")] {
            let Doubtful(text) = check_clock(EARLIEST, Some(lead)) else {
                panic!("{lead}");
            };
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn what_a_proxy_needs_is_named() {
        for (text, listen, said) in [
            ("", "127.0.0.1:1", "ok none: only this machine"),
            ("", "0.0.0.0:1", "warn other machines reach 0.0.0.0:1 without TLS"),
            (
                "http.trusted-proxies = '10.0.0.1'",
                "127.0.0.1:1",
                "warn --trusted-proxies is set and",
            ),
        ] {
            let lines = proxy(text, listen);
            assert!(lines.len() == 1 && lines[0].starts_with(said), "{lines:?}");
        }
        // Nothing listens on port 1.
        let lines = proxy("http.public-url = 'https://127.0.0.1:1'", "127.0.0.1:1");
        assert!(lines[0].contains("--trusted-proxies is not set"), "{lines:?}");
        assert!(lines[1].contains("has to lead to it"), "{lines:?}");
        let everyone = "http.public-url = 'https://127.0.0.1:1'\nhttp.trusted-proxies = '0.0.0.0/0'";
        let lines = proxy(everyone, "127.0.0.1:1");
        assert!(lines[0].contains("has all addresses"), "{lines:?}");
    }
}
