//! What a host tells the program that started it: systemd by `NOTIFY_SOCKET`, a person by the terminal.

use std::io::{BufRead, BufReader, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Command, Stdio};

use portico_tests::{Builder, Client, PATIENCE, binary, wait_for_text};

/// The next state that a host tells.
#[track_caller]
fn told(socket: &UnixDatagram) -> String {
    socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let mut message = [0; 4096];
    let length = socket.recv(&mut message).expect("a state");
    String::from_utf8(message[..length].to_vec()).expect("a text")
}

/// Starts and stops a host with this name of the socket.
#[track_caller]
fn assert_told(socket: &UnixDatagram, name: &str) {
    let mut server = Builder::default().environment("NOTIFY_SOCKET", name).start();
    let ready = format!("READY=1\nSTATUS=Serves on http://{}", server.address());
    assert_eq!(told(socket), ready);
    server.anonymous().get("/api/health/ready").assert_status(200);
    server.stop().succeeded();
    assert_eq!(told(socket), "STOPPING=1\nSTATUS=Stops");
    socket.set_nonblocking(true).expect("no waiting");
    socket.recv(&mut [0; 1]).expect_err("nothing more");
}

#[test]
fn a_host_tells_when_it_serves_and_when_it_begins_to_stop() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    assert_told(&socket, path.to_str().expect("a text"));
}

#[test]
fn a_host_tells_a_socket_with_an_abstract_name() {
    let name = format!("portico-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let socket = UnixDatagram::bind_addr(&address).expect("a socket");
    assert_told(&socket, &format!("@{name}"));
}

/// Otherwise a start that waits longer than systemd does would be a failed one.
#[test]
fn a_host_that_waits_for_its_database_has_started() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    let builder = Builder::default()
        .environment("NOTIFY_SOCKET", path.to_str().expect("a text"))
        .environment("PORTICO_DATABASE", "postgres://ann@127.0.0.1:1/home");
    let mut starting = builder.spawn(&folder.path().join("data"));
    assert_eq!(told(&socket), "READY=1\nSTATUS=Waits for its database");
    starting.signal("-TERM");
    assert_eq!(starting.wait().status.code(), Some(0));
}

#[test]
fn a_socket_that_is_not_there_or_not_one_keeps_no_host_from_serving() {
    let long = format!("/{}", "x".repeat(300));
    for name in ["/nowhere/notify", "notify", "@", &long, "/", "vsock:2:9999"] {
        let mut server = Builder::default().environment("NOTIFY_SOCKET", name).start();
        server.anonymous().get("/api/health/ready").assert_status(200);
        let text = server.stop();
        assert!(
            text.text().contains("cannot tell NOTIFY_SOCKET"),
            "{name}: {}",
            text.text()
        );
        text.succeeded();
    }
}

#[test]
fn a_terminal_says_where_to_click() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let serve = format!(
        "exec {} serve --listen 127.0.0.1:0 --data {} --cache {}",
        binary().display(),
        folder.path().join("data").display(),
        portico_tests::cache().display()
    );
    // It gives its program a terminal.
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &serve, "/dev/null"]);
    let script = script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("the program `script` of util-linux");
    let mut input = script.stdin.take().expect("its input");
    let lines = BufReader::new(script.stdout.take().expect("its output")).lines();
    let mut lines = lines.map(|line| line.expect("a line"));
    let listens = lines
        .by_ref()
        .find(|line| line.contains("listens on"))
        .expect("a host");
    let url = listens
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .expect("a URL");
    let expected = format!("Open {url} in a browser to create the administrator. Ctrl-C stops.");
    assert_eq!(lines.next().as_deref().map(str::trim), Some(&*expected));
    input.write_all(b"\x03").expect("Ctrl-C");
    // Until it has ended: a pipe that is closed would be a failure.
    lines.for_each(drop);
    assert!(script.wait().expect("an end").success());
    // Programs that read the standard output get the first line only.
    let mut server = Builder::default().start();
    assert!(!server.stop().stdout.contains("Open http"));
}

#[test]
fn a_socket_that_nobody_reads_delays_a_start_and_no_more() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("notify");
    let _unread = UnixDatagram::bind(&path).expect("a socket");
    let filler = UnixDatagram::unbound().expect("a socket");
    filler.set_nonblocking(true).expect("no waiting");
    while filler.send_to(b"x", &path).is_ok() {}
    let builder = Builder::default().environment("NOTIFY_SOCKET", path.to_str().expect("a text"));
    let mut server = builder.start();
    let log = wait_for_text(|| server.log(), "cannot tell NOTIFY_SOCKET", 1);
    assert!(!log.contains("panicked"), "{log}");
    server.anonymous().get("/api/health/ready").assert_status(200);
    server.stop().succeeded();
}
