//! Compiling a file of a component: it takes no longer than it may, and nobody has to wait for it.

use std::{fmt::Write as _, fs, future::poll_fn, io, process::Command, task::Poll, time::Duration};

use portico_sandbox::{COMPONENT, Compiled, Compiler, Limits};
use portico_tests::{Builder, Client as _, binary, wait_until};

use super::crafted::{MEMORY, component};

/// As the service does it.
const APART: Compiler = Compiler::Apart(compiler);

fn compiler() -> io::Result<Command> {
    let mut command = Command::new(binary());
    command.arg("compile-component");
    Ok(command)
}

/// A component of 100 kB whose compilation takes minutes: one function with many nested loops and many variables, which
/// change in all of them.
fn slow() -> Vec<u8> {
    const VARIABLES: usize = 1500;
    const LOOPS: usize = 2000;
    let mut text = format!("{MEMORY} (func $slow (local {})", "i64 ".repeat(VARIABLES));
    text.push_str(&" loop".repeat(LOOPS));
    for variable in 0..VARIABLES {
        let next = (variable + 1) % VARIABLES;
        write!(
            text,
            "(local.set {variable} (i64.add (local.get {variable}) (local.get {next})))"
        )
        .unwrap();
    }
    for number in 0..LOOPS {
        let variable = number % VARIABLES;
        write!(text, "(br_if 0 (i32.wrap_i64 (local.get {variable}))) end ").unwrap();
    }
    text.push(')');
    component(&text, "unreachable")
}

async fn compile(component: Vec<u8>, compile_time: Duration) -> anyhow::Result<Compiled> {
    let limits = Limits {
        compile_time,
        ..Limits::default()
    };
    Compiled::start(APART, Some(component), None, limits).await
}

/// The processes that this one has started and that still run.
fn children() -> String {
    let tasks = fs::read_dir("/proc/self/task").expect("the threads of this process");
    let children = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    children.collect()
}

#[tokio::test]
async fn a_file_that_takes_too_long_to_compile_is_refused_and_its_compiler_is_ended() {
    let error = compile(slow(), Duration::from_secs(1))
        .await
        .err()
        .expect("it is refused");
    assert!(error.to_string().contains("longer than 1 s"), "{error:#}");
    wait_until("the end of the compiler", || children().is_empty());
}

#[tokio::test]
async fn a_compilation_that_nobody_waits_for_is_ended() {
    let mut compiling = Box::pin(compile(slow(), Duration::from_secs(600)));
    poll_fn(|context| {
        assert!(compiling.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
    wait_until("the compiler", || !children().is_empty());
    drop(compiling);
    wait_until("the end of the compiler", || children().is_empty());
}

#[tokio::test]
async fn what_is_compiled_apart_runs_and_what_cannot_be_compiled_is_refused_in_words() {
    let time = Limits::default().compile_time;
    compile(COMPONENT.to_vec(), time).await.expect("it fits");
    // Of a proposal that this host does not run.
    let wide = "(i64.add128 (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1)) drop drop unreachable";
    let error = compile(component(MEMORY, wide), time)
        .await
        .err()
        .expect("it is refused");
    assert!(format!("{error:#}").contains("cannot be compiled"), "{error:#}");
}

/// While it loads another component.
#[test]
fn a_service_that_compiles_stops_when_it_is_told_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("plugin.wasm");
    fs::write(&file, &*COMPONENT).expect("write the file");
    let builder = Builder::default().argument("--component");
    let mut server = builder.argument(file.to_string_lossy()).start();
    fs::write(&file, slow()).expect("write the file");
    let since = server.log().len();
    server.hang_up();
    server.wait_for_log(since, "compiling the component");
    server
        .anonymous()
        .send("GET", "/api/health/ready", &[], None)
        .assert_status(200);
    assert!(server.stop().status.success());
}
