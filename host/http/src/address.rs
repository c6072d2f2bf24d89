//! The client's address.
//!
//! The address of a connection's peer is reliable. Any client can write `X-Forwarded-For`, so only what trusted proxies
//! have added to it counts: we read it from the right, up to the first address that is not a trusted proxy's.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
};

use axum::{extract::ConnectInfo, http::HeaderMap};
use ipnet::IpNet;
use tracing::warn;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The connection's peer, or the client that trusted proxies name. `None` if the server does not provide the peer.
pub(crate) fn client(
    peer: Option<&ConnectInfo<SocketAddr>>,
    headers: &HeaderMap,
    trusted: &TrustedProxies,
) -> Option<IpAddr> {
    let peer = peer?.0.ip().to_canonical();
    if !trusted.contain(peer) {
        warn_once(peer, headers);
    }
    Some(follow(peer, headers, trusted))
}

fn follow(peer: IpAddr, headers: &HeaderMap, trusted: &TrustedProxies) -> IpAddr {
    let mut client = peer;
    let fields = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = fields.flat_map(|field| field.to_str().unwrap_or_default().rsplit(','));
    for hop in hops {
        if !trusted.contain(client) {
            break;
        }
        // A trusted proxy would have written an address, so the client is the proxy itself.
        match address(hop.trim()) {
            Some(address) => client = address,
            None => break,
        }
    }
    client
}

/// An address; some proxies add a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    let address = bare.parse::<IpAddr>().or_else(|_| with_port()).ok()?;
    Some(address.to_canonical())
}

/// Warns about a proxy that is not trusted, because all its clients are throttled as one.
fn warn_once(peer: IpAddr, headers: &HeaderMap) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if headers.contains_key(FORWARDED_FOR) && !WARNED.swap(true, Ordering::Relaxed) {
        warn!(
            "{peer} sends X-Forwarded-For and is not among the trusted proxies: all who come through it count \
             as one address (if it is your proxy: --trusted-proxies {peer})"
        );
    }
}

/// The proxies whose `X-Forwarded-…` and `X-Request-Id` are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Whether the connection's peer is one of them.
    pub(crate) fn include(&self, peer: Option<&ConnectInfo<SocketAddr>>) -> bool {
        peer.is_some_and(|peer| self.contain(peer.0.ip().to_canonical()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails, and names the rule, unless only what these say can be believed of who has sent a request.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.is_empty() {
            return Err("trusted-proxies must name the proxy");
        }
        if self.are_all() {
            return Err("trusted-proxies must not have all addresses: everyone could be anyone");
        }
        Ok(())
    }

    /// Whether every address is one of them, so that every client can claim to be another one.
    pub fn are_all(&self) -> bool {
        self.0.iter().any(|network| network.prefix_len() == 0)
    }

    fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Reads networks such as `10.0.0.0/8` and addresses such as `192.0.2.1`, separated by commas.
impl FromStr for TrustedProxies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let networks = parts.map(|part| {
            let network = part.parse().or_else(|_| part.parse::<IpAddr>().map(IpNet::from));
            network.map_err(|_| format!("{part:?} must be an address, or a network like 10.0.0.0/8"))
        });
        Ok(Self(networks.collect::<Result<_, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_of(peer: &str, forwarded: &[&str], trusted: &str) -> String {
        let mut headers = HeaderMap::new();
        for field in forwarded {
            headers.append(FORWARDED_FOR, field.parse().unwrap());
        }
        let peer = ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1));
        let trusted = trusted.parse().unwrap();
        client(Some(&peer), &headers, &trusted).unwrap().to_string()
    }

    #[test]
    fn a_client_cannot_choose_its_address() {
        for trusted in ["", "10.0.0.0/8"] {
            assert_eq!(client_of("192.0.2.1", &["198.51.100.9"], trusted), "192.0.2.1");
        }
        let proxied = |fields: &[&str]| client_of("10.0.0.1", fields, "10.0.0.0/8, 2001:db8::/32");
        assert_eq!(proxied(&["198.51.100.9"]), "198.51.100.9");
        // The client wrote what precedes the address that the proxy added.
        assert_eq!(proxied(&["127.0.0.1, 10.9.9.9, 198.51.100.9"]), "198.51.100.9");
        assert_eq!(proxied(&["127.0.0.1", "198.51.100.9"]), "198.51.100.9");
        // Through two proxies.
        assert_eq!(proxied(&["198.51.100.9, 2001:db8::7"]), "198.51.100.9");
        assert_eq!(proxied(&["198.51.100.9", "10.0.0.2"]), "198.51.100.9");
    }

    #[test]
    fn without_a_usable_address_the_client_is_the_proxy() {
        let proxied = |fields: &[&str]| client_of("10.0.0.1", fields, "10.0.0.1");
        for fields in [
            &[][..],
            &[""],
            &["unknown"],
            &["198.51.100.9, _hidden"],
            &["1.2.3"],
        ] {
            assert_eq!(proxied(fields), "10.0.0.1", "{fields:?}");
        }
        assert_eq!(proxied(&["198.51.100.9:4711"]), "198.51.100.9");
        assert_eq!(proxied(&["[2001:db8::9]:4711"]), "2001:db8::9");
        assert_eq!(proxied(&["[2001:db8::9]"]), "2001:db8::9");
        assert_eq!(proxied(&["::ffff:198.51.100.9"]), "198.51.100.9");
        assert_eq!(
            client_of("::ffff:10.0.0.1", &["198.51.100.9"], "10.0.0.1"),
            "198.51.100.9"
        );
        assert!(client(None, &HeaderMap::new(), &TrustedProxies::default()).is_none());
    }

    #[test]
    fn networks_are_read_with_and_without_a_prefix() {
        let networks: TrustedProxies = " 10.0.0.0/8,192.0.2.1 ,, ::1/128".parse().unwrap();
        let texts: Vec<_> = networks.0.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["10.0.0.0/8", "192.0.2.1/32", "::1/128"]);
        for bad in ["10.0.0.0/33", "example.com", "10.0.0"] {
            assert!(bad.parse::<TrustedProxies>().is_err(), "{bad}");
        }
    }
}
