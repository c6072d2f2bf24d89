//! The users and apps of a document, as the component takes them.

use std::collections::HashMap;

use portico_model::{TextChange, error::Error};
use portico_rules::links;
use portico_rules::refusal::Refusal;
use portico_rules::rule::Rule;
use portico_sandbox::{Secret, TimestampChange, WantedApp, WantedUser};

use super::{super::change::Change, component::Component, document::Document, plan::Plan};
use crate::report::Warning;

/// The most passwords that one document may have hashed: each takes tens of milliseconds.
const MOST_PASSWORDS: usize = 200;

/// Users and apps as the component takes them.
pub(super) struct Wanted {
    pub users: Vec<WantedUser>,
    pub apps: Vec<WantedApp>,
    /// The password hashes of new users, by position. They are computed before the transaction.
    hashes: HashMap<usize, String>,
    /// The icons of new apps, by position. They are looked up before the transaction.
    icons: HashMap<usize, String>,
}

impl Wanted {
    /// Takes the records out of a document. The names and ids that identify them stay there as well.
    pub fn of(document: &mut Document) -> Self {
        let users = document.users.iter_mut().flatten().map(|user| WantedUser {
            provider: user.provider,
            name: user.name.clone(),
            email: std::mem::take(&mut user.email),
            email_verified: match user.email_verified {
                Change::Keep => TimestampChange::Keep,
                Change::Clear => TimestampChange::Clear,
                Change::Set(moment) => TimestampChange::Set(moment),
            },
            image: std::mem::take(&mut user.image),
            disabled: user.disabled,
            secret: user.password.take().map(Secret::Password),
        });
        let apps = document.apps.iter_mut().flatten().map(|app| WantedApp {
            id: app.id.clone(),
            name: app.name.clone(),
            icon_url: app.icon_url.take(),
            description: std::mem::take(&mut app.description),
            href: std::mem::take(&mut app.href),
            ping_url: std::mem::take(&mut app.ping_url),
        });
        Self {
            users: users.collect(),
            apps: apps.collect(),
            hashes: HashMap::new(),
            icons: HashMap::new(),
        }
    }

    /// Links that lead nowhere. A document may be older than the rule, so it is applied, and says so.
    pub fn warnings(&self) -> Vec<Warning> {
        let apps = self.apps.iter();
        let warnings = apps.filter_map(|app| {
            let TextChange::Set(href) = &app.href else {
                return None;
            };
            Some(Warning {
                kind: "app".into(),
                name: app.name.trim().into(),
                field: "href".into(),
                message: links::problem(href)?.into(),
            })
        });
        warnings.collect()
    }

    /// Hashes the passwords of new users and looks up the icons of new apps, outside of transactions.
    pub async fn prepare(&mut self, component: &mut Component<'_>, plan: &Plan) -> Result<(), Error> {
        let new_users = self.users.iter().enumerate();
        let new_users = new_users.filter(|(index, _)| plan.users[*index].is_none());
        let passwords: Vec<_> = new_users
            .filter_map(|(index, user)| match &user.secret {
                Some(Secret::Password(password)) => Some((index, password)),
                _ => None,
            })
            .collect();
        if passwords.len() > MOST_PASSWORDS {
            let rule = Rule::TooManyPasswords {
                most: MOST_PASSWORDS,
                got: passwords.len(),
            };
            return Err(Error::invalid_field("users", rule));
        }
        for (index, password) in passwords {
            let hash = component.hash_password(password).await?;
            self.hashes.insert(index, hash);
        }

        let apps = self.apps.iter().enumerate();
        let without: Vec<_> = apps
            .filter(|(index, app)| plan.apps[*index].is_none() && app.icon_url.is_none())
            .collect();
        let names: Vec<String> = without.iter().map(|(_, app)| app.name.trim().into()).collect();
        let icons = component.find_icons(&names).await?;
        self.icons = without.iter().map(|(index, _)| *index).zip(icons).collect();
        Ok(())
    }

    /// Adds the prepared hashes and icons, and the ids of existing apps.
    pub fn complete(&mut self, plan: &Plan) -> Result<(), Error> {
        for (index, user) in self.users.iter_mut().enumerate() {
            let had_password = user.secret.take().is_some();
            if plan.users[index].is_none() && had_password {
                let hash = self.hashes.remove(&index).ok_or_else(changed_meanwhile)?;
                user.secret = Some(Secret::Hash(hash));
            }
        }
        for (index, app) in self.apps.iter_mut().enumerate() {
            match &plan.apps[index] {
                Some(id) => app.id = Some(id.clone()),
                None if app.icon_url.is_none() => {
                    app.icon_url = Some(self.icons.remove(&index).ok_or_else(changed_meanwhile)?);
                }
                None => {}
            }
        }
        Ok(())
    }
}

fn changed_meanwhile() -> Error {
    Refusal::StateChanged.into()
}
