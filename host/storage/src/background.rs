//! A thread of a driver's own for tasks that must not keep a thread that serves requests.
//!
//! It is started with the storage. A task must never wait for a thread that the system cannot start: without this
//! thread, the caller does the work itself.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::priority::lower_priority;

type Task = Box<dyn FnOnce() + Send>;

/// A task that panics does not end the thread: another one may be queued already.
fn run(task: Task) {
    let _ = catch_unwind(AssertUnwindSafe(task));
}

/// Runs tasks in order, on a thread that ends when this is dropped.
pub struct Background(Option<Sender<Task>>);

impl Background {
    /// Starts the thread, under this name. Without one, tasks run on the threads of their callers.
    pub fn new(name: &str) -> Self {
        Self::starting(name, || {})
    }

    /// The same, with less priority than threads that serve requests.
    pub fn of_low_priority(name: &str) -> Self {
        Self::starting(name, lower_priority)
    }

    fn starting(name: &str, prepare: fn()) -> Self {
        let (sender, tasks) = channel::<Task>();
        let thread = thread::Builder::new().name(name.into());
        let started = thread.spawn(move || {
            prepare();
            tasks.into_iter().for_each(run);
        });
        Self(started.is_ok().then_some(sender))
    }

    /// Runs a task on the thread, or on this one if there is no other.
    pub fn run(&self, task: impl FnOnce() + Send + 'static) {
        let task: Task = Box::new(task);
        match &self.0 {
            None => task(),
            Some(sender) => {
                if let Err(unsent) = sender.send(task) {
                    (unsent.0)();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of_the_thread_that_runs(background: &Background) -> Option<String> {
        let (sender, name) = channel();
        background.run(move || {
            let name = thread::current().name().map(ToOwned::to_owned);
            sender.send(name).unwrap();
        });
        name.recv().unwrap()
    }

    #[test]
    fn tasks_run_on_the_thread_that_was_started_with_it() {
        let name = name_of_the_thread_that_runs(&Background::new("portico-test"));
        assert_eq!(name.as_deref(), Some("portico-test"));
    }

    #[test]
    fn without_a_thread_tasks_run_on_the_thread_of_the_caller() {
        let name = name_of_the_thread_that_runs(&Background(None));
        assert_eq!(name.as_deref(), thread::current().name());
    }

    #[test]
    fn a_task_that_panics_does_not_keep_the_next_from_running() {
        let background = Background::new("portico-test");
        background.run(|| panic!("expected in this test"));
        name_of_the_thread_that_runs(&background);
    }
}
