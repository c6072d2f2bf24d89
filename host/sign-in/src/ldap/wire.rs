//! The connection to the directory, with TLS and with limits on its responses.
//!
//! The LDAP library (`ldap3`) reads messages of any length and depth. It therefore gets one end of a socket
//! pair, and only messages within the limits are relayed to it.

use std::{io, os::unix::net::UnixStream as Pair, sync::Arc};

use anyhow::{Context as _, bail, ensure};
use ldap3::{Ldap, LdapConnAsync, LdapConnSettings, StdStream};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
    select,
    task::JoinSet,
};
use tokio_rustls::TlsConnector;
use tracing::warn;

/// The longest message, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 10;
/// All messages of a connection together, in bytes. The names of groups are a small part of their entries.
const MAX_TOTAL_BYTES: usize = 8 << 20;
/// The deepest nesting in a message; an entry has eight levels.
const MAX_DEPTH: usize = 16;

/// A StartTLS request (RFC 4511, 4.14): an extended request with the message id 1.
const START_TLS: &[u8] = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";

/// The address of the directory, and how to connect.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub host: String,
    pub port: u16,
    pub security: Security,
}

/// How a connection is encrypted.
#[derive(Clone, Debug)]
pub(super) enum Security {
    Plain,
    /// Encrypted after a StartTLS request.
    StartTls(Arc<ClientConfig>, ServerName<'static>),
    Tls(Arc<ClientConfig>, ServerName<'static>),
}

/// A connection, closed when dropped.
pub(super) struct Connection {
    pub ldap: Ldap,
    /// The tasks that read and write.
    _tasks: JoinSet<()>,
}

impl Server {
    pub async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        let mut stream = stream.context("it cannot be reached")?;
        stream.set_nodelay(true)?;
        match &self.security {
            Security::Plain => over(stream).await,
            Security::StartTls(config, name) => {
                start_tls(&mut stream).await.context("StartTLS")?;
                over(encrypted(stream, config, name).await?).await
            }
            Security::Tls(config, name) => over(encrypted(stream, config, name).await?).await,
        }
    }
}

async fn encrypted(
    stream: TcpStream,
    config: &Arc<ClientConfig>,
    name: &ServerName<'static>,
) -> anyhow::Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static> {
    let connector = TlsConnector::from(config.clone());
    connector.connect(name.clone(), stream).await.context("TLS")
}

/// Requests TLS on an unencrypted connection. Reads no further than the response.
async fn start_tls(stream: &mut TcpStream) -> anyhow::Result<()> {
    stream.write_all(START_TLS).await?;
    let mut room = MAX_TOTAL_BYTES;
    let Some(answer) = read_message(stream, &mut room).await? else {
        bail!("the connection was closed");
    };
    // A sequence of the message id and an extended response [24], which begins with the result code.
    let is_yes = matches!(
        parts(&answer)?[..],
        [(0x30, _), (0x02, [1]), (0x78, _), (0x0a, [0]), ..]
    );
    ensure!(is_yes, "the directory refuses it");
    Ok(())
}

async fn over(server: impl AsyncRead + AsyncWrite + Send + 'static) -> anyhow::Result<Connection> {
    let (theirs, ours) = Pair::pair()?;
    ours.set_nonblocking(true)?;
    let ours = UnixStream::from_std(ours)?;
    let settings = LdapConnSettings::new().set_std_stream(StdStream::Unix(theirs));
    let (connection, ldap) = LdapConnAsync::with_settings(settings, "ldapi:///").await?;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        // On an error the channel closes, which ends all pending operations.
        let _ = connection.drive().await;
    });
    tasks.spawn(async move {
        if let Err(error) = relay(server, ours).await {
            warn!("LDAP: the connection to the directory ends: {error}");
        }
    });
    Ok(Connection { ldap, _tasks: tasks })
}

async fn relay(server: impl AsyncRead + AsyncWrite, client: UnixStream) -> io::Result<()> {
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let (mut from_client, mut to_client) = client.into_split();
    let answers = async {
        let mut room = MAX_TOTAL_BYTES;
        while let Some(message) = read_message(&mut from_server, &mut room).await? {
            parts(&message)?;
            to_client.write_all(&message).await?;
        }
        Ok(())
    };
    select! {
        answered = answers => answered,
        asked = tokio::io::copy(&mut from_client, &mut to_server) => asked.map(drop),
    }
}

/// Reads one message, or `None` if the connection was closed.
async fn read_message(
    stream: &mut (impl AsyncRead + Unpin),
    room: &mut usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut message = vec![0; 2];
    match stream.read(&mut message[..1]).await? {
        0 => return Ok(None),
        _ => stream.read_exact(&mut message[1..]).await?,
    };
    if message[1] > 0x80 {
        let digits = usize::from(message[1] & 0x7f).min(LENGTH_DIGITS + 1);
        message.resize(2 + digits, 0);
        stream.read_exact(&mut message[2..]).await?;
    }
    let Header { start, length, .. } = Header::read(&message)?;
    let end = start + length;
    if end > MAX_MESSAGE_BYTES {
        return Err(wrong("an answer is longer than 64 KiB"));
    }
    *room = room
        .checked_sub(end)
        .ok_or_else(|| wrong("its answers are longer than 8 MiB"))?;
    message.resize(end, 0);
    stream.read_exact(&mut message[start..]).await?;
    Ok(Some(message))
}

/// The most bytes of a length.
const LENGTH_DIGITS: usize = 4;

/// The header of an element (X.690): its tag and its length.
struct Header {
    tag: u8,
    /// Where the content begins.
    start: usize,
    length: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> io::Result<Self> {
        let (tag, first) = match bytes {
            [tag, first, ..] => (*tag, *first),
            _ => return Err(wrong("an answer ends too early")),
        };
        let digits = match first {
            0x80 => return Err(wrong("an answer has no length")),
            0x81.. => usize::from(first & 0x7f),
            _ => 0,
        };
        let start = 2 + digits;
        let length = match bytes.get(2..start) {
            Some([]) => first.into(),
            Some(digits) if digits.len() <= LENGTH_DIGITS => digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit)),
            _ => return Err(wrong("an answer has a length that is none")),
        };
        Ok(Self { tag, start, length })
    }

    fn is_constructed(&self) -> bool {
        self.tag & 0x20 != 0
    }
}

/// All elements of a message in order, as tag and content. Fails if an element does not fit into the one
/// that contains it, or is nested too deeply.
pub(super) fn parts(message: &[u8]) -> io::Result<Vec<(u8, &[u8])>> {
    let mut parts = Vec::new();
    let mut ends = vec![message.len()];
    let mut at = 0;
    while let Some(end) = ends.last().copied() {
        if at == end {
            ends.pop();
            continue;
        }
        let rest = &message[at..end];
        let header = Header::read(rest)?;
        let held = rest.get(header.start..header.start + header.length);
        let held = held.ok_or_else(|| wrong("an answer does not fit together"))?;
        parts.push((header.tag, held));
        at += header.start;
        if !header.is_constructed() {
            at += header.length;
        } else if ends.len() > MAX_DEPTH {
            return Err(wrong("an answer is too deep"));
        } else {
            ends.push(at + header.length);
        }
    }
    Ok(parts)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(mut bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let mut room = MAX_TOTAL_BYTES;
        let message = read_message(&mut bytes, &mut room).await;
        let message = message.map_err(|error| error.to_string())?;
        message
            .map(|message| match parts(&message) {
                Ok(_) => Ok(message),
                Err(error) => Err(error.to_string()),
            })
            .transpose()
    }

    /// A sequence with this content.
    fn sequence(held: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x30, 0x83];
        bytes.extend(&(held.len() as u32).to_be_bytes()[1..]);
        bytes.extend(held);
        bytes
    }

    #[tokio::test]
    async fn a_message_is_read_to_its_end_and_no_further() {
        let answer = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00";
        let mut two = answer.to_vec();
        two.extend(b"\x30");
        assert_eq!(read(&two).await, Ok(Some(answer.to_vec())));
        assert_eq!(read(b"").await, Ok(None));
        let long = sequence(&sequence(&[0; 300]));
        assert_eq!(read(&long).await, Ok(Some(long)));
    }

    #[tokio::test]
    async fn messages_that_are_too_long_too_deep_or_malformed_are_refused() {
        let mut deep = Vec::new();
        for _ in 0..5000 {
            deep = sequence(&deep);
        }
        let nested = |depth| (0..depth).fold(Vec::new(), |inner, _| sequence(&inner));
        assert!(read(&nested(MAX_DEPTH)).await.is_ok());
        for (bytes, problem) in [
            (sequence(&[0; MAX_MESSAGE_BYTES]), "longer than 64 KiB"),
            (b"\x30\x84\xff\xff\xff\xff".to_vec(), "longer than 64 KiB"),
            (b"\x30\x85\0\0\0\0\x01x".to_vec(), "a length that is none"),
            (b"\x30\xff".to_vec(), "early eof"),
            (b"\x30\x80\0\0".to_vec(), "has no length"),
            (b"\x30\x03\x30\x02x".to_vec(), "does not fit together"),
            (b"\x30\x01\x30".to_vec(), "ends too early"),
            (b"\x30\x09\x02".to_vec(), "early eof"),
            (nested(MAX_DEPTH + 1), "too deep"),
            (deep, "too deep"),
        ] {
            let error = read(&bytes).await.expect_err(problem);
            assert!(error.contains(problem), "{problem}: {error}");
        }
    }

    #[tokio::test]
    async fn all_messages_together_are_limited() {
        let answer = sequence(&[0; 60 << 10]);
        let bytes = answer.repeat(140);
        let (mut bytes, mut room) = (bytes.as_slice(), MAX_TOTAL_BYTES);
        let mut read = 0;
        let error = loop {
            match read_message(&mut bytes, &mut room).await {
                Ok(_) => read += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(
            (read, error.to_string().as_str()),
            (136, "its answers are longer than 8 MiB")
        );
    }
}
