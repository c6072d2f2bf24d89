//! Stopping: accepted requests are finished, unless a second signal comes.

use std::io::{Read, Write};
use std::net::TcpStream;

use portico_tests::{
    Builder, Client, Finished, Fixtures, PASSWORD, Portico, administrator, decode_stream, raw, wait_until,
};
use serde_json::json;

/// Sends a request whose body the service is waiting for, so that it is accepted for sure.
fn accepted_request(server: &Portico, body: &str) -> TcpStream {
    raw::send_head(&server.address(), "/api/trpc/user.initUser", &[], body)
}

/// The service ended by itself, and not because what it waited for took too long.
#[track_caller]
fn assert_finished(finished: &Finished) {
    let log = finished.text();
    assert_eq!(finished.status.code(), Some(0), "{log}");
    assert!(!log.contains("took too long to finish"), "{log}");
}

/// Waits until the service accepts no more connections.
fn wait_until_closed(address: &str) {
    wait_until("the end of listening", || TcpStream::connect(address).is_err());
}

#[test]
fn told_to_stop_it_finishes_what_it_accepted() {
    for signal in ["-TERM", "-INT"] {
        let mut server = Portico::start();
        let body = json!({"username": "root", "password": PASSWORD}).to_string();
        let mut stream = accepted_request(&server, &body);
        // A connection that asks for nothing does not keep it from stopping.
        let idle = raw::connect(&server.address());
        server.signal(signal);
        wait_until_closed(&server.address());
        stream.write_all(body.as_bytes()).expect("send the body");
        raw::read_answer(&mut stream, body.as_bytes()).assert_status(200);
        let finished = server.wait();
        assert_eq!(finished.status.code(), Some(0), "{}", finished.text());
        drop(idle);
        server.start_again();
        assert_eq!(server.sign_in("root", PASSWORD).user_names(), ["root"]);
    }
}

#[test]
fn told_to_stop_it_serves_on_for_a_while_and_is_not_ready() {
    let mut server = Builder::default().environment("PORTICO_DRAIN", "5").start();
    let mut kept = raw::connect(&server.address());
    assert_eq!(
        raw::ask(&mut kept, "GET", "/api/health/ready", &[], &json!(null)),
        200
    );
    server.terminate();
    let ready = || {
        let anonymous = server.anonymous();
        anonymous.send_allowing_5xx("GET", "/api/health/ready", None)
    };
    wait_until("a host that is not ready", || ready().status == 503);
    assert!(ready().header("retry-after").is_some());
    // On a connection from before, and on a new one.
    kept.write_all(b"GET /api/health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .expect("send");
    let answer = raw::read_answer(&mut kept, b"GET /api/health/live");
    answer.assert_status(200);
    assert_eq!(answer.header("connection"), Some("close"));
    server.anonymous().get("/api/health/live").assert_status(200);
    // The second signal: it does not serve to the end of that time.
    assert_finished(&server.stop());
}

#[test]
fn what_the_kernel_has_accepted_is_answered() {
    let mut server = Portico::start();
    server.signal("-STOP");
    let request = raw::head("GET", "/api/health/live", &[]);
    let connect = |_| {
        let mut stream = raw::connect(&server.address());
        stream.write_all(request.as_bytes()).expect("send");
        stream
    };
    let streams: Vec<_> = (0..50).map(connect).collect();
    server.terminate();
    server.signal("-CONT");
    for mut stream in streams {
        raw::read_answer(&mut stream, request.as_bytes()).assert_status(200);
    }
    assert_finished(&server.wait());
}

/// The head of a stream is sent before its answers are made.
#[test]
fn told_to_stop_it_finishes_the_changes_of_a_stream() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let authorization = admin.key_of(&admin.user_id).authorization();
    let database = rusqlite::Connection::open(server.data().join("portico.db")).expect("the database");
    database.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let body = json!({"0": {"name": "Late", "iconUrl": "/icon.svg"}}).to_string();
    let headers = [
        ("authorization", authorization.as_str()),
        ("trpc-accept", "application/jsonl"),
    ];
    let request = raw::with_json("POST", "/api/trpc/app.create?batch=1", &headers, &body);
    let mut stream = raw::connect(&server.address());
    stream.write_all(request.as_bytes()).expect("send");
    stream.peek(&mut [0]).expect("the head of the answer");
    let mut silent = raw::connect(&server.address());
    silent.write_all(b"GET /api/he").expect("send");
    server.terminate();
    wait_until_closed(&server.address());
    // It waits longer for its own work than for a client that neither sends nor reads.
    silent
        .read_to_end(&mut Vec::new())
        .expect("the end of the silent client");
    database.execute_batch("ROLLBACK").expect("unlock");
    let answer = raw::read_answer(&mut stream, request.as_bytes());
    answer.assert_status(200);
    let answers = decode_stream(&answer.text(), false);
    assert_eq!(answers[&0]["result"]["data"]["name"], "Late", "{answer}");
    let finished = server.wait();
    assert_eq!(finished.status.code(), Some(0), "{}", finished.text());
}

/// The list of apps is larger than the buffers of a connection.
#[test]
fn clients_that_do_not_read_do_not_keep_it_from_stopping() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    admin.apps(250, &"x".repeat(60_000));
    let authorization = admin.key_of(&admin.user_id).authorization();
    let mut silent = Vec::new();
    for path in ["/api/apps", "/api/trpc/app.all,app.all,app.all?batch=1"] {
        let request = raw::head("GET", path, &[("authorization", &authorization)]);
        let mut stream = raw::connect(&server.address());
        stream.write_all(request.as_bytes()).expect("send");
        // The answer has begun to arrive; the service still holds most of it.
        stream.peek(&mut [0]).expect("the beginning of the answer");
        silent.push(stream);
    }
    assert_finished(&server.stop());
    drop(silent);
}

#[test]
fn a_second_signal_does_not_wait() {
    let mut server = Portico::start();
    let body = json!({"username": "root", "password": PASSWORD}).to_string();
    let stream = accepted_request(&server, &body);
    server.terminate();
    wait_until_closed(&server.address());
    let finished = server.stop();
    assert_finished(&finished);
    assert!(finished.text().contains("a second signal"), "{}", finished.text());
    drop(stream);
}

#[test]
fn a_statement_without_end_does_not_keep_it_from_stopping() {
    for client_leaves in [true, false] {
        let mut server = Portico::start();
        let admin = administrator(&server);
        let key = admin.key_of(&admin.user_id);
        server.make_lists_of_invites_endless();
        let waiting = server.begin_endless_list(&key.key);
        server.terminate();
        wait_until_closed(&server.address());
        // The service waits for a client that stays as long as the call may take, unless a second signal comes.
        if client_leaves {
            drop(waiting);
        } else {
            server.terminate();
        }
        assert_finished(&server.wait());
    }
}

#[test]
fn clients_that_send_half_a_request_do_not_keep_it_from_stopping() {
    let mut server = Portico::start();
    let body = json!({"username": "root", "password": PASSWORD}).to_string();
    let half_a_body = accepted_request(&server, &body);
    let mut half_a_head = raw::connect(&server.address());
    half_a_head.write_all(b"GET /api/he").expect("send");
    assert_finished(&server.stop());
    drop((half_a_body, half_a_head));
}

#[test]
fn one_call_without_end_does_not_keep_it_from_stopping() {
    let mut server = Portico::start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id);
    server.make_lists_of_invites_endless();
    let _call = server.begin_endless_list(&key.key);
    server.terminate();
    let finished = server.wait();
    let log = finished.text();
    assert_eq!(finished.status.code(), Some(0), "{log}");
    assert!(log.contains("took too long to finish"), "{log}");
}
