//! The hosts of the local network from which icons may be fetched.

use std::str::FromStr;

use serde::Deserialize;
use url::{Origin, Url};

use crate::place::has_credentials;

/// Scheme, host and port of each host that may have a private address, or listen on any port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct AllowList(Vec<Origin>);

impl AllowList {
    /// Whether this URL may be fetched wherever its host is.
    pub(crate) fn includes(&self, url: &Url) -> bool {
        self.0.contains(&url.origin())
    }
}

impl TryFrom<Vec<String>> for AllowList {
    type Error = String;

    fn try_from(entries: Vec<String>) -> Result<Self, String> {
        let origins = entries.iter().map(|entry| origin(entry.trim()));
        Ok(Self(origins.collect::<Result<_, _>>()?))
    }
}

impl FromStr for AllowList {
    type Err = String;

    /// Parses entries that are [`comma_separated`].
    fn from_str(text: &str) -> Result<Self, String> {
        comma_separated(text).try_into()
    }
}

/// The entries of a list that are separated by commas. Blank text means none.
pub fn comma_separated(text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    text.split(',').map(str::to_owned).collect()
}

fn origin(entry: &str) -> Result<Origin, String> {
    let url = Url::parse(entry).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && !has_credentials(url)
    });
    let url = url.ok_or_else(|| {
        format!("{entry:?} must be scheme, host and port, like http://nas.lan:8080, without a path")
    })?;
    Ok(url.origin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_scheme_host_and_port() {
        let list: AllowList = "http://NAS.lan:8080/, https://10.0.0.7".parse().unwrap();
        let includes = |url: &str| list.includes(&Url::parse(url).unwrap());
        for allowed in [
            "http://nas.lan:8080/",
            "http://nas.lan:8080/icons/x.svg?a=b",
            "https://10.0.0.7/x.png",
            "https://10.0.0.7:443/x.png",
        ] {
            assert!(includes(allowed), "{allowed}");
        }
        for other in [
            "https://nas.lan:8080/",
            "http://nas.lan/",
            "http://nas.lan:8081/",
            "http://nas.lan.example:8080/",
            "http://x.nas.lan:8080/",
            "http://10.0.0.7/x.png",
        ] {
            assert!(!includes(other), "{other}");
        }
    }

    #[test]
    fn an_entry_that_is_wrong_is_named() {
        for text in [
            "nas.lan",
            "nas.lan:8080",
            "ftp://nas.lan",
            "http://nas.lan/icons",
            "http://nas.lan?x",
            "http://nas.lan/#x",
            "http://me:secret@nas.lan",
            "http://nas.lan,",
            "*",
        ] {
            let problem = text.parse::<AllowList>().unwrap_err();
            assert!(problem.contains("must be scheme, host and port"), "{problem}");
        }
        assert_eq!(" ".parse(), Ok(AllowList::default()));
    }
}
