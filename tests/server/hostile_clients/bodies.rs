//! Clients that send most of a large body, and wait.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use portico_http::HttpLimits;
use portico_storage::memory::MemoryStorage;
use portico_tests::{Client, Fixtures, Listening, Portico, TestService, administrator, raw};

use super::silent::growth;

/// The largest body that is accepted.
const LARGEST: usize = 16 << 20;

/// Many clients that each send most of the largest body, and wait, cost little memory; large bodies of other users
/// arrive meanwhile.
#[test]
fn a_hundred_bodies_that_do_not_arrive_hold_little_memory() {
    const MOST: u64 = 300;
    let server = Portico::start();
    let admin = administrator(&server);
    let attacker = admin.user_with("attacker", "admin");
    let authorization = attacker.key.authorization();
    let head = format!(
        "POST /api/trpc/app.createMany HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         authorization: {authorization}\r\ncontent-length: {LARGEST}\r\n\r\n"
    );
    let body = vec![b' '; LARGEST - 1000];
    let send = |count: usize| -> Vec<TcpStream> {
        let send_one = |_| {
            let mut stream = raw::connect(&server.address());
            stream.write_all(head.as_bytes()).expect("the head");
            // It fails where the service has refused the body and hung up.
            let _ = stream.write_all(&body);
            stream
        };
        (0..count).map(send_one).collect()
    };
    let (streams, grown) = growth(&server, || {
        thread::scope(|scope| {
            let threads: Vec<_> = (0..10).map(|_| scope.spawn(|| send(10))).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                admin.apps(50, &"x".repeat(60_000));
                server.anonymous().get("/api/health/ready").assert_status(200);
            }
            let streams: Vec<_> = threads
                .into_iter()
                .map(|thread| thread.join().expect("streams"))
                .collect();
            admin.apps(50, &"x".repeat(60_000));
            streams
        })
    });
    assert!(grown < MOST, "a hundred bodies took {grown} MiB");
    drop(streams);
}

#[test]
fn a_body_that_arrives_too_slowly_is_refused() {
    let limits = HttpLimits {
        receive_time: Duration::from_secs(3),
        ..HttpLimits::default()
    };
    let service = TestService::over(Arc::new(MemoryStorage::new())).http_limits(limits);
    let Listening { client, .. } = &service.listen();
    let body = r#"{"username": "root", "password": "a long password"}"#;
    let mut stream = raw::send_head(&client.endpoint().address(), "/api/trpc/user.initUser", &[], body);
    let answer = raw::read_answer_allowing_5xx(&mut stream, body.as_bytes());
    answer.assert_refused(504, "TIMEOUT");
    assert_eq!(answer.header("retry-after"), Some("10"), "{answer}");
}
