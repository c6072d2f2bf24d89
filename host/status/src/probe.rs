//! One check: a name is looked up, a connection made, a request sent, and a status line read.

use std::{net::SocketAddr, time::Duration};

use portico_service::reachability::{Down, Refused, Status};
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::TlsConnector;

use crate::{
    allow::{AllowList, is_unusable},
    answer::{self, MOST_BYTES, Received},
    resolve::{NotResolved, Resolver},
    target::Target,
};

pub(crate) struct Probe {
    pub resolver: Resolver,
    pub tls: TlsConnector,
    /// How long a look-up may take, and how long everything after it.
    pub limit: Duration,
}

impl Probe {
    /// Checks a target, at an address that is allowed. `None`: it could not be looked at now, and nothing is known of it.
    pub async fn check(&self, target: &Target, allow: &AllowList) -> Option<Status> {
        let name = target.name();
        let addresses = match target.address() {
            Some(address) => [address].into(),
            None => match self.resolver.resolve(&name, self.limit).await {
                Ok(addresses) => addresses,
                Err(NotResolved::Unknown) => return Some(Status::Down(Down::Name)),
                Err(NotResolved::Stalled) => return Some(Status::Down(Down::Time)),
                Err(NotResolved::Busy) => return None,
            },
        };
        // From here on only addresses are used that were allowed, and no name is looked up again.
        let allowed = addresses
            .iter()
            .filter(|address| !is_unusable(**address) && allow.includes(&name, **address));
        let allowed: Vec<_> = allowed
            .map(|address| SocketAddr::new(*address, target.port))
            .collect();
        if allowed.is_empty() {
            return Some(Status::NotAllowed(Refused::Address));
        }
        let begun = Instant::now();
        let asked = timeout(self.limit, self.ask(target, &allowed, begun + self.limit)).await;
        let milliseconds = begun.elapsed().as_millis() as u32;
        Some(match asked.unwrap_or(Err(Down::Time)) {
            Ok(0..500) => Status::Up { milliseconds },
            Ok(_) => Status::Down(Down::Server),
            Err(down) => Status::Down(down),
        })
    }

    /// The status with which one of these addresses responds.
    async fn ask(&self, target: &Target, addresses: &[SocketAddr], deadline: Instant) -> Result<u16, Down> {
        let stream = connect(addresses, deadline).await?;
        if !target.is_tls {
            return exchange(stream, &target.request).await;
        }
        let by_address = || ServerName::IpAddress(addresses[0].ip().into());
        let name = ServerName::try_from(target.name().to_string()).unwrap_or_else(|_| by_address());
        let stream = self.tls.connect(name, stream).await.map_err(|_| Down::Tls)?;
        exchange(stream, &target.request).await
    }
}

/// Connects to the first address that accepts. One that stays silent leaves time for those after it.
async fn connect(addresses: &[SocketAddr], deadline: Instant) -> Result<TcpStream, Down> {
    let mut down = Down::Connection;
    for (index, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (addresses.len() - index) as u32;
        match timeout_at(Instant::now() + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(_)) => down = Down::Connection,
            Err(_) => down = Down::Time,
        }
    }
    Err(down)
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &[u8]) -> Result<u16, Down> {
    // A server may respond before it has read all of it.
    let is_sent = stream.write_all(request).await.is_ok() && stream.flush().await.is_ok();
    let mut received = Vec::with_capacity(512);
    loop {
        let mut piece = [0; 512];
        let most = piece.len().min(MOST_BYTES - received.len());
        match stream.read(&mut piece[..most]).await {
            Ok(count) if count > 0 => received.extend_from_slice(&piece[..count]),
            _ if !is_sent && received.is_empty() => return Err(Down::Connection),
            _ => return Err(Down::Http),
        }
        match answer::read(&received) {
            Received::Part => {}
            Received::Status(status) => return Ok(status),
            Received::NotHttp => return Err(Down::Http),
        }
    }
}

#[cfg(test)]
mod tests;
