//! A secret is shown once, in the answer that creates it, and nowhere else: in no other answer, in no line
//! of the log at any level, in no output of a command, in no file, in no list of processes.
//!
//! A whole session is recorded: every procedure with success, every procedure and route with inputs
//! that are wrong in all ways, credentials that are wrong in all ways, batches, streams, storage that
//! refuses, the command line. Each secret in it is a canary, searched for in every encoding.

mod canary;
mod factors;
mod hostile;
mod session;
mod tape;

use std::fs;

use portico_tests::{Builder, Portico};
use session::Secrets;
use tape::Tape;

/// All that can be logged.
const EVERYTHING: &str = "trace";

/// All but what the compiler and the runtime of WebAssembly say of types and counters: a hundred lines
/// for each call, and gigabytes where a component is compiled.
const ALMOST_EVERYTHING: &str = "trace,wasmtime=debug,wasmtime_internal_cranelift=info,\
    wasmtime_internal_cache=info,cranelift_codegen=info,cranelift_frontend=info,regalloc2=info";

#[test]
fn no_secret_comes_out_of_an_ordinary_session_with_everything_logged() {
    // Leaves the component compiled.
    drop(Portico::start());
    let (tape, mut server, _) = begin(EVERYTHING, "pretty");
    end(&tape, &mut server, "pretty");
}

#[test]
fn no_secret_comes_out_where_nothing_can_be_written() {
    let (tape, mut server, secrets) = begin(ALMOST_EVERYTHING, "pretty");
    hostile::refuse_to_write(&tape, &server, &secrets);
    end(&tape, &mut server, "pretty");
}

#[test]
fn no_secret_comes_out_whatever_clients_send_with_a_log_for_people() {
    whatever_clients_send("pretty");
}

#[test]
fn no_secret_comes_out_whatever_clients_send_with_a_log_for_programs() {
    whatever_clients_send("json");
}

fn whatever_clients_send(log_format: &str) {
    let (tape, mut server, secrets) = begin(ALMOST_EVERYTHING, log_format);
    hostile::provoke(&tape, &server, &secrets);
    session::read_audit(&secrets.admin);
    assert!(tape.len() > 2000, "{} answers to look into", tape.len());
    session::call_from_the_command_line(&tape, &server, &secrets, ALMOST_EVERYTHING, log_format);
    end(&tape, &mut server, log_format);
}

/// An ordinary session.
fn begin(log: &str, log_format: &str) -> (Tape, Portico, Secrets) {
    let tape = Tape::default();
    let server = Builder::default()
        .argument(format!("--log={log}"))
        .argument(format!("--log-format={log_format}"))
        .argument(format!("--public-url={}", factors::PUBLIC_URL))
        .argument("--trusted-proxies=127.0.0.1")
        .argument("--gate-domain=home.localhost")
        .start();
    let secrets = session::live(&tape, &server);
    for procedure in session::procedures() {
        let name = procedure["name"].as_str().expect("a name");
        assert!(
            tape.has_succeeded(name),
            "the session never calls {name} with success"
        );
    }
    (tape, server, secrets)
}

/// Looks into everything.
fn end(tape: &Tape, server: &mut Portico, log_format: &str) {
    let arguments = fs::read(format!("/proc/{}/cmdline", server.process_id())).expect("its arguments");
    tape.record(
        "the list of processes",
        String::from_utf8_lossy(&arguments).into_owned(),
    );
    let files = tape.record_files(&server.data());
    assert!(files >= 3, "the database, its log and the index of that: {files}");

    let finished = server.stop();
    assert!(finished.status.success(), "it stopped with a failure");
    let lines = finished.stderr.matches("answered").count();
    assert!(lines > 60, "a line for each answer, not {lines}");
    tape.record_command("portico serve", &finished);
    session::recover(tape, server, ALMOST_EVERYTHING, log_format);
    tape.record_files(&server.data());
    tape.check();
}
