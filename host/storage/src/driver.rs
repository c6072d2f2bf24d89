//! What drivers have in common: rules of the dashboard side, and the errors of a transaction.

use std::time::Duration;

use crate::Error;
pub use crate::audit::Trail;
pub use crate::new_password::Setter;

/// A permission that begins with this lets its holder view every board.
pub const BOARD_PERMISSIONS: &str = "board-";

/// The group (its name is its name-key) that `grant_admin` makes users members of.
pub const ADMIN_GROUP: &str = "admins";

/// How long a transaction waits for its turn.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The answer to a transaction that waited longer than [`PATIENCE`].
pub fn waited_too_long() -> Error {
    Error::Unavailable(format!(
        "no turn for a transaction within {} seconds",
        PATIENCE.as_secs()
    ))
}

/// The answer to a write in a transaction that only reads.
pub fn only_reads() -> Error {
    Error::Unavailable("a write in a read transaction".into())
}

/// The answer to a write or a commit after a call that failed.
pub fn failed_before() -> Error {
    Error::Unavailable("a call in this transaction failed before".into())
}
