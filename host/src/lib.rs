//! Portico's host.
pub mod model;
pub mod storage;
pub mod time;
pub mod sandbox {
    pub mod bindings;
}
