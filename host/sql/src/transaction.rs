//! One transaction: what it notes in addition to its statements, and how a statement runs.

use std::sync::Arc;
use std::time::Duration;

use portico_storage::driver::{
    AnswerSize, LARGEST_ANSWER, PasswordSetter, TextSize, Trail, View, failed_before, only_reads,
};
use portico_storage::{
    Access, AppVisibility, CallContext, Constraint, Error, Ids, Result, Viewer, VisibilityInForce,
};

use crate::database::{Database, Row};
use crate::parameter::Value;
use crate::statement::{Insert, Sql};

/// The longest id of a new record, in bytes. An index of PostgreSQL holds fewer than 2,704 bytes, and may hold a name
/// alongside the id.
const LONGEST_ID: usize = 512;

/// What all transactions of a storage share.
#[derive(Clone)]
pub struct Settings {
    /// Makes the ids of records that storage creates by itself.
    pub ids: Ids,
    /// Who sees which app.
    pub visibility: Visibility,
    /// Whether there are links for a new password.
    pub has_password_links: bool,
}

impl Settings {
    /// Fixes who sees which app, whatever is stored: whether callers see only the apps on boards that they may view.
    pub fn with_apps_by_board(self, by_board: bool) -> Self {
        let visibility = match by_board {
            true => AppVisibility::Boards,
            false => AppVisibility::Everyone,
        };
        Self {
            visibility: Visibility::Fixed(visibility),
            ..self
        }
    }
}

/// Where a transaction reads who sees which app.
#[derive(Clone)]
pub enum Visibility {
    /// The operator has fixed it.
    Fixed(AppVisibility),
    /// In the database: each transaction reads it, unless it was read a moment ago.
    Stored(Option<Arc<dyn RecentVisibility>>),
}

/// What was stored a moment ago, where reading it takes a round trip. Moments are durations since its own beginning.
pub trait RecentVisibility: Send + Sync {
    /// This moment.
    fn now(&self) -> Duration;
    /// What was read last, if that was a moment ago.
    fn get(&self) -> Option<AppVisibility>;
    /// A transaction that began at this moment has read it.
    fn note(&self, visibility: AppVisibility, began_at: Duration);
    /// It was changed: what transactions that began before this moment have read no longer counts.
    fn forget(&self);
}

/// A transaction of this database. It forwards to `Runner`, which has functions of the same names as the traits, but not
/// the traits: so a call of a function that is missing there does not compile, rather than call itself.
pub struct SqlTransaction<D> {
    pub(crate) runner: Runner<D>,
}

impl<D: Database> SqlTransaction<D> {
    /// A transaction of this call.
    pub fn new(database: D, access: Access, context: &CallContext, settings: Settings) -> Self {
        let (setter, trail) = match access {
            Access::Write => (PasswordSetter::of(context), Trail::of(context)),
            Access::Lookup | Access::Read => Default::default(),
        };
        let began_at = match &settings.visibility {
            Visibility::Stored(Some(recent)) => recent.now(),
            Visibility::Stored(None) | Visibility::Fixed(_) => Duration::ZERO,
        };
        let runner = Runner {
            database,
            access,
            settings,
            views_by_shares: context.views_by_shares,
            setter,
            trail,
            invited_to: Vec::new(),
            began_at,
            has_set_visibility: false,
            failed: false,
        };
        Self { runner }
    }
}

/// Runs the statements of one transaction.
pub(crate) struct Runner<D> {
    database: D,
    access: Access,
    settings: Settings,
    /// As in the context of the call.
    views_by_shares: bool,
    pub(crate) setter: PasswordSetter,
    pub(crate) trail: Trail,
    /// The groups of the invite that was taken, for the user who is inserted next.
    pub(crate) invited_to: Vec<String>,
    /// When it began, for [`RecentVisibility`].
    began_at: Duration,
    pub(crate) has_set_visibility: bool,
    /// Set while a statement runs, and permanently once one has failed: a transaction whose call was dropped in the
    /// middle cannot be committed.
    failed: bool,
}

/// How one row is read.
pub(crate) type Read<T> = fn(&dyn Row) -> Result<T>;

impl<D: Database> Runner<D> {
    pub(crate) fn is_waiting_for_write_lock(&self) -> bool {
        self.is_writing() && !self.database.blocks_writers()
    }

    fn is_writing(&self) -> bool {
        self.access == Access::Write
    }

    pub(crate) fn next_id(&self) -> String {
        self.settings.ids.next()
    }

    pub(crate) fn has_password_links(&self) -> bool {
        self.settings.has_password_links
    }

    /// The view that a statement takes; `None` if it shows all apps.
    pub(crate) async fn view(&mut self, viewer: &Viewer) -> Result<Option<View>> {
        let Some(view) = View::of(viewer) else {
            return Ok(None);
        };
        let in_force = self.get_visibility_in_force().await?;
        Ok((in_force.visibility == AppVisibility::Boards).then_some(view))
    }

    pub(crate) async fn get_visibility_in_force(&mut self) -> Result<VisibilityInForce> {
        let (visibility, is_fixed) = match self.settings.visibility.clone() {
            Visibility::Fixed(visibility) => (visibility, true),
            Visibility::Stored(recent) => (self.read_visibility(recent).await?, false),
        };
        Ok(VisibilityInForce { visibility, is_fixed })
    }

    /// Who sees which app, as it is stored, or was a moment ago. A write transaction reads what it works on.
    async fn read_visibility(&mut self, recent: Option<Arc<dyn RecentVisibility>>) -> Result<AppVisibility> {
        let Some(recent) = recent.filter(|_| !self.is_writing()) else {
            return self.get_app_visibility().await;
        };
        if let Some(visibility) = recent.get() {
            return Ok(visibility);
        }
        let visibility = self.get_app_visibility().await?;
        recent.note(visibility, self.began_at);
        Ok(visibility)
    }

    /// Whether the permissions of the user count where a statement looks at which boards they may view.
    pub(crate) fn counts_permissions(&self) -> Value {
        (!self.views_by_shares).into()
    }

    /// Adds all rows to a value, one by one.
    pub(crate) async fn fold<A: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        into: A,
        add: impl FnMut(&mut A, &dyn Row) -> Result<()> + Send + 'static,
    ) -> Result<A> {
        self.begin_statement()?;
        // No record has a text that cannot be stored, so the statement would find nothing.
        let folded = match values.iter().all(Value::is_storable) {
            true => self.database.fold(sql, values, into, add).await?,
            false => into,
        };
        self.failed = false;
        Ok(folded)
    }

    /// All rows.
    pub(crate) async fn list<T: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        read: Read<T>,
    ) -> Result<Vec<T>> {
        self.fold(sql, values, Vec::new(), move |rows: &mut Vec<T>, row| {
            rows.push(read(row)?);
            Ok(())
        })
        .await
    }

    /// The row, if there is one.
    pub(crate) async fn find<T: Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        read: Read<T>,
    ) -> Result<Option<T>> {
        self.fold(sql, values, None, move |found, row| {
            *found = Some(read(row)?);
            Ok(())
        })
        .await
    }

    /// Whether there is a row.
    pub(crate) async fn exists(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<bool> {
        Ok(self.find(sql, values, |_| Ok(())).await?.is_some())
    }

    /// The number in the only row.
    pub(crate) async fn count(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        let count = self.find(sql, values, |row| row.number(0)).await?;
        Ok(count.unwrap_or_default().unsigned_abs())
    }

    /// Refuses a list without a bound whose text, which this statement counts, is too large: reading it until it is
    /// takes longer, and sorts it first.
    pub(crate) async fn refuse_too_large(&mut self, text: &'static Sql, values: Vec<Value>) -> Result<()> {
        match self.count(text, values).await? > LARGEST_ANSWER as u64 {
            true => self.refuse(Error::TooLarge),
            false => Ok(()),
        }
    }

    /// All rows, unless their texts are too large together.
    pub(crate) async fn list_sized<T: TextSize + Send + 'static>(
        &mut self,
        sql: &'static Sql,
        values: Vec<Value>,
        read: Read<T>,
    ) -> Result<Vec<T>> {
        let none = (AnswerSize::default(), Vec::new());
        let add = move |(size, records): &mut (AnswerSize, Vec<T>), row: &dyn Row| {
            let record = read(row)?;
            size.add(&record).map_err(|_| Error::TooLarge)?;
            records.push(record);
            Ok(())
        };
        Ok(self.fold(sql, values, none, add).await?.1)
    }

    /// Runs a statement that changes or deletes records, found by its first value. Returns how many it changed.
    pub(crate) async fn execute(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        // There is no record with such a key.
        if values.first().is_some_and(|key| !key.is_storable()) {
            return if self.failed { Err(failed_before()) } else { Ok(0) };
        }
        self.insert_row(sql, values).await
    }

    /// Runs a statement that inserts a record. Returns how many it inserted.
    pub(crate) async fn insert_row(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<u64> {
        self.begin_write()?;
        if !values.iter().all(Value::is_storable) {
            return Err(not_storable());
        }
        let changed = self.database.execute(sql, values).await?;
        self.failed = false;
        Ok(changed)
    }

    /// Refuses permanently: a transaction in which something was refused cannot be committed.
    pub(crate) fn refuse<T>(&mut self, error: Error) -> Result<T> {
        self.failed = true;
        Err(error)
    }

    /// The same, with a value that may be impossible to store.
    pub(crate) fn check(&mut self, value: Result<Value>) -> Result<Value> {
        value.or_else(|error| self.refuse(error))
    }

    /// Refuses the id of a new record that cannot be stored.
    pub(crate) fn check_new_id(&mut self, id: &str) -> Result<()> {
        if id.len() <= LONGEST_ID && !id.contains('\0') {
            return Ok(());
        }
        self.refuse(Error::Constraint(Constraint::Id))
    }

    /// The same for at most one row. Returns whether it was changed.
    pub(crate) async fn change(&mut self, sql: &'static Sql, values: Vec<Value>) -> Result<bool> {
        Ok(self.execute(sql, values).await? > 0)
    }

    /// The same for a row of `user_account`.
    pub(crate) async fn change_user(
        &mut self,
        id: &str,
        sql: &'static Sql,
        values: Vec<Value>,
    ) -> Result<bool> {
        let changed = self.change(sql, values).await?;
        if changed {
            self.trail.changed(id);
        }
        Ok(changed)
    }

    /// Inserts a record with this id. Returns false if the statement inserted nothing, because a name is taken.
    pub(crate) async fn create(&mut self, id: &str, sql: &'static Sql, values: Vec<Value>) -> Result<bool> {
        self.check_new_id(id)?;
        let created = self.insert_row(sql, values).await? > 0;
        if created {
            self.trail.created(id);
        }
        Ok(created)
    }

    /// Inserts rows.
    pub(crate) async fn insert(&mut self, into: &'static Insert, rows: Vec<Vec<Value>>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.begin_insert(&rows)?;
        self.database.insert(into, rows).await?;
        self.failed = false;
        Ok(())
    }

    /// Inserts rows that depend on nothing that is stored, at the commit or before.
    pub(crate) async fn insert_deferred(
        &mut self,
        into: &'static Insert,
        rows: Vec<Vec<Value>>,
    ) -> Result<()> {
        self.begin_insert(&rows)?;
        self.database.insert_deferred(into, rows).await?;
        self.failed = false;
        Ok(())
    }

    /// Writes the row of the audit log, and commits.
    pub(crate) async fn finish(mut self) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        if let Some(entry) = self.trail.row() {
            self.insert_audit(&entry).await?;
        }
        let Self {
            database,
            settings,
            setter,
            trail,
            has_set_visibility,
            ..
        } = self;
        database.commit().await?;
        if let Visibility::Stored(Some(recent)) = settings.visibility
            && has_set_visibility
        {
            recent.forget();
        }
        trail.committed();
        setter.committed();
        Ok(())
    }

    fn begin_statement(&mut self) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        self.failed = true;
        Ok(())
    }

    fn begin_write(&mut self) -> Result<()> {
        if !self.is_writing() {
            return Err(only_reads());
        }
        self.begin_statement()
    }

    fn begin_insert(&mut self, rows: &[Vec<Value>]) -> Result<()> {
        self.begin_write()?;
        match rows.iter().flatten().all(Value::is_storable) {
            true => Ok(()),
            false => Err(not_storable()),
        }
    }
}

fn not_storable() -> Error {
    Error::Unavailable("a text with U+0000 cannot be stored".into())
}
