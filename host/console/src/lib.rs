//! The console: the pages that people see.
//!
//! Invariants:
//! - The console is a client of Portico's API, in the same process: each page calls the API's router with the headers
//!   of its own request (`api.rs`). The console reads and changes nothing in any other way, so a page shows exactly
//!   what its reader may read through the API.
//! - Every task works without JavaScript: pages are links and forms.
//! - A form that changes something carries a token that only a page of the reader's session can contain (`form.rs`).
//! - Pages request nothing from other hosts, and run only the console's own scripts (`respond.rs`).

mod api;
mod around;
mod assets;
mod catalogue;
mod edits;
mod fields;
mod form;
mod gate;
mod links;
mod looks;
mod markup;
mod pages;
mod qr;
mod query;
mod respond;
mod site;
mod texts;
mod theme;
mod times;
mod visit;

use std::sync::Arc;

use axum::{Router, http::request::Parts, middleware::from_fn_with_state};
use portico_http::{Elsewhere, HttpLimits, PublicUrl, TrustedProxies, surround};
use portico_service::second_factor::relying_party;
use serde_json::{Map, Value};

pub use self::gate::gate_page;

/// How the console is reached.
#[derive(Clone, Debug, Default)]
pub struct ConsoleSettings {
    /// The limits of the API.
    pub limits: HttpLimits,
    /// Where people reach it. With `https`, its cookies are for TLS only.
    pub public_url: Option<PublicUrl>,
    /// The proxies that are believed when they say at which host and with which scheme a page was opened, and the id of its
    /// request.
    pub trusted_proxies: TrustedProxies,
    /// Whether the console has a page for every path outside `/api` and `/icons`: one that says that there is nothing, or
    /// the page without the slash at the end. `false` if another router has pages at such paths.
    pub is_whole_site: bool,
    /// Whether there is a gate in front of apps.
    pub has_gate: bool,
    /// The id of the board that people see at `/` who are not signed in, if it is public; `None`: the one that administrators
    /// have chosen.
    pub start_board: Option<String>,
    /// How `portico apply` reads configuration documents. With `None`, documents are JSON.
    pub documents: Option<Documents>,
}

/// Reads configuration documents that people paste or upload.
#[derive(Clone, Copy, Debug)]
pub struct Documents {
    /// Reads YAML, which includes JSON, or says why it cannot.
    pub read: fn(&str) -> Result<Value, String>,
    /// The places of the keys that `state.apply` does not know.
    pub unknown_keys: fn(&Map<String, Value>) -> Vec<String>,
}

/// A message of the API in the language with this tag (`de`); unchanged if the console does not speak it.
pub fn translate(message: &str, tag: &str) -> String {
    match tag {
        "de" => texts::rules::say(texts::Language::German, message),
        _ => message.to_owned(),
    }
}

/// What the audit log calls a procedure, or how a call ended, in the language with this tag; unchanged if there are no
/// words for it.
pub fn audited<'a>(name: &'a str, tag: &str) -> &'a str {
    let language = match tag {
        "de" => texts::Language::German,
        _ => texts::Language::English,
    };
    match texts::audited::action(language, name) {
        same if same == name => texts::audited::outcome(language, name),
        words => words,
    }
}

/// What all requests share.
struct Console {
    api: Router,
    public_url: Option<PublicUrl>,
    /// Whether the public URL is one at which browsers make passkeys.
    has_passkeys: bool,
    trusted_proxies: TrustedProxies,
    has_gate: bool,
    start_board: Option<String>,
    documents: Option<Documents>,
}

impl Console {
    /// Whether people reach it over TLS.
    fn is_secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(PublicUrl::is_secure)
    }

    /// Where a page of sign-in was opened, if not at the public URL.
    fn elsewhere(&self, parts: &Parts) -> Option<Elsewhere> {
        Elsewhere::of(parts, self.public_url.as_ref(), &self.trusted_proxies)
    }
}

/// The console's pages: `/`, `/sign-in`, `/apps` and so on. Requests for other paths need the API's router as the fallback.
///
/// `api` is the router of `portico-http`; requests must carry what it expects (the peer's address as `ConnectInfo`, if
/// it is to know addresses).
pub fn pages(api: Router, settings: ConsoleSettings) -> Router {
    let console = Arc::new(Console {
        api,
        has_passkeys: settings
            .public_url
            .as_ref()
            .is_some_and(|url| relying_party(url).is_ok()),
        public_url: settings.public_url,
        trusted_proxies: settings.trusted_proxies.clone(),
        has_gate: settings.has_gate,
        start_board: settings.start_board,
        documents: settings.documents,
    });
    let routes = if settings.is_whole_site {
        pages::routes().merge(pages::unknown())
    } else {
        pages::routes()
    };
    let pages = routes.layer(from_fn_with_state(console, around::around));
    let pages = pages.merge(assets::routes()).merge(theme::routes());
    surround(pages, &settings.limits, &settings.trusted_proxies)
}
