//! Users whom a proxy in front has signed in, by headers such as `Remote-User`.
//!
//! Invariants:
//! - The headers count only if the connection comes from a trusted proxy; from others they do not exist.
//! - They count only at the public URL: a name that another site lets resolve to the proxy (DNS rebinding) is refused.
//! - What a proxy that works as it should does not send is refused and not interpreted: a header twice, in another
//!   spelling, empty, too long, a list, encoded, or not UTF-8.
//! - What a browser changes obeys the same rule on its origin as with a cookie.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use axum::{
    extract::ConnectInfo,
    http::{HeaderMap, HeaderName, header, request::Parts},
};
use portico_model::error::Error;
use portico_model::refusal::{HeaderRule, Refusal};
use portico_service::{external::ProxyUser, site::PublicUrl};
use tracing::warn;

use crate::address::TrustedProxies;

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The longest name or email, in characters.
const LONGEST: usize = 255;

/// The headers in which a trusted proxy says who has signed in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySignIn {
    /// What identifies a person, and their name unless `name` has it.
    pub user: HeaderName,
    /// Their name.
    pub name: Option<HeaderName>,
    /// Their email.
    pub email: Option<HeaderName>,
    /// The names of their groups.
    pub groups: Option<HeaderName>,
    /// What is between the names of groups.
    pub separator: char,
    /// Whether a person who has no user yet becomes a new one.
    pub sign_up: bool,
}

impl ProxySignIn {
    /// Fails, and names the rule, if these settings are not safe with those of HTTP.
    pub fn check(
        &self,
        public_url: Option<&PublicUrl>,
        proxies: &TrustedProxies,
    ) -> Result<(), &'static str> {
        proxies.check()?;
        if public_url.is_none() {
            return Err("public-url must be set: the headers count only there");
        }
        let names: Vec<String> = self.headers().map(|name| spelled_alike(name.as_str())).collect();
        let is_repeated = |(index, name): (usize, &String)| names[..index].contains(name);
        if names.iter().enumerate().any(is_repeated) {
            return Err("each header must have a name of its own");
        }
        let is_taken = |name: &String| {
            OTHERS.contains(&name.as_str()) || name.starts_with("sec-") || name.starts_with("x-forwarded-")
        };
        if names.iter().any(is_taken) {
            return Err("a header that means something else cannot say who has signed in");
        }
        Ok(())
    }

    /// The person for whom the proxy vouches that sent this request; `None` if it names no one.
    pub(crate) fn read(
        &self,
        parts: &Parts,
        proxies: &TrustedProxies,
        public_url: Option<&PublicUrl>,
    ) -> Result<Option<ProxyUser>, Error> {
        let headers = &parts.headers;
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        if !proxies.include(peer) {
            if headers.contains_key(&self.user) {
                warn_once(&self.user, peer);
            }
            return Ok(None);
        }
        self.check_spelling(headers)?;
        let Some(user) = one(headers, &self.user, LONGEST)? else {
            return Ok(None);
        };
        check_host(headers, public_url)?;
        let optional = |name: &Option<HeaderName>| match name {
            Some(name) => one(headers, name, LONGEST),
            None => Ok(None),
        };
        let name = match &self.name {
            Some(name) => one(headers, name, LONGEST)?.ok_or_else(|| refuse(name, HeaderRule::Missing))?,
            None => user,
        };
        let groups = match &self.groups {
            Some(name) => self.read_groups(headers, name)?,
            None => None,
        };
        Ok(Some(ProxyUser {
            user: user.to_owned(),
            name: name.to_owned(),
            email: optional(&self.email)?.map(str::to_owned),
            groups,
            may_sign_up: self.sign_up,
        }))
    }

    fn headers(&self) -> impl Iterator<Item = &HeaderName> {
        let others = [&self.name, &self.email, &self.groups].into_iter().flatten();
        [&self.user].into_iter().chain(others)
    }

    /// Refuses names that some programs take for one of these: a client may have sent what the proxy did not remove.
    fn check_spelling(&self, headers: &HeaderMap) -> Result<(), Error> {
        for own in self.headers() {
            let alike = spelled_alike(own.as_str());
            let other = headers
                .keys()
                .find(|name| *name != own && spelled_alike(name.as_str()) == alike);
            if other.is_some() {
                return Err(refuse(own, HeaderRule::OtherSpelling));
            }
        }
        Ok(())
    }

    /// The names of groups. A header that is missing or empty means none: proxies leave it out for people without groups.
    fn read_groups(&self, headers: &HeaderMap, name: &HeaderName) -> Result<Option<Vec<String>>, Error> {
        let is_empty = |value: &axum::http::HeaderValue| value.as_bytes().trim_ascii().is_empty();
        if headers.get_all(name).iter().count() == 1 && headers.get(name).is_some_and(is_empty) {
            return Ok(Some(Vec::new()));
        }
        let text = text(headers, name)?.unwrap_or_default();
        let names = text.split(self.separator).map(str::trim);
        Ok(Some(
            names.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        ))
    }
}

/// Headers that mean something else.
const OTHERS: [&str; 12] = [
    "authorization",
    "apikey",
    "cookie",
    "host",
    "origin",
    "referer",
    "forwarded",
    "content-type",
    "content-length",
    "transfer-encoding",
    "connection",
    "x-request-id",
];

/// A name as programs see it that take all but letters and digits for the same (CGI, WSGI).
fn spelled_alike(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    name.chars().map(plain).collect()
}

/// The text of a header that must not be repeated; `None` if it is missing.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Error> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(refuse(name, HeaderRule::NotOnce));
    }
    let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
        return Err(refuse(name, HeaderRule::NotUtf8));
    };
    if text.contains("=?") {
        return Err(refuse(name, HeaderRule::Encoded));
    }
    Ok(Some(text.trim()))
}

/// The one value in a header; `None` if it is missing.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName, most: usize) -> Result<Option<&'a str>, Error> {
    let Some(text) = text(headers, name)? else {
        return Ok(None);
    };
    if text.is_empty() {
        return Err(refuse(name, HeaderRule::Empty));
    }
    if text.contains(',') {
        return Err(refuse(name, HeaderRule::List));
    }
    if text.chars().nth(most).is_some() {
        return Err(refuse(name, HeaderRule::TooLong { most }));
    }
    Ok(Some(text))
}

/// Refuses a request that was made at another name than that of the public URL.
fn check_host(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Result<(), Error> {
    let is_own = |name: &HeaderName| {
        let mut hosts = headers.get_all(name).iter();
        let (host, another) = (hosts.next(), hosts.next());
        host.map(|host| {
            let host = host.to_str().unwrap_or_default();
            another.is_none() && public_url.is_some_and(|url| url.is_at(host))
        })
    };
    // A page at another name may set any header but Host, so that counts in any case.
    if is_own(&header::HOST) == Some(true) && is_own(&FORWARDED_HOST) != Some(false) {
        return Ok(());
    }
    Err(Refusal::ProxyElsewhere.into())
}

/// The refusal of a header. It does not repeat the value.
fn refuse(name: &HeaderName, rule: HeaderRule) -> Error {
    let name = name.as_str().into();
    Refusal::ProxyHeader { name, rule }.into()
}

fn warn_once(name: &HeaderName, peer: Option<&ConnectInfo<SocketAddr>>) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        let peer = peer.map_or_else(String::new, |peer| peer.0.ip().to_canonical().to_string());
        warn!("{peer} sends {name} and is not among the trusted proxies: it does not count");
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, Request};
    use portico_model::error::Code;

    use super::*;

    fn header_name(name: &str) -> HeaderName {
        name.parse().unwrap()
    }

    fn sign_in() -> ProxySignIn {
        ProxySignIn {
            user: header_name("Remote-User"),
            name: None,
            email: Some(header_name("Remote-Email")),
            groups: Some(header_name("Remote-Groups")),
            separator: ',',
            sign_up: true,
        }
    }

    fn read_from(peer: &str, headers: &[(&str, &[u8])]) -> Result<Option<ProxyUser>, Error> {
        let proxies = "10.0.0.0/24".parse().unwrap();
        let public_url = "https://portico.example".parse().unwrap();
        let mut request = Request::new(());
        for (name, value) in headers {
            request
                .headers_mut()
                .append(header_name(name), HeaderValue::from_bytes(value).unwrap());
        }
        let peer: SocketAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        sign_in().read(&request.into_parts().0, &proxies, Some(&public_url))
    }

    fn read(headers: &[(&str, &[u8])]) -> Result<Option<ProxyUser>, Error> {
        let mut all: Vec<(&str, &[u8])> = vec![("host", b"portico.example")];
        all.extend(headers);
        read_from("10.0.0.7:1", &all)
    }

    #[test]
    fn the_proxy_says_who_it_is_and_their_email_and_groups() {
        let user = read(&[
            ("Remote-User", b" ada "),
            ("remote-email", b"ada@example.com"),
            ("REMOTE-GROUPS", b"family, admins,,"),
        ]);
        let expected = ProxyUser {
            user: "ada".into(),
            name: "ada".into(),
            email: Some("ada@example.com".into()),
            groups: Some(vec!["family".into(), "admins".into()]),
            may_sign_up: true,
        };
        assert_eq!(user.unwrap(), Some(expected));
        let plain = read(&[("remote-user", "Zoë".as_bytes()), ("remote-groups", b"")])
            .unwrap()
            .unwrap();
        assert_eq!(
            (&*plain.name, plain.email, plain.groups),
            ("Zoë", None, Some(Vec::new()))
        );
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&[("remote-email", b"eve@example.com")]).unwrap(), None);
    }

    #[test]
    fn what_a_proxy_does_not_send_is_refused_and_not_repeated() {
        let long = "x".repeat(256);
        for (headers, rule) in [
            (
                &[("remote-user", &b"ada"[..]), ("remote-user", b"root")][..],
                "once",
            ),
            (&[("remote-user", b"ada"), ("Remote-User", b"ada")], "once"),
            (&[("remote-user", b"root, ada")], "list"),
            (&[("remote-user", b"root,ada")], "list"),
            (&[("remote-user", b"")], "empty"),
            (&[("remote-user", b"  \t")], "empty"),
            (&[("remote-user", long.as_bytes())], "255"),
            (&[("remote-user", b"\xe4da")], "UTF-8"),
            (&[("remote-user", b"=?utf-8?q?root?=")], "2047"),
            (&[("remote-user", b"ada"), ("remote_user", b"root")], "spelling"),
            (&[("remote_user", b"root")], "spelling"),
            (&[("remote.user", b"root")], "spelling"),
            (
                &[("remote-user", b"ada"), ("remote_groups", b"admins")],
                "spelling",
            ),
            (
                &[
                    ("remote-user", b"ada"),
                    ("remote-groups", b"a"),
                    ("remote-groups", b"admins"),
                ],
                "once",
            ),
            (
                &[("remote-user", b"ada"), ("remote-groups", b"=?utf-8?q?admins?=")],
                "2047",
            ),
            (&[("remote-user", b"ada"), ("remote-email", b"a@b, c@d")], "list"),
            (&[("remote-user", b"ada"), ("remote-email", b"")], "empty"),
        ] {
            let error = read(headers).expect_err(rule);
            assert_eq!(error.code, Code::BadRequest, "{headers:?}");
            assert!(error.message.contains(rule), "{headers:?}: {}", error.message);
            for name in ["root", "admins", "ada"] {
                assert!(!error.message.contains(name), "{}", error.message);
            }
        }
        assert!(read(&[("remote-user", &long.as_bytes()[1..])]).unwrap().is_some());
    }

    #[test]
    fn from_others_the_headers_do_not_exist() {
        let headers: &[(&str, &[u8])] = &[
            ("host", b"portico.example"),
            ("remote-user", b"root"),
            ("remote_user", b"root"),
            ("x-forwarded-for", b"10.0.0.7"),
        ];
        for peer in ["10.0.1.7:1", "192.0.2.1:1", "[::1]:1", "127.0.0.1:1"] {
            assert_eq!(read_from(peer, headers).unwrap(), None, "{peer}");
        }
        assert!(read_from("[::ffff:10.0.0.7]:1", &headers[..2]).unwrap().is_some());
        // Where the server does not say who is connected, no one is trusted.
        let mut request = Request::new(());
        request
            .headers_mut()
            .insert("remote-user", HeaderValue::from_static("root"));
        let proxies = "10.0.0.0/24".parse().unwrap();
        let read = sign_in().read(&request.into_parts().0, &proxies, None);
        assert_eq!(read.unwrap(), None);
    }

    #[test]
    fn they_count_only_at_the_public_url() {
        let at = |hosts: &[(&str, &[u8])]| {
            let mut all: Vec<(&str, &[u8])> = vec![("remote-user", b"ada")];
            all.extend(hosts);
            read_from("10.0.0.7:1", &all)
        };
        for hosts in [
            &[("host", &b"portico.example"[..])][..],
            &[("host", b"PORTICO.example:443")],
            &[
                ("host", b"portico.example"),
                ("x-forwarded-host", b"portico.example"),
            ],
        ] {
            assert!(at(hosts).unwrap().is_some(), "{hosts:?}");
        }
        for hosts in [
            &[][..],
            &[("host", &b"evil.example"[..])],
            &[("host", b"10.0.0.1")],
            &[("host", b"localhost")],
            &[("host", b"portico.example.evil.example")],
            &[("host", b"portico.example:8443")],
            // A page at another name may send this with fetch.
            &[
                ("host", b"evil.example"),
                ("x-forwarded-host", b"portico.example"),
            ],
            &[
                ("host", b"portico.example"),
                ("x-forwarded-host", b"evil.example"),
            ],
            &[("host", b"portico.example"), ("host", b"portico.example")],
        ] {
            assert_eq!(at(hosts).unwrap_err().code, Code::Forbidden, "{hosts:?}");
        }
    }

    #[test]
    fn settings_that_let_anyone_be_anyone_are_refused() {
        let url: PublicUrl = "https://portico.example".parse().unwrap();
        let proxies = |list: &str| list.parse::<TrustedProxies>().unwrap();
        assert_eq!(sign_in().check(Some(&url), &proxies("10.0.0.1")), Ok(()));
        for (sign_in, url, list, rule) in [
            (sign_in(), Some(&url), "", "must name the proxy"),
            (sign_in(), Some(&url), "0.0.0.0/0", "all addresses"),
            (sign_in(), None, "10.0.0.1", "public-url"),
            (
                ProxySignIn {
                    name: Some(header_name("remote_user")),
                    ..sign_in()
                },
                Some(&url),
                "10.0.0.1",
                "of its own",
            ),
            (
                ProxySignIn {
                    user: header_name("X-Forwarded-For"),
                    ..sign_in()
                },
                Some(&url),
                "10.0.0.1",
                "something else",
            ),
        ] {
            let refused = sign_in.check(url, &proxies(list)).unwrap_err();
            assert!(refused.contains(rule), "{refused}");
        }
    }
}
