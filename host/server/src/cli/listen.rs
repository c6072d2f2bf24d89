//! The socket that the host listens on: its own, or one that was open when the host was started, by systemd
//! (socket activation) or another program. Such a socket stays open while a host is replaced, so clients wait instead
//! of being refused.

use std::{
    env,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    os::fd::{FromRawFd, OwnedFd, RawFd},
    process,
};

use anyhow::{Context as _, ensure};
use socket2::SockRef;

/// The number of the first descriptor that a program is given.
const FIRST: RawFd = 3;

/// Listens on this address, or takes the socket that was given.
pub async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    if let Some(given) = given()? {
        return Ok(given);
    }
    // Not std's: it lets fewer connections wait.
    let listener = tokio::net::TcpListener::bind(address).await;
    let listener = listener.and_then(tokio::net::TcpListener::into_std);
    listener.with_context(|| format!("cannot listen on {address}; choose another address with --listen"))
}

/// Where programs on this machine reach a host that listens on this address.
pub fn seen_from_here(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The socket that was given to this process, if one was.
fn given() -> anyhow::Result<Option<TcpListener>> {
    let number = |name| env::var(name).ok()?.parse::<u32>().ok();
    // Meant for another process, from which this one has the environment.
    if number("LISTEN_PID") != Some(process::id()) {
        return Ok(None);
    }
    match number("LISTEN_FDS") {
        None | Some(0) => return Ok(None),
        Some(1) => {}
        Some(several) => anyhow::bail!(
            "{several} sockets were given (LISTEN_FDS), and Portico serves one: let one .socket unit have one \
             ListenStream="
        ),
    }
    let listener = TcpListener::from(take());
    // It fails unless this is a socket of TCP.
    let address = listener.local_addr();
    ensure!(
        address.is_ok() && SockRef::from(&listener).is_listener().unwrap_or(false),
        "the socket that was given (LISTEN_FDS) does not listen for TCP: use ListenStream=ADDRESS:PORT"
    );
    listener.set_nonblocking(true)?;
    // The process that compiles a component must not keep it open.
    SockRef::from(&listener).set_cloexec(true)?;
    Ok(Some(listener))
}

#[expect(
    unsafe_code,
    reason = "a descriptor that was given is known by its number only"
)]
fn take() -> OwnedFd {
    // SAFETY: whoever set `LISTEN_PID` gave the descriptor to this process, and it is taken once.
    unsafe { OwnedFd::from_raw_fd(FIRST) }
}
