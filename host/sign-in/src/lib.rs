//! The external identity providers: a directory (LDAP), and an issuer of OpenID Connect.

mod common;
pub mod ldap;
pub mod oidc;

pub use self::common::Secret;
