//! A browser, as far as signing in needs one: cookies, redirects, forms.

use std::{cell::RefCell, collections::BTreeMap};

use portico_tests::{agent, escape};
use serde_json::Value;
use ureq::http::Request;

/// A browser with the cookies of this machine. As in real browsers, cookies do not depend on the port.
pub struct Browser {
    agent: ureq::Agent,
    cookies: RefCell<BTreeMap<String, String>>,
}

/// What came back.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    pub location: Option<String>,
    pub cookies: Vec<String>,
    pub retry_after: Option<String>,
    pub body: String,
}

impl Page {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Checks that it leads there.
    #[track_caller]
    pub fn assert_redirect(&self, to: &str) {
        assert_eq!(
            (self.status, self.location.as_deref()),
            (303, Some(to)),
            "{self:?}"
        );
    }

    /// Checks that it is a refusal in the usual envelope, which begins no session.
    #[track_caller]
    pub fn assert_refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        let answer = self.json();
        assert_eq!(
            (&answer["code"], &answer["data"]["httpStatus"]),
            (&code.into(), &status.into()),
            "{self:?}"
        );
        assert!(answer["message"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(
            self.location.is_none() && self.cookies.is_empty(),
            "a refusal with more than words: {self:?}"
        );
    }
}

impl Browser {
    pub fn new() -> Self {
        Self {
            agent: agent(),
            cookies: RefCell::default(),
        }
    }

    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(name).cloned()
    }

    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(name.into(), value.into());
    }

    pub fn forget_cookies(&self) {
        self.cookies.borrow_mut().clear();
    }

    #[track_caller]
    pub fn get(&self, url: &str) -> Page {
        self.send("GET", url, "")
    }

    #[track_caller]
    pub fn head(&self, url: &str) -> Page {
        self.send("HEAD", url, "")
    }

    #[track_caller]
    pub fn post(&self, url: &str, body: &str) -> Page {
        self.send("POST", url, body)
    }

    #[track_caller]
    fn send(&self, method: &str, url: &str, body: &str) -> Page {
        let cookies: Vec<_> = self
            .cookies
            .borrow()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header("cookie", cookies.join("; "))
            .header("content-type", "application/x-www-form-urlencoded");
        let answer = match body {
            "" => self.agent.run(request.body(()).expect("a request")),
            body => self.agent.run(request.body(body).expect("a request")),
        };
        let mut answer = answer.unwrap_or_else(|error| panic!("{method} {url}: {error}"));
        let header = |name| {
            answer
                .headers()
                .get(name)
                .map(|value| value.to_str().expect("text").to_owned())
        };
        let (location, retry_after) = (header("location"), header("retry-after"));
        let cookies = answer.headers().get_all("set-cookie").iter();
        let cookies: Vec<_> = cookies
            .map(|value| value.to_str().expect("text").to_owned())
            .collect();
        for cookie in &cookies {
            self.keep(cookie);
        }
        Page {
            status: answer.status().as_u16(),
            location,
            cookies,
            retry_after,
            body: answer.body_mut().read_to_string().expect("a body"),
        }
    }

    fn keep(&self, cookie: &str) {
        let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
        let (name, value) = pair.split_once('=').expect("a name");
        let attributes = attributes.to_lowercase();
        let gone = value.is_empty()
            || attributes.contains("max-age=0")
            || attributes.contains("expires=thu, 01 jan 1970");
        if gone {
            self.cookies.borrow_mut().remove(name);
        } else {
            self.set_cookie(name, value);
        }
    }

    /// Goes where this leads, says at the issuer to be this subject, and gives the address that
    /// the issuer sends the browser back to.
    #[track_caller]
    pub fn at_issuer(&self, url: &str, subject: &str) -> String {
        let mut url = url.to_owned();
        let mut page = self.get(&url);
        for _ in 0..12 {
            if let Some(location) = &page.location {
                url = absolute(&url, location);
                if url.contains("/api/auth/oidc/callback?") {
                    return url;
                }
                page = self.get(&url);
                continue;
            }
            assert_eq!(page.status, 200, "the issuer has no form: {page:?}");
            let form = if page.body.contains(r#"value="login""#) {
                format!("prompt=login&login={}&password=x", escape(subject))
            } else {
                "prompt=consent".to_owned()
            };
            page = self.post(&url, &form);
        }
        panic!("the issuer does not redirect back: {page:?}");
    }
}

fn absolute(from: &str, location: &str) -> String {
    if !location.starts_with('/') {
        return location.to_owned();
    }
    let origin: Vec<_> = from.splitn(4, '/').take(3).collect();
    format!("{}{location}", origin.join("/"))
}

/// The parameter of this name, decoded as far as tests need it.
pub fn parameter(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let found = pairs.find_map(|(found, value)| (found == name).then_some(value))?;
    Some(found.replace("%3A", ":").replace("%2F", "/").replace('+', " "))
}

/// The same address with another value of this parameter.
#[track_caller]
pub fn with_parameter(url: &str, name: &str, value: &str) -> String {
    let (path, query) = url.split_once('?').expect("a query");
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((found, _)) if found == name => format!("{name}={value}"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", pairs.collect::<Vec<_>>().join("&"))
}
