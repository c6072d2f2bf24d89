//! The indexes that find apps and users by a part of their name, where the server has `pg_trgm`.
//!
//! They are no part of a version: a database works without them, and gets them at the next start after the
//! extension can be had.

use tokio_postgres::{Client, Error};

use super::locks::LOCK;

/// Creates what is missing. Answers whether there are indexes; the log says why there are none.
pub(super) async fn ensure(client: &Client, shown: &str) -> bool {
    let missing = match create(client).await {
        Ok(()) => return true,
        Err(error) => error
            .as_db_error()
            .map_or_else(|| error.to_string(), |refusal| refusal.message().to_owned()),
    };
    // The transaction that failed.
    let _ = client.batch_execute("ROLLBACK").await;
    tracing::warn!(
        "searches read the names of all apps and users in {shown}, because there is no index of trigrams: {missing}. As \
         an administrator of the database, run: CREATE EXTENSION pg_trgm; and start again"
    );
    false
}

async fn create(client: &Client) -> Result<(), Error> {
    let valid = "
        SELECT count(*) = 2 FROM pg_index
        WHERE indexrelid IN (to_regclass('app_by_trigram'), to_regclass('user_account_by_trigram')) AND indisvalid";
    if client.query_one(valid, &[]).await?.try_get(0)? {
        return Ok(());
    }
    client
        .batch_execute("BEGIN; SET LOCAL lock_timeout = '10min'; SET LOCAL statement_timeout = 0")
        .await?;
    client
        .execute("SELECT pg_advisory_xact_lock($1, 0)", &[&LOCK])
        .await?;
    client
        .batch_execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        .await?;
    let schema = "
        SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'pg_trgm'";
    let schema: String = client.query_one(schema, &[]).await?.try_get(0)?;
    let index = format!(
        "CREATE INDEX IF NOT EXISTS app_by_trigram ON app USING gin (name_key {schema}.gin_trgm_ops);
        CREATE INDEX IF NOT EXISTS user_account_by_trigram ON user_account
            USING gin (name_key {schema}.gin_trgm_ops);
        COMMIT"
    );
    client.batch_execute(&index).await
}
