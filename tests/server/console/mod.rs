//! The console as people use it, without a browser: links, forms and cookies.

mod administration;
mod apps;
mod board_editor;
mod boards;
mod browser;
mod costs;
mod engines;
mod front;
mod gate;
mod looks;
mod old_forms;
mod page;
mod profile;
mod second_factor;
mod status;
mod users;

pub use page::{Browser, escaped};
