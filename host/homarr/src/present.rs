//! What is in Portico before an import.

use std::collections::{BTreeMap, HashSet};

use portico_model::Provider;
use portico_storage::ProviderSubject;

/// The records of Portico, as far as new ones may collide with them.
#[derive(Debug, Default)]
pub struct Present {
    /// Groups: id and name-key.
    pub groups: Vec<(String, String)>,
    /// Users: id, provider and name-key.
    pub users: Vec<(String, Provider, String)>,
    /// The users who are these people at identity providers.
    pub subjects: BTreeMap<ProviderSubject, String>,
    /// The users of an issuer who are a person there.
    pub linked: HashSet<String>,
    /// Apps: id and name-key.
    pub apps: Vec<(String, String)>,
    /// Search engines: id, and the name-keys of name and short.
    pub search_engines: Vec<(String, String, String)>,
    /// Boards: id and name-key.
    pub boards: Vec<(String, String)>,
    /// The ids of boards that are not public.
    pub private_boards: HashSet<String>,
    /// Whether people who have chosen no home board see one.
    pub has_default_home: bool,
    /// Whether people who are not signed in see a chosen board.
    pub has_start_board: bool,
    /// Whether someone has chosen what the dashboard looks like.
    pub has_looks: bool,
    /// The ids of keys and invites.
    pub secrets: HashSet<String>,
    /// The ids of disabled users, who can have no keys.
    pub disabled: HashSet<String>,
}
