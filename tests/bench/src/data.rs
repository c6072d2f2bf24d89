//! The data of the measurements, written through the library.

use std::{fs, path::Path, sync::Arc};

use anyhow::ensure;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, Version};
use portico_model::{
    App, ColorScheme, Provider, Timestamp, User,
    time::{Clock, SystemClock},
};
use portico_postgres::PostgresStorage;
use portico_server::data_dir::DataDir;
use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{
    Access, ApiKey, Board, BoardItem, BoardSummary, DashboardStorage, NewUser, StoredApp,
    secrets::{Secrets, SystemRandom},
};
use unicode_normalization::UnicodeNormalization;

/// The password of every user.
pub const PASSWORD: &str = "correct horse";

/// Words that are in every app's name, in one of a thousand, in exactly one, and in none.
pub const COMMON: &str = "service";
pub const RARE: &str = "jellyfin";
pub const ONCE: &str = "quetzal";
pub const NEVER: &str = "xylophone";

/// How many apps one transaction creates while seeding.
const CHUNK: usize = 5_000;

/// The seeded data.
pub struct Data {
    /// The ids of the apps, unordered.
    pub apps: Vec<String>,
    /// An API key of each user. Each user may create apps.
    pub keys: Vec<String>,
    /// The name of each user.
    pub users: Vec<String>,
}

/// Fills a new data directory.
pub fn seed(path: &Path, apps: usize, users: usize) -> anyhow::Result<Data> {
    let data = DataDir::open(path)?;
    let storage = SqliteStorage::open(&data.database())?;
    tokio::runtime::Runtime::new()?.block_on(fill(&storage, apps, users))
}

/// Fills an empty database of PostgreSQL.
pub fn seed_postgresql(url: &str, apps: usize, users: usize) -> anyhow::Result<Data> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let storage = PostgresStorage::open(url).await?;
        fill(&storage, apps, users).await
    })
}

/// The keys of two users who are in one group each, with which boards are shared.
pub struct Viewers {
    /// Of the one who may view all boards.
    pub of_all: String,
    /// Of the one who may view every second board, the first among them.
    pub of_half: String,
}

/// Adds boards to a data directory that is not in use, with these apps in equal parts.
pub fn add_boards(path: &Path, apps: &[String], boards: usize) -> anyhow::Result<Viewers> {
    let data = DataDir::open(path)?;
    let storage = SqliteStorage::open(&data.database())?;
    tokio::runtime::Runtime::new()?.block_on(fill_boards(&storage, apps, boards))
}

async fn fill_boards(storage: &SqliteStorage, apps: &[String], boards: usize) -> anyhow::Result<Viewers> {
    let context = Identity::operator().context("seed");
    let (secrets, clock) = (Secrets::new(Arc::new(SystemRandom)), SystemClock);
    let id = || secrets.id(clock.now());
    let refused = |error| anyhow::anyhow!("storage refused: {error:?}");
    let begin = storage.begin_dashboard(Access::Write, &context);
    let mut transaction = begin.await.map_err(refused)?;
    let (mut groups, mut keys) = (Vec::new(), Vec::new());
    for name in ["all", "half"] {
        let group = id();
        let added = transaction.insert_group(&group, name, name).await;
        ensure!(added.map_err(refused)?, "the group exists");
        let viewer = user(id(), format!("viewer of {name}"), hash(PASSWORD)?);
        transaction.insert_user(&viewer).await.map_err(refused)?;
        let viewer = viewer.user.id;
        transaction.add_to_group(&viewer, &group).await.map_err(refused)?;
        let issued = secrets.api_key();
        let key = new_key(issued.id, viewer, clock.now());
        transaction
            .insert_key(&key, &issued.hash)
            .await
            .map_err(refused)?;
        groups.push(group);
        keys.push(issued.text);
    }
    for (number, apps) in apps.chunks(apps.len().div_ceil(boards)).enumerate() {
        let name = format!("board {number}");
        let items = apps.iter().map(|app| BoardItem::App { app_id: app.clone() });
        let board = Board {
            board: BoardSummary {
                id: id(),
                name: name.clone(),
                is_public: false,
                creator_id: None,
            },
            items: items.collect(),
        };
        let added = transaction.insert_board(&board, &name).await;
        ensure!(added.map_err(refused)?, "the board exists");
        let viewers = &groups[..2 - number % 2];
        let shared = transaction.share_board(&board.board.id, &[], viewers).await;
        ensure!(shared.map_err(refused)?, "no board to share");
    }
    transaction.commit().await.map_err(refused)?;
    let [of_all, of_half] = <[_; 2]>::try_from(keys).map_err(|_| anyhow::anyhow!("two keys"))?;
    Ok(Viewers { of_all, of_half })
}

fn new_key(id: String, user_id: String, created_at: Timestamp) -> ApiKey {
    ApiKey {
        id,
        name: None,
        user_id,
        created_at,
        expires_at: None,
        last_used_at: None,
    }
}

/// Copies a data directory that is not in use.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

async fn fill(storage: &dyn DashboardStorage, apps: usize, users: usize) -> anyhow::Result<Data> {
    let context = Identity::operator().context("seed");
    let (secrets, clock) = (Secrets::new(Arc::new(SystemRandom)), SystemClock);
    let id = || secrets.id(clock.now());
    let refused = |error| anyhow::anyhow!("storage refused: {error:?}");

    let mut transaction = storage
        .begin_dashboard(Access::Write, &context)
        .await
        .map_err(refused)?;
    let group = id();
    transaction
        .insert_group(&group, "editors", "editors")
        .await
        .map_err(refused)?;
    let permissions = ["app-create".to_owned()];
    transaction
        .set_group_permissions(&group, &permissions)
        .await
        .map_err(refused)?;
    let hash = hash(PASSWORD)?;
    let (mut keys, mut names) = (Vec::new(), Vec::new());
    for number in 0..users {
        let user = user(id(), format!("user {number}"), hash.clone());
        transaction.insert_user(&user).await.map_err(refused)?;
        transaction
            .add_to_group(&user.user.id, &group)
            .await
            .map_err(refused)?;
        let issued = secrets.api_key();
        let key = new_key(issued.id, user.user.id, clock.now());
        transaction
            .insert_key(&key, &issued.hash)
            .await
            .map_err(refused)?;
        keys.push(issued.text);
        names.push(user.user.name);
    }
    transaction.commit().await.map_err(refused)?;

    let numbers: Vec<_> = (0..apps).collect();
    let mut ids = Vec::with_capacity(apps);
    for chunk in numbers.chunks(CHUNK) {
        let chunk: Vec<_> = chunk.iter().map(|number| app(id(), *number, apps)).collect();
        ids.extend(chunk.iter().map(|stored| stored.app.id.clone()));
        let mut transaction = storage
            .begin_dashboard(Access::Write, &context)
            .await
            .map_err(refused)?;
        transaction.insert_apps(&chunk).await.map_err(refused)?;
        transaction.commit().await.map_err(refused)?;
    }
    Ok(Data {
        apps: ids,
        keys,
        users: names,
    })
}

/// The words with which names begin, in order.
pub const FIRST_WORDS: [&str; 16] = [
    "Amber", "Breeze", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Harbor", "Iris", "Juniper", "Krill",
    "Lagoon", "Meadow", "Nimbus", "Orchid", "Pebble",
];

/// The word of record `number` of `count` by which it can be found.
fn marked(number: usize, count: usize) -> &'static str {
    const SECOND: [&str; 12] = [
        "archive", "backup", "calendar", "download", "editor", "feed", "gallery", "home", "index", "journal",
        "kitchen", "library",
    ];
    match number {
        number if number == count / 2 => ONCE,
        number if number % 1000 == 400 => RARE,
        _ => SECOND[scattered(number) / 16 % SECOND.len()],
    }
}

/// An odd factor scatters the numbers.
fn scattered(number: usize) -> usize {
    number.wrapping_mul(2_654_435_761) >> 7
}

/// The name of record `number` of `count`, with a word that all have. Names begin with scattered words, so that
/// hits are spread over all names.
pub fn name(number: usize, count: usize, common: &str) -> String {
    let first = FIRST_WORDS[scattered(number) % FIRST_WORDS.len()];
    format!("{first} {} {common} {number:06}", marked(number, count))
}

/// App `number` of `count`.
pub fn app(id: String, number: usize, count: usize) -> StoredApp {
    let (name, marked) = (name(number, count, COMMON), marked(number, count));
    StoredApp {
        name_key: name_key(&name),
        app: App {
            id,
            description: Some(format!("Number {number} of the apps that are measured")),
            icon_url: format!("https://icons.example/svg/{marked}.svg"),
            href: Some(format!("https://{marked}-{number}.home.example/")),
            ping_url: None,
            name,
        },
    }
}

fn user(id: String, name: String, password_hash: String) -> NewUser {
    NewUser {
        name_key: name_key(&name),
        user: User {
            id,
            name,
            email: None,
            email_verified: None,
            image: None,
            provider: Provider::Credentials,
            home_board_id: None,
            mobile_home_board_id: None,
            first_day_of_week: 1,
            ping_icons_enabled: false,
            default_search_engine_id: None,
            open_search_in_new_tab: false,
        },
        color_scheme: ColorScheme::Dark,
        password_hash: Some(password_hash),
    }
}

/// The name-key, by the component's rule, for the native handlers.
pub fn name_key(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

/// Argon2id with the component's parameters.
pub fn argon2() -> anyhow::Result<Argon2<'static>> {
    let params = Params::new(19_456, 2, 1, Some(32)).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str) -> anyhow::Result<String> {
    let salt = [7; 16];
    let hash = argon2()?.hash_password_with_salt(password.as_bytes(), &salt);
    Ok(hash.map_err(|error| anyhow::anyhow!("{error}"))?.to_string())
}
