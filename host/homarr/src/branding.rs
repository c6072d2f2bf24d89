//! What Homarr 2 calls branding: what the whole dashboard looks like. In Portico these are looks.

use portico_model::{Id, Issue, PathSegment};
use serde_json::{Map, Value, json};

use crate::homarr::Homarr;
use crate::pictures::Pictures;
use crate::report::{Kind, Report, What, shown};

/// The key of its settings.
const KEY: &str = "branding";
/// The keys that come along, and the values of them that Homarr writes by itself.
const COMING: [(&str, &str); 3] = [
    ("appName", "Homarr"),
    ("primaryColor", "#fa5252"),
    ("logoImageUrl", ""),
];
/// The keys that Portico has no place for, and what they are called. Newer ones are called as they are.
const OTHERS: [(&str, &str); 9] = [
    ("greeting", "greeting"),
    ("faviconImageUrl", "favicon"),
    ("secondaryColor", "second colour"),
    ("lockPrimaryColor", "lock of the first colour"),
    ("signInBackgroundImageUrl", "background of the page of sign-in"),
    ("signInBackgroundOverlay", "shade on that background"),
    ("authBranding", "choice of what the page of sign-in shows"),
    ("defaultRadius", "radius of corners"),
    ("customCss", "CSS"),
];
/// How many newer keys are named.
const MOST_NAMED: usize = 20;

/// The field of a document that has looks.
const SITE: &str = "site";

/// The looks that come along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branding {
    pub name: Option<String>,
    pub accent_color: Option<String>,
    /// A picture that comes along.
    pub logo: Option<Id>,
}

/// A text that comes along, unless it is Homarr's own.
fn text(homarr: &Homarr, field: &str) -> Option<String> {
    let text = homarr.setting(KEY, field)?;
    let is_default = COMING
        .iter()
        .any(|(key, default)| *key == field && text.trim().eq_ignore_ascii_case(default));
    (!is_default && !text.trim().is_empty()).then_some(text)
}

/// Whether Homarr writes this value by itself, or it sets nothing.
fn is_default(key: &str, value: &Value) -> bool {
    let default = match key {
        "secondaryColor" => json!("#fd7e14"),
        "lockPrimaryColor" => json!(false),
        "signInBackgroundOverlay" => json!(0.55),
        "authBranding" => json!({ "showAppName": true, "showLogo": true, "showGreeting": true }),
        "defaultRadius" => json!("md"),
        _ => Value::Null,
    };
    match (value, &default) {
        (Value::Null, _) => true,
        (Value::String(text), _) if text.trim().is_empty() => true,
        (Value::String(text), Value::String(default)) => text.trim().eq_ignore_ascii_case(default),
        _ => *value == default,
    }
}

/// What someone has set for which Portico has no place, in words.
fn others(settings: &Map<String, Value>) -> Vec<String> {
    let is_set = |key: &str| settings.get(key).is_some_and(|value| !is_default(key, value));
    let known = OTHERS.iter().filter(|(key, _)| is_set(key));
    let mut others: Vec<String> = known.map(|(_, what)| format!("its {what}")).collect();
    let is_known = |key: &str| COMING.iter().chain(&OTHERS).any(|(known, _)| *known == key);
    let newer: Vec<&String> = settings
        .keys()
        .filter(|key| !is_known(key) && is_set(key))
        .collect();
    let named = newer.iter().take(MOST_NAMED);
    others.extend(named.map(|key| format!("{:?}, which is newer than this portico knows", shown(key))));
    let more = newer.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        others.push(format!("{more} more"));
    }
    others
}

/// The URL of the logo.
pub fn logo_url(homarr: &Homarr) -> Option<String> {
    text(homarr, "logoImageUrl")
}

/// The branding of a Homarr in which someone has set it.
pub fn branding(homarr: &Homarr, pictures: &mut Pictures<'_>, report: &mut Report) -> Branding {
    let mut lose = |text: String| report.note(Kind::Other, "", What::Lost, text);
    let others = homarr.settings_of(KEY).map(others).unwrap_or_default();
    if !others.is_empty() {
        lose(format!("of the branding: {}", others.join(", ")));
    }
    let logo = logo_url(homarr).and_then(|url| match pictures.stored(&url) {
        Ok(id) => Some(id),
        Err(why) => {
            lose(format!(
                "of the branding: its logo {:?}, which {why}",
                shown(&url)
            ));
            None
        }
    });
    Branding {
        name: text(homarr, "appName"),
        accent_color: text(homarr, "primaryColor"),
        logo,
    }
}

impl Branding {
    /// The looks of a document, which has no pictures.
    pub fn site(&self) -> Value {
        json!({ "name": self.name, "accentColor": self.accent_color })
    }

    /// Drops the field that a refusal names. Returns whether it names one.
    pub fn drop_refused(&mut self, issue: &Issue, report: &mut Report) -> bool {
        let is_of_site = matches!(issue.path.first(), Some(PathSegment::Field(field)) if field == SITE);
        let Some(PathSegment::Field(field)) = issue.path.get(1).filter(|_| is_of_site) else {
            return false;
        };
        let dropped = match &field[..] {
            "name" => self.name.take(),
            "accentColor" => self.accent_color.take(),
            _ => None,
        };
        let Some(value) = dropped else {
            return false;
        };
        let text = format!("of the branding: {:?}, which {}", shown(&value), issue.message);
        report.note(Kind::Other, "", What::Lost, text);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_was_set_and_has_no_place_is_named() {
        let others = |settings: Value| others(settings.as_object().expect("an object"));
        let written_by_homarr = json!({
            "appName": "Casa", "greeting": "", "logoImageUrl": "/x", "faviconImageUrl": null, "primaryColor": "#0D47A1",
            "secondaryColor": "#FD7E14", "lockPrimaryColor": false, "signInBackgroundImageUrl": null,
            "signInBackgroundOverlay": 0.55, "defaultRadius": "md", "customCss": " ",
            "authBranding": { "showAppName": true, "showLogo": true, "showGreeting": true },
        });
        assert_eq!(others(written_by_homarr), [""; 0]);
        let set = json!({
            "customCss": "a{}", "defaultRadius": "xl", "lockPrimaryColor": true, "signInBackgroundOverlay": 0,
            "authBranding": { "showAppName": false, "showLogo": true, "showGreeting": true }, "mood": 7, "later": null,
        });
        let expected = [
            "its lock of the first colour",
            "its shade on that background",
            "its choice of what the page of sign-in shows",
            "its radius of corners",
            "its CSS",
            "\"mood\", which is newer than this portico knows",
        ];
        assert_eq!(others(set), expected);
        let many = (0..30).map(|number| (format!("k{number}"), json!(true)));
        let many = others(Value::Object(many.collect()));
        assert_eq!((many.len(), &many[20][..]), (21, "10 more"));
    }

    #[test]
    fn what_portico_refuses_of_the_branding_is_dropped_with_a_line() {
        let mut branding = Branding {
            name: Some("Casa".into()),
            accent_color: Some("red".into()),
            logo: None,
        };
        let issue = |path: &[&str]| Issue {
            path: path
                .iter()
                .map(|field| PathSegment::Field((*field).into()))
                .collect(),
            message: "must be a colour".into(),
        };
        let mut report = Report::default();
        assert!(branding.drop_refused(&issue(&["site", "accentColor"]), &mut report));
        assert!(!branding.drop_refused(&issue(&["site", "accentColor"]), &mut report));
        assert!(!branding.drop_refused(&issue(&["apps", "name"]), &mut report));
        assert_eq!(branding.site(), json!({"name": "Casa", "accentColor": null}));
        assert_eq!(report.notes.len(), 1);
        assert!(report.notes[0].text.ends_with("\"red\", which must be a colour"));
    }
}
