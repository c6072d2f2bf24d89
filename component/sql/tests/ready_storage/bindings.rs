//! What `bindgen!` makes of `wit/`: the ready storage alone, and with the rules.

pub mod alone {
    wasmtime::component::bindgen!({
        path: ["../../wit", "wit"],
        world: "portico:sql/ready-storage",
        require_store_data_send: true,
        with: {
            "portico:dashboard/types": portico_model,
            "portico:sql/database.transaction": crate::host::OpenTransaction,
        },
    });
}

pub mod composed {
    wasmtime::component::bindgen!({
        path: ["../../wit", "wit"],
        world: "portico:sql/ready-plugin",
        require_store_data_send: true,
        with: {
            "portico:dashboard/types": portico_model,
            "portico:dashboard/log": crate::bindings::alone::portico::dashboard::log,
            "portico:sql/database": crate::bindings::alone::portico::sql::database,
            "portico:sql/surroundings": crate::bindings::alone::portico::sql::surroundings,
            "wasi:clocks/wall-clock": crate::bindings::alone::wasi::clocks::wall_clock,
            "wasi:random/random": crate::bindings::alone::wasi::random::random,
        },
    });
}

pub use alone::portico::dashboard::log;
pub use alone::portico::sql::{database, surroundings};
pub use alone::wasi::{clocks::wall_clock, random::random};
