//! Why a ceremony is refused. The reason is for the log; a client learns only that it is refused.

use std::fmt;

/// Why what a browser sent is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is larger than [`bounds`](crate::bounds).
    TooLarge,
    /// The client data cannot be read.
    ClientData,
    /// It is the other ceremony: a registration instead of an assertion, or the reverse.
    OtherCeremony,
    /// It has another challenge.
    Challenge,
    /// Another site asked for it.
    Origin,
    /// It was asked for in a frame of another site.
    Framed,
    /// The authenticator's data cannot be read.
    AuthenticatorData,
    /// It was made for another relying party.
    RelyingParty,
    /// No person was present at the authenticator.
    NotPresent,
    /// The authenticator did not verify the person.
    NotVerified,
    /// A public key that cannot be read, or has an algorithm that was not asked for.
    PublicKey,
    /// It is of another passkey.
    OtherPasskey,
    /// It is of a passkey of another user.
    OtherUser,
    /// The passkey did not sign it.
    Signature,
    /// The passkey has signed more often already: there are two of it.
    Counter,
    /// A passkey that could be copied no longer can.
    Backup,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLarge => "it is too large",
            Self::ClientData => "its client data cannot be read",
            Self::OtherCeremony => "it is of the other ceremony (webauthn.create, webauthn.get)",
            Self::Challenge => "it has another challenge",
            Self::Origin => "another origin asked for it than that of the public URL",
            Self::Framed => "it was asked for in a frame of another site",
            Self::AuthenticatorData => "its authenticator data cannot be read",
            Self::RelyingParty => "it was made for another relying party",
            Self::NotPresent => "the authenticator says that no person was present",
            Self::NotVerified => "the authenticator did not verify the person",
            Self::PublicKey => "its public key cannot be read, or has an algorithm that was not asked for",
            Self::OtherPasskey => "it is of another passkey",
            Self::OtherUser => "the passkey belongs to another user",
            Self::Signature => "its signature is wrong",
            Self::Counter => "its counter has not grown: the passkey may have been copied",
            Self::Backup => "the passkey could be copied, and says that it no longer can",
        })
    }
}

impl std::error::Error for Refused {}
