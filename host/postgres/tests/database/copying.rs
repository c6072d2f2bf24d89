//! Copying everything from one database to another.

use portico_postgres::PostgresStorage;
use portico_postgres::copying::covers;

use crate::postgresql::Postgresql;

#[tokio::test]
#[ignore = "make test-all"]
async fn every_column_is_copied_or_comes_about_by_itself() {
    let server = Postgresql::shared();
    drop(
        PostgresStorage::open(&server.create_database("home"))
            .await
            .unwrap(),
    );
    let sql = "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'";
    let columns = server.run("home", sql);
    let columns: Vec<_> = columns
        .lines()
        .filter_map(|column| column.split_once('.'))
        .collect();
    assert!(columns.len() > 80, "{} columns", columns.len());
    let forgotten: Vec<_> = columns
        .iter()
        .filter(|(table, column)| !covers(table, column))
        .collect();
    assert!(
        forgotten.is_empty(),
        "neither copied (host/storage/src/copying/tables.rs) nor derived (DERIVED): {forgotten:?}"
    );
}
