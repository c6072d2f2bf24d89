//! Which server answers: of the hosts in a URL, and of the addresses of each, the first that does.
//!
//! Invariants:
//! - A server that is silent delays a connection by [`START_NEXT`], and not by its whole time limit: the next one is
//!   tried beside it. The server that answered last is tried first.
//! - Where there are several, only one that takes writes is used: a standby that answers sooner than its primary would be of
//!   no use.

use std::future::Future;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::lookup_host;
use tokio::time::timeout;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Socket};

use super::connection::Unreached;
use super::tls::Tls;

/// How long a server may take to answer until the next one is tried as well.
const START_NEXT: Duration = Duration::from_millis(500);

/// A client, and what moves its messages.
type Reached = (
    Client,
    tokio_postgres::Connection<Socket, <Tls as MakeTlsConnect<Socket>>::Stream>,
);

/// The servers of a URL.
pub(super) struct Servers {
    hosts: Vec<Config>,
    tls: Tls,
    /// How long one server may take, the handshakes included.
    patience: Duration,
    /// The host that answered last, and its address.
    last: Mutex<(usize, Option<IpAddr>)>,
}

impl Servers {
    pub fn new(config: &Config, tls: Tls, patience: Duration) -> Self {
        let several = config.get_hosts().len() > 1;
        let hosts = config.get_hosts().iter().enumerate().map(|(index, host)| {
            let mut one = without_hosts(config);
            match host {
                Host::Tcp(name) => one.host(name),
                Host::Unix(folder) => one.host_path(folder),
            };
            if let Some(address) = config.get_hostaddrs().get(index) {
                one.hostaddr(*address);
            }
            let ports = config.get_ports();
            if let Some(port) = ports.get(index).or(ports.first()) {
                one.port(*port);
            }
            if several {
                one.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            one
        });
        Self {
            hosts: hosts.collect(),
            tls,
            patience,
            last: Mutex::default(),
        }
    }

    #[cfg(test)]
    pub fn password(&self) -> Option<&[u8]> {
        self.hosts[0].get_password()
    }

    /// Connects to the first server that answers.
    pub async fn connect(&self) -> Result<Reached, Unreached> {
        let (last, address) = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let hosts = (last..self.hosts.len()).chain(0..last);
        let attempts = hosts.map(|index| async move {
            let (reached, address) = self.connect_to(&self.hosts[index], address).await?;
            Ok((reached, (index, address)))
        });
        let (reached, answered) = first_of(attempts.collect()).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = answered;
        Ok(reached)
    }

    /// Connects to one of the addresses of a host, to this one first.
    async fn connect_to(
        &self,
        host: &Config,
        first: Option<IpAddr>,
    ) -> Result<(Reached, Option<IpAddr>), Unreached> {
        let mut addresses = self.addresses(host).await?;
        addresses.sort_by_key(|address| *address != first);
        let several = addresses.len() > 1;
        let attempts = addresses.into_iter().map(|address| {
            let mut config = host.clone();
            if let Some(address) = address
                && host.get_hostaddrs().is_empty()
            {
                config.hostaddr(address);
            }
            if several {
                config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            async move {
                let connected = timeout(self.patience, config.connect(self.tls.clone())).await;
                let connected = connected.map_err(|_| Unreached::TimedOut(self.patience))?;
                Ok((connected.map_err(Unreached::Refused)?, address))
            }
        });
        first_of(attempts.collect()).await
    }

    /// The addresses of a host; a socket has none.
    async fn addresses(&self, host: &Config) -> Result<Vec<Option<IpAddr>>, Unreached> {
        if let Some(address) = host.get_hostaddrs().first() {
            return Ok(vec![Some(*address)]);
        }
        let Some(Host::Tcp(name)) = host.get_hosts().first() else {
            return Ok(vec![None]);
        };
        let found = timeout(self.patience, lookup_host((name.as_str(), 0))).await;
        let found = found.map_err(|_| Unreached::TimedOut(self.patience))?;
        let found = found.map_err(|error| Unreached::Unfit(format!("{name} is not found: {error}")))?;
        let mut addresses: Vec<_> = found.map(|address| Some(address.ip())).collect();
        addresses.dedup();
        Ok(addresses)
    }
}

/// What the first of these attempts reaches. One begins when the one before it has failed, or has taken [`START_NEXT`].
/// If all fail, what a server said is told rather than that another one was silent.
async fn first_of<T>(attempts: Vec<impl Future<Output = Result<T, Unreached>>>) -> Result<T, Unreached> {
    let (mut waiting, mut running) = (attempts.into_iter(), FuturesUnordered::new());
    let mut failure = Unreached::Unfit("it has no address".into());
    loop {
        running.extend(waiting.next());
        let ended = match waiting.len() {
            0 => running.next().await,
            _ => match timeout(START_NEXT, running.next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            },
        };
        match ended {
            Some(Ok(reached)) => return Ok(reached),
            Some(Err(Unreached::TimedOut(_))) if matches!(failure, Unreached::Refused(_)) => {}
            Some(Err(error)) => failure = error,
            None => return Err(failure),
        }
    }
}

/// All that a configuration says, but for the hosts. (A `Config` has no way to take one away.)
fn without_hosts(config: &Config) -> Config {
    let mut copy = Config::new();
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    if let Some(user) = config.get_user() {
        copy.user(user);
    }
    if let Some(password) = config.get_password() {
        copy.password(password);
    }
    if let Some(name) = config.get_dbname() {
        copy.dbname(name);
    }
    if let Some(options) = config.get_options() {
        copy.options(options);
    }
    if let Some(name) = config.get_application_name() {
        copy.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        copy.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        copy.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        copy.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        copy.keepalives_retries(retries);
    }
    copy
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use std::time::Instant;

    use tokio::time::sleep;

    use super::*;

    fn silent() -> Unreached {
        Unreached::TimedOut(Duration::from_secs(5))
    }

    #[tokio::test]
    async fn a_silent_server_delays_the_next_one_by_half_a_second() {
        let began = Instant::now();
        let attempts: Vec<_> = (0..3)
            .map(|number| async move {
                match number {
                    2 => Ok(number),
                    _ => pending().await,
                }
            })
            .collect();
        assert_eq!(first_of(attempts).await.unwrap(), 2);
        let elapsed = began.elapsed();
        assert!((START_NEXT * 2..START_NEXT * 8).contains(&elapsed), "{elapsed:?}");
    }

    #[tokio::test]
    async fn a_server_that_answers_in_time_is_the_only_one_that_is_asked() {
        let asked = AtomicUsize::new(0);
        let attempts: Vec<_> = (0..3)
            .map(|number| {
                let asked = &asked;
                async move {
                    asked.fetch_add(1, Ordering::Relaxed);
                    sleep(START_NEXT / 50).await;
                    Ok(number)
                }
            })
            .collect();
        assert_eq!(first_of(attempts).await.unwrap(), 0);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_slow_server_is_still_waited_for_when_the_next_one_has_failed() {
        let attempts: Vec<_> = [Ok(1), Err(silent())]
            .into_iter()
            .enumerate()
            .map(|(number, answer)| async move {
                sleep(START_NEXT * if number == 0 { 4 } else { 1 }).await;
                answer
            })
            .collect();
        assert_eq!(first_of(attempts).await.unwrap(), 1);
    }

    #[test]
    fn what_a_url_says_holds_for_each_of_its_servers() {
        let url = "postgres://ann:secret@one:5433,two:5434/home?application_name=here&connect_timeout=2\
            &options=-c%20geqo%3Doff&keepalives_retries=3&tcp_user_timeout=9";
        let mut config: Config = url.parse().unwrap();
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let tls = Tls::new(super::super::tls::Check::Nothing, None).unwrap();
        let servers = Servers::new(&config, tls, Duration::from_secs(2));
        for (server, place) in servers.hosts.iter().zip(["one:5433", "two:5434"]) {
            let mut expected: Config = url.replace("one:5433,two:5434", place).parse().unwrap();
            expected.target_session_attrs(TargetSessionAttrs::ReadWrite);
            assert_eq!(*server, expected);
        }
        assert_eq!(servers.hosts.len(), 2);
    }
}
