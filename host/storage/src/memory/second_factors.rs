//! Second factors and recovery codes in memory.

use std::collections::BTreeSet;

use super::state::{State, insert};
use crate::dashboard_records::SecretHash;
use crate::records::Result;
use crate::second_factors::SecondFactor;
use portico_model::{FactorKind, Timestamp};

impl State {
    pub fn insert_second_factor(&mut self, factor: &SecondFactor) -> Result<bool> {
        let is_of_codes = |other: &SecondFactor| other.kind == FactorKind::Totp;
        let is_taken = self.second_factors.values().any(|other| {
            factor.handle.is_some() && other.handle == factor.handle
                || is_of_codes(other) && is_of_codes(factor) && other.user_id == factor.user_id
        });
        if is_taken {
            return Ok(false);
        }
        self.check_enabled(&factor.user_id)?;
        insert(&mut self.second_factors, &factor.id, factor.clone())?;
        Ok(true)
    }

    pub fn second_factors_of(&self, user_id: &str) -> Vec<SecondFactor> {
        let all = self.second_factors.values();
        all.filter(|factor| factor.user_id == user_id).cloned().collect()
    }

    pub fn advance_second_factor(&mut self, id: &str, counter: u64, now: Timestamp) -> bool {
        let factor = self.second_factors.get_mut(id);
        let Some(factor) = factor.filter(|factor| factor.counter.is_none_or(|last| last < counter)) else {
            return false;
        };
        factor.counter = Some(counter);
        factor.last_used_at = Some(now);
        true
    }

    pub fn update_second_factor(&mut self, id: &str, data: &str, counter: u64, now: Timestamp) -> bool {
        let Some(factor) = self.second_factors.get_mut(id) else {
            return false;
        };
        factor.data = data.to_owned();
        factor.counter = Some(counter);
        factor.last_used_at = Some(now);
        true
    }

    pub fn rename_second_factor(&mut self, user_id: &str, id: &str, name: &str) -> bool {
        let factor = self.second_factors.get_mut(id);
        let Some(factor) = factor.filter(|factor| factor.user_id == user_id) else {
            return false;
        };
        factor.name = Some(name.to_owned());
        true
    }

    pub fn remove_second_factor(&mut self, user_id: &str, id: &str) -> bool {
        let is_theirs = |factor: &SecondFactor| factor.user_id == user_id;
        let found = self.second_factors.get(id).is_some_and(is_theirs);
        if found {
            self.second_factors.remove(id);
        }
        found
    }

    pub fn second_factor_owners(&self) -> Vec<(String, FactorKind)> {
        let owners: BTreeSet<_> = self
            .second_factors
            .values()
            .map(|factor| (factor.user_id.clone(), factor.kind.name(), factor.kind))
            .collect();
        owners
            .into_iter()
            .map(|(user_id, _, kind)| (user_id, kind))
            .collect()
    }

    pub fn set_recovery_codes(&mut self, user_id: &str, codes: &[SecretHash]) -> Result<()> {
        Self::check_reference(&self.users, [&user_id.to_owned()])?;
        self.recovery_codes.insert(user_id.to_owned(), codes.to_vec());
        Ok(())
    }

    pub fn take_recovery_code(&mut self, user_id: &str, code: &SecretHash) -> bool {
        let Some(codes) = self.recovery_codes.get_mut(user_id) else {
            return false;
        };
        let before = codes.len();
        codes.retain(|kept| kept != code);
        codes.len() < before
    }
}
