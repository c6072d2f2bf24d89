//! What to request for a ping URL.

use std::{fmt::Write as _, net::IpAddr, sync::Arc};

use portico_icons::is_usual_port;
use portico_service::reachability::Refused;
use url::{Host, Url};

/// What a ping URL asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub is_tls: bool,
    pub host: Host<Arc<str>>,
    pub port: u16,
    /// The whole request.
    pub request: Box<[u8]>,
}

impl Target {
    /// Reads a ping URL. Name and password in it are not sent.
    pub fn of(ping_url: &str, user_agent: &str) -> Result<Self, Refused> {
        let url = Url::parse(ping_url.trim()).map_err(|_| Refused::Url)?;
        let is_tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(Refused::Url),
        };
        let host = match url.host().ok_or(Refused::Url)? {
            // The root's dot is part of no name that people compare.
            Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(name).into()),
            Host::Ipv4(address) => Host::Ipv4(address),
            Host::Ipv6(address) => Host::Ipv6(address),
        };
        let port = url.port_or_known_default().ok_or(Refused::Url)?;
        // Also on allowed hosts: the path is chosen by users, and other protocols could take it for commands.
        if !is_usual_port(port) {
            return Err(Refused::Port);
        }
        let mut request = format!("GET {}", url.path());
        if let Some(query) = url.query() {
            let _ = write!(request, "?{query}");
        }
        let _ = write!(
            request,
            " HTTP/1.1\r\nHost: {}",
            url.host_str().unwrap_or_default()
        );
        if let Some(port) = url.port() {
            let _ = write!(request, ":{port}");
        }
        let _ = write!(
            request,
            "\r\nUser-Agent: {user_agent}\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
        Ok(Self {
            is_tls,
            host,
            port,
            request: request.into_bytes().into(),
        })
    }

    /// The name of the host as it is resolved and compared; of an address, its text.
    pub fn name(&self) -> Arc<str> {
        match &self.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => address.to_string().into(),
            Host::Ipv6(address) => address.to_string().into(),
        }
    }

    /// The address, if the URL itself names it.
    pub fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(url: &str) -> String {
        let target = Target::of(url, "portico").unwrap();
        String::from_utf8(target.request.into()).unwrap()
    }

    #[test]
    fn the_request_asks_for_the_given_url_and_says_who_asks() {
        assert_eq!(
            request("http://Nas.lan:8080/a b?c=d#e"),
            "GET /a%20b?c=d HTTP/1.1\r\nHost: nas.lan:8080\r\nUser-Agent: portico\r\nAccept: */*\r\nConnection: \
             close\r\n\r\n"
        );
        assert!(request("https://[fd00::7]").starts_with("GET / HTTP/1.1\r\nHost: [fd00::7]\r\n"));
    }

    #[test]
    fn a_url_adds_no_line_to_the_request() {
        for url in [
            "http://nas.lan/\r\nX: y",
            "http://nas.lan/?\r\n\r\nGET /x",
            "http://nas.lan/%0d%0aX",
            "http://me:secret@nas.lan/",
            "http://nas.lan\t/x",
        ] {
            let request = request(url);
            assert_eq!(request.matches("\r\n").count(), 6, "{request:?}");
            assert!(!request.contains("secret"), "{request:?}");
        }
    }

    #[test]
    fn other_urls_and_ports_are_refused() {
        for (url, refused) in [
            ("nas.lan", Refused::Url),
            ("ftp://nas.lan", Refused::Url),
            ("http://", Refused::Url),
            ("", Refused::Url),
            ("http://nas.lan:25", Refused::Port),
            ("http://nas.lan:22/", Refused::Port),
            ("https://nas.lan:0/", Refused::Port),
        ] {
            assert_eq!(Target::of(url, "portico"), Err(refused), "{url}");
        }
    }

    #[test]
    fn an_address_is_recognised_however_it_is_written() {
        for url in ["http://2130706433/", "http://0x7f.1/", "http://127.0.0.1."] {
            let address = Target::of(url, "portico").unwrap().address();
            assert_eq!(address, Some([127, 0, 0, 1].into()), "{url}");
        }
    }
}
