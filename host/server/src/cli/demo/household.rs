//! The household of `portico demo`: people with different rights, their groups, apps and boards.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use anyhow::Context as _;
use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use portico_service::{identity::Identity, service::Service};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use super::{
    super::{local, yaml},
    icons::icon,
};

const DOCUMENT: &str = include_str!("household.yaml");

/// Its wallpaper, drawn for it.
const WALLPAPER: &[u8] = include_bytes!("dusk.webp");

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
    /// The address of apps that are down: it is bound, and nothing listens there.
    _silent: TcpSocket,
}

impl Household {
    /// Puts the household into an empty dashboard, which is at this address.
    pub async fn move_in(service: &Arc<Service>, address: SocketAddr) -> anyhow::Result<Self> {
        let people = PEOPLE.map(|(name, ..)| {
            let mut password = service.secrets.password();
            password.truncate(PASSWORD);
            (name, password)
        });
        let silent = TcpSocket::new_v4()?;
        silent.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let document = document(&people, address, silent.local_addr()?)?;
        call(service, "state.apply", document).await?;
        let image = format!("data:image/webp;base64,{}", BASE64.encode(WALLPAPER));
        let wallpaper = call(service, "picture.create", json!({ "image": image })).await?;
        call(service, "site.update", json!({ "wallpaper": wallpaper["id"] })).await?;
        let users = call(service, "user.getAll", Value::Null).await?;
        let boards = call(service, "board.getAll", Value::Null).await?;
        let engines = call(service, "searchEngine.getSelectable", Value::Null).await?;
        for (name, board, _) in PEOPLE {
            let board = id_of(&boards, board)?;
            let user = id_of(&users, name)?;
            let homes = json!({ "userId": user, "homeBoardId": board, "mobileHomeBoardId": board });
            let search = json!({
                "userId": user, "defaultSearchEngineId": id_of(&engines, "DuckDuckGo")?, "openInNewTab": true,
            });
            for (procedure, input) in [
                ("user.changeHomeBoards", homes),
                ("user.changeSearchPreferences", search),
                (
                    "user.changePingIconsEnabled",
                    json!({ "id": user, "pingIconsEnabled": true }),
                ),
            ] {
                call(service, procedure, input).await?;
            }
        }
        Ok(Self {
            people: people.into(),
            _silent: silent,
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

/// The document with passwords, with pictures as icons, and with the addresses at which checks find what is up and down.
fn document(people: &[(&str, String)], up: SocketAddr, down: SocketAddr) -> anyhow::Result<Value> {
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
            let address = match record["pingUrl"].as_str() {
                None => continue,
                Some("up") => up,
                Some(_) => down,
            };
            // Each has a check of its own.
            let name = record["name"].as_str().unwrap_or_default().replace(' ', "-");
            record["pingUrl"] = format!("http://{address}/api/health/live?{name}").into();
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
