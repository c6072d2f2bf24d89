//! All words of the console, in English and German.
//!
//! Each text is here once, in both languages side by side. A text that lacks a language does not compile. `{}` in a
//! text is a place that [`fill`] fills.

mod administration;
mod apps;
pub(crate) mod audited;
mod boards;
mod common;
mod engines;
mod gate;
mod help;
mod keys;
mod looks;
mod passkeys;
mod profile;
pub(crate) mod refusals;
pub(crate) mod rules;
mod second_factor;
mod status;
mod users;
mod visibility;

use axum::http::{HeaderMap, header};

/// Defines a group of texts: `name: "English", "German";`.
macro_rules! texts {
    ($(#[$about:meta])* $group:ident { $($name:ident: $english:literal, $german:literal;)* }) => {
        $(#[$about])*
        pub(crate) struct $group {
            $(pub $name: &'static str,)*
        }

        impl $group {
            pub const ENGLISH: Self = Self { $($name: $english,)* };
            pub const GERMAN: Self = Self { $($name: $german,)* };

            #[cfg(test)]
            pub const ALL: &'static [(&'static str, &'static str, &'static str)] =
                &[$((stringify!($name), $english, $german),)*];
        }
    };
}
pub(crate) use texts;

/// Defines [`Texts`] from its groups, by language.
macro_rules! groups {
    ($($field:ident: $module:ident::$group:ident,)*) => {
        /// The texts in one language.
        pub(crate) struct Texts {
            pub language: Language,
            $(pub $field: $module::$group,)*
        }

        static ENGLISH: Texts = Texts { language: Language::English, $($field: $module::$group::ENGLISH,)* };
        static GERMAN: Texts = Texts { language: Language::German, $($field: $module::$group::GERMAN,)* };

        #[cfg(test)]
        const GROUPS: &[(&str, &[(&str, &str, &str)])] = &[$((stringify!($field), $module::$group::ALL),)*];
    };
}

groups! {
    common: common::Common,
    errors: common::Errors,
    notes: common::Notes,
    start: common::Start,
    sign_in: common::SignIn,
    new_password: common::NewPassword,
    register: common::Register,
    home: common::Home,
    profile: profile::Profile,
    second_factor: second_factor::SecondFactor,
    passkeys: passkeys::Passkeys,
    help: help::Help,
    keys: keys::Keys,
    users: users::Users,
    groups: users::Groups,
    invites: users::Invites,
    audit: administration::Audit,
    state: administration::State,
    apps: apps::Apps,
    icon_picker: apps::IconPicker,
    address: apps::Address,
    catalogue: apps::Catalogue,
    boards: boards::Boards,
    gate: gate::Gate,
    engines: engines::Engines,
    status: status::Status,
    looks: looks::Looks,
    visibility: visibility::Visibility,
}

/// The languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
}

impl Language {
    /// The available language that the browser prefers.
    pub fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT_LANGUAGE);
        let accepted = accepted.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut best = (0.0, Self::English);
        for range in accepted.split(',').take(50) {
            let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
            let weight = weight
                .trim()
                .strip_prefix("q=")
                .and_then(|weight| weight.parse().ok());
            let weight: f32 = weight.unwrap_or(0.0);
            let primary = tag.trim().split('-').next().unwrap_or_default();
            let language = match primary.to_ascii_lowercase().as_str() {
                "en" => Self::English,
                "de" => Self::German,
                _ => continue,
            };
            if weight > best.0 {
                best = (weight, language);
            }
        }
        best.1
    }

    pub fn texts(self) -> &'static Texts {
        match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
        }
    }

    /// The tag for `lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }
}

/// A text with its places filled, in their order.
pub(crate) fn fill(text: &str, values: &[&dyn std::fmt::Display]) -> String {
    let mut parts = text.split("{}");
    let mut filled = String::from(parts.next().unwrap_or_default());
    for (part, value) in parts.zip(values) {
        filled.push_str(&value.to_string());
        filled.push_str(part);
    }
    filled
}

/// A text of the form `one thing|{} things`, for a number of things.
pub(crate) fn count(text: &str, number: usize) -> String {
    let (one, many) = text.split_once('|').unwrap_or((text, text));
    fill(if number == 1 { one } else { many }, &[&number])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_places_in_every_text() {
        for (group, texts) in GROUPS {
            for (name, english, german) in *texts {
                let places = |text: &str| text.matches("{}").count();
                assert_eq!(places(english), places(german), "{group}.{name}");
                assert!(
                    !english.trim().is_empty() && !german.trim().is_empty(),
                    "{group}.{name}"
                );
                assert_eq!(english.contains('|'), german.contains('|'), "{group}.{name}");
            }
        }
    }

    #[test]
    fn the_language_is_the_one_that_the_browser_prefers() {
        for (sent, expected) in [
            ("", Language::English),
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("fr,en;q=0.5,de;q=0.7", Language::German),
            ("en-GB,de;q=0.9", Language::English),
            ("fr", Language::English),
            ("de;q=0", Language::English),
            ("de;q=x", Language::English),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, sent.parse().unwrap());
            assert_eq!(Language::of(&headers), expected, "{sent}");
        }
    }

    #[test]
    fn places_are_filled_in_order() {
        assert_eq!(fill("{} of {}", &[&1, &"two"]), "1 of two");
        assert_eq!(fill("none", &[&1]), "none");
        assert_eq!(
            (count("1 app|{} apps", 1), count("1 app|{} apps", 0)),
            ("1 app".into(), "0 apps".into())
        );
    }
}
