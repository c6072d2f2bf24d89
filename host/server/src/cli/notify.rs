//! Tells the program that started this one, such as systemd, what it does: the protocol of sd_notify(3).
//!
//! Invariant: a program that does not listen, or a variable that names none, changes nothing but a warning in the log.

use std::{
    env,
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr, UnixDatagram},
        },
    },
    time::Duration,
};

use tracing::warn;

/// The variable with the path of the socket, or `@` and the rest of an abstract name.
const SOCKET: &str = "NOTIFY_SOCKET";

/// How long a full socket may hold up the host.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The host accepts requests. `status` is what `systemctl status` shows.
pub fn ready(status: &str) {
    notify(&format!("READY=1\nSTATUS={}", one_line(status)));
}

/// The host begins to stop.
pub fn stopping() {
    notify("STOPPING=1\nSTATUS=Stops");
}

fn notify(state: &str) {
    let Some(socket) = env::var_os(SOCKET).filter(|socket| !socket.is_empty()) else {
        return;
    };
    if let Err(error) = send(&socket, state) {
        warn!(
            "cannot tell {SOCKET} ({}) that the state changed: {error}",
            socket.display()
        );
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = address(socket)?;
    let sender = UnixDatagram::unbound()?;
    sender.set_write_timeout(Some(TIME_LIMIT))?;
    sender.send_to_addr(state.as_bytes(), &address).map(drop)
}

fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    match socket.as_bytes() {
        [b'/', ..] => SocketAddr::from_pathname(socket),
        [b'@', name @ ..] if !name.is_empty() => SocketAddr::from_abstract_name(name),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is neither an absolute path nor @ and a name",
        )),
    }
}

/// A line end would begin another assignment.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_line() {
        assert_eq!(one_line("Serves\nMAINPID=1\0"), "Serves MAINPID=1 ");
    }

    #[test]
    fn names_that_are_not_of_sockets_are_refused() {
        let long = format!("/{}", "x".repeat(200));
        let long_abstract = format!("@{}", "x".repeat(200));
        for name in [
            "",
            "@",
            "relative/socket",
            "vsock:2:1",
            "/a\0b",
            &long,
            &long_abstract,
        ] {
            assert!(address(OsStr::new(name)).is_err(), "{name:?}");
        }
        assert!(address(OsStr::new("@name")).is_ok());
        assert!(address(OsStr::new("/run/systemd/notify")).is_ok());
    }

    #[test]
    fn a_socket_that_is_full_or_gone_or_no_datagram_socket_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        assert_eq!(
            send(path.as_os_str(), "READY=1").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        let stream = std::os::unix::net::UnixListener::bind(&path).unwrap();
        send(path.as_os_str(), "READY=1").unwrap_err();
        drop(stream);
        std::fs::remove_file(&path).unwrap();
        let receiver = UnixDatagram::bind(&path).unwrap();
        let filler = UnixDatagram::unbound().unwrap();
        filler.set_nonblocking(true).unwrap();
        while filler.send_to(b"x", &path).is_ok() {}
        assert_eq!(
            send(path.as_os_str(), "READY=1").unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
        while receiver.recv(&mut [0; 8]).is_ok_and(|_| {
            receiver.set_nonblocking(true).unwrap();
            true
        }) {}
        send(path.as_os_str(), "READY=1").unwrap();
        let mut message = [0; 32];
        let length = receiver.recv(&mut message).unwrap();
        assert_eq!(&message[..length], b"READY=1");
    }
}
