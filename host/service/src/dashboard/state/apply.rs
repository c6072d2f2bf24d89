//! `state.apply`: what is done, in which order.

use std::collections::{HashMap, HashSet};

use portico_model::{
    Id, TextChange,
    error::{Code, Error},
};
use portico_sandbox::{Secret, TimestampChange, WantedApp, WantedUser};
use portico_storage::{
    ADMIN, Access, Board, BoardItem, BoardSummary, DashboardTransaction, SearchEngine, Shares,
    nested::Enclosing,
};

use super::{
    super::{free, groups::require_administrator, validate::Fields},
    component::Component,
    document::{Change, Document, Moment, entries},
    plan::{Contents, Item, Matches, Plan, Target},
    report::{Named, Report, View},
    snapshot::{Keys, Names, Snapshot},
};
use crate::procedures::{Call, Output, json};

/// The most passwords of one document that are to be hashed: each takes tens of milliseconds.
const MOST_PASSWORDS: usize = 200;

/// `state.apply`
pub(super) async fn run(mut call: Call) -> Result<Output, Error> {
    let mut document: Document = call.input()?;
    let mut component = Component::new(&call).await?;
    let mut wanted = Wanted::of(&mut document);
    let mut fields = Fields::default();
    document.check(&mut fields);
    component.check_users(&mut fields, &wanted.users).await?;
    component.check_apps(&mut fields, &wanted.apps).await?;
    fields.check()?;

    let mut keys = Keys::default();
    let names = keys.unknown(document.names());
    component.learn(&mut keys, names).await?;
    let mut transaction = call.begin(Access::Read).await?;
    let snapshot = Snapshot::read(&mut *transaction).await?;
    // Whoever reads for long keeps the log of the database from being emptied.
    drop(transaction);
    let (_, plan) = look(snapshot, &mut component, &document, &mut keys).await?;
    wanted.prepare(&mut component, &plan).await?;

    let mut transaction = call.begin(Access::Write).await?;
    component.stop_waiting();
    require_still_permitted(&call, &mut *transaction).await?;
    // Somebody may have changed something since the first look.
    let snapshot = Snapshot::read(&mut *transaction).await?;
    let (before, plan) = look(snapshot, &mut component, &document, &mut keys).await?;
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
    let named = apply.run(&mut component, &wanted).await?;

    let mut transaction = enclosing.transaction().await;
    require_administrator(&mut *transaction).await?;
    let mut after = Snapshot::read(&mut *transaction).await?;
    drop(transaction);
    after.sort(&keys);
    let view = |snapshot| View {
        snapshot,
        names: Names::new(snapshot, &keys),
    };
    let report = Report::new(document.dry_run, &named, &view(&before), &view(&after));
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

/// What is there, and what the document's names stand for in it.
async fn look(
    mut snapshot: Snapshot,
    component: &mut Component<'_>,
    document: &Document,
    keys: &mut Keys,
) -> Result<(Snapshot, Plan), Error> {
    let names = keys.unknown(snapshot.names());
    component.learn(keys, names).await?;
    snapshot.sort(keys);
    let plan = Plan::new(document, &snapshot, keys)?;
    Ok((snapshot, plan))
}

/// Hashing may have taken seconds: whoever is no administrator any more changes nothing.
async fn require_still_permitted(
    call: &Call,
    transaction: &mut dyn DashboardTransaction,
) -> Result<(), Error> {
    let Some(user_id) = call.identity.user_id() else {
        return Ok(());
    };
    let user = transaction.get_session_user(user_id).await?;
    let user = user.ok_or_else(Error::unauthorized)?;
    if user.permissions.iter().any(|held| held == ADMIN) {
        Ok(())
    } else {
        Err(Error::new(
            Code::Forbidden,
            format!("This needs the permission {ADMIN}"),
        ))
    }
}

/// Users and apps as the component takes them.
struct Wanted {
    users: Vec<WantedUser>,
    apps: Vec<WantedApp>,
    /// By position: what is found before the transaction, for those that are new.
    hashes: HashMap<usize, String>,
    icons: HashMap<usize, String>,
}

impl Wanted {
    /// Takes them out of a document, which keeps what says who is who.
    fn of(document: &mut Document) -> Self {
        let users = document.users.iter_mut().flatten().map(|user| WantedUser {
            provider: user.provider,
            name: user.name.clone(),
            email: std::mem::take(&mut user.email),
            email_verified: match user.email_verified {
                Change::Keep => TimestampChange::Keep,
                Change::Clear => TimestampChange::Clear,
                Change::Set(Moment(moment)) => TimestampChange::Set(moment),
            },
            image: std::mem::take(&mut user.image),
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

    /// Hashes the passwords and finds the icons of those who are new. Outside of transactions.
    async fn prepare(&mut self, component: &mut Component<'_>, plan: &Plan) -> Result<(), Error> {
        let new_users = self.users.iter().enumerate();
        let new_users = new_users.filter(|(index, _)| plan.users[*index].is_none());
        let passwords: Vec<_> = new_users
            .filter_map(|(index, user)| match &user.secret {
                Some(Secret::Password(password)) => Some((index, password)),
                _ => None,
            })
            .collect();
        if passwords.len() > MOST_PASSWORDS {
            let message = format!(
                "must have at most {MOST_PASSWORDS} new entries with a password, got {}: apply them in parts",
                passwords.len()
            );
            return Err(Error::invalid_field("users", message));
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

    /// Adds what was prepared, and the ids of those who are there.
    fn complete(&mut self, plan: &Plan) -> Result<(), Error> {
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
    Error::new(
        Code::Conflict,
        "Somebody else changed users or apps meanwhile; apply the document again",
    )
}

/// Brings what is there to what is wanted, inside one transaction.
struct Apply<'a> {
    call: &'a Call,
    document: &'a Document,
    plan: &'a Plan,
    before: &'a Snapshot,
    keys: &'a Keys,
    enclosing: &'a Enclosing,
}

/// The ids of the entries of each list.
struct Ids {
    groups: Vec<Id>,
    users: Vec<Id>,
    apps: Vec<Id>,
}

impl Apply<'_> {
    /// What others refer to comes first, and goes last.
    async fn run(&self, component: &mut Component<'_>, wanted: &Wanted) -> Result<Named, Error> {
        let groups = self.put_groups().await?;
        let users = component.put_users(&wanted.users).await?;
        self.put_memberships(&groups, &users).await?;
        let apps = component.put_apps(&wanted.apps).await?;
        // One that goes may leave its short to another.
        let search_engines = self.prune_and_put_search_engines().await?;
        let ids = Ids { groups, users, apps };
        let boards = self.put_boards(&ids).await?;
        if self.document.prune {
            self.prune(component).await?;
        }
        let stated = entries(&self.document.apps).iter();
        Ok(Named {
            by_id: stated.filter_map(|app| app.id.clone()).collect(),
            groups: ids.groups.into_iter().collect(),
            users: ids.users.into_iter().collect(),
            apps: ids.apps.into_iter().collect(),
            search_engines: search_engines.into_iter().collect(),
            boards: boards.into_iter().collect(),
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
            let Some(present) = there(&self.plan.groups, index, &present) else {
                let id = self.call.new_id();
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
                let present = there(&self.plan.search_engines, index, &present);
                let wanted = SearchEngine {
                    id: present.map_or_else(|| self.call.new_id(), |present| present.id.clone()),
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
        // Two may change shorts with each other: each lets go of its own before one takes another.
        for (wanted, present) in &engines {
            if let Some(present) = present
                && self.keys.of(&present.short) != self.keys.of(&wanted.short)
            {
                let nobodys = format!("\0{}", present.id);
                let name_key = self.keys.of(&present.name);
                transaction
                    .update_search_engine(present, name_key, &nobodys)
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
        let mut transaction = self.enclosing.transaction().await;
        let mut board_ids = Vec::new();
        for (index, board) in entries(&self.document.boards).iter().enumerate() {
            let there = there(&self.plan.boards, index, &present);
            let contents = &self.plan.contents[index];
            let present = there.map(|(board, _)| board);
            let wanted = Board {
                board: BoardSummary {
                    id: present.map_or_else(|| self.call.new_id(), |board| board.board.id.clone()),
                    name: board.name.clone(),
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
                items: match &contents.items {
                    Some(items) => items.iter().map(|item| shown(item, &ids.apps)).collect(),
                    None => present.map(|board| board.items.clone()).unwrap_or_default(),
                },
            };
            let name_key = self.keys.of(&board.name);
            let done = match present {
                Some(present) if *present == wanted => true,
                Some(_) => transaction.update_board(&wanted, name_key).await?,
                None => transaction.insert_board(&wanted, name_key).await?,
            };
            free_at(done, "boards", index)?;

            let before = there.map(|(_, shares)| shares.clone()).unwrap_or_default();
            let shares = shared(contents, &before, ids);
            if shares != before {
                let id = &wanted.board.id;
                transaction.share_board(id, &shares.users, &shares.groups).await?;
            }
            board_ids.push(wanted.board.id);
        }
        Ok(board_ids)
    }

    /// Removes what the lists do not name.
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

/// The record that an entry names, if there is one.
fn there<'a, T>(matches: &Matches, index: usize, present: &HashMap<&str, &'a T>) -> Option<&'a T> {
    present.get(matches[index].as_deref()?).copied()
}

/// Those that no entry names.
fn unlisted<'a>(all: impl Iterator<Item = &'a Id>, matches: &Matches) -> Vec<Id> {
    let listed: HashSet<&str> = matches.iter().flatten().map(String::as_str).collect();
    all.filter(|id| !listed.contains(id.as_str())).cloned().collect()
}

/// Those that are not among the others.
fn missing<'a>(ids: &'a [Id], others: &[Id]) -> Vec<&'a Id> {
    let others: HashSet<&Id> = others.iter().collect();
    ids.iter().filter(|id| !others.contains(id)).collect()
}

fn resolved<'a>(target: &'a Target, listed: &'a [Id]) -> &'a str {
    match target {
        Target::There(id) => id,
        Target::Listed(index) => &listed[*index],
    }
}

fn shown(item: &Item, apps: &[Id]) -> BoardItem {
    match item {
        Item::App(app) => BoardItem::App {
            app_id: resolved(app, apps).into(),
        },
        Item::Bookmarks(targets) => BoardItem::Bookmarks {
            app_ids: targets.iter().map(|app| resolved(app, apps).into()).collect(),
        },
    }
}

/// With whom a board is shared: in order and each once, as storage tells it.
fn shared(contents: &Contents, before: &Shares, ids: &Ids) -> Shares {
    let all = |targets: &Option<Vec<Target>>, listed: &[Id], before: &[Id]| match targets {
        None => before.to_vec(),
        Some(targets) => {
            let mut ids: Vec<Id> = targets
                .iter()
                .map(|target| resolved(target, listed).into())
                .collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        }
    };
    Shares {
        users: all(&contents.users, &ids.users, &before.users),
        groups: all(&contents.groups, &ids.groups, &before.groups),
    }
}

/// True, or a name that must be alone is another's.
fn free_at(is_free: bool, list: &str, index: usize) -> Result<(), Error> {
    if is_free {
        return Ok(());
    }
    let what = if list == "searchEngines" {
        "the name or the short"
    } else {
        "the name"
    };
    free(is_free, &format!("{list}[{index}]: {what}"))
}
