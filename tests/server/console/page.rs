//! A browser without JavaScript: it keeps cookies, follows redirects of this site, and sends the forms of pages.

use std::{cell::RefCell, collections::BTreeMap};

use portico_tests::{Anonymous, Answer, Client, PASSWORD, Portico, escape};

/// A browser of one person.
pub struct Browser {
    client: Anonymous,
    /// The service's own.
    origin: String,
    cookies: RefCell<BTreeMap<String, String>>,
    language: &'static str,
}

/// A page that was opened.
pub struct Page {
    /// Path and query, after redirects.
    pub path: String,
    pub answer: Answer,
    pub html: String,
}

impl Browser {
    /// A browser that speaks English and has no cookies.
    pub fn new(server: &Portico) -> Self {
        Self {
            client: server.anonymous(),
            origin: format!("http://{}", server.address()),
            cookies: RefCell::default(),
            language: "en",
        }
    }

    /// The same in German.
    pub fn in_german(self) -> Self {
        Self {
            language: "de-DE,de;q=0.9,en;q=0.5",
            ..self
        }
    }

    /// A browser in which `root` has made the first start.
    #[track_caller]
    pub fn of_administrator(server: &Portico) -> Self {
        let browser = Self::new(server);
        let page = browser.open("/start");
        let account = [
            ("username", "root"),
            ("password", PASSWORD),
            ("email", "root@example.com"),
        ];
        let page = browser.submit(&page, "/start", &account);
        assert_eq!(page.path, "/welcome", "{}", page.html);
        browser
    }

    /// A browser in which a user has signed in.
    #[track_caller]
    pub fn of(server: &Portico, username: &str) -> Self {
        let browser = Self::new(server);
        let page = browser.open("/sign-in");
        let page = browser.submit(
            &page,
            "/sign-in",
            &[("username", username), ("password", PASSWORD)],
        );
        assert_eq!(page.path, "/", "{}", page.html);
        browser
    }

    /// Opens a page.
    #[track_caller]
    pub fn open(&self, path: &str) -> Page {
        self.follow("GET", path, &[], None)
    }

    /// Sends a form of a page, with the token that the page holds.
    #[track_caller]
    pub fn submit(&self, page: &Page, action: &str, fields: &[(&str, &str)]) -> Page {
        let token = page.token();
        assert!(
            page.html.contains(&format!("action=\"{}\"", escaped(action))),
            "no form for {action}: {}",
            page.html
        );
        self.send_form(action, &token, fields)
    }

    /// Sends a form with any token, and does not say which site's page it is from.
    #[track_caller]
    pub fn send_form(&self, action: &str, token: &str, fields: &[(&str, &str)]) -> Page {
        self.send_form_with(&[], action, token, fields)
    }

    /// Sends a form with any token from a page of the service's own, as browsers say it.
    #[track_caller]
    pub fn send_own_form(&self, action: &str, token: &str, fields: &[(&str, &str)]) -> Page {
        self.send_form_with(&[("origin", &self.origin)], action, token, fields)
    }

    /// Sends a form of a page that has a file, named `x.png`.
    #[track_caller]
    pub fn upload(&self, page: &Page, action: &str, fields: &[(&str, &str)], file: (&str, &[u8])) -> Page {
        let mut body = Vec::new();
        let token = page.token();
        for (name, value) in [("form-token", &*token)].iter().chain(fields) {
            let part = format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(part.as_bytes());
        }
        let (name, content) = file;
        let head = format!(
            "--B\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x.png\"\r\nContent-Type: \
             image/png\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--B--\r\n");
        let headers = [("content-type", "multipart/form-data; boundary=B")];
        self.follow("POST", action, &headers, Some(&body))
    }

    #[track_caller]
    fn send_form_with(
        &self,
        headers: &[(&str, &str)],
        action: &str,
        token: &str,
        fields: &[(&str, &str)],
    ) -> Page {
        let mut body = format!("form-token={}", escape(token));
        for (name, value) in fields {
            body.push_str(&format!("&{}={}", escape(name), escape(value)));
        }
        let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
        all.extend(headers);
        self.follow("POST", action, &all, Some(body.as_bytes()))
    }

    /// Sends a request and follows no redirect.
    #[track_caller]
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        let cookies: Vec<_> = self
            .cookies
            .borrow()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let cookies = cookies.join("; ");
        let mut all = vec![("accept", "text/html"), ("accept-language", self.language)];
        if !cookies.is_empty() {
            all.push(("cookie", &cookies));
        }
        all.extend(headers);
        let answer = self.client.send(method, path, &all, body);
        for (name, value) in &answer.headers {
            if name == "set-cookie" {
                let cookie = value.split(';').next().expect("a cookie");
                let (name, value) = cookie.split_once('=').expect("a cookie");
                self.cookies.borrow_mut().insert(name.into(), value.into());
            }
        }
        answer
    }

    /// Forgets a cookie.
    pub fn forget(&self, cookie: &str) {
        self.cookies.borrow_mut().remove(cookie);
    }

    #[track_caller]
    fn follow(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Page {
        let mut path = path.to_owned();
        let mut answer = self.send(method, &path, headers, body);
        for _ in 0..5 {
            if answer.status != 303 {
                let html = answer.text();
                return Page { path, answer, html };
            }
            path = answer.header("location").expect("where to").to_owned();
            answer = self.send("GET", &path, &[], None);
        }
        panic!("redirects without an end, now at {path}");
    }
}

impl Page {
    /// The token of the page's forms.
    #[track_caller]
    pub fn token(&self) -> String {
        let (_, rest) = self
            .html
            .split_once("name=\"form-token\" value=\"")
            .unwrap_or_else(|| panic!("no form on {}: {}", self.path, self.html));
        rest.split('"').next().expect("a token").to_owned()
    }

    #[track_caller]
    pub fn assert_shows(&self, text: &str) -> &Self {
        assert!(
            self.html.contains(text),
            "{text:?} is not on {}: {}",
            self.path,
            self.html
        );
        self
    }

    #[track_caller]
    pub fn assert_hides(&self, text: &str) -> &Self {
        assert!(
            !self.html.contains(text),
            "{text:?} is on {}: {}",
            self.path,
            self.html
        );
        self
    }

    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.answer.status, status, "{}: {}", self.path, self.html);
        self
    }

    /// The problem that is shown at a field.
    pub fn problem(&self, field: &str) -> Option<String> {
        let (_, rest) = self.html.split_once(&format!("id=\"{field}-problem\">"))?;
        let text = rest.split('<').next()?;
        Some(text.replace("&#39;", "'").replace("&#34;", "\""))
    }
}

/// A text as HTML writes it in attributes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&#38;")
        .replace('<', "&#60;")
        .replace('>', "&#62;")
        .replace('"', "&#34;")
        .replace('\'', "&#39;")
}
