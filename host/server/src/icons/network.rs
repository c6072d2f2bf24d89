//! Fetches an index. The operator chooses the address of a source, but not where it redirects to.
//!
//! Invariant: a source with a public address cannot redirect to an address of the local network. The check
//! uses the addresses that are connected to, at each request, so a name that resolves differently the second
//! time gains nothing. A proxy from the environment (`HTTPS_PROXY`) resolves names itself and decides what
//! it connects to.

use std::{sync::OnceLock, time::Duration};

use portico_icons::is_public;
use ureq::{
    Agent, Body, Error,
    config::{Config, ConfigBuilder},
    http::{Response, Uri},
    typestate::AgentScope,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{Connector, DefaultConnector, NextTimeout},
    },
};

/// How long a fetch may take in total.
const TIMEOUT: Duration = Duration::from_secs(20);
const MAX_REDIRECTS: u32 = 3;

/// Fetches the index at this URL.
pub(super) fn get(index: &str) -> anyhow::Result<Response<Body>> {
    let config = config().build();
    get_by(
        index,
        config,
        DefaultConnector::default(),
        DefaultResolver::default(),
    )
}

fn config() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(MAX_REDIRECTS)
        .user_agent(concat!("portico/", env!("CARGO_PKG_VERSION")))
}

fn get_by(
    index: &str,
    config: Config,
    connector: impl Connector,
    resolver: impl Resolver,
) -> anyhow::Result<Response<Body>> {
    let index: Uri = index.parse()?;
    let guard = Guard {
        index: index.clone(),
        resolver,
        is_private: OnceLock::new(),
    };
    Ok(Agent::with_parts(config, connector, guard).get(index).call()?)
}

/// A resolver that keeps only addresses to which the source may redirect.
#[derive(Debug)]
struct Guard<R> {
    index: Uri,
    resolver: R,
    /// Whether the source itself has a private address; set when it is first resolved.
    is_private: OnceLock<bool>,
}

impl<R: Resolver> Resolver for Guard<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        if config.proxy().is_some_and(|proxy| proxy.uri() == uri) {
            return Ok(found);
        }
        if *uri == self.index {
            let is_private = !found.iter().any(|address| is_public(address.ip()));
            if self.is_private.set(is_private).is_ok() {
                return Ok(found);
            }
        }
        if self.is_private.get() == Some(&true) {
            return Ok(found);
        }
        let mut public = self.empty();
        for address in found.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() {
            let host = uri.host().unwrap_or_default();
            return Err(Error::Other(
                format!(
                    "the index redirects to {host}, which is an address of a private network; \
                     only a source that is in one itself may"
                )
                .into(),
            ));
        }
        Ok(public)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        thread,
    };

    use ureq::unversioned::transport::{ConnectionDetails, Transport};

    use super::*;

    /// A public address. Tests connect to this machine instead (`Here`).
    const PUBLIC: [u8; 4] = [93, 184, 216, 34];

    /// Resolves the names of these tests. `turning.example` is public only the first time.
    #[derive(Debug, Default)]
    struct Names {
        asked: AtomicUsize,
    }

    impl Resolver for Names {
        fn resolve(
            &self,
            uri: &Uri,
            config: &Config,
            timeout: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, Error> {
            let port = uri.port_u16().expect("a port");
            let asked = self.asked.fetch_add(1, SeqCst);
            let addresses: &[[u8; 4]] = match uri.host().expect("a host") {
                "public.example" => &[PUBLIC],
                "private.example" => &[[127, 0, 0, 1]],
                "both.example" => &[[127, 0, 0, 1], PUBLIC],
                "turning.example" if asked == 0 => &[PUBLIC],
                "turning.example" => &[[127, 0, 0, 1]],
                _ => return DefaultResolver::default().resolve(uri, config, timeout),
            };
            let mut found = self.empty();
            for address in addresses {
                found.push(SocketAddr::from((*address, port)));
            }
            Ok(found)
        }
    }

    /// Connects to this machine instead of `PUBLIC`, below everything that is tested.
    #[derive(Debug, Default)]
    struct Here(DefaultConnector);

    impl Connector for Here {
        type Out = Box<dyn Transport>;

        fn connect(
            &self,
            details: &ConnectionDetails,
            chained: Option<()>,
        ) -> Result<Option<Self::Out>, Error> {
            let mut addrs = details.addrs.clone();
            for address in addrs
                .iter_mut()
                .filter(|address| address.ip() == IpAddr::from(PUBLIC))
            {
                address.set_ip(Ipv4Addr::LOCALHOST.into());
            }
            let details = ConnectionDetails {
                addrs,
                uri: details.uri,
                config: details.config,
                request_level: details.request_level,
                resolver: details.resolver,
                now: details.now,
                timeout: details.timeout,
                current_time: details.current_time.clone(),
                run_connector: details.run_connector.clone(),
                register_shutdown: details.register_shutdown.clone(),
            };
            self.0.connect(&details, chained)
        }
    }

    /// Serves a redirect at `/` and an index at every other path. Returns the port.
    fn serve(location: impl Fn(u16) -> String) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let location = location(port);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                lines.map_while(Result::ok).find(String::is_empty);
                let head = if first.starts_with("GET / ") {
                    format!("302 Found\r\nLocation: {location}\r\nContent-Length: 0")
                } else {
                    "200 OK\r\nContent-Length: 5".to_owned()
                };
                // One connection for each request.
                let _ = write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\nindex");
            }
        });
        port
    }

    /// Fetches an index at this host that redirects to `location` (`PORT` is the port of the host).
    fn fetch(host: &str, location: &str) -> Result<String, String> {
        let port = serve(|port| location.replace("PORT", &port.to_string()));
        let index = format!("http://{host}:{port}/");
        // A proxy from the environment would not know these names.
        let config = config().proxy(None).build();
        let answer = get_by(&index, config, Here::default(), Names::default());
        let mut answer = answer.map_err(|error| format!("{error:#}"))?;
        Ok(answer.body_mut().read_to_string().unwrap())
    }

    #[test]
    fn a_public_source_redirects_only_to_public_addresses() {
        for to in ["http://public.example:PORT/x", "/x", "http://both.example:PORT/x"] {
            assert_eq!(fetch("public.example", to).as_deref(), Ok("index"), "{to}");
        }
        for to in [
            "http://private.example:PORT/x",
            "http://127.0.0.1:PORT/x",
            "http://localhost:PORT/x",
            "http://[::1]:PORT/x",
            "http://[::ffff:127.0.0.1]:PORT/x",
            "http://0.0.0.0:PORT/x",
            "http://2130706433:PORT/x",
        ] {
            let refused = fetch("public.example", to).unwrap_err();
            assert!(
                refused.contains("an address of a private network"),
                "{to}: {refused}"
            );
            // A source with at least one public address is public.
            assert!(fetch("both.example", to).is_err(), "{to}");
        }
    }

    #[test]
    fn a_name_that_resolves_differently_after_the_redirect_gains_nothing() {
        for to in ["/", "/x", "http://turning.example:PORT/x"] {
            let refused = fetch("turning.example", to).unwrap_err();
            assert!(
                refused.contains("an address of a private network"),
                "{to}: {refused}"
            );
        }
    }

    #[test]
    fn a_private_source_redirects_anywhere() {
        for to in ["/x", "http://localhost:PORT/x", "http://public.example:PORT/x"] {
            for host in ["private.example", "127.0.0.1"] {
                assert_eq!(fetch(host, to).as_deref(), Ok("index"), "{host} {to}");
            }
        }
    }
}
