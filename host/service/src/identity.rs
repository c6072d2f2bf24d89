//! Who sends a request: keys and session tokens, looked up at every request.
//!
//! Invariants:
//! - Credentials come from `Authorization: Bearer`, else from `ApiKey`, else from the session
//!   cookie; each may hold a key or a session token. The first that is there counts. One that is worth
//!   nothing makes the caller anonymous: public procedures still answer.
//! - Permissions are read from storage with each request, so that whoever loses one loses it at once.
//! - What a browser sends by itself (the cookie) authorises no change that another site asked for.

use std::{net::IpAddr, sync::Arc};

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, header, request::Parts};
use portico_model::{
    Caller, Timestamp, UserCaller,
    error::{Code, Error},
};
use portico_sandbox::{Access, Kind};
use portico_storage::{
    self as storage, ADMIN, Authentication, CallContext, Credential, CredentialKey, DashboardStorage,
    NewToken, SecretHash, SharedSnapshot,
    secrets::{self, Secrets},
};

use crate::site::is_cross_site;

/// The cookie that holds a session token, where the service is reached without TLS.
pub const PLAIN_COOKIE: &str = "portico_session";

/// The same behind TLS. Browsers take it over TLS only, and only from this host itself: no other
/// site, not even one of the same domain, can put a session of its own in its place.
pub const SECURE_COOKIE: &str = "__Host-portico_session";

/// The id of the operator: whoever is at the machine itself. No user has it.
const OPERATOR: &str = "operator";

/// Says who sends a request: what an embedding dashboard, which has sessions of its own, implements.
#[async_trait]
pub trait Authenticate: Send + Sync + 'static {
    /// Who sends this request, by its headers, or by what a layer of the dashboard has put into its
    /// extensions; [`Identity::anonymous`] if nobody is signed in. Called once for each request,
    /// before its body is read.
    ///
    /// An error is the answer to the request.
    async fn authenticate(&self, request: &Parts, request_id: &str) -> Result<Identity, Error>;
}

/// Who makes a call.
#[derive(Clone, Debug)]
pub struct Identity {
    /// As the component sees them.
    pub caller: Caller,
    /// How they proved it.
    pub authentication: Authentication,
    /// From where they call; none: nobody knows, or it is this machine's command line.
    pub address: Option<IpAddr>,
    /// When the key or session ends.
    pub expires_at: Option<Timestamp>,
    /// Whether a browser sent the cookie because another site asked it to.
    pub cross_site: bool,
    /// Whether they are known by the cookie of a session that this service keeps.
    from_cookie: bool,
    /// What their session is to be known by once they have a new password.
    new_token: Option<Arc<NewToken>>,
    /// What they showed, to look again.
    proof: Option<(CredentialKey, SecretHash)>,
}

impl Identity {
    /// Nobody.
    pub fn anonymous() -> Self {
        Self {
            caller: Caller::Anonymous,
            authentication: Authentication::None,
            address: None,
            expires_at: None,
            cross_site: false,
            from_cookie: false,
            new_token: None,
            proof: None,
        }
    }

    /// Whoever is at the machine itself, and may do everything.
    pub fn operator() -> Self {
        Self::user(OPERATOR.into(), vec![ADMIN.into()], Authentication::Operator)
    }

    /// A user.
    pub fn user(id: String, permissions: Vec<String>, authentication: Authentication) -> Self {
        Self {
            caller: Caller::User(UserCaller { id, permissions }),
            authentication,
            ..Self::anonymous()
        }
    }

    /// The same, where a cookie is the proof: another site may have made the browser send it. Then
    /// it authorises no changes.
    pub fn by_cookie(self, headers: &HeaderMap) -> Self {
        Self {
            cross_site: is_cross_site(headers),
            ..self
        }
    }

    /// The id of the user; none for nobody and for the operator, who is no user.
    pub fn user_id(&self) -> Option<&str> {
        match &self.caller {
            Caller::User(user) if self.authentication != Authentication::Operator => Some(&user.id),
            _ => None,
        }
    }

    /// The permissions as stored.
    pub fn permissions(&self) -> &[String] {
        match &self.caller {
            Caller::User(user) => &user.permissions,
            Caller::Anonymous => &[],
        }
    }

    /// The context of a call for storage.
    pub fn context(&self, request_id: &str) -> CallContext {
        CallContext {
            user_id: self.user_id().map(Into::into),
            authentication: self.authentication.clone(),
            request_id: request_id.into(),
            audit: None,
            new_token: self.new_token.clone(),
            snapshot: SharedSnapshot::default(),
        }
    }

    /// Lets a new password give the session a new token, if the session came by the cookie: then the
    /// answer can bring the new one. Says whether it did.
    pub fn renew_token(&mut self, secrets: &Secrets) -> bool {
        if self.from_cookie && matches!(self.authentication, Authentication::Session(_)) {
            self.new_token = Some(Arc::new(NewToken::new(secrets.clone())));
        }
        self.new_token.is_some()
    }

    /// The token that the session has got since its request came.
    pub fn renewed_token(&self) -> Option<&str> {
        self.new_token.as_ref()?.kept()
    }

    /// Refuses a call that its access forbids, as far as that can be told without its input.
    /// Whether onboarding is open is for storage to say.
    pub fn check(&self, access: &Access, kind: Kind) -> Result<(), Error> {
        let needed = match access {
            Access::Public | Access::Onboarding => return Ok(()),
            Access::Protected | Access::OwnUserOr(_) => None,
            Access::OneOf(permissions) => Some(permissions),
        };
        if self.caller == Caller::Anonymous {
            return Err(Error::unauthorized());
        }
        self.check_site(kind)?;
        match needed {
            Some(needed)
                if !needed
                    .iter()
                    .any(|permission| self.permissions().contains(permission)) =>
            {
                Err(Error::new(
                    Code::Forbidden,
                    format!(
                        "This needs the permission {}",
                        needed.first().map_or("", String::as_str)
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a change that another site made the browser ask for.
    pub fn check_site(&self, kind: Kind) -> Result<(), Error> {
        if self.cross_site && kind == Kind::Mutation {
            return Err(Error::new(
                Code::Forbidden,
                "The session cookie authorises no changes that another site asks for",
            ));
        }
        Ok(())
    }
}

/// What a request shows to prove who sends it.
pub struct CredentialProof {
    text: String,
    from_cookie: bool,
}

/// The credentials of a request; the cookie is the one of this name.
pub fn shown(headers: &HeaderMap, cookie: &str) -> Option<CredentialProof> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let explicit = text(header::AUTHORIZATION)
        .and_then(|value| {
            let (scheme, credentials) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| credentials.trim())
        })
        .or_else(|| text(HeaderName::from_static("apikey")));
    if let Some(text) = explicit {
        return Some(CredentialProof {
            text: text.into(),
            from_cookie: false,
        });
    }
    Some(CredentialProof {
        text: cookie_of(headers, cookie)?.into(),
        from_cookie: true,
    })
}

/// The cookie of this name.
pub fn cookie_of<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<&'a str> {
    // Cookies of other programs on this host come along, and they may hold any bytes.
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='))
        .find_map(|(name, value)| (name == cookie).then_some(value))
}

/// Who shows this, at this moment; with the key or session that they are known by. The context is that
/// of somebody who is not known yet.
pub async fn authenticate(
    storage: &dyn DashboardStorage,
    shown: Option<CredentialProof>,
    headers: &HeaderMap,
    context: &CallContext,
    now: Timestamp,
) -> Result<(Identity, Option<Credential>), Error> {
    let proof = shown.as_ref().and_then(|shown| secrets::parse(&shown.text));
    let (mut identity, credential) = look_up(storage, proof, context, now).await?;
    identity.from_cookie = shown.is_some_and(|shown| shown.from_cookie);
    identity.cross_site = identity.from_cookie && is_cross_site(headers);
    Ok((identity, credential))
}

/// Who somebody still is, after a while: their key may be revoked, a permission lost.
pub async fn renew(
    storage: &dyn DashboardStorage,
    identity: &Identity,
    request_id: &str,
    now: Timestamp,
) -> Result<Identity, Error> {
    if identity.proof.is_none() {
        return Ok(identity.clone());
    }
    let context = Identity::anonymous().context(request_id);
    let (mut found, credential) = look_up(storage, identity.proof.clone(), &context, now).await?;
    // Another call of the same batch may have set a password, and the session has its new token.
    if credential.is_none()
        && let Some(hash) = identity.new_token.as_ref().and_then(|token| token.issued())
    {
        let proof = Some((CredentialKey::Session(hash), hash));
        (found, _) = look_up(storage, proof, &context, now).await?;
    }
    Ok(Identity {
        cross_site: identity.cross_site,
        address: identity.address,
        from_cookie: identity.from_cookie,
        new_token: identity.new_token.clone(),
        ..found
    })
}

async fn look_up(
    storage: &dyn DashboardStorage,
    proof: Option<(CredentialKey, SecretHash)>,
    context: &CallContext,
    now: Timestamp,
) -> Result<(Identity, Option<Credential>), Error> {
    let nobody = (Identity::anonymous(), None);
    let Some((key, secret)) = proof else {
        return Ok(nobody);
    };
    let mut transaction = storage.begin_dashboard(storage::Access::Read, context).await?;
    let Some(credential) = transaction.find_credential(&key).await? else {
        return Ok(nobody);
    };
    let expired = credential.expires_at.is_some_and(|expires_at| expires_at <= now);
    if expired || !secrets::same(&credential.secret, &secret) {
        return Ok(nobody);
    }
    let authentication = match &key {
        CredentialKey::Key(id) => Authentication::Key(id.clone()),
        CredentialKey::Session(_) => Authentication::Session(credential.id.clone()),
    };
    let (user_id, permissions) = (credential.user_id.clone(), credential.permissions.clone());
    let mut identity = Identity::user(user_id, permissions, authentication);
    identity.expires_at = credential.expires_at;
    identity.proof = Some((key, secret));
    Ok((identity, Some(credential)))
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
        shown(&headers(pairs), PLAIN_COOKIE).map(|shown| (shown.text, shown.from_cookie))
    }

    #[test]
    fn bearer_goes_before_api_key_and_that_before_the_cookie() {
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
    fn the_cookies_of_others_do_not_matter() {
        let mut headers = HeaderMap::new();
        let cookies = http::HeaderValue::from_bytes(b"theme=\xe9; portico_session=c").unwrap();
        headers.insert(header::COOKIE, cookies);
        let shown = |cookie: &str| shown(&headers, cookie).map(|shown| shown.text);
        assert_eq!(shown(PLAIN_COOKIE).as_deref(), Some("c"));
        assert_eq!(shown(SECURE_COOKIE), None);
    }
}
