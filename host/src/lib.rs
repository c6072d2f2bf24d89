//! Portico's host: it runs the component, keeps its data, and serves it over HTTP.
//!
//! Data flows one way: [`http`] -> [`procedures`] -> [`sandbox`] -> component -> [`storage`].

mod dashboard;
pub mod data_dir;
mod disk;
pub mod error;
pub mod http;
pub mod icons;
pub mod identity;
pub mod model;
pub mod openapi;
pub mod procedures;
pub mod sandbox;
pub mod secrets;
pub mod service;
pub mod shape;
pub mod storage;
pub mod throttle;
pub mod time;
pub mod turns;

/// The component that this host was built with, as a file of WebAssembly.
pub const COMPONENT: &[u8] = include_bytes!(env!("PORTICO_COMPONENT_FILE"));
