//! Statements on apps.

use portico_model::App;
use portico_storage::driver::View;
use portico_storage::{AppFilter, Result, Slice, StoredApp, Viewer};

use crate::database::{Database, Row};
use crate::parameter::{Column, Value};
use crate::statement::{Insert, Lock, Sql, declare};
use crate::transaction::{Runner, SqlTransaction};
use crate::values::bounds;
use crate::views::seen;

macro_rules! columns {
    () => {
        "app.id, app.name, app.description, app.icon_url, app.href, app.ping_url"
    };
}

/// The text of all apps, as [`AnswerSize`](portico_storage::driver::AnswerSize) counts it.
macro_rules! text {
    ($condition:expr) => {
        concat!(
            "SELECT coalesce(sum([bytes app.id] + [bytes app.name] + [bytes app.icon_url]
                + coalesce([bytes app.description], 0) + coalesce([bytes app.href], 0)
                + coalesce([bytes app.ping_url], 0)), 0) FROM ~app AS app",
            $condition
        )
    };
}

/// A page: the ids first, so that only the apps of the page are read.
macro_rules! page {
    ($condition:expr, $limit:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM (SELECT app.id FROM ~app AS app",
            $condition,
            " ORDER BY app.name_key, app.id ",
            $limit,
            ") AS page JOIN ~app AS app ON app.id = page.id
            ORDER BY app.name_key, app.id"
        )
    };
}

declare! {
    GET = Sql::short(concat!(
        "SELECT ", columns!(), " FROM ~app AS app WHERE app.id = $1 [hold for NO KEY UPDATE]"
    ));
    GET_SEEN = Sql::short(concat!(
        "SELECT ", columns!(), " FROM ~app AS app WHERE app.id = $3 AND ", seen!(), " [hold for NO KEY UPDATE]"
    ));
    GET_MANY = Sql::long(concat!(
        "SELECT ", columns!(), " FROM ~app AS app WHERE [among app.id $1] ORDER BY app.id"
    ));
    GET_MANY_SEEN = Sql::long(concat!(
        "SELECT ", columns!(), " FROM ~app AS app WHERE [among app.id $3] AND ", seen!(), " ORDER BY app.id"
    ));
    ALL = Sql::long(concat!("SELECT ", columns!(), " FROM ~app AS app ORDER BY app.name_key, app.id"));
    ALL_SEEN = Sql::long(concat!(
        "SELECT ", columns!(), " FROM ~app AS app WHERE ", seen!(), " ORDER BY app.name_key, app.id"
    ));
    TEXT = Sql::long(text!(""));
    TEXT_SEEN = Sql::long(text!(concat!(" WHERE ", seen!())));
    LIST = Sql::long(page!("", "LIMIT $1 OFFSET $2"));
    SEARCH = Sql::long(page!(" WHERE [contains app.name_key $1]", "LIMIT $2 OFFSET $3"));
    LIST_SEEN = Sql::long(page!(
        concat!(" WHERE [contains app.name_key $3] AND ", seen!()), "LIMIT $4 OFFSET $5"
    ));
    COUNT = Sql::long("SELECT count(*) FROM ~app");
    COUNT_FOUND = Sql::long("SELECT count(*) FROM ~app AS app WHERE [contains app.name_key $1]");
    COUNT_SEEN = Sql::long(concat!(
        "SELECT count(*) FROM ~app AS app WHERE [contains app.name_key $3] AND ", seen!()
    ));
    COUNT_AMONG = Sql::long("SELECT count(*) FROM ~app AS app WHERE [among app.id $1]");
    COUNT_AMONG_SEEN = Sql::long(concat!(
        "SELECT count(*) FROM ~app AS app WHERE [among app.id $3] AND ", seen!()
    ));
    LIST_AMONG = Sql::long(page!(
        " WHERE [among app.id $1] AND [contains app.name_key $2]", "LIMIT $3 OFFSET $4"
    ));
    COUNT_FOUND_AMONG = Sql::long(
        "SELECT count(*) FROM ~app AS app WHERE [among app.id $1] AND [contains app.name_key $2]"
    );
    UPDATE = Sql::short(
        "UPDATE ~app SET name = $2, name_key = $3, description = $4, icon_url = $5, href = $6, ping_url = $7
        WHERE id = $1"
    );
    /// The schema's cascades remove it from boards.
    DELETE = Sql::unbounded("DELETE FROM ~app WHERE id = $1").alongside();
}

pub(crate) static INSERT: Insert = Insert {
    table: "app",
    columns: &[
        ("id", Column::Text),
        ("name", Column::Text),
        ("name_key", Column::Text),
        ("description", Column::Text),
        ("icon_url", Column::Text),
        ("href", Column::Text),
        ("ping_url", Column::Text),
    ],
    leaves_out_duplicates: false,
    lock: Lock::Alongside,
};

impl<D: Database> Runner<D> {
    pub(crate) async fn get_app(&mut self, id: &str, viewer: &Viewer) -> Result<Option<App>> {
        match self.view(viewer).await? {
            None => self.find(&GET, vec![id.into()], app).await,
            Some(view) => {
                self.find(
                    &GET_SEEN,
                    vec![user_of(&view), self.counts_permissions(), id.into()],
                    app,
                )
                .await
            }
        }
    }

    pub(crate) async fn get_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<Vec<App>> {
        let ids = storable(ids);
        match self.view(viewer).await? {
            None => self.list_sized(&GET_MANY, vec![ids], app).await,
            Some(view) => {
                self.list_sized(
                    &GET_MANY_SEEN,
                    vec![user_of(&view), self.counts_permissions(), ids],
                    app,
                )
                .await
            }
        }
    }

    pub(crate) async fn sees_apps(&mut self, ids: &[String], viewer: &Viewer) -> Result<bool> {
        let texts = Value::Texts(ids.to_vec());
        let (sql, values) = match self.view(viewer).await? {
            None => (&COUNT_AMONG, vec![texts]),
            Some(view) => (
                &COUNT_AMONG_SEEN,
                vec![user_of(&view), self.counts_permissions(), texts],
            ),
        };
        let seen = self.count(sql, values).await?;
        Ok(usize::try_from(seen) == Ok(ids.len()))
    }

    pub(crate) async fn list_apps(&mut self, filter: &AppFilter, slice: Slice) -> Result<Vec<App>> {
        let contained = filter.name_contains.clone().unwrap_or_default();
        let view = self.view(&filter.viewer).await?;
        if slice == Slice::ALL && contained.is_empty() {
            let (text, all, values) = match view {
                None => (&TEXT, &ALL, Vec::new()),
                Some(view) => (
                    &TEXT_SEEN,
                    &ALL_SEEN,
                    vec![user_of(&view), self.counts_permissions()],
                ),
            };
            self.refuse_too_large(text, values.clone()).await?;
            return self.list_sized(all, values, app).await;
        }
        let (sql, mut values) = match view {
            Some(view) => (
                &LIST_SEEN,
                vec![
                    user_of(&view),
                    self.counts_permissions(),
                    Value::Contained(contained),
                ],
            ),
            None if contained.is_empty() => (&LIST, Vec::new()),
            None => (&SEARCH, vec![Value::Contained(contained)]),
        };
        values.extend(bounds(slice));
        self.list_sized(sql, values, app).await
    }

    pub(crate) async fn count_apps(&mut self, filter: &AppFilter) -> Result<u32> {
        let contained = filter.name_contains.clone().unwrap_or_default();
        let (sql, values) = match self.view(&filter.viewer).await? {
            Some(view) => (
                &COUNT_SEEN,
                vec![
                    user_of(&view),
                    self.counts_permissions(),
                    Value::Contained(contained),
                ],
            ),
            None if contained.is_empty() => (&COUNT, Vec::new()),
            None => (&COUNT_FOUND, vec![Value::Contained(contained)]),
        };
        let count = self.count(sql, values).await?;
        Ok(count.try_into().unwrap_or(u32::MAX))
    }

    pub(crate) async fn insert_apps(&mut self, apps: &[StoredApp]) -> Result<()> {
        for new in apps {
            self.check_new_id(&new.app.id)?;
        }
        let rows = apps.iter().map(values).collect();
        self.insert_deferred(&INSERT, rows).await?;
        apps.iter().for_each(|new| self.trail.created(&new.app.id));
        Ok(())
    }

    pub(crate) async fn update_app(&mut self, app: &StoredApp) -> Result<bool> {
        self.change(&UPDATE, values(app)).await
    }

    pub(crate) async fn delete_app(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }
}

/// For a dashboard that keeps boards elsewhere, and so knows which apps a caller sees.
impl<D: Database> SqlTransaction<D> {
    /// Those of these apps whose name-key contains the text, by name.
    pub async fn list_apps_among(
        &mut self,
        ids: &[String],
        contained: &str,
        slice: Slice,
    ) -> Result<Vec<App>> {
        let mut values = vec![storable(ids), Value::Contained(contained.to_owned())];
        values.extend(bounds(slice));
        self.runner.list_sized(&LIST_AMONG, values, app).await
    }

    /// How many of these apps have a name-key that contains the text.
    pub async fn count_apps_among(&mut self, ids: &[String], contained: &str) -> Result<u32> {
        let values = vec![storable(ids), Value::Contained(contained.to_owned())];
        let count = self.runner.count(&COUNT_FOUND_AMONG, values).await?;
        Ok(count.try_into().unwrap_or(u32::MAX))
    }
}

/// No app has an id that cannot be stored; the others are found.
pub(crate) fn storable(ids: &[String]) -> Value {
    let ids = ids.iter().filter(|id| !id.contains('\0')).cloned();
    Value::Texts(ids.collect())
}

fn user_of(view: &View) -> Value {
    (&view.user_id).into()
}

fn values(StoredApp { app, name_key }: &StoredApp) -> Vec<Value> {
    vec![
        (&app.id).into(),
        (&app.name).into(),
        name_key.into(),
        (&app.description).into(),
        (&app.icon_url).into(),
        (&app.href).into(),
        (&app.ping_url).into(),
    ]
}

fn app(row: &dyn Row) -> Result<App> {
    Ok(App {
        id: row.text(0)?,
        name: row.text(1)?,
        description: row.get_text(2)?,
        icon_url: row.text(3)?,
        href: row.get_text(4)?,
        ping_url: row.get_text(5)?,
    })
}
