//! `/manage/boards/{id}/share`: with whom a board is shared.
//!
//! The API sets the whole list, and does not answer the present one: the page says so, and begins empty.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    super::{Answer, presses_search},
    StoredBoard, path,
};
use crate::{
    api::{Api, ApiError},
    form::{Form, Problems},
    respond::{page_with, see},
    visit::{Visit, Visitor},
};

/// The most users and the most groups that a search shows.
const MOST_FOUND: usize = 20;

pub(super) fn routes() -> Router {
    Router::new().route("/manage/boards/{id}/share", get(show).post(change))
}

/// A user or a group: in answers of the API, and in hidden fields of the form.
#[derive(Deserialize, Serialize, Clone, PartialEq)]
struct Party {
    id: String,
    name: String,
}

impl Party {
    /// The value of a hidden field or of a button.
    fn value(&self) -> String {
        json!(self).to_string()
    }

    fn read(value: &str) -> Option<Self> {
        serde_json::from_str(value).ok()
    }
}

/// With whom the board is shared once the form is saved.
#[derive(Default)]
struct Parties {
    users: Vec<Party>,
    groups: Vec<Party>,
}

impl Parties {
    fn read(form: &Form) -> Self {
        Self {
            users: form.all("user").filter_map(Party::read).collect(),
            groups: form.all("group").filter_map(Party::read).collect(),
        }
    }

    /// What a button does: `add-user`, `add-group`, `drop-user` or `drop-group` with a party.
    fn take_step(&mut self, step: &str) {
        let Some((verb, party)) = step.split_once(' ') else {
            return;
        };
        let Some(party) = Party::read(party) else {
            return;
        };
        let list = if verb.ends_with("user") {
            &mut self.users
        } else {
            &mut self.groups
        };
        list.retain(|other| other.id != party.id);
        if verb.starts_with("add") {
            list.push(party);
        }
    }

    fn len(&self) -> usize {
        self.users.len() + self.groups.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those who are not chosen yet.
    fn without(&self, found: Parties) -> Parties {
        let rest = |found: Vec<Party>, chosen: &[Party]| {
            let is_new = |party: &Party| chosen.iter().all(|other| other.id != party.id);
            found.into_iter().filter(is_new).collect()
        };
        Parties {
            users: rest(found.users, &self.users),
            groups: rest(found.groups, &self.groups),
        }
    }
}

#[derive(Template)]
#[template(path = "boards/share.html")]
struct SharePage<'a> {
    v: &'a Visit,
    path: String,
    board: StoredBoard,
    chosen: Parties,
    query: String,
    found: Option<Parties>,
    problems: Problems,
}

async fn show(visit: Visitor, Path(id): Path<String>) -> Answer {
    visit.permitted("admin")?;
    let form = Form::default();
    answer(&visit, &id, &form, Parties::default(), None).await
}

async fn change(visit: Visitor, Path(id): Path<String>, request: Request) -> Answer {
    visit.permitted("admin")?;
    let form = visit.form(request).await?;
    let mut chosen = Parties::read(&form);
    let step = form.text("do");
    let saves = step == "save" || (step.is_empty() && !presses_search(&form, "party-query", "find"));
    if !saves {
        chosen.take_step(step);
        return answer(&visit, &id, &form, chosen, None).await;
    }
    if chosen.is_empty() && !form.is_ticked("no-one") {
        let mut problems = Problems::default();
        problems.add_to_whole(visit.t.boards.share_empty);
        return answer(&visit, &id, &form, chosen, Some(problems)).await;
    }
    let ids = |parties: &[Party]| parties.iter().map(|party| party.id.clone()).collect::<Vec<_>>();
    let input = json!({ "boardId": id, "users": ids(&chosen.users), "groups": ids(&chosen.groups) });
    match visit.api.change("board.share", input).await {
        Ok(()) => Ok(see(&format!("{}?note=saved", path(&id)))),
        Err(error) if error.is_of_input() || error.status == StatusCode::NOT_FOUND => {
            let problems = Problems::of(&error, &[], |text| visit.say(text));
            answer(&visit, &id, &form, chosen, Some(problems)).await
        }
        Err(error) => Err(error),
    }
}

async fn answer(visit: &Visit, id: &str, form: &Form, chosen: Parties, problems: Option<Problems>) -> Answer {
    let query = form.text("party-query").trim();
    let board = StoredBoard::read(&visit.api, id).await?;
    let found = match query {
        "" => None,
        query => Some(chosen.without(find(&visit.api, query).await?)),
    };
    let status = match problems {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let shown = SharePage {
        v: visit,
        path: path(id),
        board,
        chosen,
        query: query.into(),
        found,
        problems: problems.unwrap_or_default(),
    };
    Ok(page_with(status, &shown))
}

/// Users and groups with a text in their names.
async fn find(api: &Api, text: &str) -> Result<Parties, ApiError> {
    let users = api.query("user.search", json!({ "query": text, "limit": MOST_FOUND }));
    let (users, groups) = tokio::join!(users, api.query::<Vec<Party>>("group.getAll", Value::Null));
    let (users, mut groups) = (users?, groups?);
    let wanted = text.to_lowercase();
    groups.retain(|group| group.name.to_lowercase().contains(&wanted));
    groups.truncate(MOST_FOUND);
    Ok(Parties { users, groups })
}
