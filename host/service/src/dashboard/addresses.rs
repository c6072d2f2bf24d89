//! `app.readAddress`: what an address suggests for a new app.
//!
//! Invariants:
//! - The page is fetched by the rules by which icons are fetched, and only for callers who may create apps. Pages of
//!   other sites cannot ask for it with a caller's cookie.
//! - An icon of a collection is suggested only if its name is that of the app, and not for a part of a word.

use std::net::IpAddr;

use portico_model::error::Error;
use portico_rules::{bounds, permissions::Permission};
use portico_sandbox::{
    Kind,
    icons::{Icons, NoPage, Page},
};
use serde::Serialize;

use super::validate::Fields;
use crate::{
    procedures::{
        call::{Call, Output, json},
        row::{Row, query},
    },
    shape::{
        Bound, NULLABLE_TEXT,
        Shape::{self, Bounded, Choice, Named, Nullable, Record, Text},
        Shaped, records, required,
    },
};

/// The most names that are looked up in collections.
const MOST_NAMES: usize = 8;

/// What stands between the parts of a title, such as "Sign in - Grafana".
const BETWEEN_PARTS: [&str; 8] = [" - ", " – ", " — ", " | ", " · ", " • ", " :: ", ": "];

const HREF: Shape = Bounded(&Text, Bound::length(bounds::LINK));

records! {
    struct Address {
        href: String = required("href", HREF).about("The address, with `http:` or `https:`."),
    }
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Suggested {
    name: Option<String>,
    icon_url: Option<String>,
    reason: Option<&'static str>,
}

const SUGGESTED: Shape = Named(
    "SuggestedApp",
    &Record(&[
        required("name", NULLABLE_TEXT).about(
            "The page's title, or the part of it that is the name of an icon; without a page, what the host is called. \
             Null: nothing is suggested.",
        ),
        required("iconUrl", NULLABLE_TEXT)
            .about("An icon of a collection with this name, or otherwise the page's own. Null: there is none."),
        required("reason", Nullable(&Choice(&["not-allowed", "no-answer", "busy"]))).about(
            "Why the page was not read. `not-allowed`: it is in a private network, and the setting for icons does not \
             allow it; `no-answer`: its host did not answer with a page; `busy`: ask again in a moment. Null: it was read.",
        ),
    ]),
);

pub(super) static ROWS: &[Row] = &[query(
    "app.readAddress",
    Named("Address", &Address::SHAPE),
    SUGGESTED,
    |call| Box::pin(read_address(call)),
)
.needs(Permission::AppCreate)
.about(
    "Suggests a name and an icon for the app at an address: its page is fetched by the rules by which icons are fetched.",
)
.at("GET", "/api/apps/read-address")];

async fn read_address(mut call: Call) -> Result<Output, Error> {
    let input: Address = call.input()?;
    call.identity.check_site(Kind::Mutation)?;
    let mut fields = Fields::default();
    let href = fields.text("href", Some(&input.href), *bounds::LINK.end());
    fields.check()?;
    let href = href.unwrap_or_default();
    let icons = call.resources.sandbox.icons().clone();
    json(&suggest(&*icons, icons.page(&href).await, &href).await)
}

async fn suggest(icons: &dyn Icons, read: Result<Page, NoPage>, href: &str) -> Suggested {
    let reason = read.as_ref().err().map(|reason| match reason {
        NoPage::NotAllowed => "not-allowed",
        NoPage::NoAnswer => "no-answer",
        NoPage::Busy => "busy",
    });
    let page = read.unwrap_or_default();
    let of_page = names(&page);
    let labels = labels(href);
    let mut names: Vec<&str> = of_page.iter().chain(&labels).map(String::as_str).collect();
    let mut seen = Vec::new();
    names.retain(|name| {
        let letters = letters(name);
        let is_new = letters.len() > 1 && !seen.contains(&letters);
        seen.push(letters);
        is_new
    });
    let found = find(icons, names.into_iter().take(MOST_NAMES)).await;
    let label = labels.first().map(|label| capitalized(label));
    let name = match (&found, of_page.first()) {
        // The part of the title, or what the address says if there is no title.
        (Some((name, _)), title) if title.is_none() || of_page.iter().any(|part| part == name) => {
            let is_label = title.is_none();
            Some(if is_label {
                capitalized(name)
            } else {
                (*name).to_owned()
            })
        }
        (_, Some(title)) => Some(title.clone()),
        (_, None) => label,
    };
    Suggested {
        name: name.map(|name| shortened(&name)).filter(|name| !name.is_empty()),
        icon_url: found.map(|(_, url)| url).or(page.icon_url),
        reason,
    }
}

/// The first of these names that is the name of an icon, and the icon's URL.
async fn find<'a>(
    icons: &dyn Icons,
    names: impl Iterator<Item = &'a str> + Send,
) -> Option<(&'a str, String)> {
    for name in names {
        // None: no collection can be reached.
        let found = icons.search(name, 1).await?;
        let icon = found.into_iter().next();
        if let Some(icon) = icon.filter(|icon| letters(&icon.name) == letters(name)) {
            return Some((name, icon.url));
        }
    }
    None
}

/// What a page may be called, the likeliest first: its title, its application, and the parts of the title.
fn names(page: &Page) -> Vec<String> {
    let title = page.title.as_deref();
    let whole = title.into_iter().chain(page.application.as_deref());
    let mut names: Vec<String> = whole.map(ToOwned::to_owned).collect();
    let separator = BETWEEN_PARTS
        .into_iter()
        .find(|between| title.is_some_and(|title| title.contains(between)));
    if let (Some(title), Some(separator)) = (title, separator) {
        let mut parts: Vec<&str> = title.split(separator).map(str::trim).collect();
        // The name mostly stands first or last.
        parts.rotate_right(1);
        names.extend(
            parts
                .into_iter()
                .filter(|part| !part.is_empty())
                .map(ToOwned::to_owned),
        );
    }
    names
}

/// What the host of an address may be called: `jellyfin` of `https://jellyfin.home.example`.
fn labels(href: &str) -> Vec<String> {
    let rest = href.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.starts_with('[') {
        return Vec::new();
    }
    let host = host.split(':').next().unwrap_or_default().trim_end_matches('.');
    if host.parse::<IpAddr>().is_ok() {
        return Vec::new();
    }
    let labels: Vec<&str> = host.split('.').collect();
    // The last label is no name, unless it is the only one.
    let count = labels.len().saturating_sub(1).max(1);
    let no_name = ["www", "localhost", ""];
    let labels = labels
        .into_iter()
        .take(count)
        .filter(|label| !no_name.contains(label));
    labels.map(ToOwned::to_owned).collect()
}

/// Names are compared by their letters and digits.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn capitalized(label: &str) -> String {
    let words = label
        .split(['-', '_'])
        .filter(|word| !word.is_empty())
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect::<String>()
        });
    words.collect::<Vec<_>>().join(" ")
}

/// A name that an app may have.
fn shortened(name: &str) -> String {
    let name: String = name.chars().take(*bounds::APP_NAME.end()).collect();
    name.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use portico_sandbox::icons::NamedIcon;

    use super::*;

    /// Two collections: one that has these icons, and one that cannot be reached.
    struct Collection(Option<&'static [&'static str]>);

    #[async_trait]
    impl Icons for Collection {
        async fn find(&self, names: &[String]) -> Vec<Option<String>> {
            vec![None; names.len()]
        }

        async fn search(&self, text: &str, _: usize) -> Option<Vec<NamedIcon>> {
            let mut found: Vec<_> = self
                .0?
                .iter()
                .filter(|icon| letters(icon).contains(&letters(text)))
                .collect();
            found.sort_by_key(|icon| icon.len());
            let icon = |name: &&str| NamedIcon {
                name: (*name).to_owned(),
                url: format!("icon:{name}"),
            };
            Some(found.into_iter().map(icon).collect())
        }

        fn default_icon(&self) -> String {
            String::new()
        }
    }

    const KNOWN: Collection = Collection(Some(&[
        "grafana",
        "home-assistant",
        "jellyfin",
        "gitea",
        "github",
    ]));

    fn page(title: &str) -> Result<Page, NoPage> {
        Ok(Page {
            title: (!title.is_empty()).then(|| title.to_owned()),
            application: None,
            icon_url: Some("own".into()),
        })
    }

    async fn of(
        icons: &Collection,
        read: Result<Page, NoPage>,
        href: &str,
    ) -> (Option<String>, Option<String>) {
        let suggested = suggest(icons, read, href).await;
        (suggested.name, suggested.icon_url)
    }

    #[tokio::test]
    async fn the_name_is_the_title_and_the_icon_that_of_a_collection_or_the_own_one() {
        for (title, href, name, icon) in [
            ("Jellyfin", "http://nas:8096", "Jellyfin", "icon:jellyfin"),
            (
                "Home Assistant",
                "http://nas:8123",
                "Home Assistant",
                "icon:home-assistant",
            ),
            ("Sign in - Grafana", "http://nas:3000", "Grafana", "icon:grafana"),
            (
                "Gitea: Git with a cup of tea",
                "http://nas:3000",
                "Gitea",
                "icon:gitea",
            ),
            // A title that an icon's name only begins with.
            ("Home", "http://192.168.1.2", "Home", "own"),
            (
                "My media",
                "https://jellyfin.home.example",
                "My media",
                "icon:jellyfin",
            ),
            ("Notes | Ada", "https://notes.example", "Notes | Ada", "own"),
            ("", "https://www.github.com/ada", "Github", "icon:github"),
            ("", "https://my-notes.example", "My Notes", "own"),
        ] {
            let found = of(&KNOWN, page(title), href).await;
            assert_eq!(found, (Some(name.into()), Some(icon.into())), "{title} {href}");
        }
        let unreachable = of(&Collection(None), page("Jellyfin"), "http://nas").await;
        assert_eq!(unreachable, (Some("Jellyfin".into()), Some("own".into())));
        let long = of(&KNOWN, page(&"long ".repeat(40)), "http://nas")
            .await
            .0
            .unwrap();
        assert!(
            long.chars().count() <= *bounds::APP_NAME.end() && !long.ends_with(' '),
            "{long:?}"
        );
    }

    #[tokio::test]
    async fn without_a_page_the_host_gives_a_name_unless_it_is_an_address() {
        for (href, name, icon) in [
            (
                "http://jellyfin.lan:8096/web",
                Some("Jellyfin"),
                Some("icon:jellyfin"),
            ),
            ("http://nas", Some("Nas"), None),
            ("http://192.168.1.2:8096", None, None),
            ("http://[fd00::1]:8096", None, None),
            ("http://localhost:8096", None, None),
            ("nonsense", None, None),
            ("", None, None),
        ] {
            let suggested = suggest(&KNOWN, Err(NoPage::NotAllowed), href).await;
            let expected = Suggested {
                name: name.map(Into::into),
                icon_url: icon.map(Into::into),
                reason: Some("not-allowed"),
            };
            assert_eq!(suggested, expected, "{href}");
        }
    }
}
