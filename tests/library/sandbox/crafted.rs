//! Components written by hand in WebAssembly's text form, for what Rust cannot express: globals, tables,
//! and answers that break the rules of the boundary.
//!
//! Each is a whole component of the contract in which only `apps.by-id` does anything.

use std::{fmt::Write, path::Path, time::Duration};

use portico_model::{
    App,
    error::{Code, Error},
};
use portico_sandbox::{Limits, Sandbox};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{
    Resolve, WorldItem,
    abi::{AbiVariant, WasmType},
};

use super::{
    harness::{by_id, sandbox},
    secrets::PAIRS,
};

/// The export whose body a test writes. It is called with the caller and an id, flattened to nine
/// numbers, and gives a pointer to its answer.
const BY_ID: &str = "portico:dashboard/apps@1.0.0#by-id";

/// What every component needs, unless a test has its own: memory, and a way to get some of it.
pub const MEMORY: &str = r#"
    (memory (export "memory") 2)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
"#;

/// A component with these items, and this as the body of `by-id`.
pub fn component(items: &str, by_id: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (package, _) = resolve.push_dir(wit).expect("the contract");
    let world = resolve
        .select_world(&[package], Some("plugin"))
        .expect("its world");

    let mut text = format!("(module {items}\n");
    for (key, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else {
            panic!("the world exports nothing but interfaces");
        };
        let interface = resolve.name_world_key(key);
        for (name, function) in &resolve.interfaces[*id].functions {
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            let name = format!("{interface}#{name}");
            let body = if name == BY_ID { by_id } else { "unreachable" };
            let (params, results) = (types(&signature.params), types(&signature.results));
            writeln!(
                text,
                "(func (export {name:?}) (param {params}) (result {results}) {body})"
            )
            .unwrap();
        }
    }
    text.push(')');
    let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let mut encoder = ComponentEncoder::default();
    encoder
        .validate(true)
        .module(&module)
        .expect("a module of the contract");
    encoder
        .encode()
        .unwrap_or_else(|error| panic!("{error:#}\n{text}"))
}

fn types(types: &[WasmType]) -> String {
    let name = |wasm_type: &WasmType| match wasm_type {
        WasmType::I64 | WasmType::PointerOrI64 => "i64 ",
        WasmType::F32 => "f32 ",
        WasmType::F64 => "f64 ",
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32 ",
    };
    types.iter().map(name).collect()
}

/// A sandbox for one instance at a time, so that each call gets the place of the one before it.
fn sandbox_of(items: &str, by_id: &str) -> Sandbox {
    sandbox_for(Limits::default().time, items, by_id)
}

/// The same with this time for a call. It also passes while a busy machine does other work.
fn sandbox_for(time: Duration, items: &str, by_id: &str) -> Sandbox {
    let limits = Limits {
        instances: 1,
        time,
        ..Limits::default()
    };
    sandbox(&*component(items, by_id), limits).expect("it fits")
}

async fn call(sandbox: &Sandbox) -> Result<App, Error> {
    by_id(sandbox, None, "an id").await
}

/// The call fails, twice: the second time the instance of the first is gone.
async fn fails(items: &str, by_id: &str, code: Code, cause: &str) {
    let time = match code {
        Code::Timeout => Duration::from_millis(300),
        _ => Limits::default().time,
    };
    let sandbox = sandbox_for(time, items, by_id);
    for _ in 0..2 {
        let error = call(&sandbox).await.unwrap_err();
        let found = error.cause.map_or(error.message, |cause| format!("{cause:#}"));
        assert_eq!(error.code, code, "{found}");
        assert!(found.contains(cause), "{found}");
    }
}

async fn is_a_fault(by_id: &str, cause: &str) {
    fails(MEMORY, by_id, Code::InternalServerError, cause).await;
}

/// Remembers in every possible way, and returns what it remembers from earlier, one digit each: a global, an entry of a
/// table, the size of the table, the size of memory, a byte of memory. Had a segment been dropped before, it would
/// trap.
const REMEMBERS: &str = r#"
    (memory (export "memory") 2)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
    (global $global (mut i32) (i32.const 0))
    (table $table 4 100 funcref)
    (data $segment "data")
    (elem $elements func $secret)
    (func $secret)
    (func $digit (param $at i32) (param $value i32)
        (i32.store8 (local.get $at) (i32.add (i32.const 48) (local.get $value))))
    (func $remember (result i32)
        (memory.init $segment (i32.const 256) (i32.const 0) (i32.const 4))
        (call $digit (i32.const 512) (global.get $global))
        (call $digit (i32.const 513) (i32.eqz (ref.is_null (table.get $table (i32.const 0)))))
        (call $digit (i32.const 514) (i32.sub (table.size $table) (i32.const 4)))
        (call $digit (i32.const 515) (i32.sub (memory.size) (i32.const 2)))
        (call $digit (i32.const 516) (i32.load8_u (i32.const 70000)))

        (global.set $global (i32.const 1))
        (table.init $table $elements (i32.const 0) (i32.const 0) (i32.const 1))
        (drop (table.grow $table (ref.func $secret) (i32.const 1)))
        (drop (memory.grow (i32.const 1)))
        (i32.store8 (i32.const 70000) (i32.const 1))

        (i32.store (i32.const 1036) (i32.const 512))
        (i32.store (i32.const 1040) (i32.const 5))
        (i32.const 1024))
    (func $drop_segments
        (data.drop $segment)
        (elem.drop $elements))
"#;

/// At 1024 is the result: ok, and the app whose name is the digits.
const REMEMBER: &str = "(call $remember)";
const REMEMBER_AND_DROP: &str = "(call $remember) (call $drop_segments)";

#[tokio::test]
async fn what_a_call_leaves_in_globals_tables_and_sizes_is_invisible_to_other_callers() {
    for body in [REMEMBER, REMEMBER_AND_DROP] {
        for (first, second) in PAIRS {
            let sandbox = sandbox_of(REMEMBERS, body);
            for user in [first, second] {
                let app = by_id(&sandbox, user, "an id").await.unwrap();
                assert_eq!(app.name, "00000", "{first:?}, {second:?}");
            }
        }
    }
}

/// The same, of an instance that is used twice: what it remembers is seen.
#[tokio::test]
async fn the_probe_finds_globals_tables_and_sizes_in_an_instance_that_is_used_twice() {
    use super::harness::{by_id_in, context};
    let sandbox = sandbox_of(REMEMBERS, REMEMBER);
    let mut instance = sandbox.enter(context(None)).await.unwrap();
    assert_eq!(by_id_in(&mut instance, "an id").await.unwrap().name, "00000");
    assert_eq!(by_id_in(&mut instance, "an id").await.unwrap().name, "11111");
    drop(instance);

    let sandbox = sandbox_of(REMEMBERS, REMEMBER_AND_DROP);
    let mut instance = sandbox.enter(context(None)).await.unwrap();
    by_id_in(&mut instance, "an id").await.unwrap();
    by_id_in(&mut instance, "an id").await.unwrap_err();
}

#[tokio::test]
async fn what_a_call_leaves_before_a_trap_is_invisible_to_other_callers() {
    let body = "(drop (call $remember)) (if (i32.eq (local.get 8) (i32.const 4)) (then unreachable)) (i32.const 1024)";
    for (first, second) in PAIRS {
        let sandbox = sandbox_of(REMEMBERS, body);
        by_id(&sandbox, first, "trap").await.unwrap_err();
        assert_eq!(
            by_id(&sandbox, second, "look").await.unwrap_err().code,
            Code::InternalServerError
        );
        assert_eq!(by_id(&sandbox, second, "see").await.unwrap().name, "00000");
    }
}

#[tokio::test]
async fn a_table_bomb_ends() {
    let items = format!("{MEMORY} (table $table 1 funcref)");
    let bomb =
        "(loop $more (drop (table.grow $table (ref.null func) (i32.const 1000))) (br $more)) unreachable";
    fails(&items, bomb, Code::InternalServerError, "table").await;
}

#[tokio::test]
async fn recursion_without_memory_ends() {
    let items = format!(
        "{MEMORY} (func $deeper (param i64) (call $deeper (local.get 0)) (call $deeper (i64.const 1)))"
    );
    let body = "(call $deeper (i64.const 0)) unreachable";
    fails(&items, body, Code::InternalServerError, "call stack exhausted").await;
}

#[tokio::test]
async fn a_loop_without_an_end_before_the_call_begins_ends() {
    let items = format!("{MEMORY} (func $begin (loop $more (br $more))) (start $begin)");
    fails(&items, "unreachable", Code::Timeout, "processor time").await;
}

#[tokio::test]
async fn a_loop_without_an_end_where_the_host_asks_for_memory_ends() {
    let items = r#"
        (memory (export "memory") 2)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $more (br $more)) unreachable)
    "#;
    fails(items, "unreachable", Code::Timeout, "processor time").await;
}

#[tokio::test]
async fn a_loop_without_an_end_after_the_answer_ends() {
    let items =
        format!(r#"{MEMORY} (func (export "cabi_post_{BY_ID}") (param i32) (loop $more (br $more)))"#);
    fails(&items, "(i32.const 1024)", Code::Timeout, "processor time").await;
}

#[tokio::test]
async fn memory_that_is_not_there_is_not_written_to() {
    let items = r#"
        (memory (export "memory") 2)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const -16))
    "#;
    fails(
        items,
        "unreachable",
        Code::InternalServerError,
        "beyond end of memory",
    )
    .await;
}

#[tokio::test]
async fn a_component_that_calls_the_host_while_it_asks_for_memory_is_ended() {
    let items = r#"
        (import "portico:dashboard/log@1.0.0" "write" (func $log (param i32 i32 i32)))
        (memory (export "memory") 2)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (call $log (i32.const 0) (i32.const 0) (i32.const 0))
            (i32.const 4096))
    "#;
    fails(
        items,
        "unreachable",
        Code::InternalServerError,
        "cannot leave component instance",
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_not_in_memory_is_refused() {
    is_a_fault("(i32.const 0x7fffff00)", "out of bounds").await;
    is_a_fault("(i32.const 1025)", "not aligned").await;
}

#[tokio::test]
async fn an_answer_that_is_neither_a_value_nor_a_refusal_is_refused() {
    is_a_fault(
        "(i32.store8 (i32.const 1024) (i32.const 7)) (i32.const 1024)",
        "invalid expected discriminant",
    )
    .await;
}

#[tokio::test]
async fn a_text_that_is_longer_than_memory_is_refused() {
    let body = "(i32.store (i32.const 1032) (i32.const -1)) (i32.const 1024)";
    is_a_fault(body, "out of bounds").await;
}

#[tokio::test]
async fn a_handle_that_the_host_did_not_give_is_refused() {
    let items = format!(
        r#"(import "portico:dashboard/storage@1.0.0" "[method]transaction.has-users" (func $has (param i32 i32)))
        {MEMORY}"#
    );
    let body = "(call $has (i32.const 7) (i32.const 1024)) unreachable";
    fails(&items, body, Code::InternalServerError, "handle").await;
}

#[test]
fn a_component_that_begins_with_too_much_memory_is_not_taken() {
    let items = r#"
        (memory (export "memory") 5000)
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
    "#;
    let Err(error) = sandbox(&*component(items, "unreachable"), Limits::default()) else {
        panic!("it was taken");
    };
    assert!(format!("{error:#}").contains("memory"), "{error:#}");
}
