//! `state.apply`: the steps, in order.

use std::collections::{HashMap, HashSet};

use portico_model::{HomeBoards, Id, TextChange, error::Error};
use portico_rules::refusal::{Refusal, UniqueName};
use portico_sandbox::{self as sandbox, Kind};
use portico_storage::{
    ADMIN, Access, AppGate, Board, BoardSummary, DashboardTransaction, DefaultHome, SearchEngine, Shares,
    nested::Enclosing,
};

use super::{
    super::{groups::require_administrator, validate::Fields},
    component::Component,
    contents::{Ids, resolved, sections, shares},
    document::{self, Document, Matches, entries},
    looks::WantedLooks,
    plan::{ChosenBoard, Plan, Referent},
    report::{NamedIds, View},
    snapshot::{Keys, Names, Snapshot},
    wanted::Wanted,
};
use crate::{
    identity::{self, Identity},
    procedures::call::{Call, Output, json},
    report::Report,
};

/// `state.apply`
pub(super) async fn run(mut call: Call) -> Result<Output, Error> {
    let mut document: Document = call.input()?;
    let mut component = Component::new(&call).await?;
    let mut wanted = Wanted::of(&mut document);
    let mut fields = Fields::default();
    document.check(&mut fields);
    let mut looks = WantedLooks::of(&mut document, &mut fields);
    component.check_users(&mut fields, &wanted.users).await?;
    component.check_apps(&mut fields, &wanted.apps).await?;
    fields.check()?;

    let mut keys = Keys::default();
    let names = keys.unknown(document.names());
    component.learn(&mut keys, names).await?;
    let snapshot = Snapshot::read(&call).await?;
    let at_once = snapshot.at_once();
    let (_, plan) = make_plan(snapshot, &mut component, &document, &mut keys).await?;
    wanted.prepare(&mut component, &plan).await?;

    let mut transaction = call.begin(Access::Write).await?;
    component.stop_waiting();
    require_still_permitted(&call, &mut *transaction).await?;
    // Other calls may have changed records since the first read.
    let snapshot = Snapshot::read_within(&mut *transaction, at_once).await?;
    let (before, plan) = make_plan(snapshot, &mut component, &document, &mut keys).await?;
    wanted.complete(&plan)?;
    let enclosing = Enclosing::new(transaction);
    component.enter_within(enclosing.storage());
    let apply = Apply {
        call: &call,
        document: &document,
        plan: &plan,
        before: &before,
        keys: &keys,
        enclosing: &enclosing,
    };
    let named = apply.run(&mut component, &wanted, &mut looks).await?;

    let mut transaction = enclosing.transaction().await;
    require_administrator(&mut *transaction).await?;
    let after = Snapshot::read_within(&mut *transaction, at_once).await?;
    drop(transaction);
    let view = |snapshot| View {
        snapshot,
        names: Names::new(snapshot, &keys),
    };
    let report = Report {
        warnings: wanted.warnings().into_iter().chain(looks.warnings).collect(),
        ..Report::new(document.dry_run, &named, &view(&before), &view(&after))
    };
    if let Some(audited) = &call.audited {
        audited.summarise(report.counts());
    }
    let output = json(&report)?;
    drop(component);
    if !document.dry_run {
        enclosing.commit().await?;
    }
    Ok(output)
}

/// Resolves the names of the document in the snapshot.
async fn make_plan(
    snapshot: Snapshot,
    component: &mut Component<'_>,
    document: &Document,
    keys: &mut Keys,
) -> Result<(Snapshot, Plan), Error> {
    let names = keys.unknown(snapshot.names());
    component.learn(keys, names).await?;
    let plan = Plan::new(document, &snapshot, keys)?;
    Ok((snapshot, plan))
}

/// Refuses a caller who has lost the permission `admin`, the key or the session while passwords were hashed, which may
/// have taken seconds.
async fn require_still_permitted(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
) -> Result<(), Error> {
    let now = call.resources.clock.now();
    let present = match identity::renew_within(transaction, &call.identity, now).await? {
        Some(renewed) => renewed,
        // The command line or the dashboard around vouches for the caller.
        None => {
            let Some(user_id) = call.identity.user_id() else {
                return Ok(());
            };
            let user = transaction.get_session_user(user_id).await?;
            let user = user.ok_or_else(Error::unauthorized)?;
            let authentication = call.identity.authentication.clone();
            Identity::user(user.id, user.permissions, authentication)
        }
    };
    present.check(&sandbox::Access::OneOf(vec![ADMIN.into()]), Kind::Mutation)
}

/// Applies the document inside one transaction.
struct Apply<'a> {
    call: &'a Call,
    document: &'a Document,
    plan: &'a Plan,
    before: &'a Snapshot,
    keys: &'a Keys,
    enclosing: &'a Enclosing,
}

impl Apply<'_> {
    /// Writes a record before those that refer to it, and removes it after them.
    async fn run(
        &self,
        component: &mut Component<'_>,
        wanted: &Wanted,
        looks: &mut WantedLooks,
    ) -> Result<NamedIds, Error> {
        let groups = self.put_groups().await?;
        let users = component.put_users(&wanted.users).await?;
        self.put_memberships(&groups, &users).await?;
        let apps = component.put_apps(&wanted.apps).await?;
        // Another search engine may take the short name of a removed one.
        let search_engines = self.prune_and_put_search_engines().await?;
        let ids = Ids { groups, users, apps };
        let boards = self.put_boards(&ids).await?;
        let gated = self.put_gates(&ids).await?;
        if self.document.prune {
            self.prune(component).await?;
        }
        self.put_homes(&ids.groups, &boards).await?;
        let start_board = self.plan.start_board.as_ref();
        let start_board = start_board.map(|board| chosen(board, &boards));
        let mut transaction = self.enclosing.transaction().await;
        looks
            .put(self.call, &mut *transaction, self.document, start_board)
            .await?;
        drop(transaction);
        let apps_of_document = entries(&self.document.apps).iter();
        Ok(NamedIds {
            by_id: apps_of_document.filter_map(|app| app.id.clone()).collect(),
            groups: ids.groups.into_iter().collect(),
            users: ids.users.into_iter().collect(),
            apps: ids.apps.into_iter().chain(gated).collect(),
            search_engines: search_engines.into_iter().collect(),
            boards: boards.into_iter().collect(),
            site: self.document.site.is_some() || states_home(self.document),
        })
    }

    async fn put_groups(&self) -> Result<Vec<Id>, Error> {
        let present: HashMap<&str, _> = self
            .before
            .groups
            .iter()
            .map(|group| (&group.id[..], group))
            .collect();
        let mut transaction = self.enclosing.transaction().await;
        let mut ids = Vec::new();
        for (index, group) in entries(&self.document.groups).iter().enumerate() {
            let name_key = self.keys.of(&group.name);
            let permissions = entries(&group.permissions);
            let Some(present) = existing(&self.plan.groups, index, &present) else {
                let id = self.call.resources.new_id();
                let inserted = transaction.insert_group(&id, &group.name, name_key).await?;
                free_at(inserted, "groups", index)?;
                transaction.set_group_permissions(&id, permissions).await?;
                ids.push(id);
                continue;
            };
            if present.name != group.name {
                let updated = transaction.update_group(&present.id, &group.name, name_key);
                free_at(updated.await?, "groups", index)?;
            }
            if group.permissions.is_some() && present.permissions != permissions {
                transaction
                    .set_group_permissions(&present.id, permissions)
                    .await?;
            }
            ids.push(present.id.clone());
        }
        Ok(ids)
    }

    async fn put_memberships(&self, groups: &[Id], users: &[Id]) -> Result<(), Error> {
        let present: HashMap<&str, _> = self
            .before
            .users
            .iter()
            .map(|user| (&user.id[..], &user.groups))
            .collect();
        let mut transaction = self.enclosing.transaction().await;
        for (index, user_id) in users.iter().enumerate() {
            let Some(wanted) = &self.plan.memberships[index] else {
                continue;
            };
            let wanted: Vec<Id> = wanted
                .iter()
                .map(|group| resolved(group, groups).into())
                .collect();
            let present = present.get(&user_id[..]).map_or(&[][..], |groups| groups);
            for group_id in missing(&wanted, present) {
                transaction.add_to_group(user_id, group_id).await?;
            }
            for group_id in missing(present, &wanted) {
                transaction.remove_from_group(user_id, group_id).await?;
            }
        }
        Ok(())
    }

    async fn prune_and_put_search_engines(&self) -> Result<Vec<Id>, Error> {
        let present = self.before.search_engines.iter();
        let present: HashMap<&str, _> = present.map(|engine| (&engine.id[..], engine)).collect();
        let mut transaction = self.enclosing.transaction().await;
        if self.document.prune && self.document.search_engines.is_some() {
            let all = self.before.search_engines.iter().map(|engine| &engine.id);
            for id in unlisted(all, &self.plan.search_engines) {
                transaction.delete_search_engine(&id).await?;
            }
        }
        let engines = entries(&self.document.search_engines).iter().enumerate();
        let engines: Vec<_> = engines
            .map(|(index, engine)| {
                let present = existing(&self.plan.search_engines, index, &present);
                let wanted = SearchEngine {
                    id: present.map_or_else(|| self.call.resources.new_id(), |present| present.id.clone()),
                    name: engine.name.clone(),
                    short: engine.short.clone(),
                    url_template: engine.url_template.clone(),
                    icon_url: engine.icon_url.clone(),
                    description: match &engine.description {
                        TextChange::Keep => present.and_then(|present| present.description.clone()),
                        TextChange::Clear => None,
                        TextChange::Set(text) => Some(text.clone()),
                    },
                };
                (wanted, present)
            })
            .collect();
        // Two search engines may swap their short names: each gives up its own before the other takes it.
        for (wanted, present) in &engines {
            if let Some(present) = present
                && self.keys.of(&present.short) != self.keys.of(&wanted.short)
            {
                // No short name has a control character. (Not U+0000, which PostgreSQL cannot store.)
                let unused_key = format!("\u{1}{}", present.id);
                let name_key = self.keys.of(&present.name);
                transaction
                    .update_search_engine(present, name_key, &unused_key)
                    .await?;
            }
        }
        for (index, (wanted, present)) in engines.iter().enumerate() {
            let keys = (self.keys.of(&wanted.name), self.keys.of(&wanted.short));
            let done = match present {
                Some(present) if *present == wanted => true,
                Some(_) => transaction.update_search_engine(wanted, keys.0, keys.1).await?,
                None => transaction.insert_search_engine(wanted, keys.0, keys.1).await?,
            };
            free_at(done, "searchEngines", index)?;
        }
        Ok(engines.into_iter().map(|(wanted, _)| wanted.id).collect())
    }

    async fn put_boards(&self, ids: &Ids) -> Result<Vec<Id>, Error> {
        let present: HashMap<&str, _> = self
            .before
            .boards
            .iter()
            .map(|whole| (&whole.0.board.id[..], whole))
            .collect();
        self.free_slugs(&present).await?;
        let mut transaction = self.enclosing.transaction().await;
        let mut board_ids = Vec::new();
        for (index, board) in entries(&self.document.boards).iter().enumerate() {
            let existing = existing(&self.plan.boards, index, &present);
            let contents = &self.plan.contents[index];
            let present = existing.map(|(board, _)| board);
            let wanted = Board {
                board: BoardSummary {
                    id: present.map_or_else(|| self.call.resources.new_id(), |board| board.board.id.clone()),
                    name: board.name.clone(),
                    slug: match &board.slug {
                        TextChange::Keep => present.and_then(|board| board.board.slug.clone()),
                        TextChange::Clear => None,
                        TextChange::Set(slug) => Some(slug.clone()),
                    },
                    is_public: board
                        .is_public
                        .unwrap_or(present.is_some_and(|board| board.board.is_public)),
                    creator_id: match &contents.creator {
                        Some(creator) => creator
                            .as_ref()
                            .map(|creator| resolved(creator, &ids.users).to_owned()),
                        None => present.and_then(|board| board.board.creator_id.clone()),
                    },
                },
                sections: sections(contents, present, &ids.apps),
            };
            let name_key = self.keys.of(&board.name);
            // Storage would not tell whether the name or the short address is taken.
            if let TextChange::Set(slug) = &board.slug
                && let Some(other) = transaction.find_board(slug).await?
                && other != wanted.board.id
            {
                return Err(taken_at(UniqueName::ListedBoardSlug, "boards", index));
            }
            let done = match present {
                Some(present) if *present == wanted && !moves_slug(board) => true,
                Some(_) => transaction.update_board(&wanted, name_key).await?,
                None => transaction.insert_board(&wanted, name_key).await?,
            };
            free_at(done, "boards", index)?;

            let before = existing.map(|(_, shares)| shares.clone()).unwrap_or_default();
            let shares = shares(contents, &before, ids);
            if shares != before {
                let id = &wanted.board.id;
                transaction.share_board(id, &shares).await?;
            }
            board_ids.push(wanted.board.id);
        }
        Ok(board_ids)
    }

    /// What is set of apps for the gate. Returns the apps that the list names.
    async fn put_gates(&self, ids: &Ids) -> Result<Vec<Id>, Error> {
        let present: HashMap<&str, &AppGate> = self
            .before
            .gates
            .iter()
            .map(|gate| (&gate.app_id[..], gate))
            .collect();
        let mut transaction = self.enclosing.transaction().await;
        let mut listed = Vec::new();
        for (wanted, app) in entries(&self.document.gate).iter().zip(&self.plan.gates) {
            let wanted = AppGate {
                app_id: resolved(app, &ids.apps).to_owned(),
                addresses: wanted.addresses.clone(),
                is_open: wanted.is_open,
            };
            let is_same = match present.get(&wanted.app_id[..]) {
                Some(present) => **present == wanted,
                None => wanted.is_unset(),
            };
            if !is_same {
                transaction.set_app_gate(&wanted).await?;
            }
            listed.push(wanted.app_id);
        }
        if self.document.prune && self.document.gate.is_some() {
            for gate in self
                .before
                .gates
                .iter()
                .filter(|gate| !listed.contains(&gate.app_id))
            {
                let app_id = gate.app_id.clone();
                transaction
                    .set_app_gate(&AppGate {
                        app_id,
                        ..AppGate::default()
                    })
                    .await?;
            }
        }
        Ok(listed)
    }

    /// Takes the short addresses that the document gives or removes from the boards that have them, so that boards can
    /// exchange them.
    async fn free_slugs(&self, present: &HashMap<&str, &(Board, Shares)>) -> Result<(), Error> {
        let listed: HashSet<&str> = self.plan.boards.iter().flatten().map(String::as_str).collect();
        let moving = entries(&self.document.boards).iter().enumerate();
        let moving = moving.filter(|(_, board)| moves_slug(board));
        let moving = moving.filter_map(|(index, _)| existing(&self.plan.boards, index, present));
        let prunes = self.document.prune && self.document.boards.is_some();
        let is_pruned = |board: &Board| prunes && !listed.contains(&board.board.id[..]);
        let pruned = self.before.boards.iter().filter(|(board, _)| is_pruned(board));
        let mut transaction = self.enclosing.transaction().await;
        for (board, _) in moving.chain(pruned) {
            if board.board.slug.is_none() {
                continue;
            }
            let mut without = board.clone();
            without.board.slug = None;
            let name_key = self.keys.of(&board.board.name);
            transaction.update_board(&without, name_key).await?;
        }
        Ok(())
    }

    /// Sets the home boards of those who have chosen none.
    async fn put_homes(&self, groups: &[Id], boards: &[Id]) -> Result<(), Error> {
        let mut transaction = self.enclosing.transaction().await;
        let present = transaction.list_default_homes().await?.into_iter();
        let present: HashMap<Option<Id>, HomeBoards> =
            present.map(|home| (home.group_id, home.boards)).collect();
        let groups = groups.iter().map(Some).zip(&self.plan.homes);
        for (group_id, wanted) in [(None, &self.plan.home)].into_iter().chain(groups) {
            let group_id = group_id.cloned();
            let before = present.get(&group_id).cloned().unwrap_or_default();
            let id = |wanted: &ChosenBoard, before: &Option<Id>| match wanted {
                None => before.clone(),
                Some(board) => chosen(board, boards),
            };
            let [home, mobile] = wanted;
            let after = HomeBoards {
                home_board_id: id(home, &before.home_board_id),
                mobile_home_board_id: id(mobile, &before.mobile_home_board_id),
            };
            if after != before {
                let home = DefaultHome {
                    group_id,
                    boards: after,
                };
                transaction.set_default_home(&home).await?;
            }
        }
        Ok(())
    }

    /// Removes the records that the lists do not name.
    async fn prune(&self, component: &mut Component<'_>) -> Result<(), Error> {
        if self.document.boards.is_some() {
            let mut transaction = self.enclosing.transaction().await;
            let all = self.before.boards.iter().map(|(board, _)| &board.board.id);
            for id in unlisted(all, &self.plan.boards) {
                transaction.delete_board(&id).await?;
            }
        }
        if self.document.apps.is_some() {
            let all = self.before.apps.iter().map(|app| &app.id);
            component.delete_apps(&unlisted(all, &self.plan.apps)).await?;
        }
        if self.document.users.is_some() {
            let all = self.before.users.iter().map(|user| &user.id);
            component.delete_users(&unlisted(all, &self.plan.users)).await?;
        }
        if self.document.groups.is_some() {
            let mut transaction = self.enclosing.transaction().await;
            let all = self.before.groups.iter().map(|group| &group.id);
            for id in unlisted(all, &self.plan.groups) {
                transaction.delete_group(&id).await?;
            }
        }
        Ok(())
    }
}

/// Whether a document says which boards people see first.
fn states_home(document: &Document) -> bool {
    let homes = document.homes();
    homes
        .iter()
        .any(|(_, change)| !matches!(change, TextChange::Keep))
}

/// Whether a document gives or removes the short address of a board.
fn moves_slug(board: &document::Board) -> bool {
    !matches!(board.slug, TextChange::Keep)
}

/// The existing record that an entry names.
fn existing<'a, T>(matches: &Matches, index: usize, present: &HashMap<&str, &'a T>) -> Option<&'a T> {
    present.get(matches[index].as_deref()?).copied()
}

/// The ids that no entry names.
fn unlisted<'a>(all: impl Iterator<Item = &'a Id>, matches: &Matches) -> Vec<Id> {
    let listed: HashSet<&str> = matches.iter().flatten().map(String::as_str).collect();
    all.filter(|id| !listed.contains(id.as_str())).cloned().collect()
}

/// The ids that are not among the others.
fn missing<'a>(ids: &'a [Id], others: &[Id]) -> Vec<&'a Id> {
    let others: HashSet<&Id> = others.iter().collect();
    ids.iter().filter(|id| !others.contains(id)).collect()
}

fn chosen(board: &Option<Referent>, listed: &[Id]) -> Option<Id> {
    board.as_ref().map(|board| resolved(board, listed).to_owned())
}

/// `CONFLICT` unless a unique name was free.
fn free_at(is_free: bool, list: &str, index: usize) -> Result<(), Error> {
    if is_free {
        return Ok(());
    }
    let what = if list == "searchEngines" {
        UniqueName::ListedSearchEngine
    } else {
        UniqueName::Listed
    };
    Err(taken_at(what, list, index))
}

fn taken_at(what: UniqueName, list: &str, index: usize) -> Error {
    let list = list.into();
    Refusal::ListedNameTaken { list, index, what }.into()
}
