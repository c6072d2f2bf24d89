//! Callers of the component in tests that call it directly.

use portico_model::{Caller, UserCaller};

/// What the host notes about each call of these tests, which is also the id of the request.
pub fn call_context() -> String {
    "test".into()
}

/// A caller who is not signed in.
pub fn anonymous() -> Caller {
    Caller {
        user: None,
        context: call_context(),
    }
}

/// A signed-in user with these permissions.
pub fn user(id: &str, permissions: &[&str]) -> Caller {
    let permissions = permissions.iter().map(|permission| (*permission).into());
    Caller {
        user: Some(UserCaller {
            id: id.into(),
            permissions: permissions.collect(),
        }),
        context: call_context(),
    }
}
