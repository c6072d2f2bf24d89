//! What wit-bindgen makes of the contract in `wit/`.

wit_bindgen::generate!({
    path: "../../wit",
    world: "plugin",
    generate_all,
    additional_derives: [PartialEq],
});

pub use portico::dashboard::{icons, log, storage, types};
