//! What a new app takes from its address: `app.readAddress` suggests a name and an icon. If it cannot look there, a port
//! that only one service has suggests them.

use serde::Deserialize;
use serde_json::json;

use super::super::icon_picker;
use crate::{catalogue::at_port_of, links::complete, texts::fill, visit::Visit};

/// What is filled in for a new app. Everything can be changed.
#[derive(Default)]
pub(super) struct Suggested {
    pub name: String,
    pub href: String,
    pub icon_url: String,
    /// What people are told of it.
    pub found: String,
}

/// What the API suggests.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Answer {
    name: Option<String>,
    icon_url: Option<String>,
    reason: Option<String>,
}

/// Looks at an address as it was typed. A failure is no reason to stop: people can type everything.
pub(super) async fn look(visit: &Visit, typed: &str) -> Suggested {
    let t = &visit.t.address;
    let href = complete(typed).unwrap_or_else(|| typed.to_owned());
    let input = json!({ "href": href });
    let answer = visit.api.query::<Answer>("app.readAddress", input).await;
    let answer = answer.unwrap_or_else(|_| Answer {
        reason: Some("no-answer".into()),
        ..Answer::default()
    });
    let mut suggested = Suggested {
        name: answer.name.unwrap_or_default(),
        icon_url: answer.icon_url.unwrap_or_default(),
        found: match answer.reason.as_deref() {
            None => t.found.into(),
            Some("not-allowed") => fill(t.not_allowed, &[&origin(&href)]),
            Some("busy") => t.busy.into(),
            Some(_) => t.no_answer.into(),
        },
        href,
    };
    if suggested.name.is_empty() && answer.reason.is_none() {
        suggested.found = t.nothing.into();
    }
    // Without a page, the host's name says less than a port that one service has.
    if let Some(service) =
        at_port_of(&suggested.href).filter(|_| answer.reason.is_some() && suggested.icon_url.is_empty())
    {
        suggested.name = service.name.into();
        suggested.icon_url = icon_picker::named(&visit.api, service.slug)
            .await
            .unwrap_or_default();
    }
    suggested
}

/// Scheme, host and port, as the setting for icons takes them.
fn origin(href: &str) -> &str {
    let start = href.find("://").map_or(0, |at| at + 3);
    let end = href[start..]
        .find(['/', '?', '#'])
        .map_or(href.len(), |at| start + at);
    &href[..end]
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn the_setting_takes_scheme_host_and_port() {
        assert_eq!(origin("http://nas:8096/web/?a=b"), "http://nas:8096");
        assert_eq!(origin("https://nas"), "https://nas");
        assert_eq!(origin("nas"), "nas");
    }
}
