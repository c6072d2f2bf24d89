//! The settings of the gate, and what else must be set for it to be safe.

use axum::http::HeaderMap;
use portico_service::{
    gate::{GateDomain, ReservedNames},
    site::PublicUrl,
};

use crate::address::TrustedProxies;

/// Settings of the gate.
#[derive(Clone, Debug)]
pub struct GateSettings {
    /// The domain whose hosts it is in front of.
    pub domain: GateDomain,
    /// The names with which only administrators pass.
    pub reserved_names: ReservedNames,
    /// The page of a person who may not open an app, in which a message stands; `None` if there are no pages, to which a
    /// browser could be sent to sign in.
    pub page: Option<RefusalPage>,
}

/// Writes a page for the sender of these headers with this message, of the service with this public URL.
pub type RefusalPage = fn(&HeaderMap, &str, &PublicUrl) -> String;

impl GateSettings {
    /// Fails, and names the rule, if these settings are not safe with those of HTTP.
    pub fn check(
        &self,
        public_url: Option<&PublicUrl>,
        proxies: &TrustedProxies,
    ) -> Result<(), &'static str> {
        proxies.check()?;
        if public_url.is_none_or(|url| !self.domain.has(url.host())) {
            return Err(
                "public-url must be at a host of gate-domain: browsers take a cookie for a domain only from its hosts",
            );
        }
        Ok(())
    }
}
