//! Checks before routing, authentication and the body. They refuse a request
//!
//! - for the URL of another host than `Host`, or with a body in a coding that a proxy in front may have read differently, or
//!   that the host does not decode. The server checks that ([`check_form`]), before any router, so that no layer and no page
//!   misses it;
//! - without exactly one `Host`: a proxy in front may have read it differently;
//! - that a browser sends for a page of another site while no user exists. Until then, any client that reaches the
//!   service can become the administrator, and a browser reaches whatever its user can reach: a page of any site can
//!   make it request `http://localhost:7575`, or let a name of its own resolve to that address (DNS rebinding).

use std::{net::IpAddr, sync::atomic::Ordering};

use axum::{
    http::{HeaderMap, HeaderValue, Uri, Version, header, uri::Authority},
    response::Response,
};
use portico_model::error::{Code, Error};
use portico_model::refusal::{Refusal, SiteRule};
use portico_service::{
    accounts::ExistingUsers,
    service::report,
    shape::quote,
    site::{PublicUrl, foreign_site_by_either},
};

use crate::{error, request::RequestId, state::Http};

/// The refusal of a request; `None` if it may continue.
pub(crate) async fn refusal(
    http: &Http,
    path: &str,
    version: Version,
    headers: &HeaderMap,
    id: &RequestId,
) -> Option<Response> {
    // In a dashboard that embeds Portico, its own server checks the form of requests.
    if http.authenticate.is_none()
        && let Err(error) = check_host(version, headers)
    {
        return Some(error::at(path, error));
    }
    if http.has_administrator.load(Ordering::Relaxed) || !is_from_browser(headers) {
        return None;
    }
    let foreign = check_site(headers, http.settings.public_url.as_ref()).err()?;
    match Box::pin(has_users(http, id)).await {
        Ok(true) => None,
        Ok(false) => Some(error::at(path, foreign)),
        Err(error) => Some(error::at(path, report(error, "onboarding", &id.0))),
    }
}

fn check_host(version: Version, headers: &HeaderMap) -> Result<(), Error> {
    let message = match headers.get_all(header::HOST).iter().count() {
        1 => return Ok(()),
        0 if version < Version::HTTP_11 => return Ok(()),
        0 => "The request has no header Host, which HTTP/1.1 needs",
        _ => "The request has more than one header Host",
    };
    Err(Error::new(Code::BadRequest, message))
}

/// Refuses a request that a proxy may have read differently: for the URL of another host than `Host`, or with such a body.
/// Without a body its coding is not read: a proxy that asks the gate sends the headers of its client, and not the body.
pub(crate) fn check_form(uri: &Uri, headers: &HeaderMap, has_body: bool) -> Result<(), Error> {
    check_target(uri, headers)?;
    check_transfer(headers)?;
    if has_body { check_encoding(headers) } else { Ok(()) }
}

fn check_target(uri: &Uri, headers: &HeaderMap) -> Result<(), Error> {
    let Some(target) = uri.authority() else {
        return Ok(());
    };
    let mut hosts = headers.get_all(header::HOST).iter();
    let is_same = |host: &HeaderValue| host.as_bytes().eq_ignore_ascii_case(target.as_str().as_bytes());
    if hosts.all(is_same) {
        return Ok(());
    }
    let message = "The host in the request line is another one than that in the header Host";
    Err(Error::new(Code::BadRequest, message))
}

/// Refuses a body that a proxy may have read differently: in any transfer coding but exactly one `chunked`.
fn check_transfer(headers: &HeaderMap) -> Result<(), Error> {
    let fields = headers.get_all(header::TRANSFER_ENCODING).iter();
    let mut codings = fields.flat_map(|field| field.as_bytes().split(|byte| *byte == b','));
    let is_chunked = |coding: &[u8]| coding.trim_ascii().eq_ignore_ascii_case(b"chunked");
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if is_chunked(coding) => Ok(()),
        _ => {
            let message = "The header Transfer-Encoding must be chunked, once, and nothing else";
            Err(Error::new(Code::BadRequest, message))
        }
    }
}

fn check_encoding(headers: &HeaderMap) -> Result<(), Error> {
    let mut fields = headers.get_all(header::CONTENT_ENCODING).iter();
    let is_plain = |field: &HeaderValue| {
        let mut codings = field.as_bytes().split(|byte| *byte == b',');
        codings.all(|coding| {
            let coding = coding.trim_ascii();
            coding.is_empty() || coding.eq_ignore_ascii_case(b"identity")
        })
    };
    if fields.all(is_plain) {
        return Ok(());
    }
    Err(Error::new(
        Code::UnsupportedMediaType,
        "The body must not be encoded: send it without Content-Encoding",
    ))
}

/// Whether the request's headers are those of a browser. (`fetch` of Node sends `Sec-Fetch-Mode` too.)
fn is_from_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN) || headers.keys().any(|name| name.as_str().starts_with("sec-fetch-"))
}

/// Refuses a request that a page of another site may have made a browser send.
fn check_site(headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Result<(), Error> {
    if let Some(foreign) = foreign_site_by_either(headers, public_url) {
        return Err(foreign.refusal(SiteRule::NoUserYet).into());
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        _ => "",
    };
    if !is_own_host(host, public_url) {
        return Err(Refusal::NoUserYetHere { host: quote(host) }.into());
    }
    Ok(())
}

/// Whether no other site can make this name resolve to the service: an IP address, `localhost`, or the
/// configured name.
fn is_own_host(host: &str, public_url: Option<&PublicUrl>) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    if host.contains('@') {
        return false;
    }
    let name = authority.host();
    is_unclaimable(name) || public_url.is_some_and(|url| url.host().eq_ignore_ascii_case(name))
}

/// Whether a name is an IP address or `localhost`, which nobody can make resolve to another address.
pub(crate) fn is_unclaimable(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost")
}

/// Whether there is any user. The last administrator cannot be removed, so once we have seen one, storage is not asked
/// again.
async fn has_users(http: &Http, id: &RequestId) -> Result<bool, Error> {
    let existing = http.live.service().existing_users(&id.0).await?;
    if existing == ExistingUsers::Administrator {
        http.has_administrator.store(true, Ordering::Relaxed);
    }
    Ok(existing != ExistingUsers::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_hosts_are_addresses_localhost_and_the_public_name() {
        let url: PublicUrl = "https://Portico.example:8443".parse().unwrap();
        for (host, is_own) in [
            ("127.0.0.1", true),
            ("192.0.2.7:7575", true),
            ("[::1]:7575", true),
            ("[2001:db8::1]", true),
            ("localhost:7575", true),
            ("LOCALHOST", true),
            ("portico.example", true),
            ("PORTICO.example:80", true),
            ("", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("portico.example.evil.example", false),
            ("portico.example, evil.example", false),
            ("me@localhost", false),
        ] {
            assert_eq!(is_own_host(host, Some(&url)), is_own, "{host:?}");
        }
        assert!(!is_own_host("portico.example", None));
    }

    #[test]
    fn the_url_of_another_host_is_refused() {
        for (uri, hosts, is_same) in [
            ("/x", &["portico.example"][..], true),
            ("http://portico.example/x", &["Portico.example"], true),
            ("http://portico.example/x", &[], true),
            ("http://evil.example/x", &["portico.example"], false),
            ("http://portico.example:81/x", &["portico.example"], false),
            ("http://me@portico.example/x", &["portico.example"], false),
            (
                "http://portico.example/x",
                &["portico.example", "evil.example"],
                false,
            ),
        ] {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, host.parse().unwrap());
            }
            let uri: Uri = uri.parse().unwrap();
            assert_eq!(check_target(&uri, &headers).is_ok(), is_same, "{uri} {hosts:?}");
        }
    }

    #[test]
    fn only_the_transfer_coding_chunked_is_accepted_and_once() {
        for (fields, is_plain) in [
            (&[][..], true),
            (&["chunked"], true),
            (&["Chunked "], true),
            (&["chunked, chunked"], false),
            (&["chunked", "chunked"], false),
            (&["gzip, chunked"], false),
            (&["identity"], false),
            (&["identity, chunked"], false),
            (&[", chunked"], false),
            (&[""], false),
        ] {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(header::TRANSFER_ENCODING, field.parse().unwrap());
            }
            assert_eq!(check_transfer(&headers).is_ok(), is_plain, "{fields:?}");
        }
    }

    #[test]
    fn only_the_encoding_identity_is_accepted() {
        for (fields, is_plain) in [
            (&[][..], true),
            (&["identity"], true),
            (&["Identity, identity"], true),
            (&[""], true),
            (&["gzip"], false),
            (&["identity", "br"], false),
            (&["identity, deflate"], false),
        ] {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(header::CONTENT_ENCODING, field.parse().unwrap());
            }
            assert_eq!(check_encoding(&headers).is_ok(), is_plain, "{fields:?}");
        }
    }
}
