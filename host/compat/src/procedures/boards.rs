//! Boards, under the names of Homarr.
//!
//! Portico's board says which apps it has, and in what order. Sections, layouts, places, looks and other items are in
//! its extras ([`View`](super::view::View)). Both are saved in one change.

use portico_model::{error::Code, refusal::Missing};
use portico_storage::extras::{ITEMS, LAYOUTS, LOOKS, SECTIONS, SETTINGS};
use serde_json::{Value, json};

use super::{
    Procedure, boolean,
    extras::{self, Attempts},
    mutation, query, text,
    view::View,
};
use crate::{
    caller::Caller,
    outcome::{Failure, Outcome, Output},
};

/// The lists of boards in which each board's logo is looked up.
const FEW: usize = 100;

pub(super) static PROCEDURES: &[Procedure] = &[
    query("board.getAllBoards", |caller, _| Box::pin(all(caller))),
    query("board.getBoardByName", |caller, input| {
        Box::pin(by_name(caller, input))
    }),
    query("board.getHomeBoard", |caller, _| Box::pin(home(caller))),
    mutation("board.createBoard", |caller, input| {
        Box::pin(create(caller, input))
    }),
    mutation("board.duplicateBoard", |caller, input| {
        Box::pin(duplicate(caller, input))
    }),
    mutation("board.renameBoard", |caller, input| {
        Box::pin(rename(caller, input))
    }),
    mutation("board.changeBoardVisibility", |caller, input| {
        Box::pin(change_visibility(caller, input))
    }),
    mutation("board.deleteBoard", |caller, input| {
        Box::pin(async move { caller.mutate("board.delete", json!({ "id": input["id"] })).await })
    }),
    mutation("board.saveBoard", |caller, input| Box::pin(save(caller, input))),
    mutation("board.saveLayouts", |caller, input| {
        Box::pin(save_layouts(caller, input))
    }),
    mutation("board.savePartialBoardSettings", |caller, input| {
        Box::pin(save_settings(caller, input))
    }),
    mutation("board.addItem", |caller, input| Box::pin(add_item(caller, input))),
    mutation("board.setHomeBoard", |caller, input| {
        Box::pin(set_home(caller, input, "homeBoardId"))
    }),
    mutation("board.setMobileHomeBoard", |caller, input| {
        Box::pin(set_home(caller, input, "mobileHomeBoardId"))
    }),
    mutation("serverSettings.saveSettings", |caller, input| {
        Box::pin(save_server_settings(caller, input))
    }),
];

/// The caller's own record; `None` if the caller is not signed in.
async fn own_user(caller: &Caller) -> Result<Option<Value>, Failure> {
    let Some(session) = caller.signed_in().await? else {
        return Ok(None);
    };
    let id = &session["user"]["id"];
    let user = caller.query("user.getById", json!({ "userId": id })).await?;
    Ok(Some(user.value()))
}

/// The boards that the caller may view.
async fn visible(caller: &Caller) -> Result<Vec<Value>, Failure> {
    let boards = caller.query_all("board.getVisible").await?.value();
    Ok(boards.as_array().cloned().unwrap_or_default())
}

/// The creator of a board, as far as the caller may know them.
fn creator(board: &Value, own: Option<&Value>) -> Value {
    let id = &board["creatorId"];
    match own {
        _ if id.is_null() => Value::Null,
        Some(own) if own["id"] == *id => {
            json!({ "id": id, "name": own["name"], "image": own["image"], "email": own["email"] })
        }
        _ => json!({ "id": id, "name": null, "image": null, "email": null }),
    }
}

async fn all(caller: &Caller) -> Outcome {
    let own = own_user(caller).await?;
    let mut boards = visible(caller).await?;
    // Each look-up is a call, and callers who are not signed in would make many in vain.
    let looks_up = own.is_some() && boards.len() <= FEW;
    for board in &mut boards {
        let mut logo = Value::Null;
        if looks_up && let Some(id) = board["id"].as_str() {
            let kept = extras::of_board(caller, id).await?.extras;
            logo = kept
                .get(SETTINGS)
                .map_or(Value::Null, |settings| settings["logoImageUrl"].clone());
        }
        let is = |key: &str| own.as_ref().is_some_and(|own| own[key] == board["id"]);
        let (is_home, is_mobile_home) = (is("homeBoardId"), is("mobileHomeBoardId"));
        board["logoImageUrl"] = logo;
        board["creator"] = creator(board, own.as_ref());
        board["isHome"] = is_home.into();
        board["isMobileHome"] = is_mobile_home.into();
        board["userPermissions"] = json!([]);
        board["groupPermissions"] = json!([]);
    }
    Ok(Value::Array(boards).into())
}

/// `{name}`
async fn by_name(caller: &Caller, input: Value) -> Outcome {
    let name = text(&input, "name")?.to_lowercase();
    let boards = visible(caller).await?;
    let is_named = |board: &&Value| {
        board["name"]
            .as_str()
            .is_some_and(|own| own.to_lowercase() == name)
    };
    let board = boards.iter().find(is_named);
    let board = board.ok_or_else(|| Failure::not_found(Missing::Board))?;
    whole(caller, text(board, "id")?).await
}

async fn home(caller: &Caller) -> Outcome {
    let home = caller.query_all("board.getHome").await?.value();
    let id = home["homeBoardId"]
        .as_str()
        .or(home["mobileHomeBoardId"].as_str());
    let id = id.ok_or_else(|| Failure::new(Code::NotFound, "No home board found"))?;
    whole(caller, id).await
}

async fn whole(caller: &Caller, id: &str) -> Outcome {
    let view = View::load(caller, id).await?;
    let own = own_user(caller).await?;
    let mut whole = view.whole();
    whole["creator"] = creator(&whole, own.as_ref());
    Ok(whole.into())
}

/// `{name, columnCount, isPublic}` -> `{boardId}`. It is the home of a maker who has none. With `items` it is Portico's own form.
async fn create(caller: &Caller, input: Value) -> Outcome {
    if input["items"].is_array() {
        let created = caller.mutate("board.create", input).await?.value();
        return Ok(json!({ "id": created["id"], "boardId": created["id"] }).into());
    }
    let columns = match &input["columnCount"] {
        Value::Null => 10,
        columns => columns
            .as_u64()
            .filter(|columns| (1..=24).contains(columns))
            .ok_or_else(|| Failure::bad_input("columnCount", "must be a whole number from 1 to 24"))?,
    };
    let board = json!({ "name": input["name"], "isPublic": input["isPublic"], "items": [] });
    let created = caller.mutate("board.create", board).await?.value();
    let id = text(&created, "id")?;
    let view = View::empty(id, columns);
    extras::save_of_board(caller, id, &view.extras).await?;
    // The first board of a user is their home.
    if own_user(caller)
        .await?
        .is_some_and(|own| own["homeBoardId"].is_null())
    {
        set_home(caller, json!({ "id": id }), "homeBoardId").await?;
    }
    Ok(json!({ "id": id, "boardId": id }).into())
}

/// `{id, name}` -> `{boardId}`. The copy is public only if the caller may decide so.
async fn duplicate(caller: &Caller, input: Value) -> Outcome {
    let view = View::load(caller, text(&input, "id")?).await?;
    let session = caller.signed_in().await?;
    let held = session.and_then(|session| session["user"]["permissions"].as_array());
    let mut held = held.into_iter().flatten();
    let may_publish = held.any(|held| held == "admin" || held == "board-full-all");
    let board = json!({
        "name": input["name"],
        "isPublic": view.board["isPublic"] == true && may_publish,
        "sections": view.board["sections"],
    });
    let mut copy = view.extras.clone();
    copy.insert(LAYOUTS.into(), view.layouts().into());
    copy.insert(SECTIONS.into(), view.sections().into());
    copy.insert(ITEMS.into(), view.items().into());
    extras::check_size(&copy)?;
    let created = caller.mutate("board.create", board).await?.value();
    let id = text(&created, "id")?;
    extras::save_of_board(caller, id, &copy).await?;
    Ok(json!({ "id": id, "boardId": id }).into())
}

/// `{id, name}`
async fn rename(caller: &Caller, input: Value) -> Outcome {
    change(caller, text(&input, "id")?, |view| {
        view.board["name"] = input["name"].clone();
        Ok(())
    })
    .await?;
    Ok(Output::nothing())
}

/// `{id, visibility: "public" | "private"}`
async fn change_visibility(caller: &Caller, input: Value) -> Outcome {
    let is_public = match text(&input, "visibility")? {
        "public" => true,
        "private" => false,
        _ => return Err(Failure::bad_input("visibility", "must be public or private")),
    };
    change(caller, text(&input, "id")?, |view| {
        view.board["isPublic"] = is_public.into();
        Ok(())
    })
    .await?;
    Ok(Output::nothing())
}

/// Changes a board and its extras, and saves both in one change. Begins again from what is stored if that changes
/// meanwhile. Returns what the change returned.
async fn change<T: Send>(
    caller: &Caller,
    id: &str,
    mut make: impl FnMut(&mut View) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let _turn = caller.compat.changes.lock().await;
    let mut attempts = Attempts::default();
    loop {
        let mut view = View::load(caller, id).await?;
        attempts.begin(&view.version)?;
        let made = make(&mut view)?;
        extras::check_size(&view.extras)?;
        let saved = json!({
            "id": id,
            "extras": portico_storage::extras::text(&view.extras),
            "version": view.version,
            "name": view.board["name"],
            "isPublic": view.board["isPublic"],
            "items": view.board["items"],
        });
        match caller.mutate("extras.saveOfBoard", saved).await {
            Ok(_) => return Ok(made),
            Err(failure) => attempts.failed(failure)?,
        }
    }
}

/// `{id, sections, items}`
async fn save(caller: &Caller, input: Value) -> Outcome {
    change(caller, text(&input, "id")?, |view| view.replace(&input)).await?;
    Ok(Output::nothing())
}

/// `{id, layouts: [{id, name, columnCount, breakpoint}]}`
async fn save_layouts(caller: &Caller, input: Value) -> Outcome {
    change(caller, text(&input, "id")?, |view| view.replace_layouts(&input)).await?;
    Ok(Output::nothing())
}

/// `{id, …}` with the settings that change.
async fn save_settings(caller: &Caller, input: Value) -> Outcome {
    change(caller, text(&input, "id")?, |view| {
        let mut settings = view.settings();
        for (key, _) in &*LOOKS {
            if let Some(value) = input.get(key) {
                settings.insert((*key).to_owned(), value.clone());
            }
        }
        view.extras.insert(SETTINGS.into(), settings.into());
        Ok(())
    })
    .await?;
    Ok(Output::nothing())
}

/// `{boardId, kind, options?, integrationIds?}` -> `{itemId}`, at the next free place.
async fn add_item(caller: &Caller, input: Value) -> Outcome {
    let kind = text(&input, "kind")?;
    let id = change(caller, text(&input, "boardId")?, |view| view.add(kind, &input)).await?;
    Ok(json!({ "itemId": id }).into())
}

/// `{id}`: the caller's home board from now on.
async fn set_home(caller: &Caller, input: Value, key: &str) -> Outcome {
    let id = text(&input, "id")?;
    let own = own_user(caller).await?;
    let own = own.ok_or_else(|| Failure::new(Code::Unauthorized, "UNAUTHORIZED"))?;
    let mut boards = json!({
        "userId": own["id"],
        "homeBoardId": own["homeBoardId"],
        "mobileHomeBoardId": own["mobileHomeBoardId"],
    });
    boards[key] = id.into();
    caller.mutate("user.changeHomeBoards", boards).await
}

/// `{settingsKey, value}`, from an administrator: everyone's home boards are stored, other settings only accepted.
async fn save_server_settings(caller: &Caller, input: Value) -> Outcome {
    caller.require_administrator().await?;
    let key = text(&input, "settingsKey")?;
    let value = &input["value"];
    if !value["forceDisableStatus"].is_null() {
        boolean(value, "forceDisableStatus")?;
    }
    if key == "board" && (value.get("homeBoardId").is_some() || value.get("mobileHomeBoardId").is_some()) {
        let boards = json!({
            "groupId": null,
            "homeBoardId": value["homeBoardId"],
            "mobileHomeBoardId": value["mobileHomeBoardId"],
        });
        caller.mutate("board.setDefaultHome", boards).await?;
    }
    Ok(Output::nothing())
}
