//! The relying party: the site whose passkeys they are.

use std::{fmt, net::Ipv4Addr};

use ring::digest::{Context, SHA256};

/// A site that has passkeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// Its origin, as browsers write it.
    origin: String,
    /// Its host, to which authenticators bind passkeys.
    id: String,
    /// What browsers may show of it.
    name: String,
}

/// Why a site has no passkeys: browsers would refuse them there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRelyingParty {
    /// Its address has no name.
    Address,
    /// It is not reached over TLS, nor at `localhost`.
    NotSecure,
}

impl fmt::Display for NoRelyingParty {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Address => "browsers make passkeys for names, and not for IP addresses",
            Self::NotSecure => "browsers make passkeys only over https, or at localhost",
        })
    }
}

impl std::error::Error for NoRelyingParty {}

impl RelyingParty {
    /// The site of this origin: scheme, host and port, in lower case.
    pub fn new(origin: &str, name: &str) -> Result<Self, NoRelyingParty> {
        let (scheme, authority) = origin.split_once("://").ok_or(NoRelyingParty::Address)?;
        let (default_port, is_secure) = match scheme {
            "https" => (":443", true),
            _ => (":80", false),
        };
        // Browsers leave the default port out.
        let authority = authority.strip_suffix(default_port).unwrap_or(authority);
        let host = authority.split(':').next().unwrap_or_default();
        if host.is_empty() || host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok() {
            return Err(NoRelyingParty::Address);
        }
        if !is_secure && host != "localhost" && !host.ends_with(".localhost") {
            return Err(NoRelyingParty::NotSecure);
        }
        Ok(Self {
            origin: format!("{scheme}://{authority}"),
            id: host.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The origin of its pages.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Its id: the host.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// The handle by which authenticators keep the passkeys of a user apart from those of others. It tells nothing about
/// the user to a person who finds it in an authenticator.
pub fn user_handle(user_id: &str) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(b"portico user handle\0");
    context.update(user_id.as_bytes());
    let mut handle = [0; 32];
    handle.copy_from_slice(context.finish().as_ref());
    handle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_passkeys_where_browsers_make_them() {
        for (origin, written, id) in [
            ("https://home.example", "https://home.example", "home.example"),
            ("https://home.example:443", "https://home.example", "home.example"),
            (
                "https://home.example:8443",
                "https://home.example:8443",
                "home.example",
            ),
            ("http://localhost:7575", "http://localhost:7575", "localhost"),
            ("http://localhost:80", "http://localhost", "localhost"),
            ("http://home.localhost", "http://home.localhost", "home.localhost"),
        ] {
            let party = RelyingParty::new(origin, "Portico").unwrap();
            assert_eq!((party.origin(), party.id()), (written, id));
        }
        for (origin, why) in [
            ("http://home.example", NoRelyingParty::NotSecure),
            ("http://notlocalhost", NoRelyingParty::NotSecure),
            ("https://192.0.2.1", NoRelyingParty::Address),
            ("https://[2001:db8::1]:8443", NoRelyingParty::Address),
            ("http://127.0.0.1:7575", NoRelyingParty::Address),
        ] {
            assert_eq!(RelyingParty::new(origin, "Portico"), Err(why), "{origin}");
        }
    }

    #[test]
    fn a_handle_is_of_one_user() {
        assert_eq!(user_handle("ada"), user_handle("ada"));
        assert_ne!(user_handle("ada"), user_handle("bob"));
    }
}
