//! The hosts of private networks that may be checked.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use ipnet::IpNet;
use portico_icons::{comma_separated, is_public};
use serde::Deserialize;

/// Networks, addresses and names. What has a public address needs no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct AllowList(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// `192.168.0.0/16`, `10.0.0.7`: these addresses, whatever name leads to them.
    Network(IpNet),
    /// `nas.lan`: this name, whatever address it has.
    Name(String),
    /// `*.lan`, kept as `.lan`: every name below it that has an address of a private network. Others may give such names
    /// (DHCP, mDNS), so they do not lead to this machine itself, nor to link-local addresses.
    Below(String),
}

impl AllowList {
    /// Whether a host of this name may be checked at this address.
    pub(crate) fn includes(&self, name: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address)
            || self.0.iter().any(|entry| match entry {
                Entry::Network(network) => network.contains(&address),
                Entry::Name(allowed) => name == allowed,
                Entry::Below(suffix) => name.ends_with(suffix.as_str()) && is_of_private_network(address),
            })
    }
}

/// Whether this is an address of a network at home or at work, and of no machine in particular.
fn is_of_private_network(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private() || is_shared(address),
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

/// 100.64.0.0/10, which overlay networks such as Tailscale use.
fn is_shared(address: Ipv4Addr) -> bool {
    matches!(address.octets(), [100, 64..=127, ..])
}

impl TryFrom<Vec<String>> for AllowList {
    type Error = String;

    fn try_from(entries: Vec<String>) -> Result<Self, String> {
        let entries = entries.iter().map(|entry| read(entry.trim()));
        Ok(Self(entries.collect::<Result<_, _>>()?))
    }
}

impl FromStr for AllowList {
    type Err = String;

    /// Parses entries that are [`comma_separated`].
    fn from_str(text: &str) -> Result<Self, String> {
        comma_separated(text).try_into()
    }
}

fn read(entry: &str) -> Result<Entry, String> {
    if let Ok(network) = entry.parse::<IpNet>() {
        return Ok(Entry::Network(network.trunc()));
    }
    let address = entry.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = address.parse::<IpAddr>() {
        return Ok(Entry::Network(address.to_canonical().into()));
    }
    let (is_below, name) = match entry.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, entry),
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    // What looks like an address and is none is a mistake, not a name.
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    if !name.split('.').all(is_label) || name.rsplit('.').next().is_none_or(is_number) {
        return Err(format!(
            "{entry:?} must be a network (192.168.0.0/16), an address, a host (nas.lan) or the names below one (*.lan), \
             without scheme and port"
        ));
    }
    Ok(if is_below {
        Entry::Below(format!(".{name}"))
    } else {
        Entry::Name(name)
    })
}

/// The unspecified addresses reach this machine on some systems.
pub(crate) fn is_unusable(address: IpAddr) -> bool {
    address == IpAddr::V4(Ipv4Addr::UNSPECIFIED) || address == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn includes(list: &str, name: &str, address: &str) -> bool {
        let list: AllowList = list.parse().unwrap();
        list.includes(name, address.parse().unwrap())
    }

    #[test]
    fn public_addresses_need_no_entry_and_all_others_do() {
        for (address, expected) in [
            ("1.1.1.1", true),
            ("2606:4700:4700::1111", true),
            ("192.168.1.7", false),
            ("127.0.0.1", false),
            ("169.254.169.254", false),
            ("::1", false),
            ("::ffff:10.0.0.1", false),
            ("fd00::7", false),
        ] {
            assert_eq!(includes("", "nas.lan", address), expected, "{address}");
        }
    }

    #[test]
    fn a_network_allows_its_addresses_under_any_name() {
        let list = "192.168.0.0/16, 10.0.0.7, fd00::/8, [fe80::1]";
        for (address, expected) in [
            ("192.168.1.7", true),
            ("::ffff:192.168.1.7", true),
            ("10.0.0.7", true),
            ("fd12::7", true),
            ("fe80::1", true),
            ("10.0.0.8", false),
            ("172.16.0.1", false),
            ("127.0.0.1", false),
            ("fe80::2", false),
        ] {
            assert_eq!(includes(list, "x.example", address), expected, "{address}");
        }
    }

    #[test]
    fn a_name_is_exact_and_a_pattern_is_for_names_below_it() {
        for (list, name, expected) in [
            ("nas.lan", "nas.lan", true),
            ("NAS.lan.", "nas.lan", true),
            ("nas.lan", "x.nas.lan", false),
            ("nas.lan", "nas.lan.example", false),
            ("*.lan", "nas.lan", true),
            ("*.lan", "a.b.lan", true),
            ("*.lan", "lan", false),
            ("*.lan", "evillan", false),
            ("*.lan", "nas.lan.example", false),
        ] {
            assert_eq!(includes(list, name, "192.168.1.7"), expected, "{list} {name}");
        }
    }

    #[test]
    fn names_that_others_may_give_do_not_lead_to_this_machine() {
        for (address, expected) in [
            ("192.168.1.7", true),
            ("100.64.0.1", true),
            ("fd00::7", true),
            ("127.0.0.1", false),
            ("::1", false),
            ("0.0.0.0", false),
            ("169.254.169.254", false),
            ("fe80::1", false),
            ("224.0.0.251", false),
        ] {
            assert_eq!(includes("*.local", "tv.local", address), expected, "{address}");
        }
        assert!(
            includes("localhost", "localhost", "127.0.0.1"),
            "it is named itself"
        );
    }

    #[test]
    fn an_entry_that_is_wrong_is_named() {
        for text in [
            "http://nas.lan",
            "nas.lan:8080",
            "*",
            "*.",
            "*lan",
            "a.*.lan",
            "192.168.0.0/33",
            "192.168.0",
            "1.2.3.4.5",
            "nas.lan,",
            "nas lan",
            "nas..lan",
        ] {
            let problem = text.parse::<AllowList>().unwrap_err();
            assert!(problem.contains("must be a network"), "{text}: {problem}");
        }
        assert_eq!(" ".parse(), Ok(AllowList::default()));
    }
}
