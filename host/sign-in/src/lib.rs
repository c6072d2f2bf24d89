//! The external identity providers: a directory (LDAP), and an issuer of OpenID Connect.

pub mod ldap;
pub mod oidc;

use std::{fmt, time::Duration};

use anyhow::ensure;

/// Refuses a provider's time limit that is too long to wait for, or too short to keep.
fn check_time_limit(setting: &str, limit: Duration) -> anyhow::Result<()> {
    let (least, most) = (Duration::from_secs(1), Duration::from_secs(60));
    ensure!(
        (least..=most).contains(&limit),
        "{setting} must be 1 to 60 seconds"
    );
    Ok(())
}

/// What only the provider may see. It does not show in logs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}
