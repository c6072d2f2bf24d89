//! Links, checked as a browser would follow them.
//!
//! They are stored as they were sent, trimmed. Browsers drop tabs, line ends and leading control
//! characters before they read the scheme; here a link with any of them is refused.

use alloc::string::{String, ToString};

use portico_rules::rule::{Rule, UrlProblem};
use portico_rules::{bounds, links};
use url::{ParseError, Url};

use super::issues::Checked;
use super::text;

/// Schemes whose URLs contain the script or page themselves, which the browser would run as if it came
/// from the dashboard.
const REFUSED_SCHEMES: [&str; 3] = ["javascript", "data", "vbscript"];

/// Where a new app leads. Unlike in [`href`], a link without its scheme is refused.
pub fn new_href(value: &str) -> Checked<Option<String>> {
    let href = href(value)?;
    href.as_deref().map_or(Ok(()), followed)?;
    Ok(href)
}

/// Refuses a link that leads nowhere, because a browser takes a host or a drive for its scheme.
pub fn followed(href: &str) -> Checked<()> {
    links::problem(href).map_or(Ok(()), Err)
}

/// Where an app leads; `""` means nowhere. An absolute URL of any scheme except the refused ones. Links that are older
/// than the rule of [`followed`] stay valid.
pub fn href(value: &str) -> Checked<Option<String>> {
    let Some((text, url)) = parse(value)? else {
        return Ok(None);
    };
    if REFUSED_SCHEMES.contains(&url.scheme()) {
        let scheme = url.scheme().into();
        return Err(Rule::RefusedScheme { scheme });
    }
    Ok(Some(text))
}

/// The URL that shows whether an app is up; `""` means none. An absolute URL of HTTP or HTTPS.
pub fn ping_url(value: &str) -> Checked<Option<String>> {
    let Some((text, url)) = parse(value)? else {
        return Ok(None);
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Rule::NotHttp);
    }
    Ok(Some(text))
}

fn not_absolute(reason: ParseError) -> Rule {
    let why = UrlProblem::parse(&reason.to_string()).unwrap_or(UrlProblem::Other);
    Rule::NotAbsoluteUrl { why }
}

fn parse(value: &str) -> Checked<Option<(String, Url)>> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    text::length(value, bounds::LINK)?;
    text::no_control_characters(value, &[])?;
    let url = Url::parse(value).map_err(not_absolute)?;
    Ok(Some((value.to_string(), url)))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::validate::rule;

    #[test]
    fn a_link_is_stored_as_sent_but_trimmed() {
        for accepted in [
            "http://jellyfin.local",
            "https://user:password@example.com:8096/web/?q=a b#c",
            "HTTPS://EXAMPLE.COM",
            "http://[2001:db8::1]:8096/",
            "http://192.168.0.1",
            "https://müller.example/ü",
            "https://例子.广告/",
            "ssh://root@nas",
            "vscode://file/x",
            "ftp://nas/",
            "file:///srv",
            "mailto:alice@example.com",
            "tel:+4912345",
            "javascripts://x",
            "http:example.com",
        ] {
            assert_eq!(href(accepted), Ok(Some(accepted.into())));
        }
        assert_eq!(
            href("  https://example.com/ \r\n"),
            Ok(Some("https://example.com/".into()))
        );
    }

    #[test]
    fn an_empty_link_is_none() {
        for empty in ["", "  ", "\t\n"] {
            assert_eq!(href(empty), Ok(None));
            assert_eq!(ping_url(empty), Ok(None));
        }
    }

    #[test]
    fn disguised_scripts_are_refused() {
        for refused in [
            "javascript:alert(1)",
            "JAVASCRIPT:alert(1)",
            "JaVaScRiPt://example.com/%0aalert(1)",
            "  javascript:alert(1)",
            "\tjavascript:alert(1)",
            "java\tscript:alert(1)",
            "java\nscript:alert(1)",
            "java\r\nscript:alert(1)",
            "javascript\t:alert(1)",
            "\u{1}javascript:alert(1)",
            "\0javascript:alert(1)",
            "\u{1f}\u{20}javascript:alert(1)",
            "javascript\0:alert(1)",
            "javascript:",
            "data:text/html,<script>alert(1)</script>",
            "Data:text/html;base64,AAAA",
            "vbscript:msgbox(1)",
            "VBSCRIPT:x",
        ] {
            assert!(href(refused).is_err(), "{refused:?}");
            assert!(ping_url(refused).is_err(), "{refused:?}");
        }
        // With lookalikes and invisible characters, it is not a scheme at all.
        for refused in [
            "java\u{200b}script:alert(1)",
            "\u{feff}javascript:alert(1)",
            "ｊavascript:alert(1)",
        ] {
            assert!(href(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_new_link_begins_with_its_scheme() {
        for (sent, said) in [
            ("nas:5000", "did you mean http://nas:5000?"),
            (" localhost:3000\n", "did you mean http://localhost:3000?"),
            (r"C:\Users\ada", "not a file of a computer"),
        ] {
            let refusal = new_href(sent).expect_err(sent).to_string();
            assert!(refusal.contains(said), "{refusal}");
            assert_eq!(
                href(sent),
                Ok(Some(sent.trim().into())),
                "one that is stored stays"
            );
        }
        for accepted in ["https://nas:5000", "com.example.app://x", "mailto:a@b", "tel:112"] {
            assert_eq!(new_href(accepted), Ok(Some(accepted.into())));
        }
        assert_eq!(new_href(" "), Ok(None));
        assert!(new_href("javascript:80").is_err());
    }

    #[test]
    fn other_texts_than_absolute_urls_are_refused() {
        for refused in [
            "http://",
            "https://:8080",
            "http://example.com:99999",
            "http://[::1",
            "http://exa mple.com",
            "http://a\0b/",
            "https://example.com/a\tb",
            "/relative",
            "example.com",
            "//example.com/x",
            "not a url",
            "[homarr_base]/x",
            "localhost",
            "://x",
        ] {
            assert!(href(refused).is_err(), "{refused:?}");
        }
        assert_eq!(
            href("/relative"),
            Err(rule("must be an absolute URL (relative URL without a base)"))
        );
        assert_eq!(
            href("javascript:1"),
            Err(rule("must not be a URL of the scheme javascript:"))
        );
    }

    #[test]
    fn a_ping_is_http_or_https_in_any_case() {
        for accepted in ["http://a", "HTTP://A/", "hTTps://a:1/x", " http://[::1]:80 "] {
            assert_eq!(ping_url(accepted), Ok(Some(accepted.trim().into())));
        }
        for refused in [
            "ftp://a",
            "ws://a",
            "ssh://a",
            "mailto:a@b",
            "file:///x",
            "httpx://a",
            "http://a:99999",
        ] {
            assert!(ping_url(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_link_is_bounded() {
        let base = "https://example.com/";
        let longest = format!("{base}{}", "a".repeat(bounds::LINK.end() - base.len()));
        assert!(href(&longest).is_ok());
        assert_eq!(
            href(&format!("{longest}a")),
            Err(rule("must have at most 8192 characters, got 8193"))
        );
    }
}
