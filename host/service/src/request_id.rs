//! Ids of requests.

use std::hash::{BuildHasher, RandomState};

/// A new id, by which the log and error messages name a request.
pub fn new_request_id() -> String {
    // A new `RandomState` is seeded with the system's random numbers, once per thread.
    format!("{:016x}", RandomState::new().hash_one(0))
}
