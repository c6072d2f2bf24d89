//! Clients that ask for much and read nothing, or read slowly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portico_tests::{
    Builder, Client, Fixtures, Portico, Session, SetOnDrop, User, administrator, escape, raw, wait_until,
};
use serde_json::{Value, json};

/// The longest that an app may have, in bytes.
const ICON: usize = 65_536;

/// The calls that one batch may have.
const CALLS: usize = 256;

/// A service with these settings, its administrator, and an app with the largest icon.
fn service(settings: &[(&str, &str)]) -> (Portico, Session, String) {
    let builder = settings
        .iter()
        .fold(Builder::default(), |builder, (name, value)| {
            builder.environment(name, *value)
        });
    let server = builder.start();
    let admin = administrator(&server);
    let app = json!({"name": "Large", "iconUrl": "x".repeat(ICON)});
    let app = admin.make("app.create", &app, "appId");
    (server, admin, app)
}

/// The path of a batch that reads this app this many times.
fn batch(app: &str, calls: usize) -> String {
    let inputs: serde_json::Map<String, Value> = (0..calls)
        .map(|number| (number.to_string(), json!({"id": app})))
        .collect();
    let procedures = vec!["app.byId"; calls].join(",");
    let inputs = escape(&Value::Object(inputs).to_string());
    format!("/api/trpc/{procedures}?batch=1&input={inputs}")
}

/// Connections that have sent this request and read nothing.
fn silent(server: &Portico, connections: usize, path: &str, headers: &[(&str, &str)]) -> Vec<TcpStream> {
    let request = raw::head("GET", path, headers);
    (0..connections)
        .map(|_| {
            let mut stream = raw::connect(&server.address());
            stream.write_all(request.as_bytes()).expect("send");
            stream
        })
        .collect()
}

/// Waits until each client has the beginning of its answer, or was closed in favour of others. Some
/// must have an answer that succeeded.
#[track_caller]
fn wait_for_answers(streams: &[TcpStream]) {
    let succeeded = |stream: &&TcpStream| {
        let mut head = [0; 12];
        stream.peek(&mut head).is_ok() && head == *b"HTTP/1.1 200"
    };
    let succeeded = streams.iter().filter(succeeded).count();
    assert!(
        succeeded > 0,
        "none of {} clients got what it asked for",
        streams.len()
    );
}

/// Waits until the service has cut the connection.
#[track_caller]
fn wait_until_cut(stream: &TcpStream) {
    wait_until("the end of a silent client", || {
        stream.take_error().is_ok_and(|error| error.is_some())
    });
}

/// What `work` returns, and by how many MiB the memory of the service grew at most meanwhile.
pub fn growth<T>(server: &Portico, work: impl FnOnce() -> T) -> (T, u64) {
    let idle = server.status("VmRSS");
    let (most, is_done) = (AtomicU64::new(idle), AtomicBool::new(false));
    let answer = thread::scope(|scope| {
        let _done = SetOnDrop(&is_done);
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                most.fetch_max(server.status("VmRSS"), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(20));
            }
        });
        work()
    });
    (answer, (most.into_inner() - idle) / 1024)
}

/// Calls of honest clients, each of which must be answered: small ones alone and in batches, one large one, and
/// changes.
fn honest_calls(server: &Portico, admin: &Session, app: &str) {
    server.anonymous().get("/api/health/ready").assert_status(200);
    admin.app("honest");
    let icon = admin.get(&format!("/api/apps/{app}")).json();
    assert_eq!(icon["iconUrl"].as_str().map(str::len), Some(ICON));
    let small = "/api/trpc/apiKeys.getAll,session.getAll,invite.getAll?batch=1";
    let answers = admin.get(small).json();
    assert_eq!(answers.as_array().map(Vec::len), Some(3), "{answers}");
    let answers = admin.get(&batch(app, 3));
    answers.assert_status(200);
    assert!(answers.body.len() > 3 * ICON);
}

/// Many silent clients, whether they ask for an array or a stream, cost little memory, and honest
/// clients alongside are answered, until each silent one has got the beginning of its answer or
/// was closed. They do not hold up the end of the service.
#[test]
fn a_hundred_silent_clients_hold_little_memory_and_do_not_keep_it_from_stopping() {
    const CONNECTIONS: usize = 100;
    const MOST: u64 = 300;
    for headers in [&[][..], &[("trpc-accept", "application/jsonl")]] {
        let (mut server, admin, app) = service(&[]);
        let path = batch(&app, CALLS);
        let (streams, grown) = growth(&server, || {
            let streams = silent(&server, CONNECTIONS, &path, headers);
            let is_done = AtomicBool::new(false);
            thread::scope(|scope| {
                let _done = SetOnDrop(&is_done);
                scope.spawn(|| {
                    loop {
                        honest_calls(&server, &admin, &app);
                        if is_done.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
                wait_for_answers(&streams);
            });
            streams
        });
        assert!(grown < MOST, "silent clients {headers:?} took {grown} MiB");
        let finished = server.stop();
        assert!(
            finished.status.success() && !finished.text().contains("took too long to finish"),
            "{}",
            finished.text()
        );
        drop(streams);
    }
}

/// Several lists of 33 MB, each of which takes about three times that while it is made, as many at a time as there are cores,
/// but at most three.
#[test]
fn large_lists_are_made_a_few_at_once_and_not_kept_for_clients_that_do_not_read() {
    let (server, admin, app) = service(&[]);
    admin.apps(500, &"x".repeat(ICON));
    let bearer = admin.key_of(&admin.user_id).authorization();
    let (streams, grown) = growth(&server, || {
        let streams = silent(&server, 10, "/api/trpc/app.all", &[("authorization", &bearer)]);
        wait_for_answers(&streams);
        honest_calls(&server, &admin, &app);
        streams
    });
    assert!(grown < 3 * 100 + 64 + 32, "10 silent clients took {grown} MiB");
    drop(streams);
}

/// Each list has 70 MB and takes about 200 MiB while it is made, as many at a time as there are cores, but at most three. The
/// lists that wait to be read take at most 64 MiB and one list more (docs/sandbox.md).
#[test]
#[ignore = "takes minutes; make test-all runs it"]
fn users_with_the_largest_images_are_listed_for_silent_and_honest_users_in_little_memory() {
    const MOST: u64 = 3 * 200 + 64 + 67;
    const PATH: &str = "/api/trpc/user.selectable";
    let mut server = Portico::start();
    let admin = administrator(&server);
    let image = server.seed_largest_users();
    let users: Vec<_> = (0..40)
        .map(|number| admin.user(&format!("silent-{number}")))
        .collect();
    let honest = admin.user("honest");
    let ((_streams, answer), grown) = growth(&server, || {
        let ask = |user: &User| {
            let bearer = user.key.authorization();
            silent(&server, 1, PATH, &[("authorization", &bearer)]).remove(0)
        };
        let streams: Vec<_> = users.iter().map(ask).collect();
        wait_for_answers(&streams[..1]);
        // A call that waits for its turn too long is refused, and may be made again.
        let began = Instant::now();
        let answer = loop {
            let answer = honest.try_send("GET", PATH, &[], None).expect("an answer");
            if answer.status != 503 {
                break answer;
            }
            assert!(began.elapsed() < Duration::from_secs(240), "{answer}");
        };
        (streams, answer)
    });
    let users = answer.data();
    let images = users.as_array().expect("users").iter();
    let images = images.filter(|user| user["image"] == image.as_str()).count();
    assert_eq!(images, 200);
    println!("40 silent users took {grown} MiB");
    assert!(grown < MOST, "40 silent users took {grown} MiB");
}

/// docs/sandbox.md has the figure.
#[test]
#[ignore = "takes minutes; make test-all runs it"]
fn eight_of_the_largest_lists_at_once_take_bounded_memory() {
    // Some 400 MiB on two cores. On more, three of the sandbox's calls are as large at a time.
    const MOST: u64 = 1000;
    let mut server = Portico::start();
    let admin = administrator(&server);
    server.seed_largest_users();
    let users: Vec<_> = (0..8)
        .map(|number| admin.user(&format!("user-{number}")))
        .collect();
    let (answers, grown) = growth(&server, || {
        thread::scope(|scope| {
            let ask = |user: &'_ User| user.key.try_send("GET", "/api/trpc/user.selectable", &[], None);
            let asking: Vec<_> = users.iter().map(|user| scope.spawn(move || ask(user))).collect();
            let answered = asking.into_iter().map(|list| list.join().expect("an answer"));
            answered
                .filter_map(Result::ok)
                .map(|answer| (answer.status, answer.body.len()))
                .collect::<Vec<_>>()
        })
    });
    println!("eight lists took {grown} MiB: {answers:?}");
    assert!(grown < MOST, "eight lists took {grown} MiB: {answers:?}");
}

#[test]
fn a_stream_makes_no_answers_that_its_client_does_not_take() {
    let (server, _admin, app) = service(&[("PORTICO_LOG", "portico=debug")]);
    // The log has a line for each call that has been made.
    let made = || server.log().matches("procedure=\"app.byId\"").count();
    let headers = [("trpc-accept", "application/jsonl")];
    let mut stream = silent(&server, 1, &batch(&app, CALLS), &headers).remove(0);
    wait_until("the first call", || made() > 0);
    // Its client gets what the service, the kernel and the client's kernel hold for it, and no more is made.
    wait_until("the end of its work", || {
        let before = server.processor_time();
        thread::sleep(Duration::from_millis(200));
        server.processor_time() == before
    });
    let last = made();
    assert!(
        last < CALLS / 2,
        "{last} answers were made for a client that reads nothing"
    );
    // Once it reads, it gets all of them.
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the whole answer");
    assert!(answer.len() > CALLS * ICON && answer.ends_with(b"0\r\n\r\n"));
    wait_until("the last line of the log", || made() >= CALLS);
    assert_eq!(made(), CALLS);
}

/// How fast a client must read is tested next to its code, by a clock of its own (`host/http/src/budget.rs`).
#[test]
fn a_client_that_reads_nothing_is_cut_off_and_one_that_reads_gets_everything() {
    let (server, _admin, app) = service(&[
        // The one that reads may be kept from it for as long.
        ("PORTICO_LIMIT_WRITE_TIME", "4"),
        // So fast that what buffers take counts for little.
        ("PORTICO_LIMIT_WRITE_RATE", "524288"),
    ]);
    let path = batch(&app, 120);
    let mut none = silent(&server, 1, &path, &[]).remove(0);
    wait_until_cut(&none);
    let mut answer = Vec::new();
    // What had arrived, and then an error.
    let _ = none.read_to_end(&mut answer);
    assert!(answer.len() < 120 * ICON, "the silent one got everything");
    let answer = server.anonymous().get(&path);
    assert!(answer.assert_status(200).body.len() > 120 * ICON);
}

#[test]
fn a_batch_of_large_small_and_refused_answers_is_the_list_of_them() {
    let (server, admin, app) = service(&[]);
    let small = admin.app("Small");
    let ids = [&small, &app, "missing", &app, &app, &small];
    let inputs: serde_json::Map<String, Value> = (0..)
        .zip(ids)
        .map(|(number, id): (usize, _)| (number.to_string(), json!({"id": id})))
        .collect();
    let path = format!(
        "/api/trpc/{}?batch=1&input={}",
        vec!["app.byId"; ids.len()].join(","),
        escape(&Value::Object(inputs).to_string())
    );
    let alone = ids.map(|id| {
        let path = format!(
            "/api/trpc/app.byId?input={}",
            escape(&json!({"id": id}).to_string())
        );
        server.anonymous().get(&path).text().to_string()
    });
    let list = format!("[{}]", alone.join(","));
    let answer = server.anonymous().get(&path);
    answer.assert_status(207);
    assert_eq!(answer.text(), list);
    assert_eq!(
        answer.header("content-length"),
        Some(list.len().to_string().as_str())
    );
}
