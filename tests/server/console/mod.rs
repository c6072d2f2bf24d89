//! The console as people use it, without a browser: links, forms and cookies.

mod apps;
mod boards;
mod browser;
mod engines;
mod front;
mod page;

pub use page::{Browser, escaped};
