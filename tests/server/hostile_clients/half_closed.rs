//! Clients that end their side of the connection once they have sent their request.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread::sleep;
use std::time::Duration;

use portico_tests::{Builder, Fixtures, PASSWORD, Portico, administrator, decode_stream, raw, wait_until};
use serde_json::json;

#[test]
fn a_client_that_ends_its_side_gets_its_answer() {
    let server = Portico::start();
    let admin = administrator(&server);
    // Larger than the buffers of a connection.
    admin.apps(100, &"x".repeat(60_000));
    let bearer = admin.key_of(&admin.user_id).authorization();
    let signing_in = json!({"username": "root", "password": PASSWORD}).to_string();
    let head = |path: &str, more: &[(&str, &str)]| {
        let headers = [&[("authorization", bearer.as_str())], more].concat();
        raw::head("GET", path, &headers)
    };
    // Larger than what arrives at once.
    let apps = vec![json!({"name": "x", "iconUrl": "y".repeat(60_000)}); 10];
    let request = raw::with_json(
        "POST",
        "/api/trpc/app.createMany",
        &[("authorization", &bearer)],
        &json!(apps).to_string(),
    );
    raw::send_and_close(&server.address(), request.as_bytes()).assert_status(200);
    let stream = [("trpc-accept", "application/jsonl")];
    for request in [
        // It takes as long as the hash of a password.
        raw::with_json("POST", "/api/auth/sign-in", &[], &signing_in),
        head("/api/apps", &[]),
        head("/api/trpc/app.all,app.all?batch=1", &[]),
        raw::head("GET", "/sign-in", &[]),
    ] {
        // With a connection that would stay open, too.
        for request in [request.clone(), request.replace("connection: close\r\n", "")] {
            raw::send_and_close(&server.address(), request.as_bytes()).assert_status(200);
        }
    }
    let request = head("/api/trpc/app.all,user.getAll?batch=1", &stream);
    let answer = raw::send_and_close(&server.address(), request.as_bytes());
    assert_eq!(decode_stream(&answer.text(), false).len(), 2);
    // Two requests at once.
    let first = head("/api/users", &[]).replace("connection: close\r\n", "");
    let both = first.clone() + &first;
    let mut connection = raw::connect(&server.address());
    connection.write_all(both.as_bytes()).expect("send");
    connection.shutdown(Shutdown::Write).expect("the end");
    let mut answers = String::new();
    connection.read_to_string(&mut answers).expect("answers");
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
}

/// The kernel tells of a client that is gone only when something is written to it.
#[test]
fn work_for_a_client_that_is_gone_ends() {
    let server = Builder::default()
        .environment("PORTICO_LOG", "portico=debug")
        .start();
    let admin = administrator(&server);
    let key = admin.key_of(&admin.user_id);
    server.make_lists_of_invites_endless();
    drop(server.begin_endless_list(&key.key));
    server.wait_for_log(0, "may be gone");
    wait_until("the end of the work", || {
        let before = server.processor_time();
        sleep(Duration::from_millis(500));
        server.processor_time() < before + Duration::from_millis(100)
    });
    assert!(
        !server.log().contains("path=/api/invites status=504"),
        "{}",
        server.log()
    );
}
