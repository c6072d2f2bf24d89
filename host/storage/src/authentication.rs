//! How a caller proved who they are.

/// How a caller proved who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// They did not.
    None,
    /// With the session of this id.
    Session(String),
    /// With the API key of this id.
    Key(String),
    /// By using the command line on the data directory.
    Operator,
    /// The embedding dashboard vouches for them.
    Host,
    /// A trusted proxy in front vouches for them.
    Proxy,
}

impl Authentication {
    const NAMES: [&str; 6] = ["none", "session", "key", "operator", "host", "proxy"];

    /// The name in the audit log: `none`, `session`, `key`, `operator`, `host` or `proxy`.
    pub fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::None => 0,
            Self::Session(_) => 1,
            Self::Key(_) => 2,
            Self::Operator => 3,
            Self::Host => 4,
            Self::Proxy => 5,
        }]
    }

    /// The same name, if this text is one.
    pub fn named(text: &str) -> Option<&'static str> {
        Self::NAMES.into_iter().find(|name| *name == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_authentication_has_a_name_that_reads_back() {
        let id = || "id".to_owned();
        for authentication in [
            Authentication::None,
            Authentication::Session(id()),
            Authentication::Key(id()),
            Authentication::Operator,
            Authentication::Host,
            Authentication::Proxy,
        ] {
            let name = authentication.name();
            assert_eq!(
                name,
                format!("{authentication:?}")
                    .split('(')
                    .next()
                    .unwrap()
                    .to_lowercase()
            );
            assert_eq!(Authentication::named(name), Some(name));
        }
    }
}
