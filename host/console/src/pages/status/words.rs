//! A status in words.

use super::AppStatus;
use crate::{
    texts::{Texts, fill},
    times::TimeElement,
};

/// What people read of a status.
pub(super) struct Words {
    /// As the API names it, for the style sheet.
    pub kind: &'static str,
    pub text: String,
    /// Since when it is down.
    pub since: Option<TimeElement>,
    /// Why it is down, or may not be checked; otherwise empty.
    pub reason: &'static str,
}

impl Words {
    pub fn of(t: &Texts, status: &AppStatus) -> Self {
        let texts = &t.status;
        let reason = match status.reason.as_deref() {
            Some("unknown-name") => texts.unknown_name,
            Some("no-connection") => texts.no_connection,
            Some("too-slow") => texts.too_slow,
            Some("tls") => texts.tls,
            Some("not-http") => texts.not_http,
            Some("server-error") => texts.server_error,
            Some("private-address") => texts.private_address,
            Some("blocked-port") => texts.blocked_port,
            Some("not-a-url") => texts.not_a_url,
            _ => "",
        };
        let since = status
            .since
            .as_deref()
            .map(|since| TimeElement::new(since, t.language));
        let (kind, text, since) = match &*status.status {
            "up" => {
                let milliseconds = status.milliseconds.unwrap_or_default().max(1);
                ("up", fill(texts.up, &[&milliseconds]), None)
            }
            "down" if since.is_some() => ("down", texts.down_since.to_owned(), since),
            "down" => ("down", texts.down.to_owned(), None),
            "not-allowed" => ("not-allowed", texts.not_allowed.to_owned(), None),
            _ => ("unknown", texts.unknown.to_owned(), None),
        };
        Self {
            kind,
            text,
            since,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Language;

    #[test]
    fn every_reason_of_the_api_has_words() {
        for language in [Language::English, Language::German] {
            let t = language.texts();
            for reason in portico_service::reachability::REASONS {
                let status = AppStatus {
                    id: String::new(),
                    status: "down".into(),
                    milliseconds: None,
                    since: None,
                    checked_at: None,
                    reason: Some(reason.into()),
                };
                assert!(!Words::of(t, &status).reason.is_empty(), "{reason}");
            }
        }
    }
}
