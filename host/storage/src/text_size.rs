//! The bound on the text of one answer, which `wit/storage.wit` states.

use std::fmt;

use portico_model::{App, User};

use crate::driver::LARGEST_ANSWER;
use crate::gate::{AppGate, AppPlace};
use crate::records::ListedUser;

/// A record of which one answer may hold many.
pub trait TextSize {
    /// The bytes of its texts.
    fn text_size(&self) -> usize;
}

impl TextSize for App {
    fn text_size(&self) -> usize {
        let optional = [&self.description, &self.href, &self.ping_url];
        self.id.len() + self.name.len() + self.icon_url.len() + length(optional)
    }
}

/// As it is listed, with its image.
impl TextSize for User {
    fn text_size(&self) -> usize {
        self.id.len() + self.name.len() + length([&self.email, &self.image])
    }
}

impl TextSize for ListedUser {
    fn text_size(&self) -> usize {
        self.id.len() + self.name.len() + length([&self.email, &self.image])
    }
}

impl TextSize for AppGate {
    fn text_size(&self) -> usize {
        self.app_id.len() + self.addresses.iter().map(String::len).sum::<usize>()
    }
}

impl TextSize for AppPlace {
    fn text_size(&self) -> usize {
        let addresses = self.addresses.iter().map(String::len).sum::<usize>();
        self.app_id.len() + addresses + length([&self.href])
    }
}

fn length<const N: usize>(optional: [&Option<String>; N]) -> usize {
    optional.into_iter().flatten().map(String::len).sum()
}

/// Counts the text of an answer while its records are read.
#[derive(Default)]
pub struct AnswerSize(usize);

impl AnswerSize {
    /// Adds a record. Fails if the answer becomes too large.
    pub fn add(&mut self, record: &impl TextSize) -> Result<(), TooLarge> {
        self.0 += record.text_size();
        if self.0 > LARGEST_ANSWER {
            return Err(TooLarge);
        }
        Ok(())
    }
}

/// The records of one answer have more text than the contract allows.
#[derive(Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the records have more than {LARGEST_ANSWER} bytes of text"
        )
    }
}

impl std::error::Error for TooLarge {}
