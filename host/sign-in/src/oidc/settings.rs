//! What the one who runs the service says about an issuer.

use std::time::Duration;

use portico_service::external::Linking;

use crate::common::Secret;

/// The path to which the issuer sends browsers back.
pub(super) const CALLBACK: &str = "/api/auth/oidc/callback";

/// An issuer, and what is taken from it.
#[derive(Clone, Debug)]
pub struct OidcSettings {
    /// The issuer's URL, as its discovery document writes it.
    pub issuer: String,
    /// What the issuer knows this service by.
    pub client_id: String,
    /// What it knows it from; none for a public client.
    pub client_secret: Option<Secret>,
    /// How the secret is sent; none: as the issuer's discovery document says.
    pub client_auth: Option<ClientAuth>,
    /// Who else than this client may be in the audience of an ID token.
    pub trusted_audiences: Vec<String>,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The claim that holds the username.
    pub name_claim: String,
    /// The claim that holds the names of groups; none: groups are managed here.
    pub groups_claim: Option<String>,
    /// What the button says.
    pub label: String,
    /// How long the issuer may take for what it is asked in one request of a browser.
    pub time_limit: Duration,
    /// Whether somebody may become a user of `credentials` who is there.
    pub linking: Linking,
    /// The certificates that the issuer's is checked against, in PEM; none: the public ones.
    pub ca: Option<String>,
}

/// How a client shows its secret to the issuer.
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
            label: "OpenID Connect".into(),
            time_limit: Duration::from_secs(10),
            linking: Linking::Off,
            ca: None,
        }
    }
}
