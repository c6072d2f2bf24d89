//! What Portico stores where it is the dashboard itself, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;

use super::contract::is_valid;
use super::state::{SearchEngineRow, State, check_secret, count, insert, insert_key};
use super::transaction::MemoryTransaction;
use crate::audit::{AuditEntry, AuditFilter, AuditPrune, AuditRow};
use crate::boards::{Board, BoardSummary};
use crate::dashboard::DashboardTransaction;
use crate::dashboard_records::{
    ApiKey, Credential, CredentialKey, DefaultHome, ExtrasOf, Group, HeldInvite, Invite, Named, NamedShares,
    NewInvite, PasswordLink, SearchEngine, SecretHash, Session, SessionUser, Shares,
};
use crate::driver::MOST_EXPIRED;
use crate::gate::{AppGate, AppPlace, GateVisitor};
use crate::looks::{Looks, NewPicture, Picture, PictureCount, VisibilityInForce};
use crate::records::{ProviderSubject, Result, Viewer};
use crate::second_factors::SecondFactor;
use crate::seen::{AppBoards, First, FirstShares, SeenThrough};
use portico_model::{FactorKind, HomeBoards, Id, Provider, Timestamp};

#[async_trait]
impl DashboardTransaction for MemoryTransaction {
    async fn find_credential(&mut self, key: &CredentialKey) -> Result<Option<Credential>> {
        Ok(self.state.credential(key))
    }

    async fn get_session_user(&mut self, user_id: &str) -> Result<Option<SessionUser>> {
        let row = self.state.users.get(user_id);
        Ok(row.map(|row| SessionUser {
            id: row.user.id.clone(),
            name: row.user.name.clone(),
            email: row.user.email.clone(),
            image: row.user.image.clone(),
            provider: row.user.provider,
            color_scheme: row.color_scheme,
            permissions: owned(self.state.permissions(user_id)),
        }))
    }

    async fn insert_key(&mut self, key: &ApiKey, secret: &SecretHash) -> Result<()> {
        self.insert(&key.id, |state| insert_key(state, key, secret, None))
    }

    async fn import_key(&mut self, key: &ApiKey, secret: &SecretHash, imported: &str) -> Result<()> {
        self.insert(&key.id, |state| insert_key(state, key, secret, Some(imported)))
    }

    async fn adopt_key(&mut self, id: &str, imported: &str, secret: &SecretHash) -> Result<bool> {
        self.change(|state| {
            let row = state.keys.get_mut(id);
            let Some(row) = row.filter(|row| row.imported.as_deref() == Some(imported)) else {
                return Ok(false);
            };
            row.secret = *secret;
            row.imported = None;
            Ok(true)
        })
    }

    async fn list_keys(&mut self, user_id: Option<&str>) -> Result<Vec<ApiKey>> {
        let keys = self.state.keys.values().map(|row| &row.key);
        let keys = keys.filter(|key| user_id.is_none_or(|user_id| key.user_id == user_id));
        Ok(keys.cloned().collect())
    }

    async fn delete_key(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.keys.remove(id).is_some()))
    }

    async fn touch_key(&mut self, id: &str, now: Timestamp) -> Result<()> {
        self.change(|state| {
            if let Some(row) = state.keys.get_mut(id) {
                row.key.last_used_at = Some(now);
            }
            Ok(())
        })
    }

    async fn insert_session(&mut self, session: &Session, token: &SecretHash) -> Result<()> {
        self.change(|state| {
            check_secret(state.sessions.values().map(|(_, kept)| kept), token)?;
            state.check_enabled(&session.user_id)?;
            insert(&mut state.sessions, &session.id, (session.clone(), *token))
        })
    }

    async fn list_sessions(&mut self, user_id: &str) -> Result<Vec<Session>> {
        let sessions = self.state.sessions.values().map(|(session, _)| session);
        Ok(sessions
            .filter(|session| session.user_id == user_id)
            .cloned()
            .collect())
    }

    async fn touch_session(&mut self, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<()> {
        self.change(|state| {
            if let Some((session, _)) = state.sessions.get_mut(id) {
                session.last_used_at = now;
                session.expires_at = expires_at;
            }
            Ok(())
        })
    }

    async fn delete_session(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.sessions.remove(id).is_some()))
    }

    async fn delete_other_sessions(&mut self, user_id: &str, kept: Option<&str>) -> Result<u64> {
        let removed = self.change(|state| {
            let before = state.sessions.len();
            let is_kept = |session: &Session| session.user_id != user_id || kept == Some(&session.id);
            state.sessions.retain(|_, (session, _)| is_kept(session));
            Ok((before - state.sessions.len()) as u64)
        })?;
        self.trail.changed(user_id);
        Ok(removed)
    }

    async fn delete_expired_sessions(&mut self, now: Timestamp) -> Result<()> {
        self.change(|state| {
            let mut left = MOST_EXPIRED;
            state.sessions.retain(|_, (session, _)| {
                let removed = session.expires_at <= now && left > 0;
                left -= u32::from(removed);
                !removed
            });
            Ok(())
        })
    }

    async fn insert_invite(&mut self, invite: &NewInvite, token: &SecretHash) -> Result<()> {
        self.insert(&invite.id, |state| {
            State::check_reference(&state.users, &invite.creator_id)?;
            State::check_reference(&state.groups, &invite.group_ids)?;
            let mut invite = invite.clone();
            invite.group_ids.sort();
            insert(&mut state.invites, &invite.id.clone(), (invite, *token))
        })
    }

    async fn find_invite(&mut self, id: &str, token: &SecretHash) -> Result<Option<HeldInvite>> {
        Ok(self.state.held_invite(id, token))
    }

    async fn take_held_invite(&mut self, id: &str, token: &SecretHash, now: Timestamp) -> Result<bool> {
        let taken = self.change(|state| {
            if !is_valid(&state.invites, id, token, now) {
                return Ok(None);
            }
            let taken = state.invites.remove(id);
            Ok(taken.map(|(invite, _)| state.groups_given_by(&invite)))
        })?;
        let is_taken = taken.is_some();
        self.invited_to.extend(taken.unwrap_or_default());
        Ok(is_taken)
    }

    async fn list_invites(&mut self) -> Result<Vec<Invite>> {
        Ok(self.state.list_invites())
    }

    async fn delete_invite(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.invites.remove(id).is_some()))
    }

    async fn put_password_link(&mut self, link: &PasswordLink, token: &SecretHash) -> Result<()> {
        self.insert(&link.user_id, |state| state.put_password_link(link, token))
    }

    async fn find_password_link(&mut self, token: &SecretHash, now: Timestamp) -> Result<Option<String>> {
        Ok(self.state.find_password_link(token, now))
    }

    async fn delete_password_link(&mut self, user_id: &str) -> Result<bool> {
        let found = self.change(|state| Ok(state.password_links.remove(user_id).is_some()))?;
        if found {
            self.trail.changed(user_id);
        }
        Ok(found)
    }

    async fn insert_second_factor(&mut self, factor: &SecondFactor) -> Result<bool> {
        self.create(&factor.id, |state| state.insert_second_factor(factor))
    }

    async fn list_second_factors(&mut self, user_id: &str) -> Result<Vec<SecondFactor>> {
        Ok(self.state.second_factors_of(user_id))
    }

    async fn find_passkey(&mut self, handle: &str) -> Result<Option<SecondFactor>> {
        let mut all = self.state.second_factors.values();
        Ok(all
            .find(|factor| factor.handle.as_deref() == Some(handle))
            .cloned())
    }

    async fn advance_second_factor(&mut self, id: &str, counter: u64, now: Timestamp) -> Result<bool> {
        self.change(|state| Ok(state.advance_second_factor(id, counter, now)))
    }

    async fn update_second_factor(
        &mut self,
        id: &str,
        data: &str,
        counter: u64,
        now: Timestamp,
    ) -> Result<bool> {
        self.change(|state| Ok(state.update_second_factor(id, data, counter, now)))
    }

    async fn rename_second_factor(&mut self, user_id: &str, id: &str, name: &str) -> Result<bool> {
        let found = self.change(|state| Ok(state.rename_second_factor(user_id, id, name)))?;
        if found {
            self.trail.changed(user_id);
        }
        Ok(found)
    }

    async fn delete_second_factor(&mut self, user_id: &str, id: &str) -> Result<bool> {
        let found = self.change(|state| Ok(state.remove_second_factor(user_id, id)))?;
        if found {
            self.trail.changed(user_id);
        }
        Ok(found)
    }

    async fn list_second_factor_owners(&mut self) -> Result<Vec<(String, FactorKind)>> {
        Ok(self.state.second_factor_owners())
    }

    async fn set_recovery_codes(&mut self, user_id: &str, codes: &[SecretHash]) -> Result<()> {
        self.change(|state| state.set_recovery_codes(user_id, codes))
    }

    async fn take_recovery_code(&mut self, user_id: &str, code: &SecretHash) -> Result<bool> {
        self.change(|state| Ok(state.take_recovery_code(user_id, code)))
    }

    async fn count_recovery_codes(&mut self, user_id: &str) -> Result<u64> {
        let codes = self.state.recovery_codes.get(user_id);
        Ok(codes.map_or(0, |codes| codes.len() as u64))
    }

    async fn insert_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.create(id, |state| state.insert_group(id, name, name_key))
    }

    async fn update_group(&mut self, id: &str, name: &str, name_key: &str) -> Result<bool> {
        self.change(|state| Ok(state.update_group(id, name, name_key)))
    }

    async fn list_groups(&mut self) -> Result<Vec<Group>> {
        Ok(self.state.list_groups())
    }

    async fn find_group(&mut self, name_key: &str) -> Result<Option<String>> {
        Ok(self.state.find_group(name_key))
    }

    async fn list_group_keys(&mut self) -> Result<Vec<(String, String)>> {
        Ok(self.state.list_group_keys())
    }

    async fn list_memberships(&mut self, user_id: &str) -> Result<Vec<String>> {
        Ok(self.state.list_memberships(user_id))
    }

    async fn list_groups_with(&mut self, permissions: &[String], most: u32) -> Result<First<Named>> {
        Ok(First::of(self.state.groups_with(permissions), most))
    }

    async fn list_default_homes(&mut self) -> Result<Vec<DefaultHome>> {
        Ok(self.state.list_default_homes())
    }

    async fn list_default_homes_of(&mut self, user_id: Option<&str>) -> Result<Vec<HomeBoards>> {
        Ok(self.state.list_default_homes_of(user_id))
    }

    async fn set_default_home(&mut self, home: &DefaultHome) -> Result<bool> {
        self.change(|state| state.set_default_home(home))
    }

    async fn delete_group(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.remove_group(id)))
    }

    async fn set_group_permissions(&mut self, id: &str, permissions: &[String]) -> Result<bool> {
        self.change(|state| Ok(state.set_group_permissions(id, permissions)))
    }

    async fn remove_from_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        self.change(|state| Ok(state.remove_from_group(user_id, group_id)))
    }

    async fn insert_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        self.create(&board.board.id, |state| state.insert_board(board, name_key))
    }

    async fn update_board(&mut self, board: &Board, name_key: &str) -> Result<bool> {
        self.change(|state| state.update_board(board, name_key))
    }

    async fn can_change_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        Ok(self.state.can_change_board(user_id, board_id))
    }

    async fn list_boards(&mut self) -> Result<Vec<BoardSummary>> {
        let mut rows: Vec<_> = self.state.boards.values().collect();
        rows.sort_by_key(|row| (&row.name_key, &row.board.board.id));
        Ok(rows.into_iter().map(|row| row.board.board.clone()).collect())
    }

    async fn list_visible_boards(&mut self, user_id: Option<&str>) -> Result<Vec<BoardSummary>> {
        let mut boards = self.list_boards().await?;
        boards.retain(|board| match user_id {
            Some(user_id) => self
                .state
                .can_view_board(user_id, self.views_by_shares, &board.id),
            None => board.is_public,
        });
        Ok(boards)
    }

    async fn list_viewed(&mut self, user_id: Option<&str>, board_ids: &[String]) -> Result<BTreeSet<String>> {
        Ok(self.state.list_viewed(user_id, self.views_by_shares, board_ids))
    }

    async fn list_changeable_boards(&mut self, user_id: &str) -> Result<Vec<BoardSummary>> {
        let mut boards = self.list_boards().await?;
        boards.retain(|board| self.state.can_change_board(user_id, &board.id));
        Ok(boards)
    }

    async fn list_boards_with(&mut self, app_id: &str, most: u32) -> Result<AppBoards> {
        Ok(self.state.app_boards(app_id, most))
    }

    async fn list_first_shares(
        &mut self,
        board_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, FirstShares>> {
        Ok(self.state.first_shares(board_ids, most))
    }

    async fn list_seen_through(
        &mut self,
        user_id: &str,
        app_ids: &[String],
        most: u32,
    ) -> Result<BTreeMap<String, First<SeenThrough>>> {
        Ok(self
            .state
            .seen_through(user_id, self.views_by_shares, app_ids, most))
    }

    async fn get_board(&mut self, id: &str) -> Result<Option<Board>> {
        Ok(self.state.boards.get(id).map(|row| row.board.clone()))
    }

    async fn find_board(&mut self, slug: &str) -> Result<Option<String>> {
        let mut boards = self.state.boards.values().map(|row| &row.board.board);
        let found = boards.find(|board| board.slug.as_deref() == Some(slug));
        Ok(found.map(|board| board.id.clone()))
    }

    async fn get_shares(&mut self, board_id: &str) -> Result<Option<Shares>> {
        let row = self.state.boards.get(board_id);
        Ok(row.map(|row| row.shares.clone()))
    }

    async fn get_named_shares(&mut self, board_id: &str) -> Result<Option<NamedShares>> {
        Ok(self.state.named_shares(board_id))
    }

    async fn share_board(&mut self, id: &str, shares: &Shares) -> Result<bool> {
        self.change(|state| state.share_board(id, shares))
    }

    async fn delete_board(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.remove_board(id)))
    }

    async fn sees_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<bool> {
        let apps = &self.state.apps;
        let mut rows = ids.iter().map(|id| apps.get(id));
        Ok(rows.all(|row| row.is_some_and(|row| self.sees(viewer, &row.app))))
    }

    async fn find_seen_app(&mut self, ids: &[String], viewer: &Viewer) -> Result<Option<String>> {
        Ok(self.seen_app(ids, viewer))
    }

    async fn find_open_app(&mut self, ids: &[String]) -> Result<Option<String>> {
        Ok(self.state.open_app(ids))
    }

    async fn list_app_places(&mut self) -> Result<Vec<AppPlace>> {
        Ok(self.state.app_places())
    }

    async fn list_app_gates(&mut self) -> Result<Vec<AppGate>> {
        Ok(self.state.app_gates.values().cloned().collect())
    }

    async fn get_app_gate(&mut self, app_id: &str) -> Result<Option<AppGate>> {
        Ok(self.state.app_gate(app_id))
    }

    async fn set_app_gate(&mut self, gate: &AppGate) -> Result<bool> {
        self.change(|state| Ok(state.set_app_gate(gate)))
    }

    async fn put_gate_pass(
        &mut self,
        session_id: &str,
        token: &SecretHash,
        pass: &SecretHash,
    ) -> Result<bool> {
        self.change(|state| Ok(state.put_gate_pass(session_id, token, pass)))
    }

    async fn find_gate_visitor(&mut self, pass: &SecretHash) -> Result<Option<GateVisitor>> {
        Ok(self.state.gate_visitor(pass))
    }

    async fn get_subject(&mut self, user_id: &str, provider: Provider) -> Result<Option<String>> {
        let found = self.state.find_subject(user_id, provider);
        Ok(found.map(|of| of.subject.clone()))
    }

    async fn list_subjects(&mut self, provider: Provider) -> Result<Vec<(Named, String)>> {
        Ok(self.state.list_subjects(provider))
    }

    async fn replace_subject(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<bool> {
        self.change(|state| state.replace_subject(user_id, subject))
    }

    async fn get_extras(&mut self, of: &ExtrasOf) -> Result<Option<String>> {
        Ok(self.state.extras.get(of).cloned())
    }

    async fn set_extras(&mut self, of: &ExtrasOf, extras: Option<&str>) -> Result<bool> {
        self.change(|state| {
            let is_there = match of {
                ExtrasOf::User(id) => state.users.contains_key(id),
                ExtrasOf::Board(id) => state.boards.contains_key(id),
            };
            match extras {
                Some(extras) if is_there => {
                    state.extras.insert(of.clone(), extras.to_owned());
                }
                _ => {
                    state.extras.remove(of);
                }
            }
            Ok(is_there)
        })
    }

    async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.create(&engine.id, |state| {
            let mut rows = state.search_engines.values();
            if rows.any(|row| row.name_key == name_key || row.short_key == short_key) {
                return Ok(false);
            }
            let row = SearchEngineRow::new(engine, name_key, short_key);
            insert(&mut state.search_engines, &engine.id, row)?;
            Ok(true)
        })
    }

    async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.change(|state| {
            let mut others = state.search_engines.iter().filter(|(id, _)| **id != engine.id);
            if others.any(|(_, row)| row.name_key == name_key || row.short_key == short_key) {
                return Ok(false);
            }
            let Some(row) = state.search_engines.get_mut(&engine.id) else {
                return Ok(false);
            };
            *row = SearchEngineRow::new(engine, name_key, short_key);
            Ok(true)
        })
    }

    async fn get_search_engine(&mut self, id: &str) -> Result<Option<SearchEngine>> {
        Ok(self.state.search_engines.get(id).map(|row| row.engine.clone()))
    }

    async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>> {
        let mut rows: Vec<_> = self.state.search_engines.values().collect();
        rows.sort_by_key(|row| (&row.name_key, &row.engine.id));
        Ok(rows.into_iter().map(|row| row.engine.clone()).collect())
    }

    async fn delete_search_engine(&mut self, id: &str) -> Result<bool> {
        self.change(|state| Ok(state.remove_search_engine(id)))
    }

    async fn get_visibility_in_force(&mut self) -> Result<VisibilityInForce> {
        Ok(self.visibility_in_force())
    }

    async fn get_looks(&mut self) -> Result<Looks> {
        Ok(self.state.looks.clone())
    }

    async fn set_looks(&mut self, looks: &Looks) -> Result<()> {
        self.change(|state| {
            State::check_reference(&state.pictures, looks.logo.iter().chain(&looks.wallpaper))?;
            State::check_reference(&state.boards, &looks.start_board)?;
            state.looks = looks.clone();
            Ok(())
        })
    }

    async fn put_picture(&mut self, picture: &NewPicture) -> Result<bool> {
        self.create(&picture.id, |state| {
            if let Some(present) = state.pictures.get_mut(&picture.id) {
                Arc::make_mut(present).uploaded_at = picture.uploaded_at;
                return Ok(false);
            }
            State::check_reference(&state.users, &picture.uploader_id)?;
            insert(&mut state.pictures, &picture.id, Arc::new(picture.clone()))?;
            Ok(true)
        })
    }

    async fn get_picture(&mut self, id: &str) -> Result<Option<Picture>> {
        let found = self.state.pictures.get(id);
        Ok(found.map(|picture| picture.picture.clone()))
    }

    async fn get_picture_size(&mut self, id: &str) -> Result<Option<u64>> {
        let found = self.state.pictures.get(id);
        Ok(found.map(|picture| picture.picture.bytes.len() as u64))
    }

    async fn count_pictures(&mut self) -> Result<PictureCount> {
        Ok(count(self.state.pictures.values().map(|picture| &**picture)))
    }

    async fn count_unused_pictures(&mut self, uploader_id: &str) -> Result<PictureCount> {
        let unused = self.state.unused_pictures();
        Ok(count(unused.filter(|picture| {
            picture.uploader_id.as_deref() == Some(uploader_id)
        })))
    }

    async fn remove_unused_pictures(&mut self, before: Timestamp) -> Result<u64> {
        self.change(|state| {
            let unused = state
                .unused_pictures()
                .filter(|picture| picture.uploaded_at < before);
            let unused: Vec<Id> = unused.map(|picture| picture.id.clone()).collect();
            state.pictures.retain(|id, _| !unused.contains(id));
            Ok(unused.len() as u64)
        })
    }

    async fn insert_audit(&mut self, entry: &AuditEntry) -> Result<()> {
        self.change(|state| state.add_audit(entry.clone()))
    }

    async fn list_audit(&mut self, filter: &AuditFilter, offset: u64, limit: u32) -> Result<Vec<AuditRow>> {
        Ok(self.state.list_audit(filter, offset, limit))
    }

    async fn count_audit(&mut self, filter: &AuditFilter) -> Result<u64> {
        Ok(self.state.audit_that_fits(filter).count() as u64)
    }

    async fn prune_audit(&mut self, which: AuditPrune, most: u32) -> Result<u64> {
        self.change(|state| Ok(state.prune_audit(which, most)))
    }
}

pub(super) fn owned(permissions: BTreeSet<&str>) -> Vec<String> {
    permissions.into_iter().map(str::to_owned).collect()
}
