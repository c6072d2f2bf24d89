//! The settings of icon sources.

use anyhow::{Context, bail, ensure};
use portico_icons::AllowList;
use portico_sandbox::icons::DEFAULT_ICON;
use serde::{Deserialize, Deserializer, de::Error};
use ureq::http::Uri;

/// The section `[icons]` of the settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IconSettings {
    /// The sources, the preferred one first.
    #[serde(rename = "source")]
    pub sources: Vec<IconSource>,
    /// The icon of an app for which no other icon is found. Not empty; may be a relative path.
    #[serde(rename = "default", deserialize_with = "not_empty")]
    pub default_icon: String,
    /// The hosts of the local network from which icons may be fetched.
    pub allow: AllowList,
}

/// A source: an index of icons, and the base of their URLs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Fields")]
pub struct IconSource {
    /// The URL of a GitHub tree or of a jsDelivr flat listing.
    pub index: String,
    /// The prefix that turns a path of the index into the URL of an icon.
    pub base: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    index: String,
    base: String,
}

impl TryFrom<Fields> for IconSource {
    type Error = anyhow::Error;

    fn try_from(fields: Fields) -> anyhow::Result<Self> {
        Self::new(&fields.index, &fields.base)
    }
}

impl IconSource {
    /// Both must be http or https URLs without a username or password, because logs and icons show them.
    pub fn new(index: &str, base: &str) -> anyhow::Result<Self> {
        Ok(Self {
            index: checked_url("index", index)?,
            base: checked_url("base", base)?,
        })
    }

    /// Parses `INDEX|BASE,INDEX|BASE`. Blank text means no sources.
    pub fn parse_list(text: &str) -> anyhow::Result<Vec<Self>> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        text.split(',')
            .enumerate()
            .map(|(at, entry)| Self::parse(entry).with_context(|| format!("icon source {}", at + 1)))
            .collect()
    }

    fn parse(entry: &str) -> anyhow::Result<Self> {
        let parts: Vec<&str> = entry.split('|').map(str::trim).collect();
        match parts[..] {
            [""] => bail!("the entry is empty"),
            [index, base] => Self::new(index, base),
            _ => bail!("{entry:?} is not of the form INDEX|BASE"),
        }
    }
}

fn checked_url(field: &str, text: &str) -> anyhow::Result<String> {
    ensure!(!text.is_empty(), "{field} is empty");
    let url: Uri = text
        .parse()
        .with_context(|| format!("{field} {text:?} is not a URL"))?;
    ensure!(
        matches!(url.scheme_str(), Some("http" | "https")),
        "{field} {text:?} is not an http or https URL"
    );
    let authority = url.authority().map_or("", |authority| authority.as_str());
    ensure!(
        !authority.contains('@'),
        "{field} holds a username or a password, which logs and icons would show"
    );
    Ok(text.to_owned())
}

fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(D::Error::custom("the default icon is empty"));
    }
    Ok(text)
}

impl Default for IconSettings {
    fn default() -> Self {
        let sources = [
            (
                "https://api.github.com/repos/homarr-labs/dashboard-icons/git/trees/main?recursive=true",
                "https://cdn.jsdelivr.net/gh/homarr-labs/dashboard-icons/",
            ),
            (
                "https://api.github.com/repos/selfhst/icons/git/trees/main?recursive=true",
                "https://cdn.jsdelivr.net/gh/selfhst/icons/",
            ),
            (
                "https://api.github.com/repos/simple-icons/simple-icons/git/trees/master?recursive=true",
                "https://cdn.jsdelivr.net/gh/simple-icons/simple-icons@master/",
            ),
            (
                "https://data.jsdelivr.com/v1/packages/gh/PapirusDevelopmentTeam/papirus_icons@master?structure=flat",
                "https://cdn.jsdelivr.net/gh/PapirusDevelopmentTeam/papirus_icons@master/",
            ),
            (
                "https://data.jsdelivr.com/v1/packages/gh/loganmarchione/homelab-svg-assets@main?structure=flat",
                "https://cdn.jsdelivr.net/gh/loganmarchione/homelab-svg-assets@main/",
            ),
        ];
        let source = |(index, base): (&str, &str)| IconSource {
            index: index.to_owned(),
            base: base.to_owned(),
        };
        Self {
            sources: sources.into_iter().map(source).collect(),
            default_icon: DEFAULT_ICON.into(),
            allow: AllowList::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: &str = "https://list.example/a?x=1|http://icons.example/a/";

    fn problem(text: &str) -> String {
        format!("{:#}", IconSource::parse_list(text).unwrap_err())
    }

    #[test]
    fn a_list_of_the_environment_is_read_entry_by_entry() {
        let second = IconSource::new("http://b.example/list", "http://b.example").unwrap();
        let both = IconSource::parse_list(&format!(" {PAIR} , {}|{}", second.index, second.base)).unwrap();
        assert_eq!(both[0].index, "https://list.example/a?x=1");
        assert_eq!(both[0].base, "http://icons.example/a/");
        assert_eq!(both[1], second);
        assert_eq!(IconSource::parse_list(" ").unwrap(), []);
    }

    #[test]
    fn an_error_in_a_list_says_which_entry_and_what_is_wrong() {
        assert_eq!(problem(&format!("{PAIR},")), "icon source 2: the entry is empty");
        assert!(
            problem(&format!("{PAIR},http://a.example"))
                .contains("icon source 2: \"http://a.example\" is not of")
        );
        assert!(problem("a|b|c").contains("icon source 1: \"a|b|c\" is not of the form INDEX|BASE"));
        assert_eq!(problem("http://a.example|"), "icon source 1: base is empty");
        assert!(
            problem("ftp://a.example|http://a.example").contains("index \"ftp://a.example\" is not an http")
        );
        assert!(problem("http://a.example|/icons/").contains("base \"/icons/\" is not an http"));
        assert!(problem("http://a b|http://a.example").contains("index \"http://a b\" is not a URL"));
        let secret = problem("http://user:secret@a.example|http://a.example");
        assert!(secret.contains("index holds a username"), "{secret}");
        assert!(!secret.contains("secret"), "{secret}");
    }

    #[test]
    fn the_settings_come_from_toml() {
        let text = "default = \"/icons/app.svg\"\n\n[[source]]\nindex = \"http://a.example/list\"\nbase = \"http://a.example\"";
        let settings: IconSettings = toml::from_str(text).unwrap();
        assert_eq!(settings.default_icon, "/icons/app.svg");
        assert_eq!(
            settings.sources,
            [IconSource::new("http://a.example/list", "http://a.example").unwrap()]
        );

        let allow: IconSettings = toml::from_str("allow = [\"http://nas.lan:8080/\"]").unwrap();
        assert_eq!(Ok(allow.allow), "http://nas.lan:8080".parse());

        let none: IconSettings = toml::from_str("source = []").unwrap();
        assert_eq!(none.sources, []);
        let absent: IconSettings = toml::from_str("").unwrap();
        assert_eq!(absent, IconSettings::default());
    }

    #[test]
    fn settings_that_are_wrong_are_refused() {
        for text in [
            "defualt = \"x\"",
            "default = \" \"",
            "allow = \"http://nas.lan\"",
            "allow = [\"http://nas.lan/icons\"]",
            "[[source]]\nindex = \"http://a.example\"",
            "[[source]]\nindex = \"http://a.example\"\nbase = \"file:///icons\"",
            "[[source]]\nindex = \"http://a.example\"\nbase = \"http://a.example\"\nname = \"a\"",
        ] {
            assert!(toml::from_str::<IconSettings>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_default_sources_pass_the_check_of_sources() {
        let settings = IconSettings::default();
        assert_eq!(settings.sources.len(), 5);
        for source in &settings.sources {
            assert_eq!(&IconSource::new(&source.index, &source.base).unwrap(), source);
        }
    }
}
