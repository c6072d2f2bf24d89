//! The settings of an issuer.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, ensure};
use portico_service::external::{GroupRules, Linking, SignUp};

use super::{claim_path::ClaimPath, claim_text::ClaimText};
use crate::common::Secret;

/// The path to which the issuer sends browsers back.
pub(super) const CALLBACK: &str = "/api/auth/oidc/callback";

/// The claim whose verification the issuer states.
pub(super) const EMAIL: &str = "email";

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
    /// The claim with the username, or a template of it.
    pub name_claim: ClaimText,
    /// The claim with the email, or a template of it. Only that of the claim `email` can be verified.
    pub email_claim: ClaimText,
    /// The claim with the names of groups; with `None`, groups are managed in Portico.
    pub groups_claim: Option<ClaimPath>,
    /// What becomes of these names.
    pub group_rules: Arc<GroupRules>,
    /// What the claims of a user must have; with `None`, everyone whom the issuer knows may sign in.
    pub required_claim: Option<RequiredClaim>,
    /// Whether a person without a user here becomes a new one.
    pub sign_up: SignUp,
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
    pub claim: ClaimPath,
    pub value: String,
}

impl RequiredClaim {
    /// From `CLAIM=VALUE`.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let expected = || format!("{text:?} must be like groups=portico-users");
        let (claim, value) = text.split_once('=').with_context(expected)?;
        ensure!(!value.trim().is_empty(), expected());
        Ok(Self {
            claim: claim.parse().with_context(expected)?,
            value: value.trim().into(),
        })
    }
}

impl OidcSettings {
    /// Refuses settings that do not fit together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.linking == Linking::Off || self.email_claim.is(EMAIL),
            "oidc-linking must be off with oidc-email-claim: the issuer verifies only the claim email"
        );
        ensure!(
            self.groups_claim.is_some() || *self.group_rules == GroupRules::default(),
            "oidc-group-map, oidc-unmapped-groups, oidc-create-groups and oidc-admin-group need oidc-groups-claim"
        );
        Ok(())
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
            name_claim: claim("preferred_username"),
            email_claim: claim(EMAIL),
            groups_claim: None,
            group_rules: Arc::default(),
            required_claim: None,
            sign_up: SignUp::On,
            sign_out: false,
            label: "OpenID Connect".into(),
            time_limit: Duration::from_secs(10),
            linking: Linking::Off,
            ca: None,
        }
    }
}

/// A claim by its name, which has no dots.
fn claim(name: &str) -> ClaimText {
    ClaimText::Claim(ClaimPath::named(name))
}
