//! Implementations that are broken on purpose: the kit names the rule that they break.

mod support;

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use async_trait::async_trait;
use portico_model::{App, Provider, Timestamp, User, UserSummary};
use portico_storage::*;
use portico_storage_kit::{InProcess, all, run};
use support::Dashboard;

/// The fault of an implementation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    OrderedByName,
    TiesInAnyOrder,
    Wildcards,
    SearchIgnoresCase,
    OffsetIgnored,
    NoLimitIsTen,
    ProviderIgnored,
    IdsEndAtNul,
    DroppedIsCommitted,
    EachCallCommits,
    EachReadIsFresh,
    InviteTakenTwice,
    InviteGoodAtItsEnd,
    AppStaysOnBoards,
    UserLeavesEverythingBehind,
    OldPasswordNotCompared,
    SessionsSurvivePassword,
    RehashEndsSessions,
    OneselfIsAnotherAdmin,
    NamesUniqueAcrossProviders,
    ColorSchemeForgotten,
    MemberTwiceIsFalse,
    ReferenceIsUnavailable,
    CommitAfterFailureSucceeds,
    PasswordNumberNeverWritten,
    KeysSurviveReset,
    /// Each write transaction reads an old state and writes to the present one, as databases do under READ
    /// COMMITTED or REPEATABLE READ.
    WriteSkew,
    /// No fault: it also reads an old state, but refuses to write if there was a commit since.
    Optimistic,
}

/// Storage in memory with a fault.
struct Faulty {
    inner: Arc<dyn DashboardStorage>,
    fault: Fault,
    /// The ids that count as deleted and are not.
    hidden: Arc<Mutex<BTreeSet<String>>>,
    /// How many write transactions were committed.
    commits: Arc<AtomicUsize>,
}

struct FaultyTransaction {
    storage: Arc<dyn DashboardStorage>,
    inner: Option<Box<dyn DashboardTransaction>>,
    access: Access,
    context: CallContext,
    fault: Fault,
    hidden: Arc<Mutex<BTreeSet<String>>>,
    commits: Arc<AtomicUsize>,
    /// How many had been committed when this one began.
    seen: usize,
    /// Whether it has begun to write, which it does late.
    writes: bool,
}

#[async_trait]
impl Storage for Faulty {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        let seen = self.commits.load(Ordering::SeqCst);
        let at_first = match self.fault {
            Fault::WriteSkew | Fault::Optimistic => Access::Read,
            _ => access,
        };
        Ok(Box::new(FaultyTransaction {
            storage: self.inner.clone(),
            inner: Some(self.inner.begin_dashboard(at_first, context).await?),
            access,
            context: context.clone(),
            fault: self.fault,
            hidden: self.hidden.clone(),
            commits: self.commits.clone(),
            seen,
            writes: false,
        }))
    }
}

impl FaultyTransaction {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn is_hidden(&self, id: &str) -> bool {
        self.hidden.lock().unwrap().contains(id)
    }

    async fn ask(&mut self) -> Result<&mut dyn DashboardTransaction> {
        let ends = (self.is(Fault::EachReadIsFresh) && self.access == Access::Read)
            || self.is(Fault::EachCallCommits);
        if ends && let Some(inner) = self.inner.take() {
            inner.commit().await?;
        }
        if self.inner.is_none() {
            let begun = self.storage.begin_dashboard(self.access, &self.context).await?;
            self.inner = Some(begun);
        }
        Ok(&mut **self.inner.as_mut().unwrap())
    }

    /// The inner transaction, to write with.
    async fn ask_to_write(&mut self) -> Result<&mut dyn DashboardTransaction> {
        let is_late = self.is(Fault::WriteSkew) || self.is(Fault::Optimistic);
        if is_late && self.access == Access::Write && !self.writes {
            self.inner = None;
            let inner = self.storage.begin_dashboard(Access::Write, &self.context).await?;
            if self.is(Fault::Optimistic) && self.commits.load(Ordering::SeqCst) != self.seen {
                return Err(Error::Retry);
            }
            self.inner = Some(inner);
            self.writes = true;
        }
        self.ask().await
    }

    async fn apps(&mut self, contains: &str) -> Result<Vec<App>> {
        let fault = self.fault;
        let everything = AppFilter {
            name_contains: None,
            offset: 0,
            limit: None,
        };
        let filter = AppFilter {
            name_contains: Some(contains.to_owned()),
            ..everything.clone()
        };
        let mut apps = match fault {
            Fault::Wildcards | Fault::SearchIgnoresCase => {
                let mut apps = self.ask().await?.list_apps(&everything).await?;
                apps.retain(|app| match fault {
                    Fault::Wildcards => like(&format!("%{contains}%"), &app.name.to_lowercase()),
                    _ => app.name.to_lowercase().contains(&contains.to_lowercase()),
                });
                apps
            }
            _ => self.ask().await?.list_apps(&filter).await?,
        };
        apps.retain(|app| !self.is_hidden(&app.id));
        match fault {
            Fault::OrderedByName => {
                apps.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
            }
            Fault::TiesInAnyOrder => apps.sort_by(|one, other| {
                let key = |app: &App| app.name.to_lowercase();
                (key(one), &other.id).cmp(&(key(other), &one.id))
            }),
            _ => {}
        }
        Ok(apps)
    }
}

/// SQL's LIKE.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for wanted in pattern {
        let mut next = vec![false; text.len() + 1];
        match wanted {
            '%' => {
                let mut any = false;
                for (next, reached) in next.iter_mut().zip(&reached) {
                    any |= *reached;
                    *next = any;
                }
            }
            _ => {
                for (at, letter) in text.iter().enumerate() {
                    next[at + 1] = reached[at] && (wanted == '_' || wanted == *letter);
                }
            }
        }
        reached = next;
    }
    reached[text.len()]
}

impl Drop for FaultyTransaction {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take()
            && self.is(Fault::DroppedIsCommitted)
        {
            // The driver in memory does not wait here.
            let mut context = Context::from_waker(Waker::noop());
            assert!(pin!(inner.commit()).as_mut().poll(&mut context).is_ready());
        }
    }
}

#[async_trait]
impl Transaction for FaultyTransaction {
    async fn commit(mut self: Box<Self>) -> Result<()> {
        let committed = match self.inner.take() {
            // Counted first: the next transaction reads the count as soon as it can begin.
            Some(inner) => {
                self.commits.fetch_add(usize::from(self.writes), Ordering::SeqCst);
                inner.commit().await
            }
            None => Ok(()),
        };
        match committed {
            Err(_) if self.is(Fault::CommitAfterFailureSucceeds) => Ok(()),
            other => other,
        }
    }

    async fn has_users(&mut self) -> Result<bool> {
        self.ask().await?.has_users().await
    }

    async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        let hidden = self.is_hidden(id);
        let user = self.ask().await?.get_user(id).await?;
        Ok(user.filter(|_| !hidden))
    }

    async fn list_users(&mut self, filter: &UserFilter) -> Result<Vec<UserSummary>> {
        let mut filter = filter.clone();
        if self.is(Fault::ProviderIgnored) {
            filter.provider = None;
        }
        if self.is(Fault::Wildcards)
            && filter
                .name_contains
                .as_deref()
                .is_some_and(|text| text.contains('_'))
        {
            filter.name_contains = None;
        }
        let mut users = self.ask().await?.list_users(&filter).await?;
        users.retain(|user| !self.is_hidden(&user.id));
        Ok(users)
    }

    async fn find_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        let account = self.ask().await?.find_account(key).await?;
        Ok(account.filter(|account| !self.is_hidden(&account.id)))
    }

    async fn insert_user(&mut self, user: &NewUser) -> Result<()> {
        if self.is(Fault::NamesUniqueAcrossProviders) {
            for provider in [Provider::Credentials, Provider::Oidc, Provider::Ldap] {
                let key = AccountKey::Name((provider, user.name_key.clone()));
                if self.ask().await?.find_account(&key).await?.is_some() {
                    return Err(Error::Constraint(Constraint::UserName));
                }
            }
        }
        self.ask_to_write().await?.insert_user(user).await
    }

    async fn insert_identity(&mut self, user_id: &str, provider: Provider, subject: &str) -> Result<()> {
        let refused = self
            .ask_to_write()
            .await?
            .insert_identity(user_id, provider, subject)
            .await;
        match refused {
            Err(Error::Constraint(Constraint::Reference)) if self.is(Fault::ReferenceIsUnavailable) => {
                Err(Error::Unavailable("FOREIGN KEY constraint failed".into()))
            }
            other => other,
        }
    }

    async fn update_user(&mut self, id: &str, change: &UserChange) -> Result<bool> {
        if self.is(Fault::ColorSchemeForgotten) && matches!(change, UserChange::ColorScheme(_)) {
            return Ok(self.ask().await?.get_user(id).await?.is_some());
        }
        self.ask_to_write().await?.update_user(id, change).await
    }

    async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        if self.is(Fault::OldPasswordNotCompared) {
            let key = AccountKey::Id(id.to_owned());
            let account = self.ask().await?.find_account(&key).await?;
            let kept = account.and_then(|account| account.password_hash);
            return self
                .ask_to_write()
                .await?
                .set_password_if(id, kept.as_deref(), new)
                .await;
        }
        match old {
            Some(old) if self.is(Fault::SessionsSurvivePassword) => {
                self.ask().await?.rehash_password_if(id, old, new).await
            }
            Some(old) if self.is(Fault::PasswordNumberNeverWritten) => {
                let kept = match &self.context.authentication {
                    Authentication::Session(id) => Some(id.clone()),
                    _ => None,
                };
                let is_own = self.context.user_id.as_deref() == Some(id);
                let inner = self.ask().await?;
                let replaced = inner.rehash_password_if(id, old, new).await?;
                if replaced {
                    if !is_own {
                        for key in keys_of(inner, id).await? {
                            inner.delete_key(&key.0.id).await?;
                        }
                    }
                    for session in inner.list_sessions(id).await? {
                        if Some(&session.id) != kept.as_ref() {
                            inner.delete_session(&session.id).await?;
                        }
                    }
                }
                Ok(replaced)
            }
            Some(_) if self.is(Fault::KeysSurviveReset) => {
                let inner = self.ask().await?;
                let keys = keys_of(inner, id).await?;
                let replaced = inner.set_password_if(id, old, new).await?;
                for (key, secret) in keys {
                    let found = CredentialKey::Key(key.id.clone());
                    if inner.find_credential(&found).await?.is_none() {
                        inner.insert_key(&key, &secret).await?;
                    }
                }
                Ok(replaced)
            }
            _ => self.ask_to_write().await?.set_password_if(id, old, new).await,
        }
    }

    async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        match self.is(Fault::RehashEndsSessions) {
            true => self.ask().await?.set_password_if(id, Some(old), new).await,
            false => self.ask_to_write().await?.rehash_password_if(id, old, new).await,
        }
    }

    async fn delete_user(&mut self, id: &str) -> Result<bool> {
        if !self.is(Fault::UserLeavesEverythingBehind) {
            return self.ask_to_write().await?.delete_user(id).await;
        }
        let there = self.ask().await?.get_user(id).await?.is_some() && !self.is_hidden(id);
        if there {
            let profile = Profile {
                name: format!("deleted {id}"),
                name_key: format!("deleted {id}"),
                email: None,
                email_verified: None,
            };
            let change = UserChange::Profile(profile);
            self.ask().await?.update_user(id, &change).await?;
            self.hidden.lock().unwrap().insert(id.to_owned());
        }
        Ok(there)
    }

    async fn another_admin_exists(&mut self, except: &str) -> Result<bool> {
        let except = if self.is(Fault::OneselfIsAnotherAdmin) {
            ""
        } else {
            except
        };
        self.ask().await?.another_admin_exists(except).await
    }

    async fn grant_admin(&mut self, id: &str) -> Result<()> {
        self.ask_to_write().await?.grant_admin(id).await
    }

    async fn add_to_group(&mut self, user_id: &str, group_id: &str) -> Result<bool> {
        if self.is(Fault::MemberTwiceIsFalse) {
            let groups = self.ask().await?.list_groups().await?;
            let mut members = groups
                .iter()
                .filter(|group| group.id == group_id)
                .flat_map(|group| &group.members);
            if members.any(|member| member.id == user_id) {
                return Ok(false);
            }
        }
        self.ask_to_write().await?.add_to_group(user_id, group_id).await
    }

    async fn has_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        let now = match self.fault {
            Fault::InviteGoodAtItsEnd => now.saturating_sub(1),
            _ => now,
        };
        self.ask().await?.has_invite(id, token, now).await
    }

    async fn take_invite(&mut self, id: &str, token: &str, now: Timestamp) -> Result<bool> {
        match self.is(Fault::InviteTakenTwice) {
            true => self.ask().await?.has_invite(id, token, now).await,
            false => self.ask_to_write().await?.take_invite(id, token, now).await,
        }
    }

    async fn can_view_board(&mut self, user_id: &str, board_id: &str) -> Result<bool> {
        self.ask().await?.can_view_board(user_id, board_id).await
    }

    async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.ask().await?.has_search_engine(id).await
    }

    async fn get_app(&mut self, id: &str) -> Result<Option<App>> {
        let id = match self.fault {
            Fault::IdsEndAtNul => id.split('\0').next().unwrap_or_default(),
            _ => id,
        };
        let hidden = self.is_hidden(id);
        let app = self.ask().await?.get_app(id).await?;
        Ok(app.filter(|_| !hidden))
    }

    async fn get_apps(&mut self, ids: &[String]) -> Result<Vec<App>> {
        let mut apps = self.ask().await?.get_apps(ids).await?;
        apps.retain(|app| !self.is_hidden(&app.id));
        Ok(apps)
    }

    async fn list_apps(&mut self, filter: &AppFilter) -> Result<Vec<App>> {
        let apps = self
            .apps(filter.name_contains.as_deref().unwrap_or_default())
            .await?;
        let offset = match self.fault {
            Fault::OffsetIgnored => 0,
            _ => filter.offset as usize,
        };
        let limit = match self.fault {
            Fault::NoLimitIsTen => filter.limit.map_or(10, |limit| limit as usize),
            _ => filter.limit.map_or(usize::MAX, |limit| limit as usize),
        };
        Ok(apps.into_iter().skip(offset).take(limit).collect())
    }

    async fn count_apps(&mut self, name_contains: &str) -> Result<u32> {
        Ok(self.apps(name_contains).await?.len() as u32)
    }

    async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        self.ask_to_write().await?.insert_apps(apps).await
    }

    async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.ask_to_write().await?.update_app(app).await
    }

    async fn delete_app(&mut self, id: &str) -> Result<bool> {
        if !self.is(Fault::AppStaysOnBoards) {
            return self.ask_to_write().await?.delete_app(id).await;
        }
        let there = self.ask().await?.get_app(id).await?.is_some();
        Ok(there && self.hidden.lock().unwrap().insert(id.to_owned()))
    }
}

/// The API keys of a user, with the hashes of their secrets.
async fn keys_of(
    transaction: &mut dyn DashboardTransaction,
    user_id: &str,
) -> Result<Vec<(ApiKey, SecretHash)>> {
    let mut keys = transaction.list_keys().await?;
    keys.retain(|key| key.user_id == user_id);
    let mut found = Vec::new();
    for key in keys {
        let by_id = CredentialKey::Key(key.id.clone());
        if let Some(credential) = transaction.find_credential(&by_id).await? {
            found.push((key, credential.secret));
        }
    }
    Ok(found)
}

/// The rules that the kit reports as broken.
fn broken(fault: Fault) -> Vec<String> {
    let inner = support::memory();
    let faulty = Faulty {
        inner: inner.clone(),
        fault,
        hidden: Arc::default(),
        commits: Arc::default(),
    };
    let mut target = InProcess::new(Arc::new(faulty), Dashboard::new(inner));
    let report = run(&mut target, &all(), |_| {});
    assert!(report.broken.is_none(), "{report}");
    println!("{fault:?}\n{report}\n");
    report.failures().map(|(case, _)| case.rule.clone()).collect()
}

#[test]
fn without_a_fault_no_rule_is_broken() {
    assert_eq!(broken(Fault::None), Vec::<String>::new());
}

/// Of two transactions that collide one is answered `retry`, as PostgreSQL does under SERIALIZABLE.
#[test]
fn a_storage_that_answers_retry_to_collisions_breaks_no_rule() {
    assert_eq!(broken(Fault::Optimistic), Vec::<String>::new());
}

/// A fault, some words of the rule that it breaks, and how many cases may fail at most: cases of other rules
/// must pass.
macro_rules! named {
    ($($name:ident: $fault:ident => $words:expr, $most:expr;)+) => {
        $(#[test]
        fn $name() {
            let rules = broken(Fault::$fault);
            assert!(rules.iter().any(|rule| rule.contains($words)), "{rules:#?}");
            assert!(rules.len() <= $most, "{rules:#?}");
        })+
    };
}

named! {
    an_order_by_the_name_instead_of_its_key: OrderedByName => "orders by its bytes", 3;
    an_order_that_forgets_the_id: TiesInAnyOrder => "then by the bytes of the id", 3;
    wildcards_in_searches: Wildcards => "finds substrings in it byte by byte", 5;
    searches_that_ignore_case: SearchIgnoresCase => "finds substrings in it byte by byte", 4;
    an_offset_that_is_ignored: OffsetIgnored => "How many of them to skip", 1;
    a_limit_where_none_was_asked_for: NoLimitIsTen => "A field of a filter that is none does not filter", 4;
    a_provider_that_is_ignored: ProviderIgnored => "Only users of this provider", 3;
    ids_that_end_at_a_nul: IdsEndAtNul => "An id that storage cannot hold does not exist", 1;
    a_drop_that_commits: DroppedIsCommitted => "dropped without `commit`, it leaves nothing behind", 12;
    calls_that_commit_by_themselves: EachCallCommits => "no changes of other transactions that have not committed", 40;
    readers_that_see_later_commits: EachReadIsFresh => "A read transaction sees one state", 1;
    an_invite_that_is_taken_twice: InviteTakenTwice => "of several concurrent calls, one succeeds", 3;
    an_invite_that_is_good_when_it_expires: InviteGoodAtItsEnd => "expires later than `now`", 1;
    an_app_that_stays_on_boards: AppStaysOnBoards => "removes it from every board that shows it", 2;
    a_user_who_leaves_everything_behind: UserLeavesEverythingBehind => "memberships, preferences, keys, sessions, identities", 10;
    an_old_password_that_is_not_compared: OldPasswordNotCompared => "if it still is `old`", 5;
    sessions_that_survive_a_new_password: SessionsSurvivePassword => "the user's sessions end with the commit", 3;
    sessions_that_end_with_another_hash: RehashEndsSessions => "sessions stay", 2;
    oneself_as_another_administrator: OneselfIsAnotherAdmin => "Whether any user except this one holds the permission `admin`", 3;
    names_taken_by_another_providers_user: NamesUniqueAcrossProviders => "The provider already has a user with this name-key", 5;
    a_color_scheme_that_is_forgotten: ColorSchemeForgotten => "Changes a user", 1;
    a_second_membership_that_is_no_success: MemberTwiceIsFalse => "Makes a user a member of a group, if they are not one already", 1;
    a_reference_that_is_answered_as_something_else: ReferenceIsUnavailable => "A record that this one refers to does not exist", 1;
    a_commit_that_succeeds_after_a_failure: CommitAfterFailureSucceeds => "its `commit` fails", 1;
    a_password_number_that_is_never_written: PasswordNumberNeverWritten => "store it beside the user's hash", 1;
    api_keys_that_survive_a_reset: KeysSurviveReset => "the user's API keys end as well", 1;
    two_that_each_read_what_the_other_removes: WriteSkew => "as if they ran one after the other", 1;
}
