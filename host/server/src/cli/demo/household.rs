//! The household of `portico demo`: people with different rights, their groups, apps and boards.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context as _;
use portico_service::{identity::Identity, service::Service};
use serde_json::{Value, json};

use super::{
    super::{local, yaml},
    icons::icon,
};

const DOCUMENT: &str = include_str!("household.yaml");

/// The characters of a password, which people type.
const PASSWORD: usize = 10;

/// Who lives there: name, the board that they see first, and who they are.
const PEOPLE: [(&str, &str, &str); 3] = [
    ("ada", "Home", "the administrator: may do everything"),
    ("ben", "Home", "may add apps and make boards"),
    ("kim", "Kids", "sees only the apps of the board Kids"),
];

/// A household that has moved in.
pub struct Household {
    /// Names and passwords.
    people: Vec<(&'static str, String)>,
}

impl Household {
    /// Puts the household into an empty dashboard.
    pub async fn move_in(service: &Arc<Service>) -> anyhow::Result<Self> {
        let people = PEOPLE.map(|(name, ..)| {
            let mut password = service.secrets.password();
            password.truncate(PASSWORD);
            (name, password)
        });
        let document = document(&people)?;
        call(service, "state.apply", document).await?;
        let users = call(service, "user.getAll", Value::Null).await?;
        let boards = call(service, "board.getAll", Value::Null).await?;
        for (name, board, _) in PEOPLE {
            let board = id_of(&boards, board)?;
            let input = json!({
                "userId": id_of(&users, name)?, "homeBoardId": board, "mobileHomeBoardId": board,
            });
            call(service, "user.changeHomeBoards", input).await?;
        }
        Ok(Self {
            people: people.into(),
        })
    }

    /// Where to click, and with which names and passwords.
    pub fn welcome(&self, address: SocketAddr) -> String {
        let people = PEOPLE.iter().zip(&self.people);
        let lines: String = people
            .map(|((name, _, who), (_, password))| format!("  {name}  {password}  {who}\n"))
            .collect();
        format!(
            "A sample household, in memory: it is gone when this stops, and its links lead nowhere.\n\n\
             Open http://{address} in a browser and sign in:\n\n{lines}\n\
             The passwords are new at each start and shown only here. Ctrl-C stops."
        )
    }
}

/// The document with passwords, and with pictures as icons.
fn document(people: &[(&str, String)]) -> anyhow::Result<Value> {
    let mut document = yaml::read(DOCUMENT)?;
    for (name, password) in people {
        let users = document["users"].as_array_mut().into_iter().flatten();
        for user in users.filter(|user| user["name"] == *name) {
            user["password"] = password.as_str().into();
        }
    }
    for list in ["apps", "searchEngines"] {
        for record in document[list].as_array_mut().into_iter().flatten() {
            let drawn = record["iconUrl"].as_str().and_then(icon);
            record["iconUrl"] = drawn.context("a record without a drawing")?.into();
        }
    }
    Ok(document)
}

async fn call(service: &Arc<Service>, procedure: &str, input: Value) -> anyhow::Result<Value> {
    let input = Some(input).filter(|input| !input.is_null());
    let output = local::run(service, procedure, &Identity::operator(), input).await?;
    Ok(output.unwrap_or_default())
}

fn id_of<'a>(records: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    let mut records = records.as_array().into_iter().flatten();
    let found = records.find(|record| record["name"] == name);
    found
        .and_then(|record| record["id"].as_str())
        .with_context(|| format!("{name} has not moved in"))
}
