//! What the gate reads, in memory.

use std::collections::BTreeSet;

use super::dashboard::owned;
use super::state::State;
use super::transaction::MemoryTransaction;
use crate::ADMIN;
use crate::dashboard_records::SecretHash;
use crate::gate::{AppGate, AppPlace, GateVisitor};
use crate::records::{NewUser, Viewer};
use portico_model::{Id, Provider};

impl MemoryTransaction {
    /// The first of these apps, by id, that this viewer sees.
    pub fn seen_app(&self, ids: &[String], viewer: &Viewer) -> Option<Id> {
        let mut rows = self.state.apps.values();
        let found = rows.find(|row| ids.contains(&row.app.id) && self.sees(viewer, &row.app));
        found.map(|row| row.app.id.clone())
    }
}

impl State {
    /// The first of these apps, by id, that is open and on a public board.
    pub fn open_app(&self, ids: &[String]) -> Option<Id> {
        let mut gates = self.app_gates.values();
        let found = gates.find(|gate| {
            gate.is_open && ids.contains(&gate.app_id) && self.sees(&Viewer::Anonymous, true, &gate.app_id)
        });
        found.map(|gate| gate.app_id.clone())
    }

    /// Where all apps are that have a link or further addresses, by id.
    pub fn app_places(&self) -> Vec<AppPlace> {
        let addresses = |id: &Id| self.app_gates.get(id).map(|gate| gate.addresses.clone());
        let places = self.apps.values().map(|row| AppPlace {
            app_id: row.app.id.clone(),
            href: row.app.href.clone(),
            addresses: addresses(&row.app.id).unwrap_or_default(),
        });
        places
            .filter(|place| place.href.is_some() || !place.addresses.is_empty())
            .collect()
    }

    /// What is kept of an app for the gate; `None` if there is no such app.
    pub fn app_gate(&self, app_id: &str) -> Option<AppGate> {
        let unset = || AppGate {
            app_id: app_id.to_owned(),
            ..AppGate::default()
        };
        let found = || self.app_gates.get(app_id).cloned().unwrap_or_else(unset);
        self.apps.contains_key(app_id).then(found)
    }

    pub fn set_app_gate(&mut self, gate: &AppGate) -> bool {
        if !self.apps.contains_key(&gate.app_id) {
            return false;
        }
        self.app_gates.remove(&gate.app_id);
        if !gate.is_unset() {
            self.app_gates.insert(gate.app_id.clone(), gate.clone());
        }
        true
    }

    pub fn put_gate_pass(&mut self, session_id: &str, token: &SecretHash, pass: &SecretHash) -> bool {
        let sessions = &self.sessions;
        self.gate_passes.retain(|id, _| sessions.contains_key(id));
        if sessions.get(session_id).is_none_or(|(_, kept)| kept != token) {
            return false;
        }
        self.gate_passes.insert(session_id.to_owned(), (*pass, *token));
        true
    }

    /// The user with this pass.
    pub fn gate_visitor(&self, pass: &SecretHash) -> Option<GateVisitor> {
        let mut passes = self.gate_passes.iter();
        let (id, (_, token)) = passes.find(|(_, (kept, _))| kept == pass)?;
        let (session, kept) = self.sessions.get(id)?;
        if kept != token || self.disabled.contains(&session.user_id) {
            return None;
        }
        let row = self.users.get(&session.user_id)?;
        let is_own = |user: &NewUser| user.user.provider == Provider::Credentials;
        let is_admin = |user: &NewUser| self.permissions(&user.user.id).contains(ADMIN);
        let is_other = |other: &NewUser| {
            let has_name = other.user.id != row.user.id && other.name_key == row.name_key;
            has_name && (is_own(row) || !is_own(other) || is_admin(other))
        };
        let is_vouched_for = row.user.email_verified.is_some() || row.user.provider == Provider::Ldap;
        let groups: BTreeSet<&str> = self
            .groups
            .values()
            .filter(|group| group.members.contains(&session.user_id))
            .map(|group| &*group.name)
            .collect();
        Some(GateVisitor {
            session_id: session.id.clone(),
            user_id: row.user.id.clone(),
            name: row.user.name.clone(),
            email: row.user.email.clone().filter(|_| is_vouched_for),
            is_name_shared: self.users.values().any(is_other),
            groups: owned(groups),
            permissions: owned(self.permissions(&session.user_id)),
            expires_at: session.expires_at,
            ends_at: session.ends_at,
        })
    }
}
