//! Small procedures whose inputs or outputs have another form in Homarr.

use portico_model::{error::Code, refusal::Missing};
use portico_service::shape::read_integer;
use serde_json::{Value, json};

use super::{Procedure, mutation, query, text};
use crate::{
    caller::{Caller, LARGEST_ANSWER},
    href,
    outcome::{Failure, Outcome, Output},
};

/// The most icons that Portico returns in one call.
const MOST_ICONS: u64 = 100;
/// The members of a group whose email and image are looked up, each with a call.
const MOST_MEMBERS: usize = 100;

pub(super) static PROCEDURES: &[Procedure] = &[
    query("app.getPaginated", |caller, input| {
        Box::pin(paginated(caller, input))
    })
    .instead(),
    mutation("app.create", |caller, input| {
        Box::pin(write_app(caller, input, "app.create"))
    }),
    mutation("app.update", |caller, input| {
        Box::pin(write_app(caller, input, "app.update"))
    }),
    query("group.getById", |caller, input| Box::pin(group(caller, input))),
    mutation("group.createGroup", |caller, input| {
        Box::pin(create_group(caller, input))
    })
    .instead(),
    mutation("group.updateGroup", |caller, input| {
        Box::pin(rename_group(caller, input))
    }),
    mutation("group.savePartialSettings", |caller, input| {
        Box::pin(save_group_settings(caller, input))
    }),
    query("searchEngine.getSelectable", |caller, _| {
        Box::pin(search_engines(caller))
    })
    .instead(),
    query("icon.findIcons", |caller, input| Box::pin(icons(caller, input))),
    // Portico has no integrations.
    query("integration.all", |caller, _| {
        Box::pin(async {
            caller.user().await?;
            Ok(json!([]).into())
        })
    }),
];

/// `{page? = 1, pageSize? = 10, search?}`; the numbers of a query string are texts.
async fn paginated(caller: &Caller, input: Value) -> Outcome {
    let number = |key: &str, default: u32| match &input[key] {
        Value::Null => default.into(),
        Value::String(text) => read_integer(text).unwrap_or_else(|| text.clone().into()),
        other => other.clone(),
    };
    let mut asked = json!({ "page": number("page", 1), "pageSize": number("pageSize", 10) });
    if let Value::String(search) = &input["search"] {
        asked["search"] = search.clone().into();
    }
    caller.query("app.getPaginated", asked).await
}

/// An app, whose `href` may be a path.
async fn write_app(caller: &Caller, mut input: Value, procedure: &str) -> Outcome {
    href::complete(&caller.compat, &mut input);
    caller.mutate(procedure, input).await
}

/// `{id}` -> the group, with the emails and images of its members, up to a limit.
async fn group(caller: &Caller, input: Value) -> Outcome {
    let id = text(&input, "id")?;
    let groups = caller.query_all("group.getAll").await?.value();
    let mut groups = groups.as_array().into_iter().flatten();
    let group = groups.find(|group| group["id"] == id);
    let mut group = group.ok_or_else(|| Failure::not_found(Missing::Group))?.clone();
    let mut room = LARGEST_ANSWER;
    for (number, member) in group["members"].as_array_mut().into_iter().flatten().enumerate() {
        member["email"] = Value::Null;
        member["image"] = Value::Null;
        if number >= MOST_MEMBERS {
            continue;
        }
        let asked = json!({ "userId": member["id"] });
        let user = match caller.query("user.getById", asked).await {
            Ok(user) => user.value(),
            // Deleted meanwhile.
            Err(failure) if failure.status() == Code::NotFound.http_status() => continue,
            Err(failure) => return Err(failure),
        };
        member["email"] = user["email"].clone();
        let size = user["image"].as_str().map_or(0, str::len);
        if let Some(left) = room.checked_sub(size) {
            room = left;
            member["image"] = user["image"].clone();
        }
    }
    // Portico's groups have none of these.
    for key in ["ownerId", "owner"] {
        group[key] = Value::Null;
    }
    let home = home_of_group(caller, id).await?;
    for key in HOMES {
        group[key] = home[key].clone();
    }
    Ok(group.into())
}

const HOMES: [&str; 2] = ["homeBoardId", "mobileHomeBoardId"];

/// The home boards of a group, as `board.setDefaultHome` takes them.
async fn home_of_group(caller: &Caller, id: &str) -> Result<Value, Failure> {
    let homes = caller.query_all("board.getDefaultHomes").await?.value();
    let mut homes = homes.as_array().into_iter().flatten();
    let home = homes.find(|home| home["groupId"] == id).cloned();
    Ok(home.unwrap_or_else(|| json!({ "groupId": id, "homeBoardId": null, "mobileHomeBoardId": null })))
}

/// `{id, settings: {homeBoardId?, mobileHomeBoardId?}}`
async fn save_group_settings(caller: &Caller, input: Value) -> Outcome {
    let mut home = home_of_group(caller, text(&input, "id")?).await?;
    for key in HOMES {
        if let Some(board) = input["settings"].get(key) {
            home[key] = board.clone();
        }
    }
    caller.mutate("board.setDefaultHome", home).await
}

/// `{name}` -> the id, as a text.
async fn create_group(caller: &Caller, input: Value) -> Outcome {
    let mut created = caller.mutate("group.createGroup", input).await?;
    created.json = created.json.map(|created| created["id"].clone());
    Ok(created)
}

/// `{id, name}`
async fn rename_group(caller: &Caller, input: Value) -> Outcome {
    let renamed = json!({ "groupId": input["id"], "name": input["name"] });
    caller.mutate("group.rename", renamed).await
}

/// Portico's fields, and `value` and `label` as Homarr has them.
async fn search_engines(caller: &Caller) -> Outcome {
    let mut engines = caller.query_all("searchEngine.getSelectable").await?.value();
    for engine in engines.as_array_mut().into_iter().flatten() {
        engine["value"] = engine["id"].clone();
        engine["label"] = engine["name"].clone();
    }
    Ok(engines.into())
}

/// `{searchText?, limitPerGroup? = 12}` -> all icons, as one repository.
async fn icons(caller: &Caller, input: Value) -> Outcome {
    let limit = input["limitPerGroup"].as_u64().unwrap_or(12).clamp(1, MOST_ICONS);
    let query = input["searchText"].as_str().unwrap_or_default();
    let found = caller
        .query("icon.search", json!({ "query": query, "limit": limit }))
        .await?
        .value();
    let found = found.as_array().cloned().unwrap_or_default();
    let count = found.len();
    let icons: Vec<_> = found
        .into_iter()
        .map(|icon| json!({ "id": icon["url"], "name": icon["name"], "url": icon["url"] }))
        .collect();
    let repository = json!({ "id": "portico", "slug": "portico", "icons": icons });
    Ok(Output::from(
        json!({ "icons": [repository], "countIcons": count }),
    ))
}
