//! The hosts in private networks that status checks may reach: how a list names them, and what an entry includes.

use alloc::string::String;
use core::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// An entry of such a list. What has a public address needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedHost {
    /// `192.168.0.0/16`, `10.0.0.7`: these addresses, whatever name leads to them. The first address of the network, and how
    /// many bits all of its addresses share.
    Network(IpAddr, u8),
    /// `nas.lan`: this name, whatever address it has.
    Name(String),
    /// `*.lan`, kept as `.lan`: every name below it that has an address of a private network. Others may give such names
    /// (DHCP, mDNS), so they do not lead to loopback or link-local addresses.
    Below(String),
}

impl CheckedHost {
    /// Reads an entry. Names are in lower case afterwards.
    pub fn read(entry: &str) -> Option<Self> {
        if let Some((address, bits)) = entry.split_once('/') {
            return read_network(address, bits);
        }
        let address = entry.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = address.parse::<IpAddr>() {
            let address = address.to_canonical();
            return Some(Self::Network(address, width(address)));
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
        let is_name = name.len() <= LONGEST_NAME
            && name.split('.').all(is_label)
            && !name.rsplit('.').next().is_none_or(is_number);
        match is_below {
            _ if !is_name => None,
            true => Some(Self::Below([".", &name].concat())),
            false => Some(Self::Name(name)),
        }
    }

    /// Whether it includes a host of this name at this address.
    pub fn includes(&self, name: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match self {
            Self::Network(first, bits) => {
                first.is_ipv4() == address.is_ipv4() && first_of(address, *bits) == *first
            }
            Self::Name(allowed) => name == allowed,
            Self::Below(suffix) => name.ends_with(suffix.as_str()) && is_of_private_network(address),
        }
    }

    /// Whether it includes addresses of private networks only, as far as it names addresses.
    pub fn is_private(&self) -> bool {
        match self {
            Self::Network(first, bits) => {
                let is_of_cloud = *bits == width(*first) && OF_CLOUDS.contains(first);
                let network = PRIVATE.iter().find(|(private, shared)| {
                    private.is_ipv4() == first.is_ipv4() && first_of(*first, *shared) == *private
                });
                !is_of_cloud && network.is_some_and(|(_, shared)| bits >= shared)
            }
            Self::Name(_) | Self::Below(_) => true,
        }
    }
}

impl fmt::Display for CheckedHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(first, bits) if *bits == width(*first) => write!(formatter, "{first}"),
            Self::Network(first, bits) => write!(formatter, "{first}/{bits}"),
            Self::Name(name) => formatter.write_str(name),
            Self::Below(suffix) => write!(formatter, "*{suffix}"),
        }
    }
}

/// The longest name that DNS knows.
const LONGEST_NAME: usize = 253;

/// The networks at home or at work, whose addresses are of no machine in particular. 100.64.0.0/10 is used by overlay networks
/// such as Tailscale.
const PRIVATE: [(IpAddr, u8); 5] = [
    (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(172, 16, 0, 0)), 12),
    (IpAddr::V4(Ipv4Addr::new(192, 168, 0, 0)), 16),
    (IpAddr::V4(Ipv4Addr::new(100, 64, 0, 0)), 10),
    (IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0)), 7),
];

/// The addresses in them at which clouds tell machines their credentials: of Alibaba, Amazon, Google and Oracle.
const OF_CLOUDS: [IpAddr; 4] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
];

/// Whether this is an address of a private network: no loopback or link-local one, and none of a cloud itself.
pub fn is_of_private_network(address: IpAddr) -> bool {
    let address = address.to_canonical();
    CheckedHost::Network(address, width(address)).is_private()
}

/// How many bits an address has.
fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The first address of the network in which an address is.
fn first_of(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX
                .checked_shl(32_u32.saturating_sub(bits.into()))
                .unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX
                .checked_shl(128_u32.saturating_sub(bits.into()))
                .unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

fn read_network(address: &str, bits: &str) -> Option<CheckedHost> {
    let address: IpAddr = address.parse().ok()?;
    let is_number = (1..=3).contains(&bits.len()) && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u8 = bits.parse().ok().filter(|_| is_number)?;
    let network = CheckedHost::Network(first_of(address, bits), bits);
    (bits <= width(address)).then_some(network)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn an_entry_is_read_and_written_in_one_form() {
        for (text, form) in [
            ("192.168.1.7/16", "192.168.0.0/16"),
            ("10.0.0.7", "10.0.0.7"),
            ("10.0.0.7/32", "10.0.0.7"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("[fd00::7]", "fd00::7"),
            ("fd12::/8", "fd00::/8"),
            ("NAS.lan.", "nas.lan"),
            ("*.Home", "*.home"),
        ] {
            let host = CheckedHost::read(text).unwrap();
            assert_eq!(host.to_string(), form, "{text}");
            assert_eq!(CheckedHost::read(form), Some(host), "{text}");
        }
    }

    #[test]
    fn what_names_neither_addresses_nor_hosts_is_no_entry() {
        let long = "a.".repeat(128);
        for text in [
            "",
            "http://nas.lan",
            "nas.lan:8080",
            "*",
            "*.",
            "*lan",
            "a.*.lan",
            "192.168.0.0/33",
            "192.168.0.0/",
            "192.168.0.0/+8",
            "192.168.0.0/8/8",
            "fd00::/129",
            "[fd00::]/8",
            "nas.lan/8",
            "192.168.0",
            "1.2.3.4.5",
            "nas lan",
            "nas..lan",
            "näs.lan",
            &long,
        ] {
            assert_eq!(CheckedHost::read(text), None, "{text}");
        }
    }

    #[test]
    fn only_networks_at_home_or_at_work_are_private() {
        for (text, expected) in [
            ("10.0.0.0/8", true),
            ("10.0.0.0/7", false),
            ("172.16.0.0/12", true),
            ("172.31.255.255", true),
            ("172.32.0.0", false),
            ("192.168.3.0/24", true),
            ("100.64.0.0/10", true),
            ("100.0.0.0/8", false),
            ("fd00::/8", true),
            ("fc00::/6", false),
            ("0.0.0.0/0", false),
            ("::/0", false),
            ("127.0.0.1", false),
            ("::1", false),
            ("169.254.169.254", false),
            ("fe80::/10", false),
            ("::ffff:169.254.169.254", false),
            ("8.8.8.8", false),
            ("100.100.100.200", false),
            ("fd00:ec2::254", false),
            ("fd20:ce::254/128", false),
            ("fd00:c1::a9fe:a9fe", false),
            ("nas.lan", true),
            ("*.lan", true),
        ] {
            assert_eq!(CheckedHost::read(text).unwrap().is_private(), expected, "{text}");
        }
    }
}
