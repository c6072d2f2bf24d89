//! Subjects of providers in memory: each user has at most one of each provider.

use super::boards::named;
use super::state::State;
use crate::dashboard_records::Named;
use crate::records::{Constraint, Error, ProviderSubject, Result};
use portico_model::Provider;

impl State {
    /// The subject of this provider that a user has.
    pub fn find_subject(&self, user_id: &str, provider: Provider) -> Option<&ProviderSubject> {
        let mut identities = self.identities.iter();
        let found = identities.find(|(of, user)| of.provider == provider && *user == user_id);
        found.map(|(of, _)| of)
    }

    /// All subjects of this provider with their users, by the user's id.
    pub fn list_subjects(&self, provider: Provider) -> Vec<(Named, String)> {
        let identities = self.identities.iter();
        let of_provider = identities.filter(|(of, _)| of.provider == provider);
        let mut listed: Vec<_> = of_provider
            .filter_map(|(of, id)| {
                let row = self.users.get(id)?;
                Some((named(id, &row.user.name), of.subject.clone()))
            })
            .collect();
        listed.sort_by(|(one, _), (other, _)| one.id.cmp(&other.id));
        listed
    }

    /// Gives a user another subject of the same provider; false if they have none.
    pub fn replace_subject(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<bool> {
        let Some(present) = self.find_subject(user_id, subject.provider).cloned() else {
            return Ok(false);
        };
        if self.identities.get(subject).is_some_and(|user| user != user_id) {
            return Err(Error::Constraint(Constraint::Identity));
        }
        self.identities.remove(&present);
        self.identities.insert(subject.clone(), user_id.to_owned());
        Ok(true)
    }
}
