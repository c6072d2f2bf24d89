//! The procedures over HTTP, next to the dashboard's own routes.

use std::sync::Arc;

use axum::Router;
pub use portico_http::{HttpLimits, HttpSettings};
pub use portico_service::identity::Authenticate;

use crate::Plugin;

impl Plugin {
    /// Procedure calls (`/api/trpc`), REST (`/api/users`, `/api/apps`) and health (`/api/health`), to merge
    /// with the dashboard's own router or to nest in it. `/api/auth`, `/api/openapi` and `/api/docs` are not
    /// part of it.
    ///
    /// Its layers (an id for each request, limits, security headers) apply to these routes only, and all other paths
    /// remain the dashboard's. Serve the result with
    /// [`into_make_service_with_connect_info::<SocketAddr>`](Router::into_make_service_with_connect_info): without it,
    /// attempts to guess a password are not limited by address.
    ///
    /// Some settings have no effect here: `sessions`, `providers`, and the limits that belong to sockets (`write_time`,
    /// `write_rate`, `unsent`, `receive_time` of a head, `connections`), which the server sets. Of `public_url` only
    /// the origin counts: its pages are not those of another site, and until the first user exists, browsers are served
    /// only at its host, at `localhost` and at IP addresses, and only for pages of the same origin.
    pub fn router<S>(&self, authenticate: Arc<dyn Authenticate>, settings: HttpSettings) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        portico_http::embedded_router(self.0.clone(), settings, authenticate)
    }
}
