//! What a dashboard with the ready storage has of its own, for the storage kit: boards and search engines in tables next to
//! those of Portico, and everything else by `people`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use portico_model::ErrorCode;
use portico_storage::hash_secret;
use portico_storage_kit::{Bridge, BridgeCall, BridgeError};
use serde_json::{Value as Json, json};
use tokio::task::block_in_place;

use crate::bindings::database::{Cell, Dialect, Row, Value};
use crate::bindings::surroundings::VisibleApps;
use crate::host::{Database, Surroundings};
use crate::storage::Ready;

/// Boards and search engines in tables of the dashboard.
pub struct Boards {
    database: Arc<dyn Database>,
    by_board: bool,
}

impl Boards {
    pub fn new(database: Arc<dyn Database>, by_board: bool) -> Self {
        Self { database, by_board }
    }

    /// They refer to Portico's tables, as docs/embedding.md advises.
    pub fn tables(prefix: &str) -> String {
        format!(
            "CREATE TABLE board (id text PRIMARY KEY, open bigint NOT NULL,
                creator text REFERENCES {prefix}user_account ON DELETE SET NULL);
            CREATE TABLE board_user (board text REFERENCES board ON DELETE CASCADE,
                id text REFERENCES {prefix}user_account ON DELETE CASCADE);
            CREATE TABLE board_group (board text REFERENCES board ON DELETE CASCADE,
                id text REFERENCES {prefix}user_group ON DELETE CASCADE);
            CREATE TABLE board_app (board text REFERENCES board ON DELETE CASCADE, position bigint NOT NULL,
                id text REFERENCES {prefix}app ON DELETE CASCADE);
            CREATE TABLE engine (id text PRIMARY KEY)"
        )
    }

    fn sql(&self, sql: &str) -> String {
        match self.database.dialect() {
            Dialect::Sqlite => sql.replace('$', "?"),
            Dialect::Postgresql => sql.to_owned(),
        }
    }

    fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, String> {
        let connection = self.database.begin(&[]);
        let rows = connection.and_then(|mut connection| connection.query(&self.sql(sql), values));
        rows.map_err(|error| format!("{error:?}"))
    }

    fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, String> {
        let connection = self.database.begin(&[]);
        let changed = connection.and_then(|mut connection| connection.execute(&self.sql(sql), values));
        changed.map_err(|error| format!("{error:?}"))
    }

    fn texts(&self, sql: &str, values: &[Value]) -> Result<Vec<String>, String> {
        let text = |row: Row| match row.into_iter().next() {
            Some(Cell::Text(text)) => text,
            other => panic!("{other:?}"),
        };
        Ok(self.query(sql, values)?.into_iter().map(text).collect())
    }

    fn sorted(&self, sql: &str, values: &[Value]) -> Result<Vec<String>, String> {
        let mut texts = self.texts(sql, values)?;
        texts.sort();
        Ok(texts)
    }

    fn has(&self, table: &str, id: &str) -> Result<bool, String> {
        Ok(!self
            .query(&format!("SELECT 1 FROM {table} WHERE id = $1"), &[text(id)])?
            .is_empty())
    }
}

fn text(text: &str) -> Value {
    Value::Text(Some(text.to_owned()))
}

/// Whether the user `$1` may view the board `board`.
const MAY_VIEW: &str = "(board.open = 1 OR board.creator = $1
    OR EXISTS (SELECT 1 FROM board_user WHERE board_user.board = board.id AND board_user.id = $1)
    OR EXISTS (SELECT 1 FROM board_group JOIN portico_group_member AS member ON member.group_id = board_group.id
        WHERE board_group.board = board.id AND member.user_id = $1)
    OR EXISTS (SELECT 1 FROM portico_group_member AS member
        JOIN portico_group_permission AS held ON held.group_id = member.group_id
        WHERE member.user_id = $1
            AND held.permission IN ('admin', 'board-view-all', 'board-modify-all', 'board-full-all')))";

impl Surroundings for Boards {
    fn can_view_board(&self, user_id: &str, board_id: &str) -> Result<bool, String> {
        if board_id.contains('\0') || user_id.contains('\0') {
            return Ok(false);
        }
        let sql = format!("SELECT 1 FROM board WHERE board.id = $2 AND {MAY_VIEW}");
        Ok(!self.query(&sql, &[text(user_id), text(board_id)])?.is_empty())
    }

    fn has_search_engine(&self, id: &str) -> Result<bool, String> {
        Ok(!id.contains('\0') && self.has("engine", id)?)
    }

    fn visible_apps_of(&self, user_id: Option<&str>) -> Result<VisibleApps, String> {
        if !self.by_board {
            return Ok(VisibleApps::All);
        }
        let sql = format!(
            "SELECT DISTINCT board_app.id FROM board JOIN board_app ON board_app.board = board.id WHERE {MAY_VIEW}"
        );
        let ids = self.texts(&sql, &[Value::Text(user_id.map(str::to_owned))])?;
        Ok(VisibleApps::Only(ids))
    }
}

/// The bridge of the kit.
pub struct KitBridge {
    ready: Ready,
    boards: Boards,
    /// The kit's names of keys, and the keys' ids.
    keys: Mutex<HashMap<String, String>>,
    /// For each sign-in that has begun, the version of the user's password.
    sign_ins: Mutex<HashMap<String, u64>>,
}

/// Calls a function of `people` in a fresh instance.
macro_rules! people {
    ($this:ident.$function:ident($($argument:expr),*)) => {{
        let (world, mut store) = $this.ready.instance();
        let answer = world.portico_sql_people().$function(&mut store, $($argument),*);
        answer.map_err(|trap| BridgeError::Failed(format!("it trapped: {trap:#}"))).and_then(|answer| answer.map_err(refused))
    }};
}

fn refused(error: portico_model::Error) -> BridgeError {
    BridgeError::Failed(format!("{error:?}"))
}

impl KitBridge {
    pub fn new(ready: Ready, by_board: bool) -> Self {
        Self {
            boards: Boards::new(ready.dashboard.database.clone(), by_board),
            ready,
            keys: Mutex::default(),
            sign_ins: Mutex::default(),
        }
    }

    /// Begins a session that has this name in the kit. Returns whether the user may have one.
    fn begin_session(&self, name: String, user: &String, version: u64) -> Result<bool, BridgeError> {
        let (world, mut store) = self.ready.instance();
        let begun = world
            .portico_sql_people()
            .call_begin_session(&mut store, user, version);
        match begun.map_err(|trap| BridgeError::Failed(format!("{trap:#}")))? {
            Ok(session) => {
                self.ready.sessions.lock().unwrap().insert(name, session.id);
                Ok(true)
            }
            Err(error) if error.code == ErrorCode::Unauthorized => Ok(false),
            Err(error) => Err(refused(error)),
        }
    }

    fn version_of(&self, user: &str) -> Result<u64, BridgeError> {
        let sql = "SELECT password_version FROM portico_user_account WHERE id = $1";
        let rows = self
            .boards
            .query(sql, &[text(user)])
            .map_err(BridgeError::Failed)?;
        match rows.first().and_then(|row| row.first()) {
            Some(Cell::Number(version)) => Ok(version.unsigned_abs()),
            Some(Cell::Text(digits)) => Ok(digits.parse().expect("digits")),
            _ => Ok(0),
        }
    }

    fn put_group(&self, group: &portico_storage_kit::Group) -> Result<(), BridgeError> {
        let id = &group.id;
        let present = self.members(id)?;
        if present.is_some() {
            people!(self.call_rename_group(id, &group.name))?;
            people!(self.call_set_group_permissions(id, &group.permissions))?;
        } else {
            people!(self.call_create_group(Some(id), &group.name, &group.permissions))?;
        }
        for member in present.iter().flatten() {
            people!(self.call_remove_member(id, member))?;
        }
        for member in &group.members {
            people!(self.call_add_member(id, member))?;
        }
        Ok(())
    }

    fn members(&self, id: &String) -> Result<Option<Vec<String>>, BridgeError> {
        let groups = people!(self.call_list_groups())?;
        let group = groups.into_iter().find(|group| group.id == *id);
        Ok(group.map(|group| {
            let mut members: Vec<_> = group.members.into_iter().map(|member| member.id).collect();
            members.sort();
            members
        }))
    }

    fn put_board(&self, board: &portico_storage_kit::Board) -> Result<(), String> {
        let values = [
            text(&board.id),
            Value::Number(Some(board.public.into())),
            Value::Text(board.creator.clone()),
        ];
        let sql = "INSERT INTO board (id, open, creator) VALUES ($1, $2, $3)
            ON CONFLICT (id) DO UPDATE SET open = $2, creator = $3";
        self.boards.execute(sql, &values)?;
        for (table, ids) in [("board_user", &board.users), ("board_group", &board.groups)] {
            self.boards.execute(
                &format!("DELETE FROM {table} WHERE board = $1"),
                &[text(&board.id)],
            )?;
            for id in ids {
                let sql = format!("INSERT INTO {table} (board, id) VALUES ($1, $2)");
                self.boards.execute(&sql, &[text(&board.id), text(id)])?;
            }
        }
        self.boards
            .execute("DELETE FROM board_app WHERE board = $1", &[text(&board.id)])?;
        for (position, id) in (0..).zip(&board.apps) {
            let sql = "INSERT INTO board_app (board, position, id) VALUES ($1, $2, $3)";
            self.boards
                .execute(sql, &[text(&board.id), Value::Number(Some(position)), text(id)])?;
        }
        Ok(())
    }

    fn get_board(&self, id: &str) -> Result<Json, String> {
        let (board, boards) = ([text(id)], &self.boards);
        let found = boards.query("SELECT creator FROM board WHERE id = $1", &board)?;
        let Some(row) = found.first() else {
            return Ok(Json::Null);
        };
        let creator = match &row[0] {
            Cell::Text(creator) => Some(creator),
            _ => None,
        };
        Ok(json!({
            "creator": creator,
            "users": boards.sorted("SELECT id FROM board_user WHERE board = $1", &board)?,
            "groups": boards.sorted("SELECT id FROM board_group WHERE board = $1", &board)?,
            "apps": boards.texts("SELECT id FROM board_app WHERE board = $1 ORDER BY position", &board)?,
        }))
    }

    fn run(&self, call: BridgeCall) -> Result<Json, BridgeError> {
        let failed = BridgeError::Failed;
        match call {
            BridgeCall::Hello {} => {
                return Ok(json!({"name": "the ready storage", "apps-by-board": self.boards.by_board}));
            }
            BridgeCall::PutGroup(group) => self.put_group(&group)?,
            BridgeCall::GetGroup { id } => {
                let groups = people!(self.call_list_groups())?;
                let group = groups.into_iter().find(|group| group.id == id);
                let members = self.members(&id)?;
                return Ok(group.map_or(
                    Json::Null,
                    |group| json!({"permissions": group.permissions, "members": members}),
                ));
            }
            BridgeCall::DeleteGroup { id } => people!(self.call_delete_group(&id))?,
            BridgeCall::GetPermissions { user } => {
                return Ok(json!(people!(self.call_permissions_of(&user))?));
            }
            // The kit chooses id and token, which `create-invite` does not let it.
            BridgeCall::PutInvite {
                id,
                token,
                expires_at,
                creator,
            } => {
                let sql = "INSERT INTO portico_invite (id, token_hash, expires_at, creator_id) VALUES ($1, $2, $3, $4)";
                let values = [
                    text(&id),
                    Value::Bytes(Some(hash_secret(&token).to_vec())),
                    Value::Number(Some(expires_at.try_into().expect("a moment"))),
                    Value::Text(creator),
                ];
                self.boards.execute(sql, &values).map_err(failed)?;
            }
            BridgeCall::DeleteInvite { id } => people!(self.call_delete_invite(&id))?,
            BridgeCall::PutBoard(board) => self.put_board(&board).map_err(failed)?,
            BridgeCall::GetBoard { id } => return self.get_board(&id).map_err(failed),
            BridgeCall::DeleteBoard { id } => {
                self.boards
                    .execute("DELETE FROM board WHERE id = $1", &[text(&id)])
                    .map_err(failed)?;
                people!(self.call_forget_board(&id))?;
            }
            BridgeCall::PutSearchEngine { id, .. } => {
                self.boards
                    .execute("INSERT INTO engine (id) VALUES ($1)", &[text(&id)])
                    .map_err(failed)?;
            }
            BridgeCall::DeleteSearchEngine { id } => {
                self.boards
                    .execute("DELETE FROM engine WHERE id = $1", &[text(&id)])
                    .map_err(failed)?;
                people!(self.call_forget_search_engine(&id))?;
            }
            BridgeCall::PutSession { id, user } => {
                let version = self.version_of(&user)?;
                if !self.begin_session(id, &user, version)? {
                    return Err(BridgeError::Failed("this user gets no session".into()));
                }
            }
            BridgeCall::GetSessions { user } => {
                let sessions = people!(self.call_list_sessions(&user))?;
                let names = self.ready.sessions.lock().unwrap();
                return Ok(named(&names, sessions.into_iter().map(|session| session.id)));
            }
            BridgeCall::BeginSignIn { id, user } => {
                let version = self.version_of(&user)?;
                self.sign_ins.lock().unwrap().insert(id, version);
            }
            BridgeCall::EndSignIn { id, user } => {
                let version = self.sign_ins.lock().unwrap()[&id];
                return Ok(json!(self.begin_session(id, &user, version)?));
            }
            BridgeCall::PutKey { id, user } => {
                let key = people!(self.call_create_key(&user, None))?;
                self.keys.lock().unwrap().insert(id, key.id);
            }
            BridgeCall::GetKeys { user } => {
                let keys = people!(self.call_list_keys(&user))?;
                let names = self.keys.lock().unwrap();
                return Ok(named(&names, keys.into_iter().map(|key| key.id)));
            }
            BridgeCall::GetColorScheme { user } => {
                let person = people!(self.call_get_person(&user))?;
                return Ok(json!(person.map(|person| person.color_scheme)));
            }
            other => return Err(BridgeError::Unsupported(format!("{other:?}"))),
        }
        Ok(Json::Null)
    }
}

/// The kit's names of these records, in order.
fn named(names: &HashMap<String, String>, ids: impl Iterator<Item = String>) -> Json {
    let name = |id: String| {
        names
            .iter()
            .find(|(_, known)| **known == id)
            .map(|(name, _)| name)
    };
    let mut found: Vec<_> = ids.filter_map(name).collect();
    found.sort();
    json!(found)
}

#[async_trait]
impl Bridge for KitBridge {
    async fn call(&self, call: BridgeCall) -> Result<Json, BridgeError> {
        block_in_place(|| self.run(call))
    }
}
