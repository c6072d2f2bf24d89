//! What databases write differently.

use portico_storage::Constraint;

use crate::parameter::{Column, Value};
use crate::statement::Insert;

/// How a database writes what differs between databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: one writer at a time, so no row is ever locked.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// SQLite through a driver of a dashboard: perhaps one before 3.43, and lists of rows come as JSON.
    SqliteOfDashboard,
    /// PostgreSQL through a driver of a dashboard: lists come as JSON, so that a driver needs no arrays.
    PostgresOfDashboard,
}

impl Dialect {
    /// Writes a statement in this dialect.
    ///
    /// | in the statement | SQLite | PostgreSQL |
    /// |---|---|---|
    /// | `~app` | the table with the prefix | the same |
    /// | `$1` | `?1` | `$1` |
    /// | `[contains name_key $1]` | `instr` | `LIKE`, for which there may be an index of trigrams |
    /// | `[among id $1]` | `json_each` | `ANY` |
    /// | `[bytes name]` | `octet_length` | the same |
    /// | `[index name]` | `INDEXED BY` | nothing |
    /// | `[lock for UPDATE]` | nothing | `FOR UPDATE` |
    /// | `[hold for UPDATE]` | nothing | the same if `writes`, that is, in a write transaction |
    pub fn render(self, text: &str, prefix: &str, writes: bool) -> String {
        let mut rendered = String::with_capacity(text.len() + 64);
        let mut rest = text;
        while let Some(at) = rest.find(['~', '$', '[']) {
            rendered.push_str(&rest[..at]);
            let (mark, after) = rest[at..].split_at(1);
            rest = after;
            match mark {
                "~" => rendered.push_str(prefix),
                "$" if self.is_sqlite() => rendered.push('?'),
                "$" => rendered.push('$'),
                _ => {
                    let (inside, after) = after.split_once(']').unwrap_or((after, ""));
                    rest = after;
                    rendered.push_str(&self.mark(inside, writes));
                }
            }
        }
        rendered.push_str(rest);
        rendered
    }

    /// The SQL for a mark in square brackets.
    fn mark(self, inside: &str, writes: bool) -> String {
        let mut words = inside.splitn(3, ' ');
        let (mark, first, rest) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let number = rest.trim_start_matches('$');
        match mark {
            "contains" if self.is_sqlite() => format!("instr({first}, ?{number}) > 0"),
            "contains" => format!("{first} LIKE ${number}"),
            "among" => match self {
                Self::Sqlite | Self::SqliteOfDashboard => {
                    format!("{first} IN (SELECT value FROM json_each(?{number}))")
                }
                Self::Postgres => format!("{first} = ANY(${number})"),
                Self::PostgresOfDashboard => {
                    format!("{first} = ANY(ARRAY(SELECT json_array_elements_text(CAST(${number} AS json))))")
                }
            },
            // SQLite reads neither the text nor the pages that it overflows to.
            "bytes" if self != Self::SqliteOfDashboard => format!("octet_length({first})"),
            "bytes" => format!("length(CAST({first} AS BLOB))"),
            "index" if self.is_sqlite() => format!("INDEXED BY {first}"),
            "lock" if !self.is_sqlite() => format!("FOR {rest}"),
            "hold" if !self.is_sqlite() && writes => format!("FOR {rest}"),
            _ => String::new(),
        }
    }

    /// Whether it is SQLite.
    pub fn is_sqlite(self) -> bool {
        matches!(self, Self::Sqlite | Self::SqliteOfDashboard)
    }

    /// The text that `[contains …]` takes as its parameter.
    pub fn contained(self, text: &str) -> String {
        match self.is_sqlite() {
            true => text.to_owned(),
            false => {
                let mut pattern = String::with_capacity(text.len() + 2);
                pattern.push('%');
                for character in text.chars() {
                    if matches!(character, '%' | '_' | '\\') {
                        pattern.push('\\');
                    }
                    pattern.push(character);
                }
                pattern.push('%');
                pattern
            }
        }
    }

    /// The statement of an insertion: of one row in SQLite, of all rows, as one list for each column, in PostgreSQL; of
    /// all rows, as one JSON list of lists, through a driver of a dashboard.
    pub fn render_insert(self, insert: &Insert, prefix: &str) -> String {
        let Insert { table, columns, .. } = insert;
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        let numbers = 1..=columns.len();
        let rows = match self {
            Self::Sqlite => {
                let values: Vec<_> = numbers.map(|number| format!("?{number}")).collect();
                format!("VALUES ({})", values.join(", "))
            }
            Self::Postgres => {
                let lists = numbers.zip(*columns).map(|(number, (_, column))| match column {
                    Column::Text => format!("${number}::text[]"),
                    Column::Number => format!("${number}::bigint[]"),
                    Column::Bool => format!("${number}::boolean[]"),
                });
                let lists: Vec<_> = lists.collect();
                format!("SELECT * FROM unnest({})", lists.join(", "))
            }
            // With a condition, because otherwise `ON` would begin that of a join.
            Self::SqliteOfDashboard => {
                let values: Vec<_> = (0..columns.len())
                    .map(|place| format!("json_extract(value, '$[{place}]')"))
                    .collect();
                format!("SELECT {} FROM json_each(?1) WHERE true", values.join(", "))
            }
            Self::PostgresOfDashboard => {
                let values = (0..).zip(*columns).map(|(place, (_, column))| {
                    let kind = match column {
                        Column::Text => "text",
                        Column::Number => "bigint",
                        Column::Bool => "boolean",
                    };
                    format!("CAST(item.row->>{place} AS {kind})")
                });
                let values: Vec<_> = values.collect();
                format!(
                    "SELECT {} FROM json_array_elements(CAST($1 AS json)) AS item(row)",
                    values.join(", ")
                )
            }
        };
        let conflict = match insert.leaves_out_duplicates {
            true => " ON CONFLICT DO NOTHING",
            false => "",
        };
        format!(
            "INSERT INTO {prefix}{table} ({}) {rows}{conflict}",
            names.join(", ")
        )
    }
}

/// The rows of an insertion as one list for each column, as `unnest` takes them.
pub fn columns_of(insert: &Insert, rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    let mut columns: Vec<Vec<Value>> = insert
        .columns
        .iter()
        .map(|_| Vec::with_capacity(rows.len()))
        .collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

/// The rule that a unique constraint enforces, by its name in PostgreSQL or by what SQLite names instead; `None` if it
/// is not a rule of the contract. Tables are without their prefix.
pub fn constraint(name: &str) -> Option<Constraint> {
    Some(match name {
        "user_account_pkey" | "user_account.id" | "app_pkey" | "app.id" => Constraint::Id,
        "user_account_by_provider" | "user_account.name_key, user_account.provider" => Constraint::UserName,
        "identity_pkey"
        | "identity_by_user"
        | "identity.provider, identity.subject_hash"
        | "identity.user_id, identity.provider" => Constraint::Identity,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_written_in_each_dialect() {
        let sql = "SELECT id FROM ~app [index app_by_name] WHERE [contains name_key $1] AND [among id $2] [hold for UPDATE]";
        assert_eq!(
            Dialect::Sqlite.render(sql, "p_", true),
            "SELECT id FROM p_app INDEXED BY app_by_name WHERE instr(name_key, ?1) > 0 \
             AND id IN (SELECT value FROM json_each(?2)) "
        );
        assert_eq!(
            Dialect::Postgres.render(sql, "", true),
            "SELECT id FROM app  WHERE name_key LIKE $1 AND id = ANY($2) FOR UPDATE"
        );
        assert_eq!(
            Dialect::PostgresOfDashboard.render("[among id $1] AND [bytes name] > $2", "", true),
            "id = ANY(ARRAY(SELECT json_array_elements_text(CAST($1 AS json)))) AND octet_length(name) > $2"
        );
        assert_eq!(
            Dialect::SqliteOfDashboard.render("[bytes name] > $2", "", true),
            "length(CAST(name AS BLOB)) > ?2"
        );
        assert!(!Dialect::Postgres.render(sql, "", false).contains("UPDATE"));
    }

    #[test]
    fn nothing_in_a_contained_text_is_a_wildcard() {
        assert_eq!(Dialect::Postgres.contained("100%_\\"), "%100\\%\\_\\\\%");
        assert_eq!(Dialect::Sqlite.contained("100%_\\"), "100%_\\");
    }
}
