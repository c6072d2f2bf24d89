//! The contract's records as wit-bindgen has them, and as `portico-sql` takes and gives them.

use portico_model as model;
use portico_storage as stored;

use crate::bindings::{storage, types};

/// Converts a record field by field.
macro_rules! record {
    ($from:path => $to:path { $($same:ident),* $(; $($other:ident),*)? }) => {
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                Self { $($same: from.$same,)* $($($other: from.$other.into(),)*)? }
            }
        }
    };
}

/// Converts an enumeration case by case.
macro_rules! cases {
    ($from:path => $to:path { $($case:ident),* }) => {
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                use $from as From;
                match from { $(From::$case => Self::$case,)* }
            }
        }
    };
}

cases!(types::Provider => model::Provider { Credentials, Oidc, Ldap });
cases!(model::Provider => types::Provider { Credentials, Oidc, Ldap });
cases!(types::ColorScheme => model::ColorScheme { Light, Dark, Auto });
cases!(model::ColorScheme => types::ColorScheme { Light, Dark, Auto });
cases!(storage::Access => stored::Access { Lookup, Read, Write });
record!(types::User => model::User {
    id, name, email, email_verified, image, home_board_id, mobile_home_board_id, first_day_of_week, ping_icons_enabled,
    default_search_engine_id, open_search_in_new_tab; provider
});
record!(model::User => types::User {
    id, name, email, email_verified, image, home_board_id, mobile_home_board_id, first_day_of_week, ping_icons_enabled,
    default_search_engine_id, open_search_in_new_tab; provider
});
record!(types::App => model::App { id, name, description, icon_url, href, ping_url });
record!(model::App => types::App { id, name, description, icon_url, href, ping_url });
record!(types::HomeBoards => model::HomeBoards { home_board_id, mobile_home_board_id });
record!(types::SearchPreferences => model::SearchPreferences { default_search_engine_id, open_in_new_tab });
record!(storage::NewUser => stored::NewUser { name_key, password_hash; user, color_scheme });
record!(storage::ProviderName => stored::ProviderName { name_key; provider });
record!(storage::ProviderSubject => stored::ProviderSubject { subject; provider });
record!(stored::Account => storage::Account { id, name, disabled, password_hash, password_version; provider });
record!(storage::Profile => stored::Profile { name, name_key, email, email_verified });
record!(stored::ListedUser => storage::ListedUser { id, name, email, email_verified, disabled, image; provider });
record!(storage::Slice => stored::Slice { offset, limit });
record!(storage::StoredApp => stored::StoredApp { name_key; app });

impl From<storage::AccountKey> for stored::AccountKey {
    fn from(key: storage::AccountKey) -> Self {
        match key {
            storage::AccountKey::Id(id) => Self::Id(id),
            storage::AccountKey::Name(name) => Self::Name(name.into()),
            storage::AccountKey::Subject(subject) => Self::Subject(subject.into()),
        }
    }
}

impl From<storage::UserFilter> for stored::UserFilter {
    fn from(filter: storage::UserFilter) -> Self {
        Self {
            provider: filter.provider.map(Into::into),
            name_contains: filter.name_contains,
            email: filter.email,
            disabled: filter.disabled,
        }
    }
}

impl From<stored::Constraint> for storage::Constraint {
    fn from(constraint: stored::Constraint) -> Self {
        match constraint {
            stored::Constraint::UserName => Self::UserName,
            stored::Constraint::Identity => Self::Identity,
            stored::Constraint::Reference => Self::Reference,
            stored::Constraint::Id => Self::Id,
            stored::Constraint::Other(text) => Self::Other(text),
        }
    }
}

impl From<stored::Error> for storage::Error {
    fn from(error: stored::Error) -> Self {
        match error {
            stored::Error::Retry => Self::Retry,
            stored::Error::Constraint(constraint) => Self::Constraint(constraint.into()),
            stored::Error::TooLarge => Self::TooLarge,
            stored::Error::Unavailable(text) => Self::Unavailable(text),
            stored::Error::Other(text) => Self::Other(text),
        }
    }
}

/// A broken rule of an input.
pub fn issue(issue: model::Issue) -> types::Issue {
    let segment = |segment| match segment {
        model::PathSegment::Field(name) => types::PathSegment::Field(name),
        model::PathSegment::Index(index) => types::PathSegment::Index(index),
    };
    types::Issue {
        path: issue.path.into_iter().map(segment).collect(),
        message: issue.message,
    }
}
