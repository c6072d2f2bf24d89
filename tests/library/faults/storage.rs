//! Storage that fails when it is told to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, RwLock},
};

use async_trait::async_trait;
use portico_model::{App, ColorScheme, FactorKind, HomeBoards, Provider, SearchPreferences, Timestamp, User};
use portico_storage::*;

/// Which calls fail, counted from 1 since the test last set a plan.
#[derive(Clone, Copy, Debug)]
pub enum Failing {
    None,
    Only(usize),
    AllFrom(usize),
}

/// The calls since the test last set a plan.
#[derive(Default)]
pub struct Calls {
    /// The functions, in order.
    pub names: Vec<&'static str>,
    /// How many of them failed because they were told to.
    pub failed: usize,
}

impl Calls {
    pub fn count(&self, name: &str) -> usize {
        self.names.iter().filter(|called| **called == name).count()
    }
}

/// When to fail, and what was called.
pub struct Plan(Mutex<(Failing, Error, Calls)>);

impl Plan {
    /// From now on these calls fail with this.
    pub fn set(&self, failing: Failing, error: Error) {
        *self.0.lock().unwrap() = (failing, error, Calls::default());
    }

    /// Nothing fails any more. What was called?
    pub fn end(&self) -> Calls {
        let mut plan = self.0.lock().unwrap();
        plan.0 = Failing::None;
        std::mem::take(&mut plan.2)
    }

    fn call(&self, name: &'static str) -> Result<()> {
        let (failing, error, calls) = &mut *self.0.lock().unwrap();
        calls.names.push(name);
        let number = calls.names.len();
        let fails = match failing {
            Failing::None => false,
            Failing::Only(only) => number == *only,
            Failing::AllFrom(first) => number >= *first,
        };
        if fails {
            calls.failed += 1;
            return Err(error.clone());
        }
        Ok(())
    }
}

/// A storage before another one, which can be exchanged.
pub struct FaultyStorage {
    inner: RwLock<Arc<dyn DashboardStorage>>,
    pub plan: Arc<Plan>,
}

impl FaultyStorage {
    pub fn over(inner: Arc<dyn DashboardStorage>) -> Self {
        Self {
            inner: RwLock::new(inner),
            plan: Arc::new(Plan(Mutex::new((Failing::None, Error::Retry, Calls::default())))),
        }
    }

    /// Puts another storage behind it.
    pub fn exchange(&self, inner: Arc<dyn DashboardStorage>) {
        *self.inner.write().unwrap() = inner;
    }

    /// How many transactions are open.
    pub fn open_transactions(&self) -> usize {
        Arc::strong_count(&self.plan) - 1
    }

    async fn open(&self, access: Access, context: &CallContext) -> Result<Box<FaultyTransaction>> {
        self.plan.call("begin")?;
        let inner = self.inner.read().unwrap().clone();
        let inner = inner.begin_dashboard(access, context).await?;
        let plan = self.plan.clone();
        Ok(Box::new(FaultyTransaction { inner, plan }))
    }
}

#[async_trait]
impl Storage for FaultyStorage {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        Ok(self.open(access, context).await?)
    }
}

#[async_trait]
impl DashboardStorage for FaultyStorage {
    async fn begin_dashboard(
        &self,
        access: Access,
        context: &CallContext,
    ) -> Result<Box<dyn DashboardTransaction>> {
        Ok(self.open(access, context).await?)
    }
}

struct FaultyTransaction {
    inner: Box<dyn DashboardTransaction>,
    plan: Arc<Plan>,
}

/// Implements a trait by asking the plan, then the storage behind. A call that fails does not
/// reach it, so that what comes after a failure is not held back by anything.
macro_rules! ask_first {
    ($trait:ident { $($also:item)* } $($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+) => {
        #[async_trait]
        impl $trait for FaultyTransaction {
            $($also)*
            $(async fn $name(&mut self, $($argument: $type),*) -> Result<$answer> {
                self.plan.call(stringify!($name))?;
                self.inner.$name($($argument),*).await
            })+
        }
    };
}

ask_first! {
    Transaction {
        async fn commit(self: Box<Self>) -> Result<()> {
            self.plan.call("commit")?;
            self.inner.commit().await
        }
    }
    has_users() -> bool;
    get_user(id: &str) -> Option<User>;
    get_account(key: &AccountKey) -> Option<Account>;
    list_users(filter: &UserFilter, slice: Slice, with_images: bool) -> Vec<ListedUser>;
    count_users(filter: &UserFilter) -> u32;
    insert_user(user: &NewUser) -> ();
    insert_identity(user_id: &str, subject: &ProviderSubject) -> ();
    set_profile(id: &str, profile: &Profile) -> bool;
    set_image(id: &str, image: Option<&str>) -> bool;
    set_home_boards(id: &str, boards: &HomeBoards) -> bool;
    set_search_preferences(id: &str, preferences: &SearchPreferences) -> bool;
    set_color_scheme(id: &str, color_scheme: ColorScheme) -> bool;
    set_ping_icons_enabled(id: &str, enabled: bool) -> bool;
    set_first_day_of_week(id: &str, day: u8) -> bool;
    set_disabled(id: &str, disabled: bool) -> bool;
    set_password_if(id: &str, old: Option<&str>, new: &str) -> bool;
    rehash_password_if(id: &str, old: &str, new: &str) -> bool;
    delete_user(id: &str) -> bool;
    has_another_admin(except: &str) -> bool;
    grant_admin(id: &str) -> ();
    add_to_group(user_id: &str, group_id: &str) -> bool;
    has_invite(id: &str, token: &str, now: Timestamp) -> bool;
    take_invite(id: &str, token: &str, now: Timestamp) -> bool;
    can_view_board(user_id: &str, board_id: &str) -> bool;
    has_search_engine(id: &str) -> bool;
    get_app(id: &str, viewer: &Viewer) -> Option<App>;
    get_apps(ids: &[String], viewer: &Viewer) -> Vec<App>;
    list_apps(filter: &AppFilter, slice: Slice) -> Vec<App>;
    count_apps(filter: &AppFilter) -> u32;
    insert_apps(apps: &[StoredApp]) -> ();
    update_app(app: &StoredApp) -> bool;
    delete_app(id: &str) -> bool;
}

ask_first! {
    DashboardTransaction {}
    find_credential(key: &CredentialKey) -> Option<Credential>;
    get_session_user(user_id: &str) -> Option<SessionUser>;
    insert_key(key: &ApiKey, secret: &SecretHash) -> ();
    import_key(key: &ApiKey, secret: &SecretHash, imported: &str) -> ();
    adopt_key(id: &str, imported: &str, secret: &SecretHash) -> bool;
    list_keys(user_id: Option<&str>) -> Vec<ApiKey>;
    delete_key(id: &str) -> bool;
    touch_key(id: &str, now: Timestamp) -> ();
    insert_session(session: &Session, token: &SecretHash) -> ();
    list_sessions(user_id: &str) -> Vec<Session>;
    touch_session(id: &str, now: Timestamp, expires_at: Timestamp) -> ();
    delete_session(id: &str) -> bool;
    delete_other_sessions(user_id: &str, kept: Option<&str>) -> u64;
    delete_expired_sessions(now: Timestamp) -> ();
    insert_invite(invite: &NewInvite, token: &SecretHash) -> ();
    find_invite(id: &str, token: &SecretHash) -> Option<HeldInvite>;
    take_held_invite(id: &str, token: &SecretHash, now: Timestamp) -> bool;
    list_invites() -> Vec<Invite>;
    delete_invite(id: &str) -> bool;
    put_password_link(link: &PasswordLink, token: &SecretHash) -> ();
    find_password_link(token: &SecretHash, now: Timestamp) -> Option<String>;
    delete_password_link(user_id: &str) -> bool;
    insert_second_factor(factor: &SecondFactor) -> bool;
    list_second_factors(user_id: &str) -> Vec<SecondFactor>;
    find_passkey(handle: &str) -> Option<SecondFactor>;
    advance_second_factor(id: &str, counter: u64, now: Timestamp) -> bool;
    update_second_factor(id: &str, data: &str, counter: u64, now: Timestamp) -> bool;
    rename_second_factor(user_id: &str, id: &str, name: &str) -> bool;
    delete_second_factor(user_id: &str, id: &str) -> bool;
    list_second_factor_owners() -> Vec<(String, FactorKind)>;
    set_recovery_codes(user_id: &str, codes: &[SecretHash]) -> ();
    take_recovery_code(user_id: &str, code: &SecretHash) -> bool;
    count_recovery_codes(user_id: &str) -> u64;
    insert_group(id: &str, name: &str, name_key: &str) -> bool;
    list_groups() -> Vec<Group>;
    update_group(id: &str, name: &str, name_key: &str) -> bool;
    find_group(name_key: &str) -> Option<String>;
    list_group_keys() -> Vec<(String, String)>;
    list_memberships(user_id: &str) -> Vec<String>;
    list_groups_with(permissions: &[String], most: u32) -> First<Named>;
    list_default_homes() -> Vec<DefaultHome>;
    list_default_homes_of(user_id: Option<&str>) -> Vec<HomeBoards>;
    set_default_home(home: &DefaultHome) -> bool;
    delete_group(id: &str) -> bool;
    set_group_permissions(id: &str, permissions: &[String]) -> bool;
    remove_from_group(user_id: &str, group_id: &str) -> bool;
    insert_board(board: &Board, name_key: &str) -> bool;
    can_change_board(user_id: &str, board_id: &str) -> bool;
    list_boards() -> Vec<BoardSummary>;
    list_visible_boards(user_id: Option<&str>) -> Vec<BoardSummary>;
    list_viewed(user_id: Option<&str>, board_ids: &[String]) -> BTreeSet<String>;
    list_changeable_boards(user_id: &str) -> Vec<BoardSummary>;
    list_boards_with(app_id: &str, most: u32) -> AppBoards;
    list_first_shares(board_ids: &[String], most: u32) -> BTreeMap<String, FirstShares>;
    list_seen_through(user_id: &str, app_ids: &[String], most: u32) -> BTreeMap<String, First<SeenThrough>>;
    get_board(id: &str) -> Option<Board>;
    find_board(slug: &str) -> Option<String>;
    update_board(board: &Board, name_key: &str) -> bool;
    get_shares(id: &str) -> Option<Shares>;
    get_named_shares(id: &str) -> Option<NamedShares>;
    share_board(id: &str, shares: &Shares) -> bool;
    delete_board(id: &str) -> bool;
    sees_apps(ids: &[String], viewer: &Viewer) -> bool;
    find_seen_app(ids: &[String], viewer: &Viewer) -> Option<String>;
    find_open_app(ids: &[String]) -> Option<String>;
    list_app_places() -> Vec<AppPlace>;
    list_app_gates() -> Vec<AppGate>;
    get_app_gate(app_id: &str) -> Option<AppGate>;
    set_app_gate(gate: &AppGate) -> bool;
    put_gate_pass(session_id: &str, token: &SecretHash, pass: &SecretHash) -> bool;
    find_gate_visitor(pass: &SecretHash) -> Option<GateVisitor>;
    get_subject(user_id: &str, provider: Provider) -> Option<String>;
    list_subjects(provider: Provider) -> Vec<(Named, String)>;
    replace_subject(user_id: &str, subject: &ProviderSubject) -> bool;
    get_extras(of: &ExtrasOf) -> Option<String>;
    set_extras(of: &ExtrasOf, extras: Option<&str>) -> bool;
    insert_search_engine(engine: &SearchEngine, name_key: &str, short_key: &str) -> bool;
    update_search_engine(engine: &SearchEngine, name_key: &str, short_key: &str) -> bool;
    get_search_engine(id: &str) -> Option<SearchEngine>;
    list_search_engines() -> Vec<SearchEngine>;
    delete_search_engine(id: &str) -> bool;
    get_visibility_in_force() -> VisibilityInForce;
    get_looks() -> Looks;
    set_looks(looks: &Looks) -> ();
    put_picture(picture: &NewPicture) -> bool;
    get_picture(id: &str) -> Option<Picture>;
    get_picture_size(id: &str) -> Option<u64>;
    count_pictures() -> PictureCount;
    count_unused_pictures(uploader_id: &str) -> PictureCount;
    remove_unused_pictures(before: Timestamp) -> u64;
    insert_audit(entry: &AuditEntry) -> ();
    list_audit(filter: &AuditFilter, offset: u64, limit: u32) -> Vec<AuditRow>;
    count_audit(filter: &AuditFilter) -> u64;
    prune_audit(which: AuditPrune, most: u32) -> u64;
}
