//! The whole state, as the procedures and storage show it, and what must be true of it at any time.

use std::collections::BTreeSet;

use portico_service::identity::Identity;
use portico_storage::{Access, AccountKey, SecondFactor};
use serde_json::{Value, json};

use super::side::Side;

/// Everything that is stored: all that the procedures show, and for each user what only storage shows.
pub async fn export(side: &Side) -> Value {
    let mut users = Vec::new();
    let summaries = side.ask("user.getAll", Value::Null).await;
    let boards = side.ask("board.getAll", Value::Null).await;
    for id in ids(&summaries) {
        let user = side.ask("user.getById", json!({"userId": id})).await;
        let mut transaction = side
            .service
            .storage
            .begin_dashboard(Access::Read, &Identity::operator().context("look"))
            .await
            .expect("a transaction");
        let account = transaction.get_account(&AccountKey::Id(id.clone())).await;
        let session = transaction.get_session_user(&id).await.expect("a user");
        let sessions = transaction.list_sessions(&id).await.expect("sessions");
        let factors = transaction.list_second_factors(&id).await.expect("factors");
        let recovery_codes = transaction.count_recovery_codes(&id).await.expect("codes");
        let mut visible = Vec::new();
        for board in ids(&boards) {
            visible.push(transaction.can_view_board(&id, &board).await.expect("an answer"));
            visible.push(
                transaction
                    .can_change_board(&id, &board)
                    .await
                    .expect("an answer"),
            );
        }
        let account = account.expect("an account").expect("a user");
        users.push(json!({
            "user": user, "session": session, "passwordHash": account.password_hash, "boards": visible,
            "sessions": format!("{sessions:?}"), "passwordVersion": account.password_version,
            "disabled": account.disabled, "factors": factors.iter().map(factor).collect::<Vec<_>>(),
            "recoveryCodes": recovery_codes,
            "apps": side.ask("user.seenApps", json!({"userId": id, "page": 1, "pageSize": 100})).await,
        }));
    }
    let (mut whole_boards, mut shares) = (Vec::new(), Vec::new());
    for id in ids(&boards) {
        whole_boards.push(side.ask("board.byId", json!({"id": id})).await);
        shares.push(side.ask("board.getShares", json!({"boardId": id})).await);
    }
    json!({
        "summaries": summaries,
        "users": users,
        "apps": side.ask("app.all", Value::Null).await,
        "groups": side.ask("group.getAll", Value::Null).await,
        "boards": whole_boards,
        "shares": shares,
        "engines": side.ask("searchEngine.getAll", Value::Null).await,
        "looks": side.ask("site.get", Value::Null).await,
        "invites": side.ask("invite.getAll", Value::Null).await,
        "keys": side.ask("apiKeys.getAll", Value::Null).await,
        "homes": side.ask("board.getDefaultHomes", Value::Null).await,
        "gates": side.ask("gate.getAll", Value::Null).await,
        "audit": audit(side).await,
        "step": side.ask("onboard.currentStep", Value::Null).await,
    })
}

fn factor(factor: &SecondFactor) -> Value {
    json!({
        "id": factor.id, "userId": factor.user_id, "kind": factor.kind, "name": factor.name, "handle": factor.handle,
        "data": factor.data, "createdAt": factor.created_at, "lastUsedAt": factor.last_used_at,
        "counter": factor.counter,
    })
}

/// The newest rows of the audit log, and how many there are.
async fn audit(side: &Side) -> Value {
    side.ask("audit.getPaginated", json!({"page": 1, "pageSize": 100}))
        .await
}

fn ids(records: &Value) -> Vec<String> {
    list(records).iter().map(|record| text(&record["id"])).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether a user holds `admin`, by what `group.getAll` says.
pub fn has_admin(groups: &Value) -> bool {
    list(groups).iter().any(|group| {
        list(&group["permissions"]).contains(&json!("admin")) && !list(&group["members"]).is_empty()
    })
}

/// What is wrong with a state by itself, without a look at what led to it.
pub async fn faults(side: &Side, state: &Value) -> Vec<String> {
    let mut faults = names(side, state).await;
    faults.extend(references(state));
    let open = state["step"]["current"] == "user";
    if open != list(&state["users"]).is_empty() {
        faults.push("onboarding is open exactly while no user exists".into());
    }
    faults
}

/// Lists are in the order of the name-key, then the id. Names that must be unique are unique.
async fn names(side: &Side, state: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (kind, unique) in [
        ("summaries", false),
        ("apps", false),
        ("groups", true),
        ("boards", true),
        ("engines", true),
    ] {
        let records = list(&state[kind]);
        let keys = keys(side, records, "name").await;
        let order: Vec<_> = keys.iter().zip(ids(&state[kind])).collect();
        if !order.is_sorted() {
            faults.push(format!("{kind} are out of order"));
        }
        if unique && !all_differ(&keys) {
            faults.push(format!("two {kind} have the same name"));
        }
    }
    if !all_differ(&keys(side, list(&state["engines"]), "short").await) {
        faults.push("two engines have the same short".into());
    }
    let users = list(&state["users"]).iter().map(|user| &user["user"]);
    let users: Vec<_> = users
        .map(|user| (text(&user["provider"]), text(&user["name"])))
        .collect();
    if !all_differ(&users) {
        faults.push("two users of one provider have the same name".into());
    }
    faults
}

async fn keys(side: &Side, records: &[Value], field: &str) -> Vec<String> {
    let names: Vec<_> = records.iter().map(|record| text(&record[field])).collect();
    let context = Identity::operator().context("look");
    let keys = side.service.sandbox.name_keys(context, &names).await;
    keys.expect("name-keys")
}

fn all_differ<T: Ord>(values: &[T]) -> bool {
    values.iter().collect::<BTreeSet<_>>().len() == values.len()
}

/// Nothing refers to what is not there.
fn references(state: &Value) -> Vec<String> {
    let known = |kind: &str| -> BTreeSet<String> { ids(&state[kind]).into_iter().collect() };
    let (users, boards, apps) = (known("summaries"), known("boards"), known("apps"));
    let (engines, groups) = (known("engines"), known("groups"));
    let mut faults = Vec::new();
    let mut refer = |what: &str, reference: &Value, known: &BTreeSet<String>| {
        if reference.as_str().is_some_and(|id| !known.contains(id)) {
            faults.push(format!("{what} refers to {reference}, which is not there"));
        }
    };
    for user in list(&state["users"]).iter().map(|user| &user["user"]) {
        refer("a home board", &user["homeBoardId"], &boards);
        refer("a mobile home board", &user["mobileHomeBoardId"], &boards);
        refer(
            "a default search engine",
            &user["defaultSearchEngineId"],
            &engines,
        );
    }
    for board in list(&state["boards"]) {
        refer("a board's creator", &board["creatorId"], &users);
        for item in list(&board["items"]) {
            refer("an item", &item["appId"], &apps);
            for app in list(&item["appIds"]) {
                refer("a bookmark", app, &apps);
            }
        }
    }
    for group in list(&state["groups"]) {
        for member in list(&group["members"]) {
            refer("a membership", &member["id"], &users);
        }
    }
    for home in list(&state["homes"]) {
        refer("a home board", &home["groupId"], &groups);
        refer("a home board", &home["homeBoardId"], &boards);
        refer("a home board", &home["mobileHomeBoardId"], &boards);
    }
    for key in list(&state["keys"]) {
        refer("a key", &key["userId"], &users);
    }
    for invite in list(&state["invites"]) {
        refer("an invite", &invite["creator"]["id"], &users);
        for group in list(&invite["groups"]) {
            refer("an invite", &group["id"], &groups);
        }
    }
    faults
}
