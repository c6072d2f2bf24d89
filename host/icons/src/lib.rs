//! The icons of apps and search engines, so that pages request nothing from other hosts: fetched once, stored in a
//! folder, and served at `/icons/…`.
//!
//! Invariants:
//! - Only pictures are served, recognised by their content, which also decides the `Content-Type`. An SVG runs no
//!   scripts.
//! - Nothing is fetched from a private address, at any redirect, unless the operator allows that scheme, host and port.
//!   ([`fetch_index`] is for the indexes of icon sources, which the operator chooses.)
//! - A fetch takes at most 20 seconds and 1 MiB. There is one at a time for a URL, and at most 16 in total; failures
//!   are remembered.
//! - A page of which a new app takes its name and icon is read by the same rules (`pages.rs`).
//! - What has the default icon gets a tile with its first letter, until a look-up finds an icon for its name.
//! - A caller gets the icon of an app or search engine, or the picture of a user, if, and only if, the API returns that
//!   app, search engine or user to them.

mod address;
mod allow;
mod answer;
mod error;
mod fetch;
mod files;
mod folder;
mod head;
mod hosts;
mod letter;
pub mod metrics;
mod names;
mod pages;
mod picture;
mod place;
mod router;
mod svg;

pub use portico_model::{DEFAULT_ICON, PICTURES};

pub use self::{
    address::{is_public, is_usual_port},
    allow::{AllowList, comma_separated},
    error::IconError,
    fetch::fetch_index,
    files::{IconFileSettings, IconFiles},
    names::{FindIcon, FindVariant, Ground, Variant},
    pages::{NoPage, Page, Pages},
    picture::{LARGEST, Picture},
    place::is_servable,
    router::{app_icon, engine_icon, router, user_picture},
};
