//! The accounts and the clients that attempts are counted for.

use std::net::{IpAddr, Ipv6Addr};

use portico_model::Provider;
use portico_storage::hash_secret;

/// An account, by a hash of its provider and name-key: of one size, and without the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThrottledAccount([u8; 16]);

impl ThrottledAccount {
    /// The account of this name-key at this provider.
    pub fn new(provider: Provider, name_key: &str) -> Self {
        // The first space ends the provider's name, even if the name-key holds spaces.
        let hash = hash_secret(&format!("{provider:?} {name_key}"));
        let mut account = [0; 16];
        account.copy_from_slice(&hash[..16]);
        Self(account)
    }
}

/// A client, as far as addresses tell clients apart: an IPv4 address, or an IPv6 network (/64), which one client
/// has to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(IpAddr);

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            address => Self(address),
        }
    }
}
