//! Checks whether apps can be reached: what `app.status` returns.
//!
//! Invariants:
//! - A request goes out only while somebody looks: a look starts the checks that are due, and nothing else does. However
//!   many look, a URL is checked at most once a minute, and less and less often while it is down.
//! - Only the URL that was given is requested, from an address that was checked by [`AllowList`]: the name is resolved
//!   once for a check, and what is connected to is what was checked, so DNS rebinding gains nothing. No redirect is
//!   followed, no proxy used, and nothing of the caller is sent.
//! - A check reads a status line and nothing after it. Its time, its bytes, how many run at once in total and for one
//!   host, and all that is remembered are bounded.
//! - It runs on a thread of its own, and names are resolved on others, so nothing that stalls delays a request that the
//!   host serves.

mod allow;
mod answer;
mod checker;
pub mod metrics;
mod probe;
mod resolve;
mod target;
mod tls;
mod watch;

pub use self::{
    allow::AllowList,
    checker::{Checker, CheckerSettings},
    resolve::{Names, SystemNames},
};
