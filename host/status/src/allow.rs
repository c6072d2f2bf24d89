//! The hosts of private networks that may be checked.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use portico_icons::{comma_separated, is_public};
use portico_rules::{
    checked_hosts::{CheckedHost, is_of_private_network},
    rule::Rule,
};
use serde::Deserialize;

/// Networks, addresses and names. What has a public address needs no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct AllowList {
    hosts: Vec<CheckedHost>,
    /// Whether it leads to addresses of private networks only, whatever it says: not to loopback or link-local addresses, nor
    /// to those at which clouds keep credentials.
    is_bounded: bool,
}

impl AllowList {
    /// The list that administrators of the dashboard have stored. They may not be those of the host, so it leads to private
    /// networks only. An entry that cannot be read includes nothing.
    pub fn stored(entries: &[String]) -> Self {
        Self {
            hosts: entries
                .iter()
                .filter_map(|entry| CheckedHost::read(entry))
                .collect(),
            is_bounded: true,
        }
    }

    /// Its entries.
    pub fn entries(&self) -> Vec<String> {
        self.hosts.iter().map(ToString::to_string).collect()
    }

    /// Whether a host of this name may be checked at this address.
    pub(crate) fn includes(&self, name: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address)
            || (!self.is_bounded || is_of_private_network(address))
                && self.hosts.iter().any(|host| host.includes(name, address))
    }
}

impl TryFrom<Vec<String>> for AllowList {
    type Error = String;

    fn try_from(entries: Vec<String>) -> Result<Self, String> {
        let read = |entry: &String| {
            let entry = entry.trim();
            CheckedHost::read(entry).ok_or_else(|| format!("{entry:?} {}", Rule::NotCheckedHost))
        };
        Ok(Self {
            hosts: entries.iter().map(read).collect::<Result<_, _>>()?,
            is_bounded: false,
        })
    }
}

impl FromStr for AllowList {
    type Err = String;

    /// Parses entries that are [`comma_separated`].
    fn from_str(text: &str) -> Result<Self, String> {
        comma_separated(text).try_into()
    }
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
    fn what_is_stored_leads_to_private_networks_only_whatever_it_says() {
        let stored = ["0.0.0.0/0", "::/0", "localhost", "nas.lan", "not an entry"].map(str::to_owned);
        let list = AllowList::stored(&stored);
        for (name, address, expected) in [
            ("nas.lan", "192.168.1.7", true),
            ("x.example", "fd00::7", true),
            ("x.example", "1.1.1.1", true),
            ("localhost", "127.0.0.1", false),
            ("localhost", "::1", false),
            ("nas.lan", "169.254.169.254", false),
            ("nas.lan", "::ffff:127.0.0.1", false),
            ("nas.lan", "fe80::1", false),
            ("nas.lan", "fd00:ec2::254", false),
            ("x.example", "100.100.100.200", false),
            ("nas.lan", "0.0.0.0", false),
        ] {
            assert_eq!(
                list.includes(name, address.parse().unwrap()),
                expected,
                "{address}"
            );
        }
        let names = AllowList::stored(&["nas.lan".to_owned()]);
        assert!(!names.includes("tv.lan", "192.168.1.7".parse().unwrap()));
    }

    #[test]
    fn an_entry_that_is_wrong_is_named() {
        for text in ["http://nas.lan", "nas.lan:8080", "192.168.0.0/33", "nas.lan,"] {
            let problem = text.parse::<AllowList>().unwrap_err();
            assert!(problem.contains("must be a network"), "{text}: {problem}");
        }
        assert_eq!(" ".parse(), Ok(AllowList::default()));
    }
}
