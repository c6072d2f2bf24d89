//! Settings of the audit log.

use std::str::FromStr;

use clap::Args;
use serde::Deserialize;

use super::{
    front::{Span, from_text},
    layers::layered,
};

/// How much is recorded, and how long it is kept; in the file under `[audit]`.
#[derive(Args, Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct AuditSettings {
    /// How long rows of the audit log are kept (12h, 90d); off: nothing is recorded, and existing
    /// rows stay [default: 90d]
    #[arg(
        long = "audit-retention",
        env = "PORTICO_AUDIT_RETENTION",
        value_name = "TIME"
    )]
    #[serde(deserialize_with = "from_text")]
    retention: Option<Retention>,
    /// How many rows the audit log may have; beyond it, refusals are removed before changes
    /// [default: 1000000]
    #[arg(long = "audit-rows", env = "PORTICO_AUDIT_ROWS", value_name = "ROWS")]
    rows: Option<u64>,
}

layered!(AuditSettings { retention, rows });

impl AuditSettings {
    /// The settings, with defaults for those that are not set.
    pub fn audit(self) -> portico_service::audit::AuditSettings {
        let defaults = portico_service::audit::AuditSettings::default();
        portico_service::audit::AuditSettings {
            retention: match self.retention {
                Some(Retention::Off) => None,
                Some(Retention::For(span)) => Some(span.duration()),
                None => defaults.retention,
            },
            most_rows: self.rows.unwrap_or(defaults.most_rows),
            ..defaults
        }
    }
}

/// How long rows are kept, or that nothing is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    Off,
    For(Span),
}

impl FromStr for Retention {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            text => text
                .parse()
                .map(Self::For)
                .map_err(|error| format!("{error}, or off")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_is_a_span_or_off() {
        assert_eq!("off".parse(), Ok(Retention::Off));
        assert_eq!(
            "90d".parse::<Retention>().map(Some),
            Ok("90d".parse().ok().map(Retention::For))
        );
        for text in ["", "Off", "0d", "forever", "90"] {
            let error = text.parse::<Retention>().unwrap_err();
            assert!(error.ends_with(", or off"), "{error}");
        }
    }
}
