//! What Homarr 2 calls branding: what the whole dashboard looks like. In Portico these are looks.

use portico_model::{Id, Issue, PathSegment};
use serde_json::{Value, json};

use crate::homarr::Homarr;
use crate::pictures::Pictures;
use crate::report::{Kind, Report, What, shown};

/// The key of its settings.
const KEY: &str = "branding";
/// The values that Homarr writes by itself, of which nothing comes along.
const DEFAULTS: [(&str, &str); 3] = [
    ("appName", "Homarr"),
    ("primaryColor", "#fa5252"),
    ("secondaryColor", "#fd7e14"),
];
/// What Portico has no place for, and what it is called.
const OTHERS: [(&str, &str); 4] = [
    ("greeting", "greeting"),
    ("faviconImageUrl", "favicon"),
    ("secondaryColor", "second colour"),
    ("signInBackgroundImageUrl", "background of the page of sign-in"),
];

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

/// A text of the branding, unless it is Homarr's own.
fn text(homarr: &Homarr, field: &str) -> Option<String> {
    let text = homarr.setting(KEY, field)?;
    let is_default = DEFAULTS.contains(&(field, text.trim()));
    (!is_default && !text.trim().is_empty()).then_some(text)
}

/// The URL of the logo.
pub fn logo_url(homarr: &Homarr) -> Option<String> {
    text(homarr, "logoImageUrl")
}

/// The branding of a Homarr in which someone has set it.
pub fn branding(homarr: &Homarr, pictures: &mut Pictures<'_>, report: &mut Report) -> Branding {
    let mut lose = |text: String| report.note(Kind::Other, "", What::Lost, text);
    let others = OTHERS.iter().filter(|(field, _)| text(homarr, field).is_some());
    let others: Vec<&str> = others.map(|(_, what)| *what).collect();
    if !others.is_empty() {
        lose(format!("of the branding: its {}", others.join(", its ")));
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
