//! The console as people use it, without a browser: links, forms and cookies.

mod browser;
mod front;
mod page;

pub use page::{Browser, escaped};
