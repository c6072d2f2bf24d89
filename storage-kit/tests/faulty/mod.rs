//! Storage in memory that breaks one rule.

mod contract;
mod views;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use async_trait::async_trait;
use portico_model::App;
use portico_storage::*;

/// The fault of an implementation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    OrderedByName,
    TiesInAnyOrder,
    Wildcards,
    SearchIgnoresCase,
    OffsetIgnored,
    NoLimitIsTen,
    ProviderIgnored,
    IdsAreTrimmed,
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
    VersionNeverGrows,
    VersionGrowsWithRehash,
    VersionShared,
    KeysSurviveReset,
    ViewIgnoredByGet,
    ViewIgnoredByGetMany,
    ViewIgnoredByList,
    ViewIgnoredByCount,
    PageBeforeView,
    MembersSeeNothing,
    SharedSeeNothing,
    CreatorsSeeNothing,
    PublicForAnonymousOnly,
    AppOnTwoBoardsTwice,
    ViewsDifferUnstated,
    DisabledFilterIgnored,
    DisabledCountIgnored,
    DisabledAdminCounts,
    DisablingForgotten,
    SessionsSurviveDisabling,
    KeysSurviveDisabling,
    DisabledSignIn,
    DisabledKey,
    UserOffsetIgnored,
    ImagesUnasked,
    CountIgnoresSearch,
    DuplicateIdReplaces,
    DuplicateIdIsUnavailable,
    UnheldIdIgnored,
    LookupRefused,
    EmptyCommitFails,
    ImageNeverRemoved,
    MobileBoardForgotten,
    NewTabForgotten,
    PingIconsForgotten,
    FirstDayForgotten,
    MissingUserIsSet,
    TooLargeIsCut,
    TooManyUsersAreCut,
    SignInUnlocked,
    /// Each write transaction reads an old state and writes to the current one, as databases do under READ COMMITTED or
    /// REPEATABLE READ.
    WriteSkew,
    /// No fault: it also reads an old state, but refuses to write if there was a commit since.
    Optimistic,
    /// No fault: its own transaction begins with the first function.
    Lazy,
    /// No fault: its ids are UUIDs.
    UuidColumns,
}

impl Fault {
    /// Whether it is a fault of views that depend on boards.
    pub fn is_of_views(self) -> bool {
        matches!(
            self,
            Self::ViewIgnoredByGet
                | Self::ViewIgnoredByGetMany
                | Self::ViewIgnoredByList
                | Self::ViewIgnoredByCount
                | Self::PageBeforeView
                | Self::MembersSeeNothing
                | Self::SharedSeeNothing
                | Self::CreatorsSeeNothing
                | Self::PublicForAnonymousOnly
                | Self::AppOnTwoBoardsTwice
        )
    }
}

/// Storage in memory with a fault.
pub struct Faulty {
    inner: Arc<dyn DashboardStorage>,
    fault: Fault,
    /// The ids that count as deleted and are not.
    hidden: Arc<Mutex<BTreeSet<String>>>,
    /// How many write transactions were committed.
    commits: Arc<AtomicUsize>,
    /// What is added to the version of each user's password; under `""`: to that of all users.
    versions: Versions,
}

type Versions = Arc<Mutex<BTreeMap<String, u64>>>;

impl Faulty {
    pub fn new(inner: Arc<dyn DashboardStorage>, fault: Fault) -> Self {
        Self {
            inner,
            fault,
            hidden: Arc::default(),
            commits: Arc::default(),
            versions: Arc::default(),
        }
    }
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
    versions: Versions,
    /// Whether a function was called.
    called: bool,
    /// Whether this wrapper, not the inner transaction, has refused a call.
    refused: bool,
}

#[async_trait]
impl Storage for Faulty {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        if access == Access::Lookup && self.fault == Fault::LookupRefused {
            return Err(Error::Unavailable("there is no such access".into()));
        }
        let seen = self.commits.load(Ordering::SeqCst);
        let at_first = match self.fault {
            Fault::WriteSkew | Fault::Optimistic => Access::Read,
            _ => access,
        };
        let inner = match self.fault {
            Fault::Lazy => None,
            _ => Some(self.inner.begin_dashboard(at_first, context).await?),
        };
        Ok(Box::new(FaultyTransaction {
            storage: self.inner.clone(),
            inner,
            access,
            context: context.clone(),
            fault: self.fault,
            hidden: self.hidden.clone(),
            commits: self.commits.clone(),
            seen,
            writes: false,
            versions: self.versions.clone(),
            called: false,
            refused: false,
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
        if self.refused {
            return Err(Error::Unavailable(
                "a call in this transaction failed before".into(),
            ));
        }
        self.called = true;
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

    /// Refuses an id that is not a UUID.
    fn check_id(&mut self, id: &str) -> Result<()> {
        if self.is(Fault::UuidColumns) && !is_uuid(id) {
            self.refused = true;
            return Err(Error::Constraint(Constraint::Id));
        }
        Ok(())
    }

    /// The apps that a filter matches, by name.
    async fn apps(&mut self, filter: &AppFilter) -> Result<Vec<App>> {
        let fault = self.fault;
        let contains = filter.name_contains.clone().unwrap_or_default();
        let mut filter = filter.clone();
        filter.viewer = self.viewer(&filter.viewer).await?;
        if matches!(fault, Fault::Wildcards | Fault::SearchIgnoresCase) {
            filter.name_contains = None;
        }
        let mut apps = match fault {
            Fault::TooLargeIsCut => self.ask().await?.list_apps(&filter, Slice::first(400)).await?,
            _ => self.ask().await?.list_apps(&filter, Slice::ALL).await?,
        };
        match fault {
            Fault::Wildcards => apps.retain(|app| like(&format!("%{contains}%"), &app.name.to_lowercase())),
            Fault::SearchIgnoresCase => {
                apps.retain(|app| app.name.to_lowercase().contains(&contains.to_lowercase()));
            }
            _ => {}
        }
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
        let apps = self.without_public(apps, &filter.viewer).await?;
        self.repeated(apps, &filter.viewer).await
    }
}

fn is_uuid(id: &str) -> bool {
    let is_right = |(index, letter): (usize, char)| match index {
        8 | 13 | 18 | 23 => letter == '-',
        _ => letter.is_ascii_hexdigit(),
    };
    id.len() == 36 && id.chars().enumerate().all(is_right)
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
