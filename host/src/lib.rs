//! Portico's host: it runs the component, keeps its data, and serves it over HTTP.
//!
//! Data flows one way: [`http`] -> [`procedures`] -> [`sandbox`] -> component -> [`storage`].

mod dashboard;
pub mod error;
pub mod icons;
pub mod identity;
pub mod model;
pub mod procedures;
pub mod sandbox;
pub mod secrets;
pub mod service;
pub mod shape;
pub mod storage;
pub mod time;
