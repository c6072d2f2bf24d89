//! What both providers use.

use std::{fmt, time::Duration};

use anyhow::ensure;

/// Refuses a time limit outside 1 to 60 seconds.
pub(crate) fn check_time_limit(setting: &str, limit: Duration) -> anyhow::Result<()> {
    let (least, most) = (Duration::from_secs(1), Duration::from_secs(60));
    ensure!(
        (least..=most).contains(&limit),
        "{setting} must be 1 to 60 seconds"
    );
    Ok(())
}

/// A secret that is known to the provider only. Its value does not appear in logs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}
