//! Users: their preferences, by the names and in the forms of Homarr.

use portico_model::error::Code;
use serde_json::{Map, Value, json};

use super::{Procedure, mutation, query};
use crate::{
    caller::Caller,
    outcome::{Failure, Outcome},
};

pub(super) static PROCEDURES: &[Procedure] = &[
    query("user.getPreferences", |caller, input| {
        Box::pin(preferences(caller, input))
    }),
    mutation("user.updatePreferences", |caller, input| {
        Box::pin(change_preferences(caller, input))
    }),
];

/// The user whom the input names, or else the caller.
async fn whose(caller: &Caller, input: &Value) -> Result<String, Failure> {
    match &input["userId"] {
        Value::Null => Ok(caller.user_id().await?.to_owned()),
        Value::String(id) => Ok(id.clone()),
        _ => Err(Failure::bad_input("userId", "must be a text")),
    }
}

/// `{userId?}` -> the preferences of the caller, or of this user.
async fn preferences(caller: &Caller, input: Value) -> Outcome {
    let id = whose(caller, &input).await?;
    let user = caller
        .query("user.getById", json!({ "userId": id }))
        .await?
        .value();
    let mut preferences = json!({ "userId": id, "byteUnitSystem": "decimal" });
    for key in [
        "firstDayOfWeek",
        "pingIconsEnabled",
        "homeBoardId",
        "mobileHomeBoardId",
        "defaultSearchEngineId",
        "openSearchInNewTab",
    ] {
        preferences[key] = user[key].clone();
    }
    let current = caller.user().await?;
    if current["id"] == *id {
        preferences["colorScheme"] = current["colorScheme"].clone();
    }
    Ok(preferences.into())
}

/// `{userId?, …}` with the preferences that change -> all of them.
async fn change_preferences(caller: &Caller, input: Value) -> Outcome {
    let id = whose(caller, &input).await?;
    let changes = input.as_object().cloned().unwrap_or_default();
    let has = |key: &str| changes.contains_key(key);
    if !changes.keys().any(|key| key != "userId") {
        return Err(Failure::new(Code::BadRequest, "Supply at least one preference"));
    }
    let user = caller
        .query("user.getById", json!({ "userId": id }))
        .await?
        .value();
    let chosen = |key: &str| changes.get(key).unwrap_or(&user[key]).clone();
    if has("homeBoardId") || has("mobileHomeBoardId") {
        let boards = json!({
            "userId": id,
            "homeBoardId": chosen("homeBoardId"),
            "mobileHomeBoardId": chosen("mobileHomeBoardId"),
        });
        caller.mutate("user.changeHomeBoards", boards).await?;
    }
    if has("defaultSearchEngineId") || has("openSearchInNewTab") {
        let search = json!({
            "userId": id,
            "defaultSearchEngineId": chosen("defaultSearchEngineId"),
            "openInNewTab": chosen("openSearchInNewTab"),
        });
        caller.mutate("user.changeSearchPreferences", search).await?;
    }
    for (key, name) in [
        ("firstDayOfWeek", "user.changeFirstDayOfWeek"),
        ("pingIconsEnabled", "user.changePingIconsEnabled"),
    ] {
        if has(key) {
            let change = Map::from_iter([
                ("id".to_owned(), id.clone().into()),
                (key.to_owned(), chosen(key)),
            ]);
            caller.mutate(name, change.into()).await?;
        }
    }
    if has("colorScheme") {
        if caller.user_id().await? != id {
            let rule = "can be changed by the user alone";
            return Err(Failure::bad_input("colorScheme", rule));
        }
        let scheme = json!({ "colorScheme": changes["colorScheme"] });
        caller.mutate("user.changeColorScheme", scheme).await?;
    }
    preferences(&caller.again(), json!({ "userId": id })).await
}
