//! The indexes that find apps and users by a part of their name, where the server has `pg_trgm`.
//!
//! They are not part of a version: a database works without them, and gets them at the next start after the extension
//! has become available.

use tokio_postgres::{Client, Error};

use super::locks::LOCK;
use super::migrations::{BEGIN_MIGRATING, PATIENCE};

/// Creates what is missing. If it cannot be created, the log says why.
pub(super) async fn ensure(client: &Client, shown: &str) {
    let Err(error) = create(client).await else {
        return;
    };
    let missing = error
        .as_db_error()
        .map_or_else(|| error.to_string(), |refusal| refusal.message().to_owned());
    // Ends the transaction that failed.
    let _ = client.batch_execute("ROLLBACK").await;
    tracing::warn!(
        "there is no index of trigrams in {shown}, so each search reads all names: {missing}. As an administrator of \
         the database, run: CREATE EXTENSION pg_trgm; and start again"
    );
}

async fn create(client: &Client) -> Result<(), Error> {
    let valid = "
        SELECT count(*) = 2 FROM pg_index
        WHERE indexrelid IN (to_regclass('app_by_trigram'), to_regclass('user_account_by_trigram')) AND indisvalid";
    if client.query_one(valid, &[]).await?.try_get(0)? {
        return Ok(());
    }
    create_each(client, &["CREATE EXTENSION IF NOT EXISTS pg_trgm".to_owned()]).await?;
    let schema = "
        SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'pg_trgm'";
    let schema: String = client.query_one(schema, &[]).await?.try_get(0)?;
    let indexes = [
        ("app_by_trigram", "app"),
        ("user_account_by_trigram", "user_account"),
    ]
    .map(|(name, table)| {
        format!("CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin (name_key {schema}.gin_trgm_ops)")
    });
    create_each(client, &indexes).await
}

/// Each in a transaction of its own: otherwise one transaction would hold the lock of the first table while it waits
/// for the second, which a writer may have locked already.
async fn create_each(client: &Client, statements: &[String]) -> Result<(), Error> {
    for statement in statements {
        client
            .batch_execute(&format!("{BEGIN_MIGRATING}; {PATIENCE}"))
            .await?;
        client
            .execute("SELECT pg_advisory_xact_lock($1, 0)", &[&LOCK])
            .await?;
        client.batch_execute(&format!("{statement}; COMMIT")).await?;
    }
    Ok(())
}
