//! How names are compared everywhere: see `wit/storage.wit`, *name-key*.

use alloc::string::String;
use alloc::vec::Vec;

pub use portico_rules::names::{key, key_to_find};

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::names as contract;

impl contract::Guest for Plugin {
    fn keys(names: Vec<String>) -> Vec<String> {
        names.iter().map(|name| key(name)).collect()
    }
}
