//! Authentication: keys and session tokens, looked up for every request.
//!
//! Invariants:
//! - Credentials come from `Authorization: Bearer`, else from `ApiKey`, else from the session cookie; each may hold a
//!   key or a session token. The first one present counts. If it is invalid, the caller is anonymous, and can still
//!   call public procedures.
//! - Permissions are read from storage with each request, so a permission that is taken away has no effect from the
//!   next request on.
//! - A key may do at most what its user may do at that moment. One with chosen permissions has those that both the user
//!   and the choice give. With less than its user, it makes no keys, changes how its user signs in only with `admin`, and
//!   neither sees nor ends the user's sessions and other keys.
//! - Where a trusted proxy vouches for users, its word comes before the cookie, and a key before its word.
//! - The cookie, which a browser sends automatically, authorises no change that another site requested.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, header, request::Parts};
use portico_model::{Timestamp, UserCaller, error::Error};
use portico_rules::permissions::{self, Permission};
use portico_rules::refusal::{Refusal, SiteRule};
use portico_sandbox::{Access, Kind};
use portico_storage::{
    self as storage, ADMIN, AccountKey, Authentication, CallContext, CredentialKey, DashboardStorage,
    DashboardTransaction, KeyLimits, NewToken, SecretHash,
    secrets::{self, Secrets},
};

use crate::{
    browser,
    site::{self, ForeignSite, PublicUrl, foreign_site},
};

/// The cookie with the session token, where the service is reached without TLS.
pub const PLAIN_COOKIE: &str = "portico_session";

/// The same behind TLS. Browsers accept it only over TLS, and only from this host itself: no other site, not even one
/// of the same domain, can replace it with a session of its own.
pub const SECURE_COOKIE: &str = "__Host-portico_session";

/// The id of the operator, who works at the machine itself. No user has it.
const OPERATOR: &str = "operator";

/// How long a look-up is valid. If a call gets its instance later, because it waited for its body, for a permit, or for
/// other calls of its batch, its caller is looked up again.
const HOLDS: Duration = Duration::from_secs(1);

/// What no key with less than its user may call: the new key could do more than it.
const MAKE_KEYS: [&str; 2] = ["apiKeys.create", "apiKeys.createOwn"];

/// What changes how users sign in. A key with less than its user may call it only with `admin`, even for its own user.
const CHANGE_ACCOUNTS: [&str; 8] = [
    "secondFactor.addPasskey",
    "secondFactor.addTotp",
    "secondFactor.delete",
    "secondFactor.rename",
    "secondFactor.renewRecoveryCodes",
    "user.editProfile",
    "user.changePassword",
    "user.delete",
];

/// What shows or ends how else users come in. It needs no permission, so that no choice of permissions takes it from a key.
const OWN_ACCESS: [&str; 5] = [
    "apiKeys.getOwn",
    "secondFactor.getOwn",
    "session.delete",
    "session.deleteOthers",
    "session.getAll",
];

/// Authenticates requests. A dashboard that embeds Portico, with sessions of its own, implements it.
#[async_trait]
pub trait Authenticate: Send + Sync + 'static {
    /// The sender of a request, by its headers, or by the extensions that a layer of the dashboard has added;
    /// [`Identity::anonymous`] if no user is signed in. Called once for each request, before its body is read.
    ///
    /// An error becomes the response to the request.
    async fn authenticate(&self, request: &Parts, request_id: &str) -> Result<Identity, Error>;
}

/// A caller.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The signed-in user; `None` for an anonymous caller.
    pub caller: Option<UserCaller>,
    /// How they authenticated.
    pub authentication: Authentication,
    /// Their address; `None` if it is unknown, or for this machine's command line.
    pub address: Option<IpAddr>,
    /// When the key or session ends.
    pub expires_at: Option<Timestamp>,
    /// The browser that sends the request, in words; only known of a request that begins a session.
    pub(crate) browser: Option<String>,
    /// What their key may do of what its user may do.
    limits: KeyLimits,
    /// The other site that made a browser send the cookie.
    foreign_site: Option<ForeignSite>,
    /// Whether a page of another site loads this as a part of itself, such as an image.
    is_embedded: bool,
    /// Whether they authenticated with the cookie of a session of this service.
    from_cookie: bool,
    /// The token that their session gets once they set a new password.
    new_token: Option<Arc<NewToken>>,
    /// Their credentials, to look them up again.
    proof: Option<Proof>,
    looked_up_at: Instant,
}

/// How a caller is looked up again.
#[derive(Clone, Debug)]
enum Proof {
    /// By the key of a credential, and the hash of its secret.
    Secret(CredentialKey, SecretHash),
    /// By the id of a user for whom a proxy vouches.
    Vouched(String),
}

impl Identity {
    /// An anonymous caller.
    pub fn anonymous() -> Self {
        Self {
            caller: None,
            authentication: Authentication::None,
            address: None,
            expires_at: None,
            browser: None,
            limits: KeyLimits::default(),
            foreign_site: None,
            is_embedded: false,
            from_cookie: false,
            new_token: None,
            proof: None,
            looked_up_at: Instant::now(),
        }
    }

    /// The operator, who works at the machine itself and may do everything.
    pub fn operator() -> Self {
        Self::user(OPERATOR.into(), vec![ADMIN.into()], Authentication::Operator)
    }

    /// A user.
    pub fn user(id: String, permissions: Vec<String>, authentication: Authentication) -> Self {
        Self {
            caller: Some(UserCaller { id, permissions }),
            authentication,
            ..Self::anonymous()
        }
    }

    /// The same, authenticated with a cookie. If another site made the browser send it, it authorises no changes.
    pub fn by_cookie(self, headers: &HeaderMap) -> Self {
        Self {
            foreign_site: foreign_site(headers, None),
            ..self
        }
    }

    /// The same for a service with this public URL: pages there are its own.
    pub fn at_public_url(self, headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Self {
        Self {
            foreign_site: self.foreign_site.and_then(|_| foreign_site(headers, public_url)),
            ..self
        }
    }

    /// The same, knowing whether a page of another site than that of this public URL loads this as a part of itself.
    pub fn in_page(self, headers: &HeaderMap, public_url: Option<&PublicUrl>) -> Self {
        Self {
            is_embedded: site::is_embedded(headers, public_url),
            ..self
        }
    }

    /// Refuses what a page of another site loads as a part of itself. It would use up the attempts of the person who looks at it.
    pub(crate) fn check_opened(&self) -> Result<(), Error> {
        if self.is_embedded {
            return Err(Refusal::NotOpened.into());
        }
        Ok(())
    }

    /// The same, with the browser that these headers name.
    pub fn in_browser(self, headers: &HeaderMap) -> Self {
        Self {
            browser: browser::name_of(headers),
            ..self
        }
    }

    /// The id of the user; `None` for an anonymous caller, and for the operator, who is not a user.
    pub fn user_id(&self) -> Option<&str> {
        match &self.caller {
            Some(user) if self.authentication != Authentication::Operator => Some(&user.id),
            _ => None,
        }
    }

    /// Whether they were looked up less than a second ago.
    pub(crate) fn is_fresh(&self) -> bool {
        self.looked_up_at.elapsed() < HOLDS
    }

    /// The permissions as stored.
    pub fn permissions(&self) -> &[String] {
        self.caller.as_ref().map_or(&[], |user| &user.permissions)
    }

    /// The context of the caller's transactions.
    pub fn context(&self, request_id: impl Into<Arc<str>>) -> CallContext {
        CallContext {
            user_id: self.user_id().map(Into::into),
            authentication: self.authentication.clone(),
            request_id: request_id.into(),
            audit: None,
            views_by_shares: self.limits.permissions.is_some()
                && !Permission::BoardViewAll.is_given_by(self.permissions()),
            new_token: self.new_token.clone(),
        }
    }

    /// Lets a new password give the session a new token. Only for a session that was authenticated with the cookie,
    /// because the response can then set the new one. Returns whether a new password will do so.
    pub fn renew_token(&mut self, secrets: &Secrets) -> bool {
        if self.from_cookie && matches!(self.authentication, Authentication::Session(_)) {
            self.new_token = Some(Arc::new(NewToken::new(secrets.clone())));
        }
        self.new_token.is_some()
    }

    /// The token that the session got since the request arrived.
    pub fn renewed_token(&self) -> Option<&str> {
        self.new_token.as_ref()?.committed_text()
    }

    /// Checks access, without the input. Does not check whether onboarding is open, which only storage knows.
    pub fn check(&self, access: &Access, kind: Kind) -> Result<(), Error> {
        if self.limits.read_only && kind == Kind::Mutation {
            return Err(Refusal::KeyOnlyReads.into());
        }
        let needed = match access {
            Access::Public | Access::Onboarding => return Ok(()),
            Access::Protected | Access::OwnUserOr(_) => None,
            Access::OneOf(permissions) => Some(permissions),
        };
        if self.caller.is_none() {
            return Err(Error::unauthorized());
        }
        self.check_site(kind)?;
        match needed {
            Some(needed)
                if !needed
                    .iter()
                    .any(|permission| self.permissions().contains(permission)) =>
            {
                let permission = needed.first().map_or("", String::as_str).into();
                Err(Refusal::NeedsPermission { permission }.into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses what a key with less than its user could turn into more.
    pub(crate) fn check_limits(&self, procedure: &str) -> Result<(), Error> {
        if !self.limits.are_set() {
            return Ok(());
        }
        if MAKE_KEYS.contains(&procedure) {
            return Err(Refusal::LimitedKeyMakesKeys.into());
        }
        let is_admin = self.permissions().iter().any(|held| held == ADMIN);
        if CHANGE_ACCOUNTS.contains(&procedure) && !is_admin {
            return Err(Refusal::LimitedKeySignIn.into());
        }
        if OWN_ACCESS.contains(&procedure) {
            return Err(Refusal::LimitedKeyOwnAccess.into());
        }
        Ok(())
    }

    /// Refuses a key with less than its user to delete another key than itself.
    pub(crate) fn check_deletes_key(&self, id: &str) -> Result<(), Error> {
        let is_itself = matches!(&self.authentication, Authentication::Key(own) if own == id);
        if self.limits.are_set() && !is_itself {
            return Err(Refusal::LimitedKeyOwnAccess.into());
        }
        Ok(())
    }

    /// Refuses a change that another site made the browser request.
    pub fn check_site(&self, kind: Kind) -> Result<(), Error> {
        match &self.foreign_site {
            Some(site) if kind == Kind::Mutation => Err(site.refuse(SiteRule::Change)),
            _ => Ok(()),
        }
    }
}

/// The credentials of a request.
#[derive(Clone, Copy)]
pub struct SentCredential<'a> {
    pub(crate) text: &'a str,
    from_cookie: bool,
}

impl SentCredential<'_> {
    /// Whether a program sent it in a header of its own, and no browser as a cookie.
    pub fn is_explicit(&self) -> bool {
        !self.from_cookie
    }
}

/// The credentials of a request; the cookie is the one of this name.
pub fn credentials_of<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<SentCredential<'a>> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let explicit = text(header::AUTHORIZATION)
        .and_then(|value| {
            let (scheme, credentials) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| credentials.trim())
        })
        .or_else(|| text(HeaderName::from_static("apikey")));
    if let Some(text) = explicit {
        return Some(SentCredential {
            text,
            from_cookie: false,
        });
    }
    Some(SentCredential {
        text: cookie_of(headers, cookie)?,
        from_cookie: true,
    })
}

/// The cookie of this name.
pub fn cookie_of<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<&'a str> {
    // Browsers also send the cookies of other programs on this host, which may hold any bytes.
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='))
        .find_map(|(name, value)| (name == cookie).then_some(value))
}

/// A key or session that authenticated a caller, for noting its use.
pub struct UsedCredential {
    /// Its id.
    pub id: String,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
    /// When it ends for good, if it is a session.
    pub ends_at: Option<Timestamp>,
}

/// The caller with these credentials, and their key or session. The context is that of an anonymous caller. An
/// imported key is unknown before its first use: see [`imported_keys`](crate::imported_keys).
pub async fn authenticate(
    storage: &dyn DashboardStorage,
    sent: Option<SentCredential<'_>>,
    headers: &HeaderMap,
    context: &CallContext,
    now: Timestamp,
) -> Result<(Identity, Option<UsedCredential>), Error> {
    let parsed = sent.as_ref().and_then(|sent| secrets::parse(sent.text));
    let (mut identity, credential) = match parsed {
        Some((key, secret)) => {
            let mut transaction = storage.begin_dashboard(storage::Access::Read, context).await?;
            look_up(&mut *transaction, Proof::Secret(key, secret), now).await?
        }
        None => (Identity::anonymous(), None),
    };
    identity.from_cookie = sent.is_some_and(|sent| sent.from_cookie);
    if identity.from_cookie {
        identity = identity.by_cookie(headers);
    }
    Ok((identity, credential))
}

/// The user with this id, for whom a proxy vouches; anonymous if there is no such user, or if they are disabled.
pub(crate) async fn find_vouched(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
) -> Result<Identity, Error> {
    let account = transaction
        .get_account(&AccountKey::Id(user_id.to_owned()))
        .await?;
    if account.is_none_or(|account| account.disabled) {
        return Ok(Identity::anonymous());
    }
    let Some(user) = transaction.get_session_user(user_id).await? else {
        return Ok(Identity::anonymous());
    };
    let mut identity = Identity::user(user.id, user.permissions, Authentication::Proxy);
    identity.proof = Some(Proof::Vouched(user_id.to_owned()));
    Ok(identity)
}

/// Looks a caller up again after a wait: their key may have been revoked, or a permission taken away.
pub async fn renew(
    storage: &dyn DashboardStorage,
    identity: &Identity,
    request_id: &str,
    now: Timestamp,
) -> Result<Identity, Error> {
    let unchanged = || Identity {
        looked_up_at: Instant::now(),
        ..identity.clone()
    };
    if identity.proof.is_none() {
        return Ok(unchanged());
    }
    let context = Identity::anonymous().context(request_id);
    let mut transaction = storage.begin_dashboard(storage::Access::Read, &context).await?;
    let renewed = renew_within(&mut *transaction, identity, now).await?;
    Ok(renewed.unwrap_or_else(unchanged))
}

/// Looks a caller up again in this transaction; `None` if they sent no credentials of this service.
pub(crate) async fn renew_within(
    transaction: &mut dyn DashboardTransaction,
    identity: &Identity,
    now: Timestamp,
) -> Result<Option<Identity>, Error> {
    let Some(proof) = &identity.proof else {
        return Ok(None);
    };
    let (mut found, credential) = look_up(transaction, proof.clone(), now).await?;
    // Another call of the same batch may have set a password, so that the session has its new token.
    if credential.is_none()
        && found.caller.is_none()
        && let Some(hash) = identity.new_token.as_ref().and_then(|token| token.issued())
    {
        let proof = Proof::Secret(CredentialKey::Session(hash), hash);
        (found, _) = look_up(transaction, proof, now).await?;
    }
    Ok(Some(Identity {
        foreign_site: identity.foreign_site.clone(),
        address: identity.address,
        browser: identity.browser.clone(),
        from_cookie: identity.from_cookie,
        new_token: identity.new_token.clone(),
        ..found
    }))
}

async fn look_up(
    transaction: &mut dyn DashboardTransaction,
    proof: Proof,
    now: Timestamp,
) -> Result<(Identity, Option<UsedCredential>), Error> {
    let (key, secret) = match proof {
        Proof::Secret(key, secret) => (key, secret),
        Proof::Vouched(user_id) => return Ok((find_vouched(transaction, &user_id).await?, None)),
    };
    let anonymous = (Identity::anonymous(), None);
    let Some(credential) = transaction.find_credential(&key).await? else {
        return Ok(anonymous);
    };
    let expired = credential.expires_at.is_some_and(|expires_at| expires_at <= now);
    // No secret is known of an imported key that has not been used yet.
    if expired || credential.imported.is_some() || !secrets::same(&credential.secret, &secret) {
        return Ok(anonymous);
    }
    let authentication = match &key {
        CredentialKey::Key(id) => Authentication::Key(id.clone()),
        CredentialKey::Session(_) => Authentication::Session(credential.id.clone()),
    };
    let permissions = match &credential.limits.permissions {
        Some(chosen) => permissions::shared(&credential.permissions, chosen),
        None => credential.permissions,
    };
    let mut identity = Identity::user(credential.user_id, permissions, authentication);
    identity.limits = credential.limits;
    identity.expires_at = credential.expires_at;
    identity.proof = Some(Proof::Secret(key, secret));
    let used = UsedCredential {
        id: credential.id,
        last_used_at: credential.last_used_at,
        ends_at: credential.ends_at,
    };
    Ok((identity, Some(used)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    fn text_of(pairs: &[(&'static str, &str)]) -> Option<(String, bool)> {
        credentials_of(&headers(pairs), PLAIN_COOKIE).map(|sent| (sent.text.to_owned(), sent.from_cookie))
    }

    #[test]
    fn bearer_comes_before_api_key_and_that_before_the_cookie() {
        let cookie = ("cookie", "a=b; portico_session=c; d=e");
        assert_eq!(
            text_of(&[("authorization", "bearer  x"), ("apikey", "y"), cookie]),
            Some(("x".into(), false))
        );
        assert_eq!(
            text_of(&[("authorization", "Basic x"), ("apikey", "y"), cookie]),
            Some(("y".into(), false))
        );
        assert_eq!(
            text_of(&[("authorization", "Basic x"), cookie]),
            Some(("c".into(), true))
        );
        assert_eq!(text_of(&[("cookie", "portico_sessions=c")]), None);
    }

    #[test]
    fn with_an_embedders_cookie_pages_of_the_public_url_make_changes_and_others_do_not() {
        let public_url = "https://home.lan".parse().unwrap();
        for (origin, is_own) in [("https://home.lan", true), ("https://evil.example", false)] {
            let headers = headers(&[("origin", origin), ("host", "127.0.0.1:7575")]);
            let identity = Identity::user("u".into(), Vec::new(), Authentication::Host).by_cookie(&headers);
            assert!(identity.check_site(Kind::Mutation).is_err() && identity.check_site(Kind::Query).is_ok());
            let identity = identity.at_public_url(&headers, None);
            assert!(identity.check_site(Kind::Mutation).is_err());
            let identity = identity.at_public_url(&headers, Some(&public_url));
            assert_eq!(identity.check_site(Kind::Mutation).is_ok(), is_own, "{origin}");
        }
    }

    #[test]
    fn cookies_of_other_programs_are_ignored() {
        let mut headers = HeaderMap::new();
        let cookies = http::HeaderValue::from_bytes(b"theme=\xe9; portico_session=c").unwrap();
        headers.insert(header::COOKIE, cookies);
        let text = |cookie: &str| credentials_of(&headers, cookie).map(|sent| sent.text);
        assert_eq!(text(PLAIN_COOKIE), Some("c"));
        assert_eq!(text(SECURE_COOKIE), None);
    }
}
