//! Converts between the records of the contract's interface `storage` and those of the storage drivers.

use portico_storage as ours;

use crate::bindings::portico::dashboard::storage as contract;

impl From<contract::Access> for ours::Access {
    fn from(access: contract::Access) -> Self {
        match access {
            contract::Access::Lookup => Self::Lookup,
            contract::Access::Read => Self::Read,
            contract::Access::Write => Self::Write,
        }
    }
}

impl From<ours::Error> for contract::Error {
    fn from(error: ours::Error) -> Self {
        match error {
            ours::Error::Retry => Self::Retry,
            ours::Error::Constraint(constraint) => Self::Constraint(match constraint {
                ours::Constraint::UserName => contract::Constraint::UserName,
                ours::Constraint::Identity => contract::Constraint::Identity,
                ours::Constraint::Reference => contract::Constraint::Reference,
                ours::Constraint::Id => contract::Constraint::Id,
                ours::Constraint::Other(text) => contract::Constraint::Other(text),
            }),
            ours::Error::TooLarge => Self::TooLarge,
            ours::Error::Other(text) => Self::Other(text),
            ours::Error::Unavailable(cause) => Self::Unavailable(cause),
        }
    }
}

impl From<contract::NewUser> for ours::NewUser {
    fn from(new: contract::NewUser) -> Self {
        Self {
            user: new.user,
            name_key: new.name_key,
            color_scheme: new.color_scheme,
            password_hash: new.password_hash,
        }
    }
}

impl From<contract::AccountKey> for ours::AccountKey {
    fn from(key: contract::AccountKey) -> Self {
        match key {
            contract::AccountKey::Id(id) => Self::Id(id),
            contract::AccountKey::Name(name) => Self::Name(ours::ProviderName {
                provider: name.provider,
                name_key: name.name_key,
            }),
            contract::AccountKey::Subject(subject) => Self::Subject(subject.into()),
        }
    }
}

impl From<contract::ProviderSubject> for ours::ProviderSubject {
    fn from(subject: contract::ProviderSubject) -> Self {
        Self {
            provider: subject.provider,
            subject: subject.subject,
        }
    }
}

impl From<ours::Account> for contract::Account {
    fn from(account: ours::Account) -> Self {
        Self {
            id: account.id,
            name: account.name,
            provider: account.provider,
            disabled: account.disabled,
            password_hash: account.password_hash,
            password_version: account.password_version,
        }
    }
}

impl From<contract::Profile> for ours::Profile {
    fn from(profile: contract::Profile) -> Self {
        Self {
            name: profile.name,
            name_key: profile.name_key,
            email: profile.email,
            email_verified: profile.email_verified,
        }
    }
}

impl From<ours::ListedUser> for contract::ListedUser {
    fn from(user: ours::ListedUser) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email,
            email_verified: user.email_verified,
            provider: user.provider,
            disabled: user.disabled,
            image: user.image,
        }
    }
}

impl From<contract::UserFilter> for ours::UserFilter {
    fn from(filter: contract::UserFilter) -> Self {
        Self {
            provider: filter.provider,
            name_contains: filter.name_contains,
            email: filter.email,
            disabled: filter.disabled,
        }
    }
}

impl From<contract::Viewer> for ours::Viewer {
    fn from(viewer: contract::Viewer) -> Self {
        match viewer {
            contract::Viewer::Everything => Self::Everything,
            contract::Viewer::Anonymous => Self::Anonymous,
            contract::Viewer::User(id) => Self::User(id),
        }
    }
}

impl From<contract::AppFilter> for ours::AppFilter {
    fn from(filter: contract::AppFilter) -> Self {
        Self {
            viewer: filter.viewer.into(),
            name_contains: filter.name_contains,
        }
    }
}

impl From<contract::Slice> for ours::Slice {
    fn from(slice: contract::Slice) -> Self {
        Self {
            offset: slice.offset,
            limit: slice.limit,
        }
    }
}

impl From<contract::StoredApp> for ours::StoredApp {
    fn from(stored: contract::StoredApp) -> Self {
        Self {
            app: stored.app,
            name_key: stored.name_key,
        }
    }
}
