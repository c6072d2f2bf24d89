//! Statements on second factors and recovery codes.

use portico_model::{FactorKind, Timestamp};
use portico_storage::{Constraint, Error, Result, SecondFactor, SecretHash};

use crate::database::{Database, Row, invalid};
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::values::{millis, optional_millis, optional_timestamp, timestamp};

macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, user_id, kind, name, handle, data, created_at, last_used_at, counter FROM ~second_factor WHERE ",
            $condition
        )
    };
}

declare! {
    /// No other transaction writes from here on, so that no other factor takes the handle, or the place of codes.
    HAS_HANDLE = Sql::short("SELECT 1 FROM ~second_factor WHERE handle = $1").alone();
    HAS_CODES = Sql::short("SELECT 1 FROM ~second_factor WHERE user_id = $1 AND kind = 'totp'").alone();
    INSERT = Sql::short(
        "INSERT INTO ~second_factor (id, kind, user_id, name, handle, data, created_at, last_used_at, counter)
        SELECT $1, $2, id, $4, $5, $6, $7, $8, $9 FROM ~user_account WHERE id = $3 AND NOT disabled [lock for SHARE]"
    ).alone();
    LIST_OF_USER = Sql::short(select!("user_id = $1 ORDER BY id"));
    FIND_PASSKEY = Sql::short(select!("handle = $1"));
    ADVANCE = Sql::short(
        "UPDATE ~second_factor SET counter = $2, last_used_at = $3
        WHERE id = $1 AND (counter IS NULL OR counter < $2)"
    );
    UPDATE = Sql::short("UPDATE ~second_factor SET data = $2, counter = $3, last_used_at = $4 WHERE id = $1");
    RENAME = Sql::short("UPDATE ~second_factor SET name = $3 WHERE user_id = $1 AND id = $2");
    DELETE = Sql::short("DELETE FROM ~second_factor WHERE user_id = $1 AND id = $2");
    OWNERS = Sql::long("SELECT DISTINCT user_id, kind FROM ~second_factor ORDER BY user_id, kind");
    DELETE_CODES = Sql::short("DELETE FROM ~recovery_code WHERE user_id = $1").alone();
    HAS_USER = Sql::short("SELECT 1 FROM ~user_account WHERE id = $1").alone();
    INSERT_CODE = Sql::short("INSERT INTO ~recovery_code (user_id, number, code_hash) VALUES ($1, $2, $3)").alone();
    TAKE_CODE = Sql::short("DELETE FROM ~recovery_code WHERE user_id = $1 AND code_hash = $2");
    COUNT_CODES = Sql::short("SELECT count(*) FROM ~recovery_code WHERE user_id = $1");
}

impl<D: Database> Runner<D> {
    pub(crate) async fn insert_second_factor(&mut self, factor: &SecondFactor) -> Result<bool> {
        if let Some(handle) = &factor.handle
            && self.exists(&HAS_HANDLE, vec![handle.into()]).await?
        {
            return Ok(false);
        }
        if factor.kind == FactorKind::Totp && self.exists(&HAS_CODES, vec![(&factor.user_id).into()]).await? {
            return Ok(false);
        }
        let values = vec![
            (&factor.id).into(),
            factor.kind.name().into(),
            (&factor.user_id).into(),
            (&factor.name).into(),
            (&factor.handle).into(),
            (&factor.data).into(),
            self.check(millis(factor.created_at))?,
            self.check(optional_millis(factor.last_used_at))?,
            self.check(number(factor.counter))?,
        ];
        match self.create(&factor.id, &INSERT, values).await? {
            true => Ok(true),
            false => self.refuse(Error::Constraint(Constraint::Reference)),
        }
    }

    pub(crate) async fn list_second_factors(&mut self, user_id: &str) -> Result<Vec<SecondFactor>> {
        self.list(&LIST_OF_USER, vec![user_id.into()], second_factor)
            .await
    }

    pub(crate) async fn find_passkey(&mut self, handle: &str) -> Result<Option<SecondFactor>> {
        self.find(&FIND_PASSKEY, vec![handle.into()], second_factor).await
    }

    pub(crate) async fn advance_second_factor(
        &mut self,
        id: &str,
        counter: u64,
        now: Timestamp,
    ) -> Result<bool> {
        let values = vec![
            id.into(),
            self.check(number(Some(counter)))?,
            self.check(millis(now))?,
        ];
        self.change(&ADVANCE, values).await
    }

    pub(crate) async fn update_second_factor(
        &mut self,
        id: &str,
        data: &str,
        counter: u64,
        now: Timestamp,
    ) -> Result<bool> {
        let values = vec![
            id.into(),
            data.into(),
            self.check(number(Some(counter)))?,
            self.check(millis(now))?,
        ];
        self.change(&UPDATE, values).await
    }

    pub(crate) async fn rename_second_factor(&mut self, user_id: &str, id: &str, name: &str) -> Result<bool> {
        let values = vec![user_id.into(), id.into(), name.into()];
        self.change_user(user_id, &RENAME, values).await
    }

    pub(crate) async fn delete_second_factor(&mut self, user_id: &str, id: &str) -> Result<bool> {
        self.change_user(user_id, &DELETE, vec![user_id.into(), id.into()])
            .await
    }

    pub(crate) async fn list_second_factor_owners(&mut self) -> Result<Vec<(String, FactorKind)>> {
        self.list(&OWNERS, Vec::new(), |row| Ok((row.text(0)?, kind(row, 1)?)))
            .await
    }

    /// No other transaction writes meanwhile, so the user stays.
    pub(crate) async fn set_recovery_codes(&mut self, user_id: &str, codes: &[SecretHash]) -> Result<()> {
        if !self.exists(&HAS_USER, vec![user_id.into()]).await? {
            return self.refuse(Error::Constraint(Constraint::Reference));
        }
        self.execute(&DELETE_CODES, vec![user_id.into()]).await?;
        for (number, code) in (0_u32..).zip(codes) {
            self.insert_row(&INSERT_CODE, vec![user_id.into(), number.into(), code[..].into()])
                .await?;
        }
        Ok(())
    }

    pub(crate) async fn take_recovery_code(&mut self, user_id: &str, code: &SecretHash) -> Result<bool> {
        self.change(&TAKE_CODE, vec![user_id.into(), code[..].into()])
            .await
    }

    pub(crate) async fn count_recovery_codes(&mut self, user_id: &str) -> Result<u64> {
        self.count(&COUNT_CODES, vec![user_id.into()]).await
    }
}

fn second_factor(row: &dyn Row) -> Result<SecondFactor> {
    let counter = row.get_number(8)?.map(u64::try_from);
    Ok(SecondFactor {
        id: row.text(0)?,
        user_id: row.text(1)?,
        kind: kind(row, 2)?,
        name: row.get_text(3)?,
        handle: row.get_text(4)?,
        data: row.text(5)?,
        created_at: timestamp(row, 6)?,
        last_used_at: optional_timestamp(row, 7)?,
        counter: counter.transpose().map_err(|_| invalid("counter"))?,
    })
}

fn kind(row: &dyn Row, column: usize) -> Result<FactorKind> {
    FactorKind::named(&row.text(column)?).ok_or_else(|| invalid("kind of second factor"))
}

fn number(number: Option<u64>) -> Result<Value> {
    let number = number.map(i64::try_from).transpose();
    number.map(Value::Number).map_err(|_| invalid("counter"))
}
