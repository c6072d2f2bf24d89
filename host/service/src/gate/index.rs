//! Which apps an address belongs to.
//!
//! Invariants:
//! - The longest path counts, by whole segments.
//! - A path that programs read differently, or that another letter case would give to another app, belongs to no app, unless
//!   the whole origin is of the same apps: it can lead to nothing else then.
//! - An app deeper than [`MOST_DEEP`] has no address, and what is there belongs to no other app.
//! - A host outside the domain belongs to no app.

use std::collections::HashMap;

use portico_model::Id;
use portico_storage::AppPlace;

use super::place::{GateDomain, Place, Target};

/// The most apps of one address that are looked at.
const MOST_ALIKE: usize = 100;

/// The most segments of an address, so that a request costs little however apps are addressed.
const MOST_DEEP: usize = 64;

/// The addresses of all apps.
#[derive(Default)]
pub(super) struct Index(HashMap<String, Site>);

/// The apps of an origin.
#[derive(Default)]
struct Site {
    /// By path, in lower case.
    by_path: HashMap<String, Vec<Address>>,
    /// The most segments of a path, and its most bytes in lower case.
    depth: usize,
    length: usize,
    /// Apps with a path that programs read differently. It is the address of no app.
    ambiguous: Vec<Id>,
    /// Whether the whole origin is of the same apps.
    is_of_same: bool,
}

struct Address {
    path: String,
    /// In the order of ids, each once; none where an address is too deep.
    apps: Vec<Id>,
}

/// The apps to which an address belongs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// These apps: a caller who sees one of them may open it.
    Apps(&'a [Id]),
    /// No app.
    Nothing,
    /// No app, because programs read it differently.
    Ambiguous,
}

impl Index {
    /// The index of these apps, as far as they are in the domain.
    pub fn of(places: &[AppPlace], domain: &GateDomain) -> Self {
        let mut sites: HashMap<String, Site> = HashMap::new();
        for place in places {
            let urls = place.href.iter().chain(&place.addresses);
            for found in urls.filter_map(|url| Place::of(url.trim())) {
                if !domain.has(&found.origin.host) {
                    continue;
                }
                let site = sites.entry(found.origin.as_str().to_owned()).or_default();
                match found.path.is_plain {
                    true => site.add(&found.path.segments, &place.app_id),
                    false => site.ambiguous.push(place.app_id.clone()),
                }
            }
        }
        for site in sites.values_mut() {
            site.is_of_same = site.is_of_same();
        }
        Self(sites)
    }

    /// The apps to which an address belongs.
    pub fn find(&self, target: &Target) -> Found<'_> {
        let Some(site) = self.0.get(target.origin.as_str()) else {
            return Found::Nothing;
        };
        match target.path.is_plain {
            _ if site.is_of_same => site.at_root(),
            true => site.find(&target.path.segments),
            false => Found::Ambiguous,
        }
    }
}

impl Site {
    fn add(&mut self, segments: &[String], app: &Id) {
        let is_too_deep = segments.len() > MOST_DEEP;
        let segments = &segments[..segments.len().min(MOST_DEEP)];
        let (path, folded) = (join(segments), fold(segments));
        self.depth = self.depth.max(segments.len());
        self.length = self.length.max(folded.len());
        let alike = self.by_path.entry(folded).or_default();
        let known = alike.iter().position(|address| address.path == path);
        let known = known.unwrap_or_else(|| {
            alike.push(Address {
                path,
                apps: Vec::new(),
            });
            alike.len() - 1
        });
        if is_too_deep {
            alike.push(Address {
                path: String::new(),
                apps: Vec::new(),
            });
            return;
        }
        let apps = &mut alike[known].apps;
        // Places come in the order of ids.
        if apps.last() != Some(app) && apps.len() < MOST_ALIKE {
            apps.push(app.clone());
        }
    }

    /// Whether the root is an address, and all others are of exactly its apps.
    fn is_of_same(&self) -> bool {
        let Some(root) = self.by_path.get("").and_then(|alike| alike.first()) else {
            return false;
        };
        let mut all = self.by_path.values().flatten();
        all.all(|address| address.apps == root.apps)
            && self.ambiguous.iter().all(|app| root.apps.iter().eq([app]))
    }

    fn at_root(&self) -> Found<'_> {
        let root = self.by_path.get("").and_then(|alike| alike.first());
        root.map_or(Found::Nothing, |root| Found::Apps(&root.apps))
    }

    fn find(&self, segments: &[String]) -> Found<'_> {
        let deepest = segments.len().min(self.depth);
        let mut folded = fold(&segments[..deepest]);
        for depth in (0..=deepest).rev() {
            let known = (folded.len() <= self.length).then(|| self.by_path.get(&folded));
            if let Some(alike) = known.flatten() {
                return match &alike[..] {
                    [address] if address.path == join(&segments[..depth]) => Found::Apps(&address.apps),
                    _ => Found::Ambiguous,
                };
            }
            // No segment has a slash.
            folded.truncate(folded.rfind('/').unwrap_or_default());
        }
        Found::Nothing
    }
}

/// The same in lower case: some programs route by it.
fn fold(segments: &[String]) -> String {
    join(segments).to_lowercase()
}

/// `/a/b`; empty for the root.
fn join(segments: &[String]) -> String {
    segments
        .iter()
        .fold(String::new(), |path, segment| path + "/" + segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(app: &str, href: &str, addresses: &[&str]) -> AppPlace {
        AppPlace {
            app_id: app.into(),
            href: Some(href.into()).filter(|href: &String| !href.is_empty()),
            addresses: addresses.iter().map(|&address| address.into()).collect(),
        }
    }

    fn index(places: &[AppPlace]) -> Index {
        Index::of(places, &"home.example".parse().unwrap())
    }

    /// The apps in words: their ids, `-` for none, `?` where programs read the address differently.
    fn apps_at(index: &Index, scheme: &str, host: &str, uri: &str) -> String {
        let Some(target) = Target::read(scheme, host, uri) else {
            return "refused".into();
        };
        match index.find(&target) {
            Found::Apps(apps) => apps.join(" "),
            Found::Nothing => "-".into(),
            Found::Ambiguous => "?".into(),
        }
    }

    #[test]
    fn an_app_is_found_by_its_origin_as_browsers_treat_it() {
        let index = index(&[
            place("wiki", "https://Wiki.Home.Example/", &[]),
            place(
                "nas",
                "http://nas.home.example:5000",
                &["https://nas.home.example"],
            ),
            place("idn", "https://b\u{fc}cher.home.example/", &[]),
            place("dot", "https://dot.home.example./", &[]),
            place("far", "https://home.example.evil.example/", &[]),
            place("near", "https://evilhome.example/", &[]),
        ]);
        for (scheme, host, app) in [
            ("https", "wiki.home.example", "wiki"),
            ("HTTPS", "WIKI.home.example", "wiki"),
            ("https", "wiki.home.example:443", "wiki"),
            ("https", "wiki.home.example.", "wiki"),
            ("https", "wiki.home.example.:443", "wiki"),
            ("wss", "wiki.home.example", "wiki"),
            ("http", "wiki.home.example", "-"),
            ("http", "wiki.home.example:443", "-"),
            ("https", "wiki.home.example:8443", "-"),
            ("https", "wiki.home.example:80", "-"),
            ("https", "wiki.home.example..", "-"),
            ("https", ".wiki.home.example", "-"),
            ("https", "xwiki.home.example", "-"),
            ("https", "a.wiki.home.example", "-"),
            ("https", "wiki.home.example.evil.example", "-"),
            ("https", "home.example", "-"),
            ("https", "unknown.home.example", "-"),
            ("http", "nas.home.example:5000", "nas"),
            ("http", "nas.home.example", "-"),
            ("https", "nas.home.example", "nas"),
            ("https", "xn--bcher-kva.home.example", "idn"),
            ("https", "XN--BCHER-KVA.home.example", "idn"),
            ("https", "dot.home.example", "dot"),
            ("https", "home.example.evil.example", "-"),
            ("https", "evilhome.example", "-"),
            ("https", "wiki.home.example@evil.example", "refused"),
            ("https", "wiki.home.example/", "refused"),
            ("https", "wiki%2ehome.example", "refused"),
            ("https", "127.0.0.1", "-"),
        ] {
            assert_eq!(apps_at(&index, scheme, host, "/"), app, "{scheme} {host}");
        }
    }

    #[test]
    fn the_longest_path_counts_and_no_spelling_widens_it() {
        let index = index(&[
            place("all", "https://home.example/", &[]),
            place("admin", "https://home.example/admin", &[]),
            place("deep", "https://home.example/admin/deep/", &[]),
            place("zoe", "https://home.example/Zo%C3%AB", &[]),
        ]);
        let at = |uri: &str| apps_at(&index, "https", "home.example", uri);
        for (uri, app) in [
            ("/", "all"),
            ("/x", "all"),
            ("/?x=/admin", "all"),
            ("/x?a=/../admin", "all"),
            ("/administrator", "all"),
            ("/admin", "admin"),
            ("/admin/", "admin"),
            ("/admin?x", "admin"),
            ("/admin/x/y", "admin"),
            ("/admin/deeper", "admin"),
            ("/admin/deep", "deep"),
            ("/admin/deep/x", "deep"),
            ("/%61dmin", "admin"),
            ("/admi%6E/x", "admin"),
            ("/Zo%C3%AB/x", "zoe"),
            ("/Zo%c3%ab", "zoe"),
            ("/x%20y", "all"),
            // Programs read these differently.
            ("/ADMIN", "?"),
            ("/Admin/x", "?"),
            ("/zo%C3%AB", "?"),
            ("/x/../admin", "?"),
            ("/x/..", "?"),
            ("/./admin", "?"),
            ("/admin/.", "?"),
            ("/x/%2e%2e/admin", "?"),
            ("/x/%2E./admin", "?"),
            ("/x/.%2e", "?"),
            ("/x%2f..%2fadmin", "?"),
            ("/x%2Fadmin", "?"),
            ("/admin%2fx", "?"),
            ("/x%5cadmin", "?"),
            ("/x\\admin", "?"),
            ("/\\admin", "?"),
            ("//admin", "?"),
            ("/x//admin", "?"),
            ("/admin//", "?"),
            ("//", "?"),
            ("/admin;x", "?"),
            ("/x;/../admin", "?"),
            ("/..;/admin", "?"),
            ("/%2561dmin", "?"),
            ("/x/%252e%252e/admin", "?"),
            ("/admin%00", "?"),
            ("/admin%0a", "?"),
            ("/admin%3fx", "?"),
            ("/admin%23x", "?"),
            ("/admin#x", "?"),
            ("/admin%", "?"),
            ("/admin%2", "?"),
            ("/admin%zz", "?"),
            ("/admin.", "?"),
            ("/admin%20", "?"),
            ("/%c0%afadmin", "?"),
            ("/admin\u{a0}", "?"),
            ("/ admin", "?"),
            ("/\tadmin", "?"),
            ("https://home.example/admin", "refused"),
            ("", "refused"),
            ("admin", "refused"),
        ] {
            assert_eq!(at(uri), app, "{uri:?}");
        }
    }

    #[test]
    fn where_the_whole_origin_is_of_one_app_its_paths_may_be_written_in_any_way() {
        let index = index(&[
            place(
                "git",
                "https://git.home.example/",
                &[
                    "https://git.home.example/explore",
                    "https://git.home.example//explore",
                ],
            ),
            place("part", "https://part.home.example/app", &[]),
            place("root", "https://odd.home.example/", &[]),
            place("odd", "https://odd.home.example/x%2fy", &[]),
        ]);
        for (uri, app) in [("/", "root"), ("/x", "root"), ("/x%2fy", "?"), ("//x", "?")] {
            assert_eq!(apps_at(&index, "https", "odd.home.example", uri), app, "{uri}");
        }
        for uri in ["/", "/a%2Fb", "//x", "/x/../y", "/EXPLORE", "/a;b"] {
            assert_eq!(apps_at(&index, "https", "git.home.example", uri), "git", "{uri}");
        }
        for (uri, app) in [
            ("/app/x", "part"),
            ("/", "-"),
            ("/other", "-"),
            ("/app/../other", "?"),
            ("/app%2f..", "?"),
            ("/APP", "?"),
        ] {
            assert_eq!(apps_at(&index, "https", "part.home.example", uri), app, "{uri}");
        }
    }

    #[test]
    fn apps_at_the_same_address_are_all_there_and_those_that_differ_in_case_are_not_told_apart() {
        let index = index(&[
            place("a", "https://tv.home.example/x", &[]),
            place(
                "b",
                "https://tv.home.example:443/x/",
                &["https://tv.home.example/x"],
            ),
            place("c", "https://tv.home.example/Y", &[]),
            place("d", "https://tv.home.example/y", &[]),
            place("e", "https://tv.home.example/z%2f", &[]),
            place("f", "ftp://tv.home.example/", &[]),
        ]);
        for (uri, apps) in [("/x/1", "a b"), ("/y", "?"), ("/Y", "?"), ("/z", "-"), ("/", "-")] {
            assert_eq!(apps_at(&index, "https", "tv.home.example", uri), apps, "{uri}");
        }
    }

    #[test]
    fn an_address_that_is_too_deep_belongs_to_no_app() {
        let deep = "/a".repeat(MOST_DEEP);
        let deeper = format!("{deep}/b/c");
        let index = index(&[
            place("all", "https://home.example/", &[]),
            place("deep", &format!("https://home.example{}", &deep[2..]), &[]),
            place("deeper", &format!("https://home.example{deeper}"), &[]),
        ]);
        let at = |uri: &str| apps_at(&index, "https", "home.example", uri);
        assert_eq!(at(&format!("/b{}", "/a".repeat(20_000))), "all");
        assert_eq!(at(&deep[2..]), "deep");
        assert_eq!(at(&format!("{}/b", &deep[2..])), "deep");
        // What is too deep is not the address of another app, either.
        assert_eq!(at(&deeper), "?");
        assert_eq!(at(&deep), "?");
    }
}
