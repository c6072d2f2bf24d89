//! A text that claims give: one claim, or a template such as `{given_name} {family_name}`.
//!
//! Invariant: a template gives a text only if each of its claims is there, so people who lack one do not all get the same.

use std::str::FromStr;

use anyhow::{bail, ensure};

use super::claim_path::ClaimPath;

/// The most characters and claims of a template.
const MAX_CHARS: usize = 255;
const MAX_CLAIMS: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimText {
    Claim(ClaimPath),
    Template(Vec<Part>),
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Claim(ClaimPath),
}

impl FromStr for ClaimText {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if !text.contains(['{', '}']) {
            return text.parse().map(Self::Claim);
        }
        ensure!(
            text.chars().count() <= MAX_CHARS && !text.contains(char::is_control),
            "{text:?} must be a template of at most {MAX_CHARS} characters"
        );
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((claim, further)) = after.split_once('}') else {
                bail!("{text:?} has {{ without }}");
            };
            ensure!(
                !claim.contains('{'),
                "{text:?} has {{ inside {{ and }}: a template is like {{given_name}} {{family_name}}"
            );
            parts.push(Part::Text(before.into()));
            parts.push(Part::Claim(claim.parse()?));
            rest = further;
        }
        parts.push(Part::Text(rest.into()));
        let has_stray = |part: &Part| matches!(part, Part::Text(text) if text.contains('}'));
        ensure!(!parts.iter().any(has_stray), "{text:?} has }} without {{");
        ensure!(
            parts.len() / 2 <= MAX_CLAIMS,
            "{text:?} has more than {MAX_CLAIMS} claims"
        );
        Ok(Self::Template(parts))
    }
}

impl ClaimText {
    /// The text, by what `find` gives for a claim; otherwise the claim that is missing.
    pub fn fill(&self, find: impl Fn(&ClaimPath) -> Option<String>) -> Result<String, &ClaimPath> {
        match self {
            Self::Claim(claim) => find(claim).ok_or(claim),
            Self::Template(parts) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        Part::Text(part) => text.push_str(part),
                        Part::Claim(claim) => {
                            let found = find(claim).filter(|found| !found.trim().is_empty());
                            text.push_str(found.ok_or(claim)?.trim());
                        }
                    }
                }
                Ok(text)
            }
        }
    }

    /// The claims that it needs.
    pub fn claims(&self) -> impl Iterator<Item = &ClaimPath> {
        let (one, parts) = match self {
            Self::Claim(claim) => (Some(claim), &[][..]),
            Self::Template(parts) => (None, &parts[..]),
        };
        let claims = parts.iter().filter_map(|part| match part {
            Part::Claim(claim) => Some(claim),
            Part::Text(_) => None,
        });
        one.into_iter().chain(claims)
    }

    /// Whether it is the claim of that name.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, Self::Claim(claim) if claim.is(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, String> {
        let text: ClaimText = text.parse().unwrap();
        let find = |claim: &ClaimPath| match claim.to_string().as_str() {
            "given_name" => Some(" Ada ".to_owned()),
            "address.city" => Some("London".to_owned()),
            "braces" => Some("{given_name}".to_owned()),
            "spaces" => Some("  ".to_owned()),
            _ => None,
        };
        text.fill(find).map_err(ToString::to_string)
    }

    #[test]
    fn a_template_is_filled_once_and_only_whole() {
        assert_eq!(filled("given_name").unwrap(), " Ada ");
        assert_eq!(filled("{given_name}").unwrap(), "Ada");
        assert_eq!(
            filled("{given_name} of {address.city}!").unwrap(),
            "Ada of London!"
        );
        assert_eq!(filled("{braces}").unwrap(), "{given_name}");
        assert_eq!(filled("{given_name} {family_name}").unwrap_err(), "family_name");
        assert_eq!(filled("{spaces}@home.example").unwrap_err(), "spaces");
        let text: ClaimText = "{a}{b.c}@{a}".parse().unwrap();
        let claims: Vec<_> = text.claims().map(ToString::to_string).collect();
        assert_eq!(claims, ["a", "b.c", "a"]);
        assert!(!text.is("a") && "a".parse::<ClaimText>().unwrap().is("a"));
    }

    #[test]
    fn a_wrong_template_is_refused() {
        let many = "{a}".repeat(9);
        let long = format!("{{a}}{}", "x".repeat(255));
        for wrong in [
            "", "{", "}", "{}", "{a", "a}", "{a}}", "{{a}", "{{a}}", "{a}\n", &many, &long,
        ] {
            assert!(wrong.parse::<ClaimText>().is_err(), "{wrong:?}");
        }
    }
}
