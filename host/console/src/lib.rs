//! The console: the pages that people see.
//!
//! Invariants:
//! - The console is a client of Portico's API, in the same process: each page calls the API's router with the
//!   headers of the request that it answers (`api.rs`). It reads and changes nothing in any other way, so that a
//!   page shows exactly what its reader may read through the API.
//! - Every task works without JavaScript: pages are links and forms.
//! - A form that changes something carries a token that only a page of the reader's session can hold
//!   (`form.rs`).
//! - Pages request nothing from other hosts, and run no script but the console's own (`respond.rs`).

mod api;
mod assets;
mod form;
mod pages;
mod respond;
mod texts;
mod times;
mod visit;

use std::sync::Arc;

use axum::{Router, middleware::from_fn_with_state};
use portico_http::{HttpLimits, surround};

/// How the console is reached.
#[derive(Clone, Debug, Default)]
pub struct ConsoleSettings {
    /// The limits of the API.
    pub limits: HttpLimits,
    /// Whether people reach it by `https`. Its cookies are then for TLS only.
    pub is_secure: bool,
    /// Reads a document of the desired state that people paste, as `portico apply` does. None: documents are JSON.
    pub read_yaml: Option<ReadYaml>,
}

/// Reads YAML, which includes JSON, or says why it cannot.
pub type ReadYaml = fn(&str) -> Result<serde_json::Value, String>;

/// What all requests share.
struct Console {
    api: Router,
    is_secure: bool,
    read_yaml: Option<ReadYaml>,
}

/// The console's pages: `/`, `/sign-in`, `/apps` and so on. Requests for other paths need the API's router as the fallback.
///
/// `api` is the router of `portico-http`; requests must carry what it expects of them (the peer's address as
/// `ConnectInfo`, if it is to know addresses).
pub fn pages(api: Router, settings: ConsoleSettings) -> Router {
    let console = Arc::new(Console {
        api,
        is_secure: settings.is_secure,
        read_yaml: settings.read_yaml,
    });
    let pages = pages::routes().layer(from_fn_with_state(console, visit::around));
    surround(pages.merge(assets::routes()), &settings.limits)
}
