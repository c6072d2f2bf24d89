//! Chooses the server: of the hosts in a URL, and of the addresses of each, the first that accepts us.
//!
//! Invariants:
//! - Servers are tried in turn, each for at most the time limit, handshakes included. The last one that accepted us is
//!   tried first. If a server fails or does not respond in time, later connections begin with the next one. So a silent
//!   server delays only the connections that are being opened when it falls silent.
//! - If there are several servers, only one that accepts writes is used: a standby that is tried before its primary
//!   would be useless.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::time::timeout;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Socket};

use super::failure::Unreached;
use super::tls::Tls;

/// A client, and what moves its messages.
type Reached = (
    Client,
    tokio_postgres::Connection<Socket, <Tls as MakeTlsConnect<Socket>>::Stream>,
);

pub(super) struct Servers {
    /// One configuration for each host.
    hosts: Vec<Config>,
    tls: Tls,
    /// How long connecting to one server may take, the handshakes included.
    limit: Duration,
    first: Mutex<Position>,
}

/// A server: the number of its host, and that of its address among those of the host.
type Position = (usize, usize);

impl Servers {
    /// The servers that `named` names, each with the settings of `shared`, which names no server.
    pub fn new(shared: &Config, named: &Config, tls: Tls, limit: Duration) -> Self {
        let several = named.get_hosts().len() > 1;
        let hosts = named.get_hosts().iter().enumerate().map(|(index, host)| {
            let mut one = shared.clone();
            match host {
                Host::Tcp(name) => one.host(name),
                Host::Unix(folder) => one.host_path(folder),
            };
            if let Some(address) = named.get_hostaddrs().get(index) {
                one.hostaddr(*address);
            }
            let ports = named.get_ports();
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
            limit,
            first: Mutex::default(),
        }
    }

    #[cfg(test)]
    pub fn hosts(&self) -> &[Config] {
        &self.hosts
    }

    /// Connects to the first server that accepts us.
    pub async fn connect(&self) -> Result<Reached, Unreached> {
        let (first_host, first_address) = *self.first();
        let mut failure = Unreached::Unfit("it has no address".into());
        for host in (first_host..self.hosts.len()).chain(0..first_host) {
            let servers = match self.find_servers(&self.hosts[host]).await {
                Ok(servers) => servers,
                Err(error) => {
                    failure = error;
                    continue;
                }
            };
            let begin = if host == first_host {
                first_address.min(servers.len())
            } else {
                0
            };
            for address in (begin..servers.len()).chain(0..begin) {
                let next = match address + 1 {
                    next if next < servers.len() => (host, next),
                    _ => ((host + 1) % self.hosts.len(), 0),
                };
                match self.try_server(&servers[address], (host, address), next).await {
                    Ok(reached) => return Ok(reached),
                    // An error from a server says more than that another one was silent, and that the primary has no
                    // room says more than that a standby takes no writes.
                    Err(Unreached::TimedOut(_)) if matches!(failure, Unreached::Refused(_)) => {}
                    Err(_) if failure.is_of_full_server() => {}
                    Err(error) => failure = error,
                }
            }
        }
        Err(failure)
    }

    /// Connects to one server. `next` is the one after it.
    async fn try_server(
        &self,
        server: &Config,
        this: Position,
        next: Position,
    ) -> Result<Reached, Unreached> {
        let mut attempt = Attempt {
            servers: self,
            this,
            next,
            has_succeeded: false,
        };
        let connected = timeout(self.limit, server.connect(self.tls.clone())).await;
        let connected = connected.map_err(|_| Unreached::TimedOut(self.limit))?;
        let reached = connected.map_err(Unreached::Refused)?;
        attempt.has_succeeded = true;
        Ok(reached)
    }

    /// A configuration for each address of a host, always in the same order. A socket has one.
    async fn find_servers(&self, host: &Config) -> Result<Vec<Config>, Unreached> {
        let Some(Host::Tcp(name)) = host
            .get_hosts()
            .first()
            .filter(|_| host.get_hostaddrs().is_empty())
        else {
            return Ok(vec![host.clone()]);
        };
        let found = timeout(self.limit, lookup_host((name.as_str(), 0))).await;
        let found = found.map_err(|_| Unreached::TimedOut(self.limit))?;
        let found = found.map_err(|error| Unreached::Unresolved(format!("{name} is not found: {error}")))?;
        let mut addresses: Vec<_> = found.map(|address| address.ip()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let several = addresses.len() > 1;
        let servers = addresses.into_iter().map(|address| {
            let mut server = host.clone();
            server.hostaddr(address);
            if several {
                server.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            server
        });
        Ok(servers.collect())
    }

    /// The server with which a new connection begins.
    fn first(&self) -> MutexGuard<'_, Position> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt to connect to one server. When it ends, it decides with which server others begin. It does so even when
/// its caller stops waiting, because the check whether the host is ready waits for less than some time limits.
struct Attempt<'a> {
    servers: &'a Servers,
    this: Position,
    next: Position,
    has_succeeded: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut first = self.servers.first();
        if self.has_succeeded {
            *first = self.this;
        } else if *first == self.this {
            *first = self.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::tls::Check;
    use super::*;

    fn servers(hosts: &str, limit: Duration) -> Servers {
        let shared: Config = "postgres://ann:secret@/home?sslmode=disable".parse().unwrap();
        let named: Config = format!("postgres://{hosts}/home").parse().unwrap();
        let tls = Tls::new(Check::Nothing, None).unwrap();
        Servers::new(&shared, &named, tls, limit)
    }

    /// A server whose machine accepts connections, but which never sends anything.
    fn silent() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        (listener, address)
    }

    #[tokio::test]
    async fn a_silent_server_is_left_after_its_limit_and_others_begin_with_the_next() {
        let (_silent, address) = silent();
        let servers = servers(&format!("{address},127.0.0.1:1"), Duration::from_millis(50));
        // The error of the second one is returned.
        let failure = servers.connect().await.err();
        assert!(matches!(failure, Some(Unreached::Refused(_))), "{failure:?}");
        // Both have failed.
        assert_eq!(*servers.first(), (0, 0));
    }

    #[tokio::test]
    async fn others_begin_with_the_next_server_when_the_one_before_it_was_not_waited_for_to_the_end() {
        let (_silent, address) = silent();
        let servers = servers(&format!("{address},127.0.0.1:1"), Duration::from_secs(3600));
        timeout(Duration::from_millis(50), servers.connect())
            .await
            .err()
            .unwrap();
        assert_eq!(*servers.first(), (1, 0));
    }

    #[test]
    fn an_attempt_moves_only_those_that_begin_with_its_server() {
        let servers = servers("one,two,three", Duration::from_secs(5));
        let attempt = |this, next, has_succeeded| {
            drop(Attempt {
                servers: &servers,
                this,
                next,
                has_succeeded,
            });
            *servers.first()
        };
        assert_eq!(attempt((0, 0), (1, 0), false), (1, 0));
        // Meanwhile, other connections have found out.
        assert_eq!(attempt((0, 0), (1, 0), false), (1, 0));
        assert_eq!(attempt((2, 0), (0, 0), true), (2, 0));
        assert_eq!(attempt((1, 0), (2, 0), false), (2, 0));
    }

    #[tokio::test]
    async fn each_address_of_a_host_is_a_server() {
        let servers = servers("localhost:7", Duration::from_secs(5));
        let found = servers.find_servers(&servers.hosts[0]).await.unwrap();
        for server in &found {
            assert!(server.get_hostaddrs()[0].is_loopback());
            assert_eq!(
                (server.get_hosts(), server.get_ports()),
                (&[Host::Tcp("localhost".into())][..], &[7][..])
            );
        }
        assert!(!found.is_empty());
    }
}
