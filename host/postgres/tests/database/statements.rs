//! PostgreSQL accepts every declared statement.

use portico_postgres::PostgresStorage;
use portico_sql::{Dialect, Texts, inserts, statements};

use crate::postgresql::Postgresql;

#[tokio::test]
#[ignore = "make test-all"]
async fn every_statement_can_be_prepared() {
    let server = Postgresql::shared();
    let url = server.create_database("home");
    drop(PostgresStorage::open(&url).await.unwrap());
    let texts = Texts::new(Dialect::Postgres, "");
    let of_statements = statements().flat_map(|sql| [texts.of(sql, false), texts.of(sql, true)]);
    let of_insertions = inserts().into_iter().map(|insert| texts.of_insert(insert));
    let all: Vec<_> = of_statements.chain(of_insertions).collect();
    assert!(all.len() > 150, "{} texts", all.len());
    // The argument of a program has a largest length.
    for some in all.chunks(40) {
        let script = some.iter().enumerate();
        let script: String = script
            .map(|(number, text)| format!("PREPARE statement_{number} AS {text};\n"))
            .collect();
        server.run("home", &script);
    }
}
