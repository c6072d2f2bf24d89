//! Converts between the records of the contract's interface `storage` and those of the storage drivers.

use portico_storage as ours;

use crate::bindings::portico::dashboard::storage as contract;

impl From<contract::Access> for ours::Access {
    fn from(access: contract::Access) -> Self {
        match access {
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
            }),
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
            contract::AccountKey::Name(name) => Self::Name(name),
            contract::AccountKey::Subject(subject) => Self::Subject(subject),
        }
    }
}

impl From<ours::Account> for contract::Account {
    fn from(account: ours::Account) -> Self {
        Self {
            id: account.id,
            name: account.name,
            provider: account.provider,
            password_hash: account.password_hash,
        }
    }
}

impl From<contract::UserChange> for ours::UserChange {
    fn from(change: contract::UserChange) -> Self {
        match change {
            contract::UserChange::Profile(profile) => Self::Profile(ours::Profile {
                name: profile.name,
                name_key: profile.name_key,
                email: profile.email,
                email_verified: profile.email_verified,
            }),
            contract::UserChange::Image(image) => Self::Image(image),
            contract::UserChange::HomeBoards(boards) => Self::HomeBoards(boards),
            contract::UserChange::SearchPreferences(search) => Self::SearchPreferences(search),
            contract::UserChange::ColorScheme(scheme) => Self::ColorScheme(scheme),
            contract::UserChange::PingIconsEnabled(enabled) => Self::PingIconsEnabled(enabled),
            contract::UserChange::FirstDayOfWeek(day) => Self::FirstDayOfWeek(day),
        }
    }
}

impl From<contract::UserFilter> for ours::UserFilter {
    fn from(filter: contract::UserFilter) -> Self {
        Self {
            provider: filter.provider,
            name_contains: filter.name_contains,
            email: filter.email,
            limit: filter.limit,
        }
    }
}

impl From<contract::AppFilter> for ours::AppFilter {
    fn from(filter: contract::AppFilter) -> Self {
        Self {
            name_contains: filter.name_contains,
            offset: filter.offset,
            limit: filter.limit,
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
