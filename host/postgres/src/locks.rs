//! How write transactions are isolated from each other.
//!
//! All of them take one advisory lock with their first statement, and hold it until they end. Most take it *alone*:
//! then no other transaction writes meanwhile, and whatever they read stays true until they commit. A few, which are
//! frequent and touch few records, take it *alongside* others of the same kind. Row locks and unique indexes isolate
//! these from each other. Both see every earlier commit (READ COMMITTED: each statement sees all that was committed
//! when it began).
//!
//! These run alongside others. For each, why its transaction still behaves as if it ran alone:
//!
//! | function | why |
//! |---|---|
//! | `insert_apps`, `insert_user` | depend only on id and name being free, which unique indexes decide |
//! | `get_app`, `get_user`, `get_account` by id | lock the row they read, so that it stays as it was read; a caller that finds no row writes nothing |
//! | `update_app`, `delete_app` | one row of `app`; boards, whose items refer to it, are written alone |
//! | `set_…` of a user except `set_disabled`, `rehash_password_if` | one row of `user_account`, whose previous value they name or replace |
//! | `set_password_if` | the user's row first, then the user's sessions and keys: `insert_session`, `insert_key` and `import_key` lock that row before they insert, so none of them is missed |
//! | `can_view_board`, `has_search_engine` | lock the row of the board or the engine; the result is used for one user's preference, which no rule reads |
//! | `add_to_group` | locks the group; more members break no rule |
//! | `take_invite`, `take_held_invite`, `delete_invite` | the row of the invite, which only one transaction can delete |
//! | `get_visibility_in_force` | one row, which `set_looks` writes alone |
//! | `insert_key`, `import_key`, `insert_session` | lock the row of the user, so that the user stays, enabled |
//! | `adopt_key`, `delete_key`, `touch_key`, `delete_session`, `touch_session` | one row |
//! | `list_second_factors`, `advance_second_factor`, `update_second_factor`, `rename_second_factor`, `delete_second_factor`, `take_recovery_code` | of one user, whose row a sign-in has locked; an update that waits for another sees its counter. New ones are inserted alone |
//! | `delete_expired_sessions` | skips rows that others hold: the next call removes them |
//! | `insert_audit` | depends on nothing |
//!
//! Everything else takes the lock alone: a transaction that begins with another read, because a rule rests on what it
//! reads; `delete_user` and `set_disabled`, after which the component checks whether another administrator is left;
//! `insert_identity` and `grant_admin`, which belong to such a transaction; and all writes of groups, boards and search
//! engines, which are few and refer to many records.
//!
//! A transaction that holds the lock alongside others and then needs it alone waits for the others. If two do so at the
//! same time, they wait for each other until PostgreSQL aborts one of them, which gets `retry`.

use std::time::Duration;

use super::limits::Limits;
use portico_sql::Lock;

/// The first half of the lock's name ("Prtc"). The second half is the number of the version table: two
/// installations in one database do not wait for each other.
pub(super) const LOCK: i32 = 0x5072_7463;

/// The statements that begin a transaction which reads one state.
pub(super) const BEGIN_READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The lock of an installation.
#[derive(Clone, Copy)]
pub(super) struct WriteLock {
    /// The number of the version table.
    pub installation: i32,
    pub limits: Limits,
}

impl WriteLock {
    /// The statements that begin a write transaction with this lock. Waiting for the lock has the time limit of the
    /// connection; each later statement has a shorter one.
    pub fn begin(self, lock: Lock) -> String {
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {}; {}",
            self.take(lock),
            limit(self.limits.write)
        )
    }

    /// The statements with which a transaction that holds the lock alongside others takes it alone. Waiting for it has
    /// the same time limit as at the beginning.
    pub fn raise(self) -> String {
        let take = self.take(Lock::Alone);
        format!(
            "{}; {take}; {}",
            limit(self.limits.read),
            limit(self.limits.write)
        )
    }

    /// The statement that takes this lock.
    pub fn take(self, lock: Lock) -> String {
        let function = match lock {
            Lock::Alongside => "pg_advisory_xact_lock_shared",
            Lock::Alone => "pg_advisory_xact_lock",
        };
        format!("SELECT {function}({LOCK}, {})", self.installation)
    }
}

fn limit(statements: Duration) -> String {
    format!("SET LOCAL statement_timeout = {}", statements.as_millis())
}
