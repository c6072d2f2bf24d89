//! Finds the icon that fits a name.
//!
//! Names and file names are folded to the same form before they are compared. If several icons match, [`Rank`] decides,
//! so the result does not depend on the order in which a source lists its icons.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

/// The shortest prefix, in characters. Shorter ones would match nearly everything.
const MIN_PREFIX: usize = 3;

/// The longest path of an icon, in bytes.
const MAX_PATH: usize = 1_024;

/// Lower-case words joined by `-`. Characters that are not alphanumeric separate words.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut gap = false;
    for character in text.chars() {
        if !character.is_alphanumeric() {
            gap = !folded.is_empty();
            continue;
        }
        if gap {
            folded.push('-');
            gap = false;
        }
        folded.extend(character.to_lowercase());
    }
    folded
}

/// A folded text without the gaps between its words.
fn join(folded: &str) -> String {
    folded.replace('-', "")
}

/// The format of an image, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Format {
    Svg,
    Png,
    Other,
}

impl Format {
    fn of(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "webp" | "jpg" | "jpeg" => Some(Self::Other),
            _ => None,
        }
    }
}

/// How well a file name matches, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Exact,
    /// The same letters, with other gaps between words.
    Joined,
    PrefixOfWords,
    Prefix,
    /// Only for people who search, not for names of apps.
    Part,
}

/// How good a match is: the smallest is the best, and earlier fields count first. If icons of two sources
/// have equal ranks, the first source wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank<'a> {
    fit: Fit,
    length: usize,
    stem: &'a str,
    format: Format,
}

impl<'a> Rank<'a> {
    pub(super) fn stem(self) -> &'a str {
        self.stem
    }
}

/// An icon that matches a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match<'a> {
    pub(super) rank: Rank<'a>,
    /// The path in the source.
    pub(super) path: &'a str,
}

/// The icons of one source: the best file for each folded file stem.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Sorted by stem.
    icons: Vec<(String, Icon)>,
    /// The index of the best icon for a stem without its gaps.
    joined: HashMap<String, usize>,
    /// A segment tree that finds the shortest stem of a range in logarithmic time: entry `n` is the better
    /// one of entries `2n` and `2n + 1`, and the icons are the last entries.
    shortest: Vec<Shortest>,
}

/// The length of a stem in characters, and the index of its icon. The smallest is the best.
type Shortest = (usize, usize);

#[derive(Debug)]
struct Icon {
    format: Format,
    path: String,
}

impl Table {
    /// Takes the paths that are icons, without leading slashes.
    pub(super) fn new(paths: impl IntoIterator<Item = String>) -> Self {
        let mut table = BTreeMap::new();
        for path in paths {
            let path = path.trim_start_matches('/').to_owned();
            let Some((stem, format)) = stem_and_format(&path) else {
                continue;
            };
            let icon = Icon { format, path };
            match table.get(&stem) {
                Some(best) if order(best) <= order(&icon) => {}
                _ => drop(table.insert(stem, icon)),
            }
        }
        let icons: Vec<_> = table.into_iter().collect();
        let count = icons.len();
        let mut joined: HashMap<String, usize> = HashMap::with_capacity(count);
        for (at, (stem, _)) in icons.iter().enumerate() {
            let best = joined.entry(join(stem)).or_insert(at);
            // Of equally long stems the first stays.
            if stem.len() < icons[*best].0.len() {
                *best = at;
            }
        }
        let mut shortest = vec![(0, 0); count];
        let lengths = icons.iter().enumerate();
        shortest.extend(lengths.map(|(at, (stem, _))| (stem.chars().count(), at)));
        for at in (1..count).rev() {
            shortest[at] = shortest[2 * at].min(shortest[2 * at + 1]);
        }
        Self {
            icons,
            joined,
            shortest,
        }
    }

    /// The best icon for a folded name.
    pub(super) fn find(&self, name: &str) -> Option<Match<'_>> {
        let from = self.icons.partition_point(|(stem, _)| &stem[..] < name);
        if let Some((stem, icon)) = self.icons.get(from)
            && stem == name
        {
            return Some(found(Fit::Exact, stem, icon));
        }
        if let Some(at) = self.joined.get(&join(name)) {
            let (stem, icon) = &self.icons[*at];
            return Some(found(Fit::Joined, stem, icon));
        }
        if name.chars().count() < MIN_PREFIX {
            return None;
        }
        let words = format!("{name}-");
        [(Fit::PrefixOfWords, &words[..]), (Fit::Prefix, name)]
            .into_iter()
            .find_map(|(fit, prefix)| {
                let (stem, icon) = &self.icons[self.shortest(self.beginning_with(prefix))?];
                Some(found(fit, stem, icon))
            })
    }

    /// The variant of the icon at a path that its collection made for a dark or a light ground. Collections name what is
    /// light, for dark grounds, `…-light`, and the other way round.
    pub(super) fn variant(&self, path: &str, on_dark: bool) -> Option<&str> {
        let (stem, _) = stem_and_format(path)?;
        let plain = ["-light", "-dark"].iter().find_map(|end| stem.strip_suffix(end));
        let plain = plain.unwrap_or(&stem);
        let made = format!("{plain}-{}", if on_dark { "light" } else { "dark" });
        if stem == made {
            return None;
        }
        if let Some(found) = self.path_of(&made) {
            return Some(found);
        }
        // One that is made for the other ground gives way to the plain icon.
        (stem != plain).then(|| self.path_of(plain))?
    }

    /// The path of the icon with exactly this folded stem.
    fn path_of(&self, stem: &str) -> Option<&str> {
        let at = self
            .icons
            .binary_search_by(|(found, _)| found[..].cmp(stem))
            .ok()?;
        Some(&self.icons[at].1.path)
    }

    /// All icons whose stems contain a folded text. Looks at every stem.
    pub(super) fn containing<'a>(&'a self, text: &str) -> impl Iterator<Item = Match<'a>> {
        let joined = join(text);
        self.icons.iter().filter_map(move |(stem, icon)| {
            let fit = match stem.strip_prefix(text) {
                Some("") => Fit::Exact,
                Some(rest) if rest.starts_with('-') => Fit::PrefixOfWords,
                Some(_) => Fit::Prefix,
                None if stem.contains(text) => Fit::Part,
                None if join(stem) == joined => Fit::Joined,
                None if !joined.is_empty() && join(stem).contains(&joined) => Fit::Part,
                None => return None,
            };
            Some(found(fit, stem, icon))
        })
    }

    /// The indexes of the stems with this prefix.
    fn beginning_with(&self, prefix: &str) -> Range<usize> {
        let from = self.icons.partition_point(|(stem, _)| &stem[..] < prefix);
        let count = self.icons[from..].partition_point(|(stem, _)| stem.starts_with(prefix));
        from..from + count
    }

    /// The index of the shortest stem in a range; of equal ones the first.
    fn shortest(&self, range: Range<usize>) -> Option<usize> {
        let count = self.icons.len();
        let (mut from, mut until) = (range.start + count, range.end + count);
        let mut best: Option<Shortest> = None;
        let mut look = |at: usize| {
            let found = self.shortest[at];
            best = Some(best.map_or(found, |best| best.min(found)));
        };
        while from < until {
            // Entries at the ends whose sibling is outside the range; the others are covered by their parents.
            if from % 2 == 1 {
                look(from);
                from += 1;
            }
            if until % 2 == 1 {
                until -= 1;
                look(until);
            }
            (from, until) = (from / 2, until / 2);
        }
        best.map(|(_, at)| at)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.icons.iter().map(|(_, icon)| icon.path.as_str())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.icons.is_empty()
    }
}

fn found<'a>(fit: Fit, stem: &'a str, icon: &'a Icon) -> Match<'a> {
    let rank = Rank {
        fit,
        length: stem.chars().count(),
        stem,
        format: icon.format,
    };
    Match {
        rank,
        path: &icon.path,
    }
}

/// Orders files of the same stem, the best first.
fn order(icon: &Icon) -> (Format, usize, &str) {
    (icon.format, icon.path.len(), &icon.path)
}

/// `None` if the path is not an icon, or if a browser would resolve it to another path.
fn stem_and_format(path: &str) -> Option<(String, Format)> {
    if path.len() > MAX_PATH || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return None;
    }
    let file = path.rsplit('/').next()?;
    let (stem, extension) = file.rsplit_once('.')?;
    let stem = fold(stem);
    (!stem.is_empty()).then_some((stem, Format::of(extension)?))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn names_fold_to_lower_case_words() {
        for (name, folded) in [
            ("Jellyfin", "jellyfin"),
            ("Home Assistant", "home-assistant"),
            ("  home__assistant!! ", "home-assistant"),
            ("AdGuard Home (kitchen)", "adguard-home-kitchen"),
            ("Pi-hole", "pi-hole"),
            ("node.js", "node-js"),
            ("Straße Ünder", "straße-ünder"),
            ("ÜBER", "über"),
            ("服务 2", "服务-2"),
            ("%_-", ""),
            ("", ""),
        ] {
            assert_eq!(fold(name), folded, "{name}");
        }
    }

    /// The path that a table of these paths finds, checked for both orders of the list.
    fn find<'a>(paths: &[&'a str], name: &str) -> Option<&'a str> {
        let answer = |paths: &[&'a str]| {
            let table = Table::new(paths.iter().map(|path| (*path).to_owned()));
            let found = table.find(&fold(name))?;
            paths
                .iter()
                .copied()
                .find(|path| path.trim_start_matches('/') == found.path)
        };
        let forward = answer(paths);
        let reversed: Vec<&str> = paths.iter().rev().copied().collect();
        assert_eq!(
            answer(&reversed),
            forward,
            "the order of the list changes the answer"
        );
        forward
    }

    #[test]
    fn the_best_icon_is_always_the_same() {
        let cases: &[(&[&str], &str, Option<&str>)] = &[
            // The exact name comes before any prefix, whatever the format.
            (
                &["svg/plex-dark.svg", "jpg/plex.jpg"],
                "Plex",
                Some("jpg/plex.jpg"),
            ),
            // Folded on both sides.
            (
                &["svg/Home_Assistant.SVG"],
                "home assistant",
                Some("svg/Home_Assistant.SVG"),
            ),
            // Without the gaps, before any prefix.
            (
                &["svg/homeassistant.svg", "svg/home-assistant-alt.svg"],
                "Home Assistant",
                Some("svg/homeassistant.svg"),
            ),
            (&["svg/pi-hole.svg"], "Pihole", Some("svg/pi-hole.svg")),
            (&["a/a-bc.svg", "a/ab-c.svg"], "a b c", Some("a/a-bc.svg")),
            (&["/svg/jellyfin.svg"], "Jellyfin", Some("/svg/jellyfin.svg")),
            // A prefix that ends with a word comes before one that does not, even if that is shorter.
            (
                &["a/homer.svg", "a/home-assistant.svg"],
                "Home",
                Some("a/home-assistant.svg"),
            ),
            (&["a/homer.svg", "a/homepage.svg"], "Home", Some("a/homer.svg")),
            // The shortest, then the alphabet.
            (
                &["a/app-zz.svg", "a/app-a.svg", "a/app-b.svg"],
                "app",
                Some("a/app-a.svg"),
            ),
            (&["a/app-long.svg", "a/app-zz.svg"], "app", Some("a/app-zz.svg")),
            (&["a/app-a.png", "a/app-b.svg"], "app", Some("a/app-a.png")),
            // svg, then png, then the rest.
            (&["webp/x.webp", "png/x.png", "svg/x.svg"], "x", Some("svg/x.svg")),
            (
                &["webp/x.webp", "jpeg/x.jpeg", "a/x.jpg", "png/x.png"],
                "x",
                Some("png/x.png"),
            ),
            (&["webp/x.webp", "a/x.jpg"], "x", Some("a/x.jpg")),
            // The same stem and format: the shorter path.
            (&["16x16/apps/x.svg", "svg/x.svg"], "x", Some("svg/x.svg")),
            // Too short to be a prefix; enough to be exact.
            (&["svg/xbox.svg"], "xb", None),
            (&["svg/xbox.svg"], "xbo", Some("svg/xbox.svg")),
            // Substrings, longer names, wildcards, extensions and folders are not prefixes.
            (&["svg/my-plex.svg"], "plex", None),
            (&["svg/plex.svg"], "plex server", None),
            (&["svg/plex.svg"], "%", None),
            (&["svg/plex.svg"], "svg", None),
            // Files that are not icons.
            (
                &["readme.md", "svg", "plex.svg.txt", "plex", ".svg", "plex.gif"],
                "plex",
                None,
            ),
            // Paths that a browser would resolve to another path.
            (
                &["../plex.svg", "a/../plex.svg", "a//plex.svg", "./plex.svg"],
                "plex",
                None,
            ),
            (&[], "plex", None),
        ];
        for (paths, name, expected) in cases {
            assert_eq!(find(paths, name), *expected, "{name} in {paths:?}");
        }
    }

    #[test]
    fn a_variant_is_the_light_one_on_dark_and_the_dark_one_on_light() {
        let paths = [
            "svg/github.svg",
            "png/github.png",
            "svg/github-light.svg",
            "svg/plex.svg",
            "svg/sun.svg",
            "png/sun-dark.png",
            "svg/only-light.svg",
        ];
        let table = Table::new(paths.map(str::to_owned));
        for (path, on_dark, expected) in [
            ("svg/github.svg", true, Some("svg/github-light.svg")),
            ("png/github.png", true, Some("svg/github-light.svg")),
            ("svg/github.svg", false, None),
            ("png/github.png", false, None),
            ("svg/github-light.svg", true, None),
            ("svg/github-light.svg", false, Some("svg/github.svg")),
            ("svg/plex.svg", true, None),
            ("svg/plex.svg", false, None),
            ("svg/sun.svg", false, Some("png/sun-dark.png")),
            ("png/sun-dark.png", true, Some("svg/sun.svg")),
            ("svg/only-light.svg", false, None),
            ("svg/gone.svg", true, None),
            ("../x.svg", true, None),
            ("", true, None),
        ] {
            assert_eq!(table.variant(path, on_dark), expected, "{path} {on_dark}");
        }
    }

    #[test]
    fn an_overlong_path_is_no_icon() {
        let long = format!("{}/plex.svg", "a".repeat(MAX_PATH));
        assert!(Table::new([long]).is_empty());
    }

    #[test]
    fn the_number_of_matching_icons_makes_no_difference() {
        let paths = (0..50_000).map(|number| format!("svg/icon{:06}.svg", number * 7 % 50_000));
        let table = Table::new(paths);
        let began = Instant::now();
        for _ in 0..20_000 {
            let found = table.find("icon").expect("an icon");
            assert_eq!(found.path, "svg/icon000000.svg");
        }
        // It takes some milliseconds; going through the icons each time would take more than a minute.
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }

    #[test]
    fn the_tree_finds_the_same_icon_as_a_linear_search() {
        // Stems of few letters, so that many match, in scattered order.
        let stems: Vec<String> = (0..700_u32)
            .map(|number| {
                let scattered = number.wrapping_mul(2_654_435_761);
                let letters = (0..3 + scattered % 6)
                    .map(|place| ['a', 'b', ' '][(scattered >> (8 + 2 * place)) as usize % 3]);
                fold(&letters.collect::<String>())
            })
            .filter(|stem| !stem.is_empty())
            .collect();
        let table = Table::new(stems.iter().map(|stem| format!("{stem}.svg")));
        for name in &stems {
            for length in 1..=name.len() {
                let name = fold(&name[..length]);
                let fitting = stems.iter().filter_map(|stem| {
                    if *stem != name && join(stem) == join(&name) {
                        return Some((Fit::Joined, stem.len(), stem));
                    }
                    let rest = stem.strip_prefix(&name[..])?;
                    let fit = match rest.chars().next() {
                        None => Fit::Exact,
                        _ if name.len() < MIN_PREFIX => return None,
                        Some('-') => Fit::PrefixOfWords,
                        Some(_) => Fit::Prefix,
                    };
                    Some((fit, stem.len(), stem))
                });
                let best = fitting.min().map(|(_, _, stem)| format!("{stem}.svg"));
                assert_eq!(
                    table.find(&name).map(|found| found.path),
                    best.as_deref(),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_search_finds_every_icon_with_the_text_and_the_best_come_first() {
        let paths = [
            "svg/jellyfin.svg",
            "png/jellyfin.png",
            "svg/jellyfin-vue.svg",
            "svg/jellyfish.svg",
            "svg/my-jellyfin.svg",
            "svg/plex.svg",
        ];
        let table = Table::new(paths.map(str::to_owned));
        let found = |text: &str| {
            let mut found: Vec<_> = table.containing(text).collect();
            found.sort_by_key(|found| found.rank);
            let paths = found.into_iter().map(|found| found.path);
            paths.collect::<Vec<_>>()
        };
        assert_eq!(
            found("jellyfin"),
            ["svg/jellyfin.svg", "svg/jellyfin-vue.svg", "svg/my-jellyfin.svg"]
        );
        assert_eq!(found("fis"), ["svg/jellyfish.svg"]);
        assert_eq!(found("nothing").len(), 0);
        assert_eq!(found("").len(), 5);
    }
}
