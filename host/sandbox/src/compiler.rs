//! What compiles a component.
//!
//! A file of a few megabytes can be made so that compiling it takes minutes and a gigabyte, and nothing stops a
//! compiler that runs on a thread. So a host compiles files in a process of its own, which can be ended.

use std::{
    io::{self, Read as _, Write as _},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use wasmtime::{Engine, component::Component};

use crate::{component::Wasm, engine};

/// How often a host looks whether the compiler is done, or is no longer wanted.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

const CANNOT_COMPILE: &str =
    "it cannot be compiled: is the file complete, and does `wasm-tools validate` accept it?";

/// What compiles the file of a component. The component inside the host is always compiled in the same process.
#[derive(Clone, Copy, Debug, Default)]
pub enum Compiler {
    /// This process, on a thread that runs until it is done.
    #[default]
    Here,
    /// A process that this command starts, and that calls [`compile`] with its standard input and writes the result to
    /// its standard output, or an error to its standard error. It is ended when nobody waits for it any more.
    Apart(fn() -> io::Result<Command>),
}

/// Compiles a component for hosts of this version. Returns compiled code.
pub fn compile(component: &[u8]) -> anyhow::Result<Vec<u8>> {
    Ok(Engine::new(&engine::config())?.precompile_component(component)?)
}

impl Compiler {
    /// Compiles a component. Fails if `is_unwanted` before a process is done.
    pub(crate) fn run(
        self,
        engine: &Engine,
        component: Wasm<'_>,
        is_unwanted: &dyn Fn() -> bool,
    ) -> anyhow::Result<Component> {
        match (self, component) {
            (Self::Here, _) | (_, Wasm::Included) => Component::new(engine, &*component)
                .map_err(anyhow::Error::from)
                .context(CANNOT_COMPILE),
            (Self::Apart(command), Wasm::Bytes(bytes)) => {
                let command = command().context("no process to compile it")?;
                let code = Process::start(command)?.compile(bytes, is_unwanted)?;
                #[expect(unsafe_code, reason = "wasmtime takes compiled code by nothing else")]
                // SAFETY: these are the bytes that `compile` returned in the process that we started.
                Ok(unsafe { Component::deserialize(engine, code)? })
            }
        }
    }
}

/// A process that compiles. It is ended when this is dropped.
struct Process(Child);

impl Process {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command
            .spawn()
            .context("the process to compile it cannot be started")?;
        Ok(Self(child))
    }

    fn compile(mut self, component: &[u8], is_unwanted: &dyn Fn() -> bool) -> anyhow::Result<Vec<u8>> {
        let (input, output, errors) = (self.0.stdin.take(), self.0.stdout.take(), self.0.stderr.take());
        let (mut code, mut message) = (Vec::new(), String::new());
        // The threads end when the process has ended.
        let status = thread::scope(|scope| {
            // A process that ends early reads no further, and says why.
            scope.spawn(|| input.map(|mut input| input.write_all(component)));
            scope.spawn(|| output.map(|mut output| output.read_to_end(&mut code)));
            scope.spawn(|| errors.map(|mut errors| errors.read_to_string(&mut message)));
            let status = self.wait(is_unwanted);
            drop(self);
            status
        })?;
        anyhow::ensure!(
            status.success(),
            match message.trim() {
                "" => format!("the process that compiles it ended with {status}"),
                message => format!("{CANNOT_COMPILE}: {message}"),
            }
        );
        Ok(code)
    }

    fn wait(&mut self, is_unwanted: &dyn Fn() -> bool) -> anyhow::Result<ExitStatus> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            anyhow::ensure!(!is_unwanted(), "its compilation was given up");
            thread::sleep(LOOK_INTERVAL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
