//! The users and apps of a dashboard, in a dashboard of your own.
//!
//! Implement [`Storage`](storage::Storage) over your database, build a [`Plugin`], and call its typed functions, or
//! mount its router and identify the sender of each request (`Authenticate`). Data flows one way: HTTP or a typed
//! function, procedure table, sandbox, component, storage. `docs/embedding.md` says which rules storage must satisfy,
//! and how to check that it does; `examples/rust-dashboard` is a complete dashboard.
//!
//! # The whole interface
//!
//! | | |
//! |---|---|
//! | [`Plugin`], [`PluginBuilder`] | build it, replace its component (`exchange`), compute name-keys |
//! | [`Users`], [`Apps`], [`SignIn`] | the typed functions: `plugin.users()`, `plugin.apps()`, `plugin.sign_in()` |
//! | [`Identity`], [`Authentication`] | the caller of a function |
//! | [`Error`], [`Code`] | a refusal |
//! | [`SignedIn`], [`ExternalIdentity`], [`Linking`] | what sign-in takes and returns |
//! | [`Limits`], [`Throttle`], [`Clock`], [`Random`], [`Icons`], [`NoIcons`] | what the builder takes |
//! | [`COMPONENT`] (of the type [`Included`]), [`sha256()`] | the component that this library includes, and the hash of any |
//! | [`model`] | the records of the contract (`wit/types.wit`) |
//! | [`storage`] | the traits that you implement, their records, and the drivers |
//! | `Plugin::router`, `Authenticate`, `HttpSettings`, `HttpLimits` | with the feature `router` |
//! | `console` | with the feature `console` |
//!
//! | feature | adds | and compiles |
//! |---|---|---|
//! | `router` | procedure calls, REST and health over HTTP, as an axum router | axum, hyper |
//! | `console` | `console::pages`: the pages of the standalone service for people | `router`, askama |
//! | `sqlite` | `storage::SqliteStorage` | a bundled SQLite |
//! | `postgres` | `storage::PostgresStorage` | a client of PostgreSQL, rustls |
//! | `memory` | `storage::MemoryStorage`, for tests | nothing more |
//!
//! None is on by default.
//!
//! # A dashboard
//!
//! ```
//! use std::sync::Arc;
//!
//! use axum::{Router, http::request::Parts, routing::get};
//! use portico::{
//!     Authenticate, Authentication, Error, HttpSettings, Identity, Limits, Plugin,
//!     model::{AppInput, NewAccount},
//!     storage::MemoryStorage,
//! };
//!
//! /// What the dashboard's own middleware adds to a request.
//! #[derive(Clone)]
//! struct Visitor {
//!     user_id: String,
//!     session_id: String,
//!     permissions: Vec<String>,
//! }
//!
//! struct Sessions;
//!
//! #[async_trait::async_trait]
//! impl Authenticate for Sessions {
//!     async fn authenticate(&self, request: &Parts, _request_id: &str) -> Result<Identity, Error> {
//!         let Some(visitor) = request.extensions.get::<Visitor>().cloned() else {
//!             return Ok(Identity::anonymous());
//!         };
//!         let session = Authentication::Session(visitor.session_id);
//!         let identity = Identity::user(visitor.user_id, visitor.permissions, session);
//!         // The session is a cookie: other sites may make the browser send it.
//!         Ok(identity.by_cookie(&request.headers))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "multi_thread", worker_threads = 2)]
//! # async fn main() -> anyhow::Result<()> {
//! // Yours instead: `impl Storage for MyDatabase`.
//! let storage = Arc::new(MemoryStorage::new());
//! let plugin = Plugin::builder(storage)
//!     .limits(Limits { instances: 32, ..Limits::default() })
//!     .build()
//!     .await?;
//!
//! // Typed functions, for code of your own.
//! let account = NewAccount {
//!     username: "Ada".into(),
//!     password: "correct horse".into(),
//!     email: None,
//! };
//! let ada = plugin.users().init_user(&Identity::anonymous(), account).await?;
//! let signed_in = plugin.sign_in().password("ada", "correct horse", None).await?;
//! assert_eq!(signed_in.id, ada);
//!
//! let ada = Identity::user(ada, vec!["admin".into()], Authentication::Host);
//! let input = AppInput {
//!     name: "Jellyfin".into(),
//!     icon_url: "/icons/jellyfin.svg".into(),
//!     description: None,
//!     href: Some("https://jellyfin.example".into()),
//!     ping_url: None,
//! };
//! let app = plugin.apps().create(&ada, input).await?;
//! assert_eq!(plugin.apps().by_id(&Identity::anonymous(), app.id).await?.name, "Jellyfin");
//!
//! // The router, next to routes of your own: /portico/api/trpc, /portico/api/users, and so on.
//! let portico = plugin.router(Arc::new(Sessions), HttpSettings::default());
//! let router: Router = Router::new()
//!     .route("/", get(async || "my dashboard"))
//!     .nest("/portico", portico);
//! # drop(router);
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod functions;
mod plugin;
#[cfg(feature = "router")]
mod router;

pub use portico_model::{
    error::{Code, Error},
    time::Clock,
};
pub use portico_sandbox::{
    COMPONENT, ExternalIdentity, Included, Limits, Linking, SignedIn,
    icons::{Icons, NoIcons},
    inspect::sha256,
};
pub use portico_service::{identity::Identity, throttle::Throttle};
pub use portico_storage::{Authentication, secrets::Random};

#[cfg(feature = "router")]
pub use self::router::{Authenticate, HttpLimits, HttpSettings};
pub use self::{
    functions::{Apps, SignIn, Users},
    plugin::{Plugin, PluginBuilder},
};

/// The pages of the standalone service, as a client of an API of yours.
///
/// `pages` takes a router that serves the calls of the pages: [`Plugin::router`] has those of users and apps, and your
/// dashboard adds its own, above all `GET /api/auth/session`, which says who is signed in. A page whose calls have no
/// route is not found: the pages of `/apps` need nothing more; those of boards, groups, keys and search engines need
/// the procedures of these names, and a page looks as `site.get` says where there is one. Links to icons lead to `/icons/…`. Keep a session in a cookie named `portico_session`
/// (`__Host-portico_session` with TLS): forms are bound to it.
#[cfg(feature = "console")]
pub mod console {
    pub use portico_console::{ConsoleSettings, Documents, pages};
}

/// The records of the contract; `wit/types.wit` documents every field.
pub mod model {
    pub use portico_model::{
        App, AppChange, AppDraft, AppInput, AppPage, ColorScheme, HomeBoards, Issue, NewAccount,
        PasswordChange, PathSegment, ProfileChange, Provider, Registration, SearchPreferences, TextChange,
        Timestamp, User, UserEntry, UserMatch, UserOption, UserPage, UserQuery, UserSummary,
    };
}

/// The traits that a dashboard implements over its database, and the drivers.
pub mod storage {
    #[cfg(feature = "postgres")]
    pub use portico_postgres::PostgresStorage;
    #[cfg(feature = "sqlite")]
    pub use portico_sqlite::SqliteStorage;
    #[cfg(feature = "memory")]
    pub use portico_storage::memory::MemoryStorage;
    pub use portico_storage::{
        Access, Account, AccountKey, AppFilter, CallContext, Constraint, Error, ListedUser, NewUser, Profile,
        ProviderName, ProviderSubject, RecordKey, RecordKind, Result, SharedRecord, SharedRecords, Slice,
        Storage, StoredApp, Transaction, UserFilter, Viewer, driver::LARGEST_ANSWER,
    };
}
