//! `/users/{id}`: one user. The hidden field `section` of a form says what it changes.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    http::StatusCode,
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{
        groups::{Group, read_groups},
        keys::ApiKey,
        list_place::{ListPlace, noted},
        paging::Pages,
        profile::second_factor::{Factor, Factors},
        segment,
        visibility::{self, Seen},
    },
    Account, LIST, PageResult, UserRows,
};
use crate::{
    api::ApiError,
    form::{Form, Problems},
    query::Query,
    respond::{again, page, see},
    site::origin,
    texts::refusals::FormRefusal,
    visit::{Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/users/{id}", get(show).post(save))
        .route("/users/{id}/delete", get(ask).post(delete))
}

/// The most groups in the list of those that a user may join.
const MOST_CHOICES: usize = 500;

/// The most groups in the list of those that a user is in.
const MOST_MEMBERSHIPS: usize = 100;

/// The most users that are searched, in calls of 100, for a disabled one.
const MOST_LOOKS: u32 = 5;

#[derive(Template)]
#[template(path = "users/user.html")]
struct UserPage<'a> {
    v: &'a Visit,
    /// The place in the list from which the page was opened.
    list: ListPlace,
    account: Account,
    /// Whether the user is disabled, if that could be found out.
    disabled: Option<bool>,
    /// At most [`MOST_MEMBERSHIPS`] of them.
    member_of: Vec<Group>,
    more_memberships: usize,
    others: Vec<Group>,
    seen_apps: Seen,
    pages: Pages,
    factors: Vec<Factor>,
    /// The link for a new password that was just made. It is shown only here.
    link: Option<PasswordLink>,
    section: &'a str,
    sent: &'a Form,
    problems: Problems,
}

struct PasswordLink {
    address: String,
    expires_at: String,
}

impl UserPage<'_> {
    /// Where this page is, and where its forms go.
    fn address(&self) -> String {
        self.list.kept_by(&path(&self.account.id))
    }

    fn is_refused(&self, section: &str) -> bool {
        self.section == section
    }

    fn is_self(&self) -> bool {
        self.v
            .user
            .as_ref()
            .is_some_and(|user| user.id == self.account.id)
    }

    fn has_password(&self) -> bool {
        self.account.provider == "credentials"
    }

    /// Whether a password, of this host or of the directory, is what the user signs in with.
    fn may_have_second_factor(&self) -> bool {
        self.account.provider != "oidc"
    }

    fn name(&self) -> &str {
        match self.section {
            "person" => self.sent.shown("name"),
            _ => &self.account.name,
        }
    }

    fn email(&self) -> &str {
        match self.section {
            "person" => self.sent.shown("email"),
            _ => self.account.email.as_deref().unwrap_or_default(),
        }
    }
}

/// Where the page of a user is.
fn path(id: &str) -> String {
    format!("/users/{}", segment(id))
}

async fn read_user(visit: &Visit, id: &str) -> Result<Account, ApiError> {
    visit.permitted("admin")?;
    visit.api.query("user.getById", json!({ "userId": id })).await
}

async fn user_page<'a>(
    visit: &'a Visit,
    id: &str,
    sent: &'a Form,
    problems: Problems,
    number: u32,
) -> Result<UserPage<'a>, ApiError> {
    let account = read_user(visit, id).await?;
    let disabled = is_disabled(visit, &account).await?;
    let input = json!({ "userId": id });
    let factors: Factors = visit.api.query("secondFactor.getOfUser", input).await?;
    let groups = read_groups(&visit.api).await?;
    let (mut member_of, mut others): (Vec<Group>, Vec<Group>) = groups
        .into_iter()
        .partition(|group| group.members.iter().any(|member| member.id == id));
    others.truncate(MOST_CHOICES);
    let more_memberships = member_of.len().saturating_sub(MOST_MEMBERSHIPS);
    member_of.truncate(MOST_MEMBERSHIPS);
    let seen_apps = Seen::read(&visit.api, id, number).await?;
    let address = format!("{}?", path(id));
    Ok(UserPage {
        v: visit,
        list: ListPlace::of(visit, LIST),
        pages: Pages::new(&address, number, visibility::PAGE, seen_apps.total_count),
        seen_apps,
        account,
        disabled,
        member_of,
        more_memberships,
        others,
        factors: factors.factors,
        link: None,
        section: sent.text("section"),
        sent,
        problems,
    })
}

/// Whether a user is disabled: only lists of users say so.
async fn is_disabled(visit: &Visit, user: &Account) -> Result<Option<bool>, ApiError> {
    for number in 1..=MOST_LOOKS {
        let input = json!({
            "page": number, "pageSize": 100, "search": user.name, "provider": user.provider, "disabled": true,
        });
        let found: UserRows = visit.api.query("user.getPaginated", input).await?;
        if found.items.iter().any(|entry| entry.id == user.id) {
            return Ok(Some(true));
        }
        if found.total <= 100 * number as usize {
            return Ok(Some(false));
        }
    }
    Ok(None)
}

async fn show(visit: Visitor, Path(id): Path<String>, query: Query) -> PageResult {
    let form = Form::default();
    let shown = user_page(&visit, &id, &form, Problems::default(), query.page()).await?;
    Ok(page(&shown))
}

async fn save(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let origin = origin(request.headers(), visit.console.public_url.as_ref());
    let mut form = visit.form(request).await?;
    if form.text("section") == "link" {
        return make_link(&visit, &id, &form, &origin).await;
    }
    let api = &visit.api;
    let membership = || json!({ "userId": id, "groupId": form.text("groupId") });
    let saved = match form.text("section") {
        "person" => {
            let account = read_user(&visit, &id).await?;
            let merged = account.merged(&visit, &form);
            // The page carries what is stored now, so it also shows that of the fields that were not edited.
            for field in ["name", "email"] {
                form.set(field, merged.text(field).to_owned());
            }
            if !merged.problems.is_empty() {
                return Ok(again(&user_page(&visit, &id, &form, merged.problems, 1).await?));
            }
            let input = json!({ "id": id, "name": merged.text("name"), "email": merged.text("email") });
            api.change("user.editProfile", input).await
        }
        "join" => api.change("group.addMember", membership()).await,
        "leave" => api.change("group.removeMember", membership()).await,
        "password" => {
            let input = json!({ "userId": id, "password": form.text("password") });
            let changed = api.change("user.changePassword", input).await;
            // The password comes first: half way, the account is not weaker.
            match form.is_ticked("removeFactors") && changed.is_ok() {
                true => remove_factors(&visit, &id).await,
                false => changed,
            }
        }
        "second-factor" => remove_factors(&visit, &id).await,
        "disabled" => {
            let input = json!({ "userId": id, "disabled": form.text("disabled") == "yes" });
            api.change("user.setDisabled", input).await
        }
        _ => Err(ApiError::not_found()),
    };
    let Err(error) = saved else {
        return Ok(see(&noted(
            &ListPlace::of(&visit, LIST).kept_by(&path(&id)),
            "saved",
        )));
    };
    let problems = visit.problems(error, &["name", "email", "password"])?;
    Ok(again(&user_page(&visit, &id, &form, problems, 1).await?))
}

async fn remove_factors(visit: &Visit, id: &str) -> Result<(), ApiError> {
    let input = json!({ "userId": id });
    visit.api.change("secondFactor.deleteOfUser", input).await
}

async fn make_link(visit: &Visit, id: &str, form: &Form, origin: &str) -> PageResult {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Made {
        token: String,
        expires_at: String,
    }
    let input = json!({ "userId": id });
    match visit.api.mutate::<Made>("user.createPasswordLink", input).await {
        Ok(Made { token, expires_at }) => {
            let mut shown = user_page(visit, id, form, Problems::default(), 1).await?;
            let token = utf8_percent_encode(&token, NON_ALPHANUMERIC);
            let address = format!("{origin}/new-password?token={token}");
            shown.link = Some(PasswordLink { address, expires_at });
            Ok(page(&shown))
        }
        Err(error) => {
            let problems = visit.problems(error, &[])?;
            Ok(again(&user_page(visit, id, form, problems, 1).await?))
        }
    }
}

#[derive(Template)]
#[template(path = "users/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    list: ListPlace,
    account: Account,
    keys: usize,
    groups: Vec<String>,
    problems: Problems,
}

impl DeletePage<'_> {
    /// The page of the user.
    fn back(&self) -> String {
        self.list.kept_by(&path(&self.account.id))
    }
}

async fn delete_page<'a>(
    visit: &'a Visit,
    id: &str,
    list: ListPlace,
    problems: Problems,
) -> Result<DeletePage<'a>, ApiError> {
    let account = read_user(visit, id).await?;
    let keys: Vec<ApiKey> = visit.api.query("apiKeys.getAll", Value::Null).await?;
    let groups = read_groups(&visit.api).await?;
    let groups = groups
        .into_iter()
        .filter(|group| group.members.iter().any(|member| member.id == id));
    Ok(DeletePage {
        v: visit,
        list,
        account,
        keys: keys.iter().filter(|key| key.user_id == id).count(),
        groups: groups.take(20).map(|group| group.name).collect(),
        problems,
    })
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    if visit.user()?.id == id {
        return Ok(see("/profile/delete"));
    }
    let list = ListPlace::of(&visit, LIST);
    Ok(page(&delete_page(&visit, &id, list, Problems::default()).await?))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    let own = visit.user()?.id == id;
    let form = visit.form(request).await?;
    let list = ListPlace::kept(&form, LIST);
    // Users delete themselves on a page of their own, which says what that means for them.
    if own {
        return Err(ApiError::new(StatusCode::CONFLICT, FormRefusal::OwnAccount));
    }
    match visit.api.change("user.delete", json!({ "userId": id })).await {
        Ok(()) => Ok(see(&list.with_note("deleted"))),
        Err(error) => {
            let problems = visit.problems(error, &[])?;
            Ok(again(&delete_page(&visit, &id, list, problems).await?))
        }
    }
}
