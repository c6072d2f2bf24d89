//! Refuses a pooler that does not give each connection a session of its own at the server.
//!
//! pgbouncer in transaction mode gives each transaction any session. Prepared statements stay with the session in which
//! they were made, and every host names its own `s0`, `s1` and so on. A host would run a statement that another host
//! has prepared under the same name, without noticing. (pgbouncer 1.21 can separate them, if it is configured to; the
//! version of Debian 12 cannot.) Time limits and other settings of one connection would apply to statements of another.
//! So such a pooler is detected before anything is prepared or set.

use anyhow::bail;
use tokio::time::timeout;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::failure::Unreached;
use super::health::unopened;
use super::target::Target;

/// How often the check is tried: other clients of the pooler may take and return sessions meanwhile.
const TRIES: usize = 3;

/// Fails if two connections share sessions, or if only one of two is served.
pub(super) async fn refuse_shared_sessions(target: &Target) -> anyhow::Result<()> {
    let first = open(target).await?;
    // A pooler takes connections also while its server is away.
    let answered = timeout(target.connect_limit, session(&first)).await;
    answered
        .map_err(|_| unopened(&Unreached::TimedOut(target.connect_limit)))?
        .map_err(|error| unopened(&Unreached::Refused(error)))?;
    let second = open(target).await?;
    let Ok(shares) = timeout(target.connect_limit, shares_sessions(&first, &second)).await else {
        bail!(
            "of two connections only one was served within {} seconds: a pooler needs room for {} connections of \
             each host",
            target.connect_limit.as_secs(),
            target.limits.connections + 1
        );
    };
    let mode = match shares {
        Ok(false) => return Ok(()),
        Ok(true) => "transaction",
        Err(error) if refuses_transactions(&error) => "statement",
        Err(error) => return Err(unopened(&Unreached::Refused(error))),
    };
    bail!(
        "there is a pooler before it that gives each {mode} another session of the server, such as pgbouncer with \
         pool_mode = {mode}. Portico needs transactions, prepared statements and settings that last as long as a \
         connection: set pool_mode = session for this database, with room for {} connections of each host, or \
         connect to PostgreSQL itself",
        target.limits.connections + 1
    );
}

/// Whether this is pgbouncer's refusal with pool_mode = statement. Its code is that of all its errors.
fn refuses_transactions(error: &Error) -> bool {
    let refusal = error.as_db_error();
    refusal.is_some_and(|refusal| refusal.message().contains("statement pooling mode"))
}

/// Whether a connection loses its session to another one as soon as it is outside a transaction.
async fn shares_sessions(first: &Client, second: &Client) -> Result<bool, Error> {
    for _ in 0..TRIES {
        let before = session(first).await?;
        second.batch_execute("BEGIN").await?;
        let other = session(second).await?;
        let after = session(first).await?;
        second.batch_execute("COMMIT").await?;
        if before != after || other == before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The process of the server that works for a connection. Reads it without a prepared statement.
async fn session(client: &Client) -> Result<Option<String>, Error> {
    let answer = client.simple_query("SELECT pg_backend_pid()").await?;
    Ok(answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

/// Connects, without any settings.
async fn open(target: &Target) -> anyhow::Result<Client> {
    let connected = target.servers.connect().await;
    let (client, messages) = connected.map_err(|error| unopened(&error))?;
    tokio::spawn(async move { drop(messages.await) });
    Ok(client)
}
