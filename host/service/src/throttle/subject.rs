//! The accounts and the clients for which attempts are counted.

use std::net::{IpAddr, Ipv6Addr};

use portico_model::Provider;
use portico_storage::hash_secret;
use serde::{Deserialize, Serialize};

/// An account, as a hash of its provider and name-key: it has a fixed size and does not contain the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThrottledAccount([u8; 16]);

impl ThrottledAccount {
    /// The account of this name-key at this provider.
    pub fn new(provider: Provider, name_key: &str) -> Self {
        // The first space ends the provider's name, even if the name-key contains spaces.
        Self::of(&format!("{provider:?} {name_key}"))
    }

    /// The API key of this id, which was imported and has not been used yet.
    pub(crate) fn of_key(id: &str) -> Self {
        // No provider has this name.
        Self::of(&format!("Key {id}"))
    }

    /// The second factor of this user, whatever name they sign in with.
    pub(crate) fn of_second_factor(user_id: &str) -> Self {
        Self::of(&format!("SecondFactor {user_id}"))
    }

    fn of(text: &str) -> Self {
        let hash = hash_secret(text);
        let mut account = [0; 16];
        account.copy_from_slice(&hash[..16]);
        Self(account)
    }

    /// Its bytes, by which hosts find it.
    pub(super) fn bytes(self) -> [u8; 16] {
        self.0
    }
}

/// A client, as far as addresses distinguish clients: an IPv4 address, or an IPv6 network (/64), which belongs to one
/// client.
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

impl Source {
    /// An address of the client, by which hosts find it.
    pub fn address(self) -> IpAddr {
        self.0
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        match self.0 {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        }
    }
}

/// The account and the client for which an attempt counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// The account, if the attempt names one.
    pub account: Option<ThrottledAccount>,
    /// The client, if it is known.
    pub source: Option<Source>,
}

impl Subject {
    /// The account at this client.
    pub fn pair(self) -> Option<(ThrottledAccount, Source)> {
        self.account.zip(self.source)
    }
}
