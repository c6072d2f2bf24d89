//! What `bindgen!` makes of the contract in `wit/`.

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "plugin",
    imports: { default: async | trappable },
    exports: { default: async },
    require_store_data_send: true,
    additional_derives: [PartialEq],
    with: {
        "portico:dashboard/types": portico_model,
        "portico:dashboard/storage.transaction": crate::transaction::OpenTransaction,
    },
});
