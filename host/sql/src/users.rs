//! Statements on users and their identities.

use portico_model::{ColorScheme, HomeBoards, Provider, SearchPreferences, User};
use portico_storage::{
    Account, AccountKey, ListedUser, Named, NewUser, Profile, ProviderSubject, Result, Slice, UserFilter,
    hash_secret,
};

use crate::database::{Database, Row, invalid};
use crate::groups::named;
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::{Runner, SqlTransaction};
use crate::values::{
    bounds, color_scheme_text, optional_millis, optional_timestamp, provider, provider_text, unsigned,
};

macro_rules! account {
    ($from:literal) => {
        concat!(
            "SELECT account.id, account.name, account.provider, account.disabled, account.password_hash,
                account.password_version FROM ",
            $from
        )
    };
}

/// The users of a list. The image only if the last parameter is true.
macro_rules! listed {
    ($from:expr, $with_images:literal) => {
        concat!(
            "SELECT account.id, account.name, account.email, account.email_verified, account.provider,
                account.disabled, CASE WHEN ",
            $with_images,
            " THEN account.image END FROM ",
            $from,
            " ORDER BY account.name_key, account.id"
        )
    };
}

/// A page: the ids first, so that only the users of the page are read.
macro_rules! page {
    ($condition:expr, $limit:literal, $with_images:literal) => {
        listed!(
            concat!(
                "(SELECT account.id FROM ~user_account AS account",
                $condition,
                " ORDER BY account.name_key, account.id ",
                $limit,
                ") AS page JOIN ~user_account AS account ON account.id = page.id"
            ),
            $with_images
        )
    };
}

macro_rules! matching {
    () => {
        " WHERE [contains account.name_key $1] AND (account.provider = $2 OR $2 IS NULL)
            AND (account.disabled = $3 OR $3 IS NULL)"
    };
}

/// The email in a condition of its own, so that its index is used.
macro_rules! matching_email {
    () => {
        concat!(matching!(), " AND account.email = $4")
    };
}

/// The text of users, as [`AnswerSize`](portico_storage::driver::AnswerSize) counts it; images only if the parameter is
/// true.
macro_rules! text {
    ($condition:expr, $with_images:literal) => {
        concat!(
            "SELECT coalesce(sum([bytes account.id] + [bytes account.name]
                + coalesce([bytes account.email], 0)
                + CASE WHEN ",
            $with_images,
            " THEN coalesce([bytes account.image], 0) ELSE 0 END), 0) FROM ~user_account AS account",
            $condition
        )
    };
}

declare! {
    HAS_ANY = Sql::short("SELECT 1 FROM ~user_account LIMIT 1").alone();
    GET = Sql::short(
        "SELECT id, name, email, email_verified, image, provider, home_board_id, mobile_home_board_id,
            first_day_of_week, ping_icons_enabled, default_search_engine_id, open_search_in_new_tab
        FROM ~user_account WHERE id = $1 [hold for NO KEY UPDATE]"
    );
    ACCOUNT_BY_ID = Sql::short(account!(
        "~user_account AS account WHERE account.id = $1 [hold for NO KEY UPDATE]"
    ));
    /// A caller may write because this finds none.
    ACCOUNT_BY_NAME = Sql::short(account!(
        "~user_account AS account WHERE account.provider = $1 AND account.name_key = $2"
    )).alone();
    ACCOUNT_BY_SUBJECT = Sql::short(account!(
        "~user_account AS account JOIN ~identity AS identity ON identity.user_id = account.id
        WHERE identity.provider = $1 AND identity.subject_hash = $2 AND identity.subject = $3"
    )).alone();
    ALL = Sql::long(listed!("~user_account AS account", "$1"));
    TEXT = Sql::long(text!("", "$1"));
    TEXT_FOUND = Sql::long(text!(matching!(), "$4"));
    LIST = Sql::long(page!("", "LIMIT $1 OFFSET $2", "$3"));
    SEARCH = Sql::long(page!(matching!(), "LIMIT $4 OFFSET $5", "$6"));
    SEARCH_EMAIL = Sql::long(page!(matching_email!(), "LIMIT $5 OFFSET $6", "$7"));
    COUNT = Sql::long("SELECT count(*) FROM ~user_account");
    COUNT_FOUND = Sql::long(concat!(
        "SELECT count(*) FROM ~user_account AS account", matching!()
    ));
    COUNT_EMAIL = Sql::long(concat!(
        "SELECT count(*) FROM ~user_account AS account", matching_email!()
    ));
    INSERT = Sql::short(
        "INSERT INTO ~user_account (id, provider, name, name_key, email, email_verified, password_hash,
            color_scheme, home_board_id, mobile_home_board_id, first_day_of_week, ping_icons_enabled,
            default_search_engine_id, open_search_in_new_tab, image)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
    );
    INSERT_IDENTITY = Sql::short(
        "INSERT INTO ~identity (provider, subject_hash, subject, user_id) VALUES ($1, $2, $3, $4)"
    ).alone();
    GET_SUBJECT = Sql::short("SELECT subject FROM ~identity WHERE user_id = $1 AND provider = $2").alone();
    LIST_SUBJECTS = Sql::long(
        "SELECT account.id, account.name, identity.subject
        FROM ~identity AS identity JOIN ~user_account AS account ON account.id = identity.user_id
        WHERE identity.provider = $1 ORDER BY account.id"
    );
    REPLACE_SUBJECT = Sql::short(
        "UPDATE ~identity SET subject_hash = $2, subject = $3 WHERE provider = $1 AND user_id = $4"
    ).alone();
    SET_PROFILE = Sql::short(
        "UPDATE ~user_account SET name = $2, name_key = $3, email = $4, email_verified = $5 WHERE id = $1"
    );
    SET_IMAGE = Sql::short("UPDATE ~user_account SET image = $2 WHERE id = $1");
    SET_HOME_BOARDS = Sql::short(
        "UPDATE ~user_account SET home_board_id = $2, mobile_home_board_id = $3 WHERE id = $1"
    );
    SET_SEARCH_PREFERENCES = Sql::short(
        "UPDATE ~user_account SET default_search_engine_id = $2, open_search_in_new_tab = $3 WHERE id = $1"
    );
    SET_COLOR_SCHEME = Sql::short("UPDATE ~user_account SET color_scheme = $2 WHERE id = $1");
    SET_PING_ICONS_ENABLED = Sql::short("UPDATE ~user_account SET ping_icons_enabled = $2 WHERE id = $1");
    SET_FIRST_DAY_OF_WEEK = Sql::short("UPDATE ~user_account SET first_day_of_week = $2 WHERE id = $1");
    SET_DISABLED = Sql::short("UPDATE ~user_account SET disabled = $2 WHERE id = $1").alone();
    /// A user may have no password yet.
    SET_PASSWORD_IF = Sql::short(
        "UPDATE ~user_account SET password_hash = $3, password_version = password_version + 1
        WHERE id = $1 AND (password_hash = $2 OR (password_hash IS NULL AND $2 IS NULL))"
    );
    REHASH_PASSWORD_IF = Sql::short(
        "UPDATE ~user_account SET password_hash = $3 WHERE id = $1 AND password_hash = $2"
    );
    FORGET_HOME_BOARD = Sql::unbounded(
        "UPDATE ~user_account SET home_board_id = NULL WHERE home_board_id = $1"
    );
    FORGET_MOBILE_HOME_BOARD = Sql::unbounded(
        "UPDATE ~user_account SET mobile_home_board_id = NULL WHERE mobile_home_board_id = $1"
    );
    FORGET_SEARCH_ENGINE = Sql::unbounded(
        "UPDATE ~user_account SET default_search_engine_id = NULL WHERE default_search_engine_id = $1"
    );
    /// The schema's cascades delete the rest.
    DELETE = Sql::unbounded("DELETE FROM ~user_account WHERE id = $1");
}

impl<D: Database> Runner<D> {
    pub(crate) async fn has_users(&mut self) -> Result<bool> {
        self.exists(&HAS_ANY, Vec::new()).await
    }

    pub(crate) async fn get_user(&mut self, id: &str) -> Result<Option<User>> {
        self.find(&GET, vec![id.into()], user).await
    }

    pub(crate) async fn get_account(&mut self, key: &AccountKey) -> Result<Option<Account>> {
        match key {
            AccountKey::Id(id) => self.find(&ACCOUNT_BY_ID, vec![id.into()], account).await,
            AccountKey::Name(name) => {
                let values = vec![provider_text(name.provider).into(), (&name.name_key).into()];
                self.find(&ACCOUNT_BY_NAME, values, account).await
            }
            AccountKey::Subject(subject) => {
                self.find(&ACCOUNT_BY_SUBJECT, subject_values(subject), account)
                    .await
            }
        }
    }

    pub(crate) async fn list_users(
        &mut self,
        filter: &UserFilter,
        slice: Slice,
        with_images: bool,
    ) -> Result<Vec<ListedUser>> {
        if slice == Slice::ALL && filter.email.is_none() {
            let (text, mut values) = match is_everyone(filter) {
                true => (&TEXT, Vec::new()),
                false => (&TEXT_FOUND, filter_values(filter)),
            };
            values.push(with_images.into());
            self.refuse_too_large(text, values).await?;
        }
        let (sql, mut values) = match is_everyone(filter) {
            true if slice == Slice::ALL => (&ALL, Vec::new()),
            true => (&LIST, bounds(slice).into()),
            false => {
                let values = filter_values(filter).into_iter().chain(bounds(slice));
                let sql = if filter.email.is_none() {
                    &SEARCH
                } else {
                    &SEARCH_EMAIL
                };
                (sql, values.collect())
            }
        };
        values.push(with_images.into());
        self.list_sized(sql, values, listed).await
    }

    pub(crate) async fn count_users(&mut self, filter: &UserFilter) -> Result<u32> {
        let (sql, values) = match is_everyone(filter) {
            true => (&COUNT, Vec::new()),
            false if filter.email.is_none() => (&COUNT_FOUND, filter_values(filter)),
            false => (&COUNT_EMAIL, filter_values(filter)),
        };
        let count = self.count(sql, values).await?;
        Ok(count.try_into().unwrap_or(u32::MAX))
    }

    pub(crate) async fn insert_user(&mut self, new: &NewUser) -> Result<()> {
        let user = &new.user;
        let values = vec![
            (&user.id).into(),
            provider_text(user.provider).into(),
            (&user.name).into(),
            (&new.name_key).into(),
            (&user.email).into(),
            self.check(optional_millis(user.email_verified))?,
            (&new.password_hash).into(),
            color_scheme_text(new.color_scheme).into(),
            (&user.home_board_id).into(),
            (&user.mobile_home_board_id).into(),
            i64::from(user.first_day_of_week).into(),
            user.ping_icons_enabled.into(),
            (&user.default_search_engine_id).into(),
            user.open_search_in_new_tab.into(),
            (&user.image).into(),
        ];
        self.create(&user.id, &INSERT, values).await?;
        self.join_groups_of_invite(&user.id).await
    }

    pub(crate) async fn insert_identity(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<()> {
        let mut values = subject_values(subject);
        values.push(user_id.into());
        self.insert_row(&INSERT_IDENTITY, values).await.map(drop)
    }

    pub(crate) async fn get_subject(&mut self, user_id: &str, provider: Provider) -> Result<Option<String>> {
        let values = vec![user_id.into(), provider_text(provider).into()];
        self.find(&GET_SUBJECT, values, |row| row.text(0)).await
    }

    pub(crate) async fn list_subjects(&mut self, provider: Provider) -> Result<Vec<(Named, String)>> {
        let values = vec![provider_text(provider).into()];
        self.list(&LIST_SUBJECTS, values, |row| Ok((named(row, 0)?, row.text(2)?)))
            .await
    }

    pub(crate) async fn replace_subject(&mut self, user_id: &str, subject: &ProviderSubject) -> Result<bool> {
        let mut values = subject_values(subject);
        values.push(user_id.into());
        Ok(self.insert_row(&REPLACE_SUBJECT, values).await? > 0)
    }

    pub(crate) async fn set_profile(&mut self, id: &str, profile: &Profile) -> Result<bool> {
        let values = vec![
            id.into(),
            (&profile.name).into(),
            (&profile.name_key).into(),
            (&profile.email).into(),
            self.check(optional_millis(profile.email_verified))?,
        ];
        self.change_user(id, &SET_PROFILE, values).await
    }

    pub(crate) async fn set_image(&mut self, id: &str, image: Option<&str>) -> Result<bool> {
        self.change_user(id, &SET_IMAGE, vec![id.into(), image.into()])
            .await
    }

    pub(crate) async fn set_home_boards(&mut self, id: &str, boards: &HomeBoards) -> Result<bool> {
        let values = vec![
            id.into(),
            (&boards.home_board_id).into(),
            (&boards.mobile_home_board_id).into(),
        ];
        self.change_user(id, &SET_HOME_BOARDS, values).await
    }

    pub(crate) async fn set_search_preferences(
        &mut self,
        id: &str,
        preferences: &SearchPreferences,
    ) -> Result<bool> {
        let values = vec![
            id.into(),
            (&preferences.default_search_engine_id).into(),
            preferences.open_in_new_tab.into(),
        ];
        self.change_user(id, &SET_SEARCH_PREFERENCES, values).await
    }

    pub(crate) async fn set_color_scheme(&mut self, id: &str, scheme: ColorScheme) -> Result<bool> {
        let values = vec![id.into(), color_scheme_text(scheme).into()];
        self.change_user(id, &SET_COLOR_SCHEME, values).await
    }

    pub(crate) async fn set_ping_icons_enabled(&mut self, id: &str, enabled: bool) -> Result<bool> {
        self.change_user(id, &SET_PING_ICONS_ENABLED, vec![id.into(), enabled.into()])
            .await
    }

    pub(crate) async fn set_first_day_of_week(&mut self, id: &str, day: u8) -> Result<bool> {
        let values = vec![id.into(), i64::from(day).into()];
        self.change_user(id, &SET_FIRST_DAY_OF_WEEK, values).await
    }

    /// The user's row first: a session that begins meanwhile waits for it, or the next statements see it.
    pub(crate) async fn set_disabled(&mut self, id: &str, disabled: bool) -> Result<bool> {
        let found = self
            .change_user(id, &SET_DISABLED, vec![id.into(), disabled.into()])
            .await?;
        if disabled {
            self.end_sessions(id, None).await?;
            self.end_keys(id).await?;
            if self.has_password_links() {
                self.delete_password_link(id).await?;
            }
        }
        Ok(found)
    }

    /// The user's row comes first here too.
    pub(crate) async fn set_password_if(&mut self, id: &str, old: Option<&str>, new: &str) -> Result<bool> {
        let values = vec![id.into(), old.into(), new.into()];
        if !self.change(&SET_PASSWORD_IF, values).await? {
            return Ok(false);
        }
        let kept = self.setter.session_id.clone();
        self.end_sessions(id, kept.as_deref()).await?;
        if !self.setter.is(id) {
            self.end_keys(id).await?;
        }
        let renewal = self.setter.renewal(id);
        let renewal = renewal.map(|(session_id, token)| (session_id.to_owned(), token));
        if let Some((session_id, token)) = renewal
            && self.renew_session(&session_id, id, &token).await?
        {
            self.setter.renewed();
        }
        Ok(true)
    }

    pub(crate) async fn rehash_password_if(&mut self, id: &str, old: &str, new: &str) -> Result<bool> {
        self.change(&REHASH_PASSWORD_IF, vec![id.into(), old.into(), new.into()])
            .await
    }

    pub(crate) async fn delete_user(&mut self, id: &str) -> Result<bool> {
        self.change(&DELETE, vec![id.into()]).await
    }
}

/// For a dashboard that keeps boards and search engines elsewhere. In Portico's own databases the schema does it.
impl<D: Database> SqlTransaction<D> {
    /// Removes a board that is deleted from all users.
    pub async fn forget_board(&mut self, id: &str) -> Result<()> {
        for sql in [&FORGET_HOME_BOARD, &FORGET_MOBILE_HOME_BOARD] {
            self.runner.execute(sql, vec![id.into()]).await?;
        }
        Ok(())
    }

    /// Removes a search engine that is deleted from all users.
    pub async fn forget_search_engine(&mut self, id: &str) -> Result<()> {
        let forgotten = self.runner.execute(&FORGET_SEARCH_ENGINE, vec![id.into()]);
        forgotten.await.map(drop)
    }
}

/// Whether the filter matches all users.
fn is_everyone(filter: &UserFilter) -> bool {
    let is_named = filter
        .name_contains
        .as_deref()
        .is_some_and(|text| !text.is_empty());
    !is_named && filter.provider.is_none() && filter.email.is_none() && filter.disabled.is_none()
}

/// The parameters of `matching`, followed by the email if there is one.
fn filter_values(filter: &UserFilter) -> Vec<Value> {
    let mut values = vec![
        Value::Contained(filter.name_contains.clone().unwrap_or_default()),
        filter.provider.map(provider_text).into(),
        filter.disabled.into(),
    ];
    values.extend(filter.email.as_ref().map(Value::from));
    values
}

fn subject_values(subject: &ProviderSubject) -> Vec<Value> {
    vec![
        provider_text(subject.provider).into(),
        hash_secret(&subject.subject)[..].into(),
        (&subject.subject).into(),
    ]
}

fn user(row: &dyn Row) -> Result<User> {
    Ok(User {
        id: row.text(0)?,
        name: row.text(1)?,
        email: row.get_text(2)?,
        email_verified: optional_timestamp(row, 3)?,
        image: row.get_text(4)?,
        provider: provider(row, 5)?,
        home_board_id: row.get_text(6)?,
        mobile_home_board_id: row.get_text(7)?,
        first_day_of_week: u8::try_from(row.number(8)?).map_err(|_| invalid("day of the week"))?,
        ping_icons_enabled: row.bool(9)?,
        default_search_engine_id: row.get_text(10)?,
        open_search_in_new_tab: row.bool(11)?,
    })
}

fn account(row: &dyn Row) -> Result<Account> {
    Ok(Account {
        id: row.text(0)?,
        name: row.text(1)?,
        provider: provider(row, 2)?,
        disabled: row.bool(3)?,
        password_hash: row.get_text(4)?,
        password_version: unsigned(row, 5)?,
    })
}

fn listed(row: &dyn Row) -> Result<ListedUser> {
    Ok(ListedUser {
        id: row.text(0)?,
        name: row.text(1)?,
        email: row.get_text(2)?,
        email_verified: optional_timestamp(row, 3)?,
        provider: provider(row, 4)?,
        disabled: row.bool(5)?,
        image: row.get_text(6)?,
    })
}
