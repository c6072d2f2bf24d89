//! Who sees which app, and why: what `app.seenBy` and `user.seenApps` return. Every list is the beginning of one, with the
//! number of all.

use portico_model::Id;
use serde::Serialize;

use crate::dashboard_records::Named;

/// The first records of a list, and how many the whole list has.
#[derive(Clone, Debug, PartialEq)]
pub struct First<T> {
    /// The first ones.
    pub items: Vec<T>,
    /// How many there are.
    pub count: u64,
}

impl<T> First<T> {
    /// The first ones of a whole list.
    pub fn of(mut all: Vec<T>, most: u32) -> Self {
        let count = all.len() as u64;
        all.truncate(most as usize);
        Self { items: all, count }
    }
}

impl<T> Default for First<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            count: 0,
        }
    }
}

/// The boards that an app is on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppBoards {
    /// The boards, by name.
    pub boards: First<AppBoard>,
    /// How many of all are public.
    pub public_count: u64,
}

/// A board that an app is on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct AppBoard {
    pub id: Id,
    pub name: String,
    pub is_public: bool,
    /// Who made it; `None` once they are gone.
    pub creator: Option<Named>,
}

/// With whom a board is shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstShares {
    /// Users, by name.
    pub users: First<Named>,
    /// Groups, by name.
    pub groups: First<Named>,
}

/// A board through which a user sees an app.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenThrough {
    /// The board.
    pub board: Named,
    /// Why the user may view it.
    pub why: WhyViewed,
}

/// Why a user may view a board: the first of these that applies.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyViewed {
    /// They made it.
    Creator,
    /// It is shared with them.
    User,
    /// It is shared with this group of theirs, the first by name.
    Group(Named),
    /// Everyone may, or they have a permission.
    Public,
}
