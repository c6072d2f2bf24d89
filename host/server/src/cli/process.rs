//! The process: its limits, and the runtime of its asynchronous work.

use std::io;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

/// Raises the limit of open files to its maximum, and makes a write beyond the limit on file sizes fail like on a full
/// disk.
pub fn prepare() -> io::Result<()> {
    raise_open_files();
    outlive_size_limit()
}

/// Every connection is an open file. The soft limit is often 1,024, which only protects programs that use
/// `select`; this one does not.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        // If this fails, the old limit stays.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

/// SIGXFSZ ends a process. With a handler, the write that caused it fails with EFBIG instead. The
/// handler stays installed after the runtime is dropped.
fn outlive_size_limit() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async { signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop) })
}

/// Runs asynchronous work to its end, on a runtime of its own.
pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
