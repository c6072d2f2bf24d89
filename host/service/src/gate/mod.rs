//! The gate in front of apps: whether a request at a proxy may reach the app that it is for.
//!
//! Invariants:
//! - A user who sees an app may open it, by the same condition in storage as everywhere. An address of no app is refused.
//! - No two visitors have one name for an app that takes capitals, compatible characters or accents for the same, but for those
//!   that docs/gate.md lists. Only administrators have a name that apps may take for that of their own.
//! - A pass is valid only here. It ends with its session, and is looked up with each request.
//! - A decision writes nothing. Once an hour for each person and app a row of the audit log is written afterwards, and once an
//!   hour, or half as long as a session may be unused, the use of the session.
//! - Addresses of apps are in memory. At the host that changes them the change counts with the next request, at others on
//!   the same database within a second. Apps, people and their rights are looked up with each request.

mod index;
pub(crate) mod place;
mod reserved;
mod visits;

use std::{
    hash::Hash,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, RwLock, atomic::Ordering},
    time::{Duration, Instant},
};

use portico_model::{Id, Timestamp, error::Error};
use portico_rules::{permissions::sees_all_apps, refusal::Refusal};
use portico_storage::{
    Access, AuditEntry, Authentication, CallContext, DONE, DashboardTransaction, GateVisitor, Viewer,
    hash_secret,
    secrets::{gate_pass, parse_gate_pass},
};
use tracing::{debug, info};

use self::{
    index::{Found, Index},
    reserved::{has_compatible_letters, shares_name_without_accents},
    visits::{HOUR, MINUTE, Noted, Visit},
};
pub use self::{
    place::{GateDomain, GateHosts, Target, kept_address},
    reserved::ReservedNames,
};
use crate::{
    identity::Identity,
    metrics,
    resources::Resources,
    second_runtime::compute,
    sessions::{self, SessionTimes},
};

/// The name of a visit in the audit log.
pub const VISIT: &str = "gate";

/// How long addresses in memory count without being read again.
const FRESH: Duration = Duration::from_secs(1);

/// The most passes of a request that are looked up.
const MOST_PASSES: usize = 3;

/// The gate of a host.
pub struct Gate {
    domain: GateDomain,
    reserved_names: ReservedNames,
    sessions: SessionTimes,
    current: RwLock<Option<Loaded>>,
    /// Held while addresses are read.
    loading: tokio::sync::Mutex<()>,
    visits: Mutex<Noted<Visit>>,
    /// Sessions whose use was noted.
    uses: Arc<Mutex<Noted<Id>>>,
    /// Whether an address of no app was noted.
    unknown: Mutex<Noted<()>>,
}

#[derive(Clone)]
struct Loaded {
    index: Arc<Index>,
    /// How many changes of apps there had been before it was read.
    changes: u64,
    at: Instant,
}

/// What is asked.
pub struct Question<'a> {
    /// What the request is for.
    pub target: &'a Target,
    /// What it brings as passes. Hosts of a domain can set cookies for each other, so there may be several.
    pub passes: &'a [&'a str],
    /// Where it comes from.
    pub address: Option<IpAddr>,
    /// The id of the request.
    pub request_id: &'a str,
}

/// What the gate decides.
#[derive(Debug)]
pub enum Decision {
    /// The request may reach its app.
    Pass {
        /// The user who sends it; `None` if they are not signed in, at an app that lets everyone in.
        visitor: Option<Box<GateVisitor>>,
    },
    /// Its sender has to sign in.
    SignIn,
    /// The request may not reach an app.
    Refuse(Refusal),
}

impl Decision {
    fn name(&self) -> &'static str {
        match self {
            Self::Pass { visitor: Some(_) } => "passed",
            Self::Pass { visitor: None } => "everyone",
            Self::SignIn => "sign-in",
            Self::Refuse(Refusal::GateNoApp) => "no-app",
            Self::Refuse(Refusal::GateAmbiguous) => "ambiguous",
            Self::Refuse(_) => "refused",
        }
    }
}

impl Gate {
    /// The gate in front of the apps of this domain.
    pub fn new(domain: GateDomain, reserved_names: ReservedNames, sessions: SessionTimes) -> Self {
        Self {
            domain,
            reserved_names,
            sessions,
            current: RwLock::default(),
            loading: tokio::sync::Mutex::default(),
            visits: Mutex::new(Noted::every(HOUR)),
            // A session that is used does not expire in between.
            uses: Arc::new(Mutex::new(Noted::every(
                HOUR.min(sessions.idle.as_millis() as Timestamp / 2),
            ))),
            unknown: Mutex::new(Noted::every(MINUTE)),
        }
    }

    /// The domain whose hosts it is in front of.
    pub fn domain(&self) -> &GateDomain {
        &self.domain
    }

    /// Decides whether a request may reach its app.
    pub async fn decide(
        &self,
        resources: &Arc<Resources>,
        question: &Question<'_>,
    ) -> Result<Decision, Error> {
        let decision = self.look(resources, question).await?;
        metrics::GATE.record(&decision.name(), portico_metrics::Counter::increment);
        Ok(decision)
    }

    async fn look(&self, resources: &Arc<Resources>, question: &Question<'_>) -> Result<Decision, Error> {
        let index = self.index(resources).await?;
        let apps = match index.find(question.target) {
            Found::Apps(apps) => apps,
            Found::Nothing => {
                self.log_unknown(resources, question);
                return Ok(Decision::Refuse(Refusal::GateNoApp));
            }
            Found::Ambiguous => return Ok(Decision::Refuse(Refusal::GateAmbiguous)),
        };
        let context = Identity::anonymous().context(question.request_id);
        let mut transaction = resources.storage.begin_dashboard(Access::Read, &context).await?;
        let now = resources.clock.now();
        let mut visitor = None;
        let passes = question.passes.iter().filter_map(|pass| parse_gate_pass(pass));
        for pass in passes.take(MOST_PASSES) {
            let found = transaction.find_gate_visitor(&pass).await?;
            visitor = found.filter(|visitor| visitor.expires_at > now);
            if visitor.is_some() {
                break;
            }
        }
        let Some(visitor) = visitor else {
            return Ok(match transaction.find_open_app(apps).await? {
                Some(_) => Decision::Pass { visitor: None },
                None => Decision::SignIn,
            });
        };
        let viewer = match sees_all_apps(&visitor.permissions) {
            true => Viewer::Everything,
            false => Viewer::User(visitor.user_id.clone()),
        };
        let opened = open(&mut *transaction, apps, &viewer).await?;
        let shares_name =
            visitor.is_name_shared || shares_name_without_accents(&mut *transaction, &visitor).await?;
        drop(transaction);
        // Of apps at the same address, the first stands for all where none is seen.
        let app = opened.as_ref().or(apps.first()).cloned().unwrap_or_default();
        let decision = match opened {
            None => Decision::Refuse(Refusal::GateNotYours),
            Some(_) if shares_name => Decision::Refuse(Refusal::GateNameShared),
            Some(_) if self.reserved_names.keep_out(&visitor) || has_compatible_letters(&visitor.name) => {
                Decision::Refuse(Refusal::GateNameReserved)
            }
            Some(_) => Decision::Pass {
                visitor: Some(Box::new(visitor.clone())),
            },
        };
        self.note(resources, question, &visitor, app, &decision);
        Ok(decision)
    }

    /// Gives the session with this token a pass, if its user may open what is asked for. Returns the text of the pass.
    ///
    /// The pass is stored with the first one of a session and after its token has changed, and not each time.
    pub async fn admit(
        &self,
        resources: &Arc<Resources>,
        target: &Target,
        identity: &Identity,
        token: &str,
        request_id: &str,
    ) -> Result<String, Error> {
        let (Authentication::Session(session_id), Some((text, pass))) =
            (&identity.authentication, gate_pass(token))
        else {
            return Err(Error::unauthorized());
        };
        let index = self.index(resources).await?;
        let apps = match index.find(target) {
            Found::Apps(apps) => apps,
            Found::Nothing => return Err(Refusal::GateNoApp.into()),
            Found::Ambiguous => return Err(Refusal::GateAmbiguous.into()),
        };
        let viewer = match (sees_all_apps(identity.permissions()), identity.user_id()) {
            (true, _) => Viewer::Everything,
            (false, Some(id)) => Viewer::User(id.to_owned()),
            (false, None) => return Err(Error::unauthorized()),
        };
        let context = identity.context(request_id);
        let storage = &resources.storage;
        let mut transaction = storage.begin_dashboard(Access::Read, &context).await?;
        if open(&mut *transaction, apps, &viewer).await?.is_none() {
            return Err(Refusal::GateNotYours.into());
        }
        let known = transaction.find_gate_visitor(&pass).await?;
        drop(transaction);
        if known.is_none() {
            let mut transaction = storage.begin_dashboard(Access::Write, &context).await?;
            // The session may have ended meanwhile, or have another token.
            let token = hash_secret(token);
            let stored = transaction.put_gate_pass(session_id, &token, &pass).await?;
            if !stored {
                return Err(Error::unauthorized());
            }
            transaction.commit().await?;
        }
        Ok(text)
    }

    /// Says as what address the gate reads one of no app, now and then: anyone can ask for any.
    fn log_unknown(&self, resources: &Resources, question: &Question<'_>) {
        if is_due(&self.unknown, &(), resources.clock.now()) {
            // A host has no control characters, and may be as long as a header.
            let address = question.target.origin();
            info!(
                request = question.request_id,
                "the gate refuses requests for {address:.300}, because no app has a link or a further address there; scheme and \
                 port count (said once a minute)"
            );
        }
    }

    /// Notes a visit and the use of its session after the decision, now and then. A failure is logged and affects no request.
    fn note(
        &self,
        resources: &Arc<Resources>,
        question: &Question<'_>,
        visitor: &GateVisitor,
        app_id: String,
        decision: &Decision,
    ) {
        let refusal = match decision {
            Decision::Refuse(refusal) => Some(refusal.code()),
            _ => None,
        };
        let visit = Visit {
            user_id: visitor.user_id.clone(),
            app_id,
            has_passed: refusal.is_none(),
        };
        let now = resources.clock.now();
        if is_due(&self.visits, &visit, now) {
            let authentication = Authentication::Session(visitor.session_id.clone());
            let entry = AuditEntry::new(VISIT, question.request_id)
                .by(Some(&visit.user_id), &authentication)
                .about(&visit.app_id);
            resources.audit.note(AuditEntry {
                time: now,
                address: question.address,
                outcome: refusal.map_or(DONE, |code| code.name()).into(),
                ..entry
            });
        }
        if !is_due(&self.uses, &visitor.session_id, now) {
            return;
        }
        let context: CallContext = Identity::anonymous().context(question.request_id);
        let expires_at = self.sessions.expires_at(now, visitor.ends_at);
        let (storage, session_id) = (resources.storage.clone(), visitor.session_id.clone());
        let uses = self.uses.clone();
        tokio::spawn(async move {
            let noted = sessions::note_use(&*storage, &context, &session_id, now, Some(expires_at)).await;
            if let Err(error) = noted {
                debug!(request = &*context.request_id, ?error, "a visit was not noted");
                // The next request tries again, so that no session expires while it is used.
                uses.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .forget(&session_id);
            }
        });
    }

    /// The addresses of all apps.
    async fn index(&self, resources: &Arc<Resources>) -> Result<Arc<Index>, Error> {
        if let Some(index) = self.fresh(resources) {
            return Ok(index);
        }
        let _loading = self.loading.lock().await;
        // Another request may have read them meanwhile.
        if let Some(index) = self.fresh(resources) {
            return Ok(index);
        }
        let (changes, at) = (resources.app_changes.load(Ordering::Acquire), Instant::now());
        let context = Identity::operator().context("gate");
        let mut transaction = resources.storage.begin_dashboard(Access::Read, &context).await?;
        let places = transaction.list_app_places().await?;
        drop(transaction);
        let domain = self.domain.clone();
        let index = Arc::new(compute(None, move || Index::of(&places, &domain)).await?);
        let loaded = Loaded {
            index: index.clone(),
            changes,
            at,
        };
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded);
        Ok(index)
    }

    /// The addresses in memory, if nothing has changed at this host and they are new enough.
    fn fresh(&self, resources: &Resources) -> Option<Arc<Index>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let loaded = current.as_ref()?;
        let is_fresh =
            loaded.changes == resources.app_changes.load(Ordering::Acquire) && loaded.at.elapsed() < FRESH;
        is_fresh.then(|| loaded.index.clone())
    }
}

fn is_due<K: Clone + Eq + Hash>(noted: &Mutex<Noted<K>>, key: &K, now: Timestamp) -> bool {
    let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
    noted.is_due(key, now)
}

/// Which of these apps this viewer may open: one that they see, or one that lets everyone in.
async fn open(
    transaction: &mut dyn DashboardTransaction,
    apps: &[String],
    viewer: &Viewer,
) -> Result<Option<String>, Error> {
    match transaction.find_seen_app(apps, viewer).await? {
        Some(app) => Ok(Some(app)),
        None => Ok(transaction.find_open_app(apps).await?),
    }
}
