//! What wit-bindgen makes of the contract in `wit/`.
#![allow(
    missing_docs,
    unsafe_code,
    unused_qualifications,
    reason = "generated; wit/ documents every item"
)]

wit_bindgen::generate!({
    path: "../wit",
    world: "plugin",
    generate_all,
    additional_derives: [PartialEq],
});

pub use portico::dashboard::{icons, log, storage, types};
