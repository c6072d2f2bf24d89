//! Writes an import, in one transaction.

use std::collections::HashSet;

use portico_homarr::{Branding, Dashboard, Keys, Kind, Plan, Present, Report, What, merge};
use portico_model::{HomeBoards, Provider, Timestamp, error::Error};
use portico_rules::refusal::Refusal;
use portico_service::{identity::Identity, service::Service};
use portico_storage::{
    Access, AccountKey, ApiKey, AppFilter, AuditEntry, Authentication, Board, DashboardTransaction, ExtrasOf,
    KeyLimits, Looks, NewInvite, NewPicture, NewUser, Picture, PictureCount, Slice, StoredApp, UserFilter,
    hash_secret,
};

use super::{super::local::REQUEST_ID, check::learn};

/// Records that are read or written together. An app has at most some ten kilobytes, except for its icon.
const AT_ONCE: usize = 500;

/// The name that an imported API key has in lists.
const NAME_OF_KEYS: &str = "Homarr";

/// Merges the dashboard into the one of the service. A dry run does the same and undoes it.
pub async fn write(
    service: &Service,
    dashboard: Dashboard,
    mut keys: Keys,
    dry_run: bool,
    report: &mut Report,
) -> Result<(), Error> {
    let context = Identity::operator().context(REQUEST_ID);
    let mut transaction = service.storage.begin_dashboard(Access::Write, &context).await?;
    let present = read_present(service, &mut *transaction, &dashboard, &mut keys).await?;
    let plan = merge(dashboard, &present, &keys, report);
    learn(service, &mut keys, plan.new.names()).await?;
    let writing = Writing {
        service,
        keys: &keys,
        now: service.clock.now(),
    };
    writing.write(&mut *transaction, &plan, report).await?;
    // No user has the empty id, so every administrator counts as another user.
    if !transaction.has_another_admin("").await? {
        let text = "no user is an administrator: give a group the permission `admin` with `portico call \
                    group.savePermissions`";
        report.note(Kind::Other, "", What::Lost, text);
    }
    if dry_run || !report.changes_anything() {
        return Ok(());
    }
    transaction.insert_audit(&writing.audit_entry(report)).await?;
    transaction.commit().await?;
    Ok(())
}

/// Reads the records with which new ones may collide.
async fn read_present(
    service: &Service,
    transaction: &mut dyn DashboardTransaction,
    dashboard: &Dashboard,
    keys: &mut Keys,
) -> Result<Present, Error> {
    let groups = transaction.list_groups().await?;
    let engines = transaction.list_search_engines().await?;
    let boards = transaction.list_boards().await?;
    let users = all_users(transaction, None).await?;
    let disabled = all_users(transaction, Some(true)).await?;
    let apps = all_apps(transaction).await?;
    let names = groups.iter().map(|group| &group.name);
    let names = names.chain(engines.iter().flat_map(|engine| [&engine.name, &engine.short]));
    let names = names.chain(boards.iter().map(|board| &board.name));
    let names = names.chain(users.iter().map(|(_, _, name)| name));
    let names = names.chain(apps.iter().map(|(_, name)| name));
    learn(service, keys, names.cloned().collect()).await?;
    let key = |name: &String| keys.get(name.trim()).unwrap_or(name).clone();

    let mut present = Present {
        groups: groups
            .iter()
            .map(|group| (group.id.clone(), key(&group.name)))
            .collect(),
        users: users
            .iter()
            .map(|(id, provider, name)| (id.clone(), *provider, key(name)))
            .collect(),
        apps: apps.iter().map(|(id, name)| (id.clone(), key(name))).collect(),
        search_engines: engines
            .iter()
            .map(|engine| (engine.id.clone(), key(&engine.name), key(&engine.short)))
            .collect(),
        boards: boards
            .iter()
            .map(|board| (board.id.clone(), key(&board.name)))
            .collect(),
        private_boards: boards
            .iter()
            .filter(|board| !board.is_public)
            .map(|board| board.id.clone())
            .collect(),
        disabled: disabled.into_iter().map(|(id, ..)| id).collect(),
        ..Present::default()
    };
    for subject in dashboard.users.iter().flat_map(|user| &user.subjects) {
        let account = transaction
            .get_account(&AccountKey::Subject(subject.clone()))
            .await?;
        if let Some(account) = account {
            present.subjects.insert(subject.clone(), account.id);
        }
    }
    let names = dashboard.users.iter().map(|user| &user.user);
    let names = names.filter(|user| user.provider == Provider::Oidc);
    let names: HashSet<String> = names.map(|user| key(&user.name)).collect();
    for (id, provider, name) in &present.users {
        if *provider == Provider::Oidc
            && names.contains(name)
            && transaction.get_subject(id, Provider::Oidc).await?.is_some()
        {
            present.linked.insert(id.clone());
        }
    }
    let homes = transaction.list_default_homes().await?;
    present.has_default_home = homes.iter().any(|home| home.group_id.is_none());
    let looks = transaction.get_looks().await?;
    present.has_start_board = looks.start_board.is_some();
    present.has_looks = looks.name.is_some() || looks.accent_color.is_some() || looks.logo.is_some();
    let api_keys = transaction.list_keys(None).await?;
    present.secrets.extend(api_keys.into_iter().map(|key| key.id));
    let invites = transaction.list_invites().await?;
    present
        .secrets
        .extend(invites.into_iter().map(|invite| invite.id));
    Ok(present)
}

async fn all_users(
    transaction: &mut dyn DashboardTransaction,
    disabled: Option<bool>,
) -> Result<Vec<(String, Provider, String)>, Error> {
    let filter = UserFilter {
        disabled,
        ..UserFilter::default()
    };
    let mut all = Vec::new();
    loop {
        let slice = slice_after(all.len());
        let some = transaction.list_users(&filter, slice, false).await?;
        let is_last = some.len() < AT_ONCE;
        all.extend(some.into_iter().map(|user| (user.id, user.provider, user.name)));
        if is_last {
            return Ok(all);
        }
    }
}

async fn all_apps(transaction: &mut dyn DashboardTransaction) -> Result<Vec<(String, String)>, Error> {
    let mut all = Vec::new();
    loop {
        let some = transaction
            .list_apps(&AppFilter::EVERYTHING, slice_after(all.len()))
            .await?;
        let is_last = some.len() < AT_ONCE;
        all.extend(some.into_iter().map(|app| (app.id, app.name)));
        if is_last {
            return Ok(all);
        }
    }
}

fn slice_after(count: usize) -> Slice {
    Slice {
        offset: count as u32,
        limit: Some(AT_ONCE as u32),
    }
}

struct Writing<'a> {
    service: &'a Service,
    keys: &'a Keys,
    now: Timestamp,
}

impl Writing<'_> {
    fn key<'a>(&'a self, name: &'a str) -> &'a str {
        self.keys.get(name.trim()).map_or(name, String::as_str)
    }

    /// Writes a record before those that refer to it.
    async fn write(
        &self,
        transaction: &mut dyn DashboardTransaction,
        plan: &Plan,
        report: &mut Report,
    ) -> Result<(), Error> {
        self.put_pictures(transaction, plan).await?;
        for engine in &plan.new.search_engines {
            let keys = (self.key(&engine.name), self.key(&engine.short));
            let is_free = transaction.insert_search_engine(engine, keys.0, keys.1).await?;
            require(is_free, &engine.name)?;
        }
        for group in &plan.new.groups {
            let is_free = transaction
                .insert_group(&group.id, &group.name, self.key(&group.name))
                .await?;
            require(is_free, &group.name)?;
            transaction
                .set_group_permissions(&group.id, &permissions(group))
                .await?;
        }
        for user in &plan.new.users {
            self.insert_user(transaction, user).await?;
        }
        for (user, group) in &plan.memberships {
            transaction.add_to_group(user, group).await?;
        }
        let apps = plan.new.apps.iter().map(|app| StoredApp {
            name_key: self.key(&app.name).to_owned(),
            app: app.clone(),
        });
        let apps: Vec<_> = apps.collect();
        for apps in apps.chunks(AT_ONCE) {
            transaction.insert_apps(apps).await?;
        }
        for board in &plan.new.boards {
            self.insert_board(transaction, board, report).await?;
        }
        set_looks(transaction, &plan.new).await?;
        for user in &plan.new.users {
            set_home_boards(transaction, &user.user, report).await?;
        }
        for home in &plan.new.default_homes {
            transaction.set_default_home(home).await?;
        }
        for key in &plan.new.keys {
            let record = ApiKey {
                id: key.id.clone(),
                name: Some(NAME_OF_KEYS.into()),
                user_id: key.user_id.clone(),
                limits: KeyLimits::default(),
                created_at: self.now,
                expires_at: None,
                last_used_at: None,
            };
            // The hash of a new random secret, which is not stored anywhere. The first use of the key replaces it.
            let unknown = hash_secret(&self.service.secrets.one_time());
            transaction.import_key(&record, &unknown, &key.hash).await?;
        }
        for invite in &plan.new.invites {
            let record = NewInvite {
                id: invite.id.clone(),
                expiration_date: invite.expires_at,
                creator_id: invite.creator_id.clone(),
                note: None,
                group_ids: Vec::new(),
            };
            transaction.insert_invite(&record, &invite.token).await?;
        }
        Ok(())
    }

    /// Stores the pictures of the new records, if there is room for all of them.
    async fn put_pictures(
        &self,
        transaction: &mut dyn DashboardTransaction,
        plan: &Plan,
    ) -> Result<(), Error> {
        let mut all = transaction.count_pictures().await?;
        for picture in plan.new.used_pictures() {
            let new = NewPicture {
                id: Picture::id_of(&picture.bytes),
                picture: picture.clone(),
                uploader_id: None,
                uploaded_at: self.now,
            };
            if transaction.put_picture(&new).await? {
                all.pictures += 1;
                all.bytes += picture.bytes.len() as u64;
            }
        }
        let most = PictureCount::MOST;
        if all.pictures > most.pictures || all.bytes > most.bytes {
            let (most, mebibytes) = (most.pictures, most.bytes >> 20);
            return Err(Refusal::TooManyPictures { most, mebibytes }.into());
        }
        Ok(())
    }

    async fn insert_user(
        &self,
        transaction: &mut dyn DashboardTransaction,
        user: &portico_homarr::User,
    ) -> Result<(), Error> {
        let mut fields = user.user.clone();
        // The boards are not there yet.
        fields.home_board_id = None;
        fields.mobile_home_board_id = None;
        let new = NewUser {
            name_key: self.key(&fields.name).to_owned(),
            user: fields,
            color_scheme: user.color_scheme,
            password_hash: user.password_hash.clone(),
        };
        transaction.insert_user(&new).await?;
        for subject in &user.subjects {
            transaction.insert_identity(&user.user.id, subject).await?;
        }
        if !user.preferences.is_empty() {
            let of = ExtrasOf::User(user.user.id.clone());
            let extras = portico_storage::extras::text(&user.preferences);
            transaction.set_extras(&of, Some(&extras)).await?;
        }
        Ok(())
    }

    async fn insert_board(
        &self,
        transaction: &mut dyn DashboardTransaction,
        board: &portico_homarr::Board,
        report: &mut Report,
    ) -> Result<(), Error> {
        let new = Board {
            board: board.board.clone(),
            sections: board.shown_sections(),
        };
        let is_free = transaction.insert_board(&new, self.key(&new.board.name)).await?;
        require(is_free, &new.board.name)?;
        transaction.share_board(&new.board.id, &board.shares).await?;
        if let Some(extras) = board.extras(report) {
            let of = ExtrasOf::Board(new.board.id);
            transaction.set_extras(&of, Some(&extras)).await?;
        }
        Ok(())
    }

    /// The row of the audit log.
    fn audit_entry(&self, report: &Report) -> AuditEntry {
        AuditEntry {
            time: self.now,
            created: report.counts.values().map(|count| count.created).sum(),
            ..AuditEntry::new("import", REQUEST_ID).by(None, &Authentication::Operator)
        }
    }
}

/// Makes the branding, and the board for people who are not signed in, looks of the dashboard.
async fn set_looks(transaction: &mut dyn DashboardTransaction, new: &Dashboard) -> Result<(), Error> {
    let branding = &new.branding;
    if *branding == Branding::default() && new.start_board.is_none() {
        return Ok(());
    }
    let present = transaction.get_looks().await?;
    let looks = Looks {
        name: branding.name.clone().or(present.name),
        accent_color: branding.accent_color.clone().or(present.accent_color),
        logo: branding.logo.clone().or(present.logo),
        start_board: new.start_board.clone().or(present.start_board),
        ..present
    };
    transaction.set_looks(&looks).await?;
    Ok(())
}

/// Sets the home boards of a new user, as far as the user may view them.
async fn set_home_boards(
    transaction: &mut dyn DashboardTransaction,
    user: &portico_model::User,
    report: &mut Report,
) -> Result<(), Error> {
    let mut boards = HomeBoards {
        home_board_id: user.home_board_id.clone(),
        mobile_home_board_id: user.mobile_home_board_id.clone(),
    };
    for (board, what) in [
        (&mut boards.home_board_id, "home board"),
        (&mut boards.mobile_home_board_id, "home board on small screens"),
    ] {
        if let Some(id) = board
            && !transaction.can_view_board(&user.id, id).await?
        {
            let text = format!("its {what}, which the user may not view");
            report.note(Kind::User, &user.name, What::Lost, text);
            *board = None;
        }
    }
    if boards.home_board_id.is_some() || boards.mobile_home_board_id.is_some() {
        transaction.set_home_boards(&user.id, &boards).await?;
    }
    Ok(())
}

/// The permissions of a group in order, each once.
fn permissions(group: &portico_homarr::Group) -> Vec<String> {
    let mut permissions = group.permissions.clone();
    permissions.sort_unstable();
    permissions.dedup();
    permissions
}

fn require(is_free: bool, name: &str) -> Result<(), Error> {
    if is_free {
        return Ok(());
    }
    let cause = anyhow::anyhow!("the name {name:?} is taken, though it was free a moment ago");
    Err(Error::internal(cause))
}
