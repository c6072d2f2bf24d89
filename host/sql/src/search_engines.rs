//! Statements on search engines.

use portico_storage::{Result, SearchEngine};

use crate::database::{Database, Row};
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, short, url_template, icon_url, description FROM ~search_engine ",
            $rest
        )
    };
}

declare! {
    /// In a write transaction the engine is locked, so that it stays.
    EXISTS = Sql::short("SELECT 1 FROM ~search_engine WHERE id = $1 [hold for KEY SHARE]");
    /// No other transaction writes search engines meanwhile, so that name and short stay free.
    INSERT = Sql::short(
        "INSERT INTO ~search_engine
            (id, name, name_key, short, short_key, url_template, icon_url, description)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8
        WHERE NOT EXISTS (SELECT 1 FROM ~search_engine WHERE name_key = $3 OR short_key = $5)"
    ).alone();
    UPDATE = Sql::short(
        "UPDATE ~search_engine SET name = $2, name_key = $3, short = $4, short_key = $5,
            url_template = $6, icon_url = $7, description = $8
        WHERE id = $1 AND NOT EXISTS (
            SELECT 1 FROM ~search_engine AS other
            WHERE (other.name_key = $3 OR other.short_key = $5) AND other.id <> $1
        )"
    ).alone();
    GET = Sql::short(select!("WHERE id = $1")).alone();
    LIST = Sql::long(select!("ORDER BY name_key, id"));
    DELETE = Sql::unbounded("DELETE FROM ~search_engine WHERE id = $1");
}

impl<D: Database> Runner<D> {
    pub(crate) async fn has_search_engine(&mut self, id: &str) -> Result<bool> {
        self.exists(&EXISTS, vec![id.into()]).await
    }

    pub(crate) async fn insert_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.create(&engine.id, &INSERT, values(engine, name_key, short_key))
            .await
    }

    pub(crate) async fn update_search_engine(
        &mut self,
        engine: &SearchEngine,
        name_key: &str,
        short_key: &str,
    ) -> Result<bool> {
        self.change(&UPDATE, values(engine, name_key, short_key)).await
    }

    pub(crate) async fn get_search_engine(&mut self, id: &str) -> Result<Option<SearchEngine>> {
        self.find(&GET, vec![id.into()], engine).await
    }

    pub(crate) async fn list_search_engines(&mut self) -> Result<Vec<SearchEngine>> {
        self.list(&LIST, Vec::new(), engine).await
    }

    pub(crate) async fn delete_search_engine(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }
}

fn values(engine: &SearchEngine, name_key: &str, short_key: &str) -> Vec<Value> {
    vec![
        (&engine.id).into(),
        (&engine.name).into(),
        name_key.into(),
        (&engine.short).into(),
        short_key.into(),
        (&engine.url_template).into(),
        (&engine.icon_url).into(),
        (&engine.description).into(),
    ]
}

fn engine(row: &dyn Row) -> Result<SearchEngine> {
    Ok(SearchEngine {
        id: row.text(0)?,
        name: row.text(1)?,
        short: row.text(2)?,
        url_template: row.text(3)?,
        icon_url: row.text(4)?,
        description: row.get_text(5)?,
    })
}
