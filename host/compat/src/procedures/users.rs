//! Users, under the names and in the forms of Homarr. Portico stores what it has no field for as extras.

use std::collections::HashMap;

use portico_model::error::Code;
use portico_storage::extras::PREFERENCES;
use serde_json::{Map, Value, json};

use super::{Procedure, boolean, extras, mutation, query, text};
use crate::{
    caller::Caller,
    outcome::{Failure, Outcome, Output},
};

pub(super) static PROCEDURES: &[Procedure] = &[
    query("user.getById", |caller, input| Box::pin(by_id(caller, input))).instead(),
    query("user.selectable", |caller, input| {
        Box::pin(selectable(caller, input))
    })
    .instead(),
    query("user.getPreferences", |caller, input| {
        Box::pin(preferences(caller, input))
    }),
    mutation("user.updatePreferences", |caller, input| {
        Box::pin(change_preferences(caller, input))
    }),
    mutation("user.changeSearchPreferences", |caller, input| {
        Box::pin(change_search(caller, input))
    })
    .instead(),
    mutation("user.changeDefaultSearchEngine", |caller, input| {
        Box::pin(change_search_engine(caller, input))
    }),
    mutation("user.changeColorScheme", |caller, input| {
        Box::pin(change_color_scheme(caller, input))
    })
    .instead(),
    mutation("user.changeEnableRightClickOnWidgets", |caller, input| {
        Box::pin(change_kept(caller, input, "enableRightClickOnWidgets"))
    }),
    mutation("user.changeDdgBangs", |caller, input| {
        Box::pin(change_kept(caller, input, "ddgBangs"))
    }),
    query("user.getTourStatus", |caller, _| Box::pin(tour_status(caller))),
    mutation("user.completeTour", |caller, input| {
        Box::pin(complete_tour(caller, input))
    }),
    mutation("user.resetTours", |caller, _| Box::pin(reset_tours(caller))),
];

/// The value of a key that is only in the extras.
fn kept_value(extras: &Map<String, Value>, key: &str) -> Value {
    let default = PREFERENCES.iter().find(|(name, _)| *name == key);
    let default = default.map(|(_, default)| default.clone()).unwrap_or_default();
    let kept = extras.get(key).filter(|value| !value.is_null());
    kept.cloned().unwrap_or(default)
}

/// `{userId}` -> Portico's fields and those of the extras.
async fn by_id(caller: &Caller, input: Value) -> Outcome {
    let mut user = caller.query("user.getById", input.clone()).await?;
    let extras = extras::of_user(caller, text(&input, "userId")?).await?.extras;
    if let Some(json) = &mut user.json {
        for (key, _) in &PREFERENCES[..4] {
            json[key] = kept_value(&extras, key);
        }
    }
    Ok(user)
}

/// `{providers?, excludeExternalProviders?}` -> users with the emails that the caller may see.
async fn selectable(caller: &Caller, input: Value) -> Outcome {
    let all = |excluding: bool| {
        let input = json!({ "excludeExternalProviders": excluding });
        caller.query("user.selectable", input)
    };
    let listed = input["providers"].as_array().cloned().unwrap_or_default();
    let wants = |provider: &str| listed.iter().any(|one| one == provider);
    let excludes = input["excludeExternalProviders"] == true || input["excludeExternalProviders"] == "true";
    // Portico distinguishes users of this service from all others, but not one external provider from another.
    let mut users = match (wants("credentials"), wants("ldap") || wants("oidc")) {
        (true, false) => all(true).await?.value(),
        (false, true) => {
            let own = all(true).await?.value();
            let own: Vec<_> = ids(&own).collect();
            let mut users = all(false).await?.value();
            if let Value::Array(users) = &mut users {
                let own: std::collections::HashSet<_> = own.into_iter().collect();
                users.retain(|user| user["id"].as_str().is_some_and(|id| !own.contains(id)));
            }
            users
        }
        _ => all(excludes).await?.value(),
    };
    let is_admin = caller.require_administrator().await.is_ok();
    let known = match is_admin {
        true => caller.query_all("user.getAll").await?.value(),
        false => Value::Null,
    };
    let known = known.as_array().map(Vec::as_slice).unwrap_or_default();
    let emails: HashMap<_, _> = known
        .iter()
        .map(|user| (user["id"].as_str(), &user["email"]))
        .collect();
    for user in users.as_array_mut().into_iter().flatten() {
        let email = emails.get(&user["id"].as_str()).copied().cloned();
        user["email"] = email.unwrap_or_default();
    }
    Ok(users.into())
}

fn ids(users: &Value) -> impl Iterator<Item = &str> {
    let users = users.as_array().into_iter().flatten();
    users.filter_map(|user| user["id"].as_str())
}

/// The user whom the input names, or otherwise the caller.
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
    let extras = extras::of_user(caller, &id).await?.extras;
    let mut preferences = json!({ "userId": id });
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
    for key in ["ddgBangs", "enableRightClickOnWidgets", "byteUnitSystem"] {
        preferences[key] = kept_value(&extras, key);
    }
    // Its default is the client's: it exists once a client has set it.
    let header = kept_value(&extras, "headerPreferences");
    if !header.is_null() {
        preferences["headerPreferences"] = header;
    }
    let current = caller.user().await?;
    if current["id"] == *id {
        preferences["colorScheme"] = current["colorScheme"].clone();
    }
    Ok(preferences.into())
}

/// `{userId?, …}` with the preferences that change -> all of them. Other keys are ignored. Nothing changes if a value is
/// refused by its type.
async fn change_preferences(caller: &Caller, input: Value) -> Outcome {
    let id = whose(caller, &input).await?;
    let mut changes = input.as_object().cloned().unwrap_or_default();
    changes.retain(|key, _| FORMS.iter().any(|(name, _)| name == key));
    for (key, value) in &mut changes {
        *value = plain(key, value.take());
    }
    let has = |key: &str| changes.contains_key(key);
    if changes.is_empty() {
        return Err(Failure::new(Code::BadRequest, "Supply at least one preference"));
    }
    for (key, form) in &FORMS {
        if let Some(value) = changes.get(*key) {
            form.check(key, value)?;
        }
    }
    let is_own = caller.user_id().await? == id;
    if has("colorScheme") && !is_own {
        let rule = "can be changed by the user alone";
        return Err(Failure::bad_input("colorScheme", rule));
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
            caller.mutate(name, json!({ "id": id, key: chosen(key) })).await?;
        }
    }
    if has("colorScheme") {
        let scheme = json!({ "colorScheme": changes["colorScheme"] });
        caller.mutate("user.changeColorScheme", scheme).await?;
    }
    let kept: Map<_, _> = changes
        .iter()
        .filter(|(key, _)| PREFERENCES.iter().any(|(name, _)| name == key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !kept.is_empty() {
        extras::change_of_user(caller, &id, kept).await?;
    }
    preferences(&caller.again(), json!({ "userId": id })).await
}

/// What a preference may be. Those that Portico only keeps may also be null, which is their default.
enum Form {
    Boolean,
    Day,
    /// An id, or null.
    Id,
    OneOf(&'static [&'static str]),
    Kept(&'static Form),
    Object,
}

static FORMS: [(&str, Form); 13] = [
    ("homeBoardId", Form::Id),
    ("mobileHomeBoardId", Form::Id),
    ("defaultSearchEngineId", Form::Id),
    ("openSearchInNewTab", Form::Boolean),
    ("firstDayOfWeek", Form::Day),
    ("pingIconsEnabled", Form::Boolean),
    ("colorScheme", Form::OneOf(&["light", "dark", "auto"])),
    ("ddgBangs", Form::Kept(&Form::Boolean)),
    ("enableRightClickOnWidgets", Form::Kept(&Form::Boolean)),
    ("completedManageTour", Form::Kept(&Form::Boolean)),
    ("completedBoardTour", Form::Kept(&Form::Boolean)),
    ("byteUnitSystem", Form::Kept(&Form::OneOf(&["decimal", "binary"]))),
    ("headerPreferences", Form::Kept(&Form::Object)),
];

impl Form {
    fn check(&self, key: &str, value: &Value) -> Result<(), Failure> {
        let (is_right, rule) = match self {
            Self::Kept(_) if value.is_null() => return Ok(()),
            Self::Kept(form) => return form.check(key, value),
            Self::Boolean => (value.is_boolean(), "must be true or false".to_owned()),
            Self::Day => {
                let day = value.as_f64().filter(|day| day.fract() == 0.0);
                let is_day = day.is_some_and(|day| (0.0..=6.0).contains(&day));
                (is_day, "must be a whole number from 0 to 6".to_owned())
            }
            Self::Id => (
                value.is_null() || value.is_string(),
                "must be a text or null".to_owned(),
            ),
            Self::OneOf(names) => {
                let is_one = value.as_str().is_some_and(|value| names.contains(&value));
                (is_one, format!("must be {}", names.join(" or ")))
            }
            Self::Object => (value.is_object(), "must be an object".to_owned()),
        };
        match is_right {
            true => Ok(()),
            false => Err(Failure::bad_input(key, &rule)),
        }
    }
}

/// A preference that a script has sent as a text: `"true"` and `"1"` where Homarr has a boolean and a number.
fn plain(key: &str, value: Value) -> Value {
    const BOOLEANS: [&str; 4] = [
        "ddgBangs",
        "enableRightClickOnWidgets",
        "openSearchInNewTab",
        "pingIconsEnabled",
    ];
    let read = match &value {
        Value::String(text) if BOOLEANS.contains(&key) => text.parse::<bool>().ok().map(Value::from),
        Value::String(text) if key == "firstDayOfWeek" => text.parse::<u32>().ok().map(Value::from),
        _ => None,
    };
    read.unwrap_or(value)
}

/// `{userId, defaultSearchEngineId, ddgBangsEnabled}`: the same without `openInNewTab`, which stays.
async fn change_search_engine(caller: &Caller, mut input: Value) -> Outcome {
    let id = text(&input, "userId")?;
    let user = caller
        .query("user.getById", json!({ "userId": id }))
        .await?
        .value();
    input["openInNewTab"] = user["openSearchInNewTab"].clone();
    change_search(caller, input).await
}

/// `{colorScheme, userId?}`: of the caller, and of no other user.
async fn change_color_scheme(caller: &Caller, input: Value) -> Outcome {
    let own = caller.user_id().await?;
    if input.get("userId").is_some_and(|id| *id != *own) {
        let message = "The colour scheme of a user can be changed by the user alone";
        return Err(Failure::new(Code::Forbidden, message));
    }
    let scheme = json!({ "colorScheme": input["colorScheme"] });
    caller.mutate("user.changeColorScheme", scheme).await
}

/// `{userId, defaultSearchEngineId, openInNewTab, ddgBangsEnabled?}`
async fn change_search(caller: &Caller, input: Value) -> Outcome {
    let ddg_bangs = match &input["ddgBangsEnabled"] {
        Value::Null => None,
        _ => Some(boolean(&input, "ddgBangsEnabled")?),
    };
    let changed = caller
        .mutate("user.changeSearchPreferences", input.clone())
        .await?;
    if let Some(ddg_bangs) = ddg_bangs {
        change(caller, text(&input, "userId")?, &[("ddgBangs", ddg_bangs)]).await?;
    }
    Ok(changed)
}

/// `{id, KEY}`
async fn change_kept(caller: &Caller, input: Value, key: &'static str) -> Outcome {
    change(caller, text(&input, "id")?, &[(key, boolean(&input, key)?)]).await
}

async fn tour_status(caller: &Caller) -> Outcome {
    let extras = extras::of_user(caller, caller.user_id().await?).await?.extras;
    let tours = ["completedManageTour", "completedBoardTour"];
    let status: Map<_, _> = tours
        .map(|key| (key.to_owned(), kept_value(&extras, key)))
        .into_iter()
        .collect();
    Ok(Value::Object(status).into())
}

/// `{tour: "manage" | "board"}`
async fn complete_tour(caller: &Caller, input: Value) -> Outcome {
    let key = match text(&input, "tour")? {
        "manage" => "completedManageTour",
        "board" => "completedBoardTour",
        _ => return Err(Failure::bad_input("tour", "must be manage or board")),
    };
    change(caller, caller.user_id().await?, &[(key, true)]).await
}

async fn reset_tours(caller: &Caller) -> Outcome {
    let tours = [("completedManageTour", false), ("completedBoardTour", false)];
    change(caller, caller.user_id().await?, &tours).await
}

/// Changes a user's extras.
async fn change(caller: &Caller, id: &str, changes: &[(&str, bool)]) -> Outcome {
    let changes = changes
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)));
    extras::change_of_user(caller, id, changes.collect()).await?;
    Ok(Output::nothing())
}
