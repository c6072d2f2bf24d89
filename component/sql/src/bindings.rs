//! What wit-bindgen makes of `wit/`, and of the contract in `wit/` of the workspace.

wit_bindgen::generate!({
    path: ["../../wit", "wit"],
    world: "portico:sql/ready-storage",
    generate_all,
});

pub use exports::portico::dashboard::storage;
pub use exports::portico::sql::people;
pub use portico::dashboard::{log, types};
pub use portico::sql::{database, surroundings};
