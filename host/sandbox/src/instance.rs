//! One instance of the component, and the permit that it runs with.

use std::sync::Arc;

use portico_metrics::Held;
use portico_model::{
    self as model,
    error::{Code, Collided, Error},
};
use portico_storage::CallContext;
use tokio::{sync::OwnedSemaphorePermit, task::yield_now};
use wasmtime::{
    CallHook, Store, UpdateDeadline,
    component::{ComponentNamedList, Lift, Lower},
};

use crate::{
    bindings::{
        Plugin,
        exports::portico::dashboard::{apps, users},
    },
    exports::{ExportIndices, Exports},
    limits::{AbortReason, Budget, trapped},
    memory::Share,
    metrics,
    prepared::Prepared,
    state::State,
    warm::{Warm, WarmInstances},
};

/// The right to run one call at a time. It keeps the largest share of memory that one of its calls needed.
pub struct CallPermit {
    pub(crate) permit: OwnedSemaphorePermit,
    pub(crate) share: Share,
}

impl CallPermit {
    /// Lets its calls no longer wait for memory, because others wait for what its caller holds.
    pub fn stop_waiting(&mut self) {
        self.share.stop_waiting();
    }
}

/// The component, for one call.
pub struct Instance {
    store: Store<State>,
    exports: Exports,
    export_indices: Arc<ExportIndices>,
    /// Dropped after the store, whose memory it represents.
    permit: OwnedSemaphorePermit,
    calls: u32,
    ended_well: bool,
    _running: Held,
    /// The user for whom it may wait, and where.
    keep: Option<(String, Arc<WarmInstances>)>,
}

impl Instance {
    pub(crate) async fn new(
        prepared: &Prepared,
        permit: OwnedSemaphorePermit,
        state: State,
    ) -> Result<Self, Error> {
        let mut store = Store::new(&prepared.engine, state);
        store.limiter_async(|state| state);
        store.call_hook(|mut store, hook| {
            let state = store.data_mut();
            match hook {
                CallHook::CallingHost => {
                    state.budget.count_host_call()?;
                    let arguments = state.share.transfer().min(state.limits.arguments);
                    store.set_hostcall_fuel(arguments);
                }
                CallHook::ReturningFromHost => state.check_writing(),
                CallHook::CallingWasm => state.budget.meter.enter(),
                CallHook::ReturningFromWasm => {
                    state.budget.meter.leave();
                    let answer = state.share.transfer();
                    store.set_hostcall_fuel(answer);
                }
            }
            Ok(())
        });
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            let budget = &store.data().budget;
            budget.check_time()?;
            let others = budget.meter.clone().wait(yield_now());
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(others)))
        });
        let instance = prepared.instances.instantiate_async(&mut store).await;
        Ok(Self {
            store,
            exports: Exports::new(instance.map_err(trapped)?),
            export_indices: prepared.export_indices.clone(),
            permit,
            calls: 1,
            ended_well: false,
            _running: metrics::RUNNING.hold(),
            keep: None,
        })
    }

    /// The same, which may wait for the next call of this user.
    pub(crate) fn kept_for(self, user: &str, instances: Arc<WarmInstances>) -> Self {
        Self {
            keep: Some((user.into(), instances)),
            ..self
        }
    }

    /// An instance that has waited, for the next call of its user.
    pub(crate) fn again(
        warm: Warm,
        export_indices: Arc<ExportIndices>,
        permit: OwnedSemaphorePermit,
        context: CallContext,
        instances: Arc<WarmInstances>,
    ) -> Self {
        let Warm {
            user,
            mut store,
            exports,
            calls,
        } = warm;
        let state = store.data_mut();
        state.context = context;
        state.budget = Budget::new(&state.limits);
        store.set_epoch_deadline(1);
        Self {
            store,
            exports,
            export_indices,
            permit,
            calls: calls + 1,
            ended_well: false,
            _running: metrics::RUNNING.hold(),
            keep: Some((user, instances)),
        }
    }

    /// The exports, and the store that their functions are called with.
    pub fn parts(&mut self) -> Result<(&Plugin, &mut Store<State>), Error> {
        let found = self.exports.plugin(&self.export_indices, &mut self.store);
        Ok((found.map_err(trapped)?, &mut self.store))
    }

    /// Acts for this caller from now on: the same one, looked up again.
    pub fn act_for(&mut self, context: CallContext) {
        self.store.data_mut().context = context;
    }

    /// Whether this is its first call.
    pub fn is_fresh(&self) -> bool {
        self.calls == 1
    }

    /// Calls one function, by its name in the bindings, without looking up any other.
    pub async fn call_once<Params, Answer>(&mut self, name: &str, params: Params) -> wasmtime::Result<Answer>
    where
        Params: ComponentNamedList + Lower,
        Answer: Lift + 'static,
        (Answer,): ComponentNamedList + Lift,
    {
        let function = self
            .exports
            .function(name, &self.export_indices, &mut self.store)?;
        let (answer,) = function.call_async(&mut self.store, params).await?;
        Ok(answer)
    }

    /// The exports of `users` alone, which takes less time than [`parts`](Self::parts).
    pub fn portico_dashboard_users(&mut self) -> Result<(&users::Guest, &mut Store<State>), Error> {
        let found = self.exports.users(&self.export_indices, &mut self.store);
        Ok((found.map_err(trapped)?, &mut self.store))
    }

    /// The exports of `apps` alone, which takes less time than [`parts`](Self::parts).
    pub fn portico_dashboard_apps(&mut self) -> Result<(&apps::Guest, &mut Store<State>), Error> {
        let found = self.exports.apps(&self.export_indices, &mut self.store);
        Ok((found.map_err(trapped)?, &mut self.store))
    }

    /// Ends the call, and lets the instance wait for the next call of its user if it may. The same caller may use the
    /// permit for another call. An instance that is dropped instead, or whose call did not return, ends as well.
    pub fn leave(self) -> CallPermit {
        let permit = self.permit;
        let state = self.store.data();
        let is_clean = self.ended_well && state.table.is_empty() && state.share.is_small();
        let share = match self.keep {
            Some((user, instances)) if is_clean => {
                let share = state.share.sibling();
                instances.put_back(Warm {
                    user,
                    store: self.store,
                    exports: self.exports,
                    calls: self.calls,
                });
                share
            }
            _ => self.store.into_data().share,
        };
        CallPermit { permit, share }
    }

    /// The result of a call: its value, its refusal, or why the host ended it.
    pub fn read_result<T>(&mut self, answer: wasmtime::Result<Result<T, model::Error>>) -> Result<T, Error> {
        self.ended_well = false;
        let answer = answer.map_err(trapped)?;
        if let Err(refusal) = &answer
            && length(refusal) > self.store.data().limits.record
        {
            return Err(trapped(AbortReason::LongRefusal.into()));
        }
        self.ended_well = true;
        answer.map_err(|refusal| {
            let mut error = Error::from(refusal);
            if error.code == Code::ServiceUnavailable {
                let collisions = self.store.data().budget.collisions.at_the_end();
                error.cause = collisions.map(|count| Collided(count).into());
            }
            error
        })
    }
}

/// The bytes in the texts of a refusal.
fn length(refusal: &model::Error) -> usize {
    let segment = |segment: &model::PathSegment| match segment {
        model::PathSegment::Field(name) => name.len(),
        model::PathSegment::Index(_) => 0,
    };
    let issue = |issue: &model::Issue| issue.message.len() + issue.path.iter().map(segment).sum::<usize>();
    refusal.message.len() + refusal.issues.iter().map(issue).sum::<usize>()
}

/// `ask!(instance.interface.function(arguments))`: calls a function of an [`Instance`], and looks up only what that
/// needs. If an export has another type, returns from the enclosing function with an error.
#[macro_export]
macro_rules! ask {
    ($instance:ident.$interface:ident.$function:ident($($argument:expr),* $(,)?)) => {
        if $instance.is_fresh() {
            let name = concat!(stringify!($interface), ".", stringify!($function));
            $instance.call_once(name, ($($argument,)*)).await
        } else {
            let (exports, store) = $instance.$interface()?;
            exports.$function(store, $($argument),*).await
        }
    };
}
