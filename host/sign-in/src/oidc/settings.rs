//! The settings of an issuer.

use std::time::Duration;

use portico_service::external::Linking;

use crate::common::Secret;

/// The path to which the issuer sends browsers back.
pub(super) const CALLBACK: &str = "/api/auth/oidc/callback";

/// The page to which the issuer sends browsers that have signed out there. It does not lead to the issuer by itself.
pub(super) const SIGNED_OUT: &str = "/sign-in?local";

#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The issuer's URL, exactly as in its discovery document.
    pub issuer: String,
    /// The client id that the issuer gave to this service.
    pub client_id: String,
    /// The client's secret; `None` for a public client.
    pub client_secret: Option<Secret>,
    /// How the secret is sent; with `None`, as the discovery document says.
    pub client_auth: Option<ClientAuth>,
    /// Other audiences that an ID token may have besides this client.
    pub trusted_audiences: Vec<String>,
    /// The scopes to request besides `openid`.
    pub scopes: Vec<String>,
    /// The claim with the username.
    pub name_claim: String,
    /// The claim with the names of groups; with `None`, groups are managed in Portico.
    pub groups_claim: Option<String>,
    /// What the claims of a user must have; with `None`, everyone whom the issuer knows may sign in.
    pub required_claim: Option<RequiredClaim>,
    /// Whether a person without a user here becomes a new one.
    pub sign_up: bool,
    /// Whether signing out here goes on at the issuer.
    pub sign_out: bool,
    /// The name of the issuer that users see.
    pub label: String,
    /// How long all requests to the issuer may take within one request of a browser.
    pub time_limit: Duration,
    /// Whether a sign-in may become an existing user of `credentials`.
    pub linking: Linking,
    /// The CA certificates (PEM) to accept for the issuer; with `None`, those that browsers trust.
    pub ca: Option<String>,
}

/// A claim that must be this text, or a list that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredClaim {
    pub name: String,
    pub value: String,
}

impl RequiredClaim {
    /// From `NAME=VALUE`.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, value) = text.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let is_given = !name.is_empty() && !value.is_empty();
        is_given.then(|| Self {
            name: name.into(),
            value: value.into(),
        })
    }
}

/// How the client's secret is sent to the issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// In the header `Authorization` (`client_secret_basic`).
    Basic,
    /// In the body (`client_secret_post`).
    Post,
}

impl Default for OidcSettings {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret: None,
            client_auth: None,
            trusted_audiences: Vec::new(),
            scopes: vec!["profile".into(), "email".into()],
            name_claim: "preferred_username".into(),
            groups_claim: None,
            required_claim: None,
            sign_up: true,
            sign_out: false,
            label: "OpenID Connect".into(),
            time_limit: Duration::from_secs(10),
            linking: Linking::Off,
            ca: None,
        }
    }
}
