//! Why the issuer did not vouch for a user.

/// Why the issuer did not vouch for a user.
pub(super) enum IssuerError {
    /// It did not respond, or not with a valid response.
    Unavailable(String),
    /// It refused, or its token is invalid.
    Refused(String),
    /// A setting is wrong, so that no one can sign in.
    Misconfigured(String),
}

pub(super) fn unavailable(error: impl Into<anyhow::Error>) -> IssuerError {
    IssuerError::Unavailable(format!("{:#}", error.into()))
}
