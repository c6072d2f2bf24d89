//! Portico's host: it runs the component, keeps its data, and serves it over HTTP.
//!
//! Data flows one way: [`http`] -> [`procedures`] -> [`sandbox`] -> component -> [`storage`].
//!
//! # In a dashboard of your own
//!
//! Implement [`Storage`](storage::Storage) over your database, say who sends a request
//! ([`Authenticate`](identity::Authenticate)), and mount the router or call the functions
//! ([`embed::Plugin`]). `docs/embedding.md` says what storage has to hold, and how to check that it
//! does; `examples/rust-dashboard` is a whole one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use axum::{Router, http::request::Parts, routing::get};
//! use portico::{
//!     embed::{Authenticate, Authentication, Error, HttpSettings, Identity, Limits, Plugin},
//!     model::{AppInput, NewAccount},
//!     storage::memory::MemoryStorage,
//! };
//!
//! /// What the dashboard's own middleware has found out about a request.
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
//! // Yours goes here: `impl Storage for MyDatabase`.
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
//! // The router, beside routes of your own: /portico/api/trpc, /portico/api/users, and so on.
//! let portico = plugin.router(Arc::new(Sessions), HttpSettings::default());
//! let router: Router = Router::new()
//!     .route("/", get(async || "my dashboard"))
//!     .nest("/portico", portico);
//! # drop(router);
//! # Ok(())
//! # }
//! ```

pub mod audit;
mod dashboard;
pub mod data_dir;
pub mod embed;
pub mod http;
pub mod icons;
pub mod identity;
pub mod json;
pub mod live;
pub mod openapi;
pub mod procedures;
pub mod providers;
pub mod service;
pub mod sessions;
pub mod shape;
mod site;
pub mod throttle;
pub mod turns;

pub use portico_model::{self as model, error, time};
pub use portico_sandbox::{self as sandbox, COMPONENT};
pub use portico_storage::secrets;

/// Where users and apps live, and the drivers that there are.
pub mod storage {
    pub use portico_sqlite as sqlite;
    pub use portico_storage::*;
}
