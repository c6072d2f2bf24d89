//! `/groups/{id}`: name, permissions and members of one group. The hidden field `section` of a form says what it
//! changes.

use askama::Template;
use axum::{
    Router,
    extract::{Path, Request},
    routing::get,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::{
    super::{
        found_users::find,
        home_boards::{self, HomeChoice},
        list_place::{ListPlace, noted},
        segment,
    },
    Found, Group, PERMISSIONS, PageResult, read_groups,
};
use crate::{
    api::ApiError,
    edits::{Merged, WasRead},
    form::{Form, Problems},
    respond::{again, page, see},
    visit::{Query, Visit, Visitor},
};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/groups/{id}", get(show).post(save))
        .route("/groups/{id}/delete", get(ask).post(delete))
}

/// The list of groups.
const LIST: &str = "/groups";

/// The most members on the page; others are found by search.
const MOST_MEMBERS: usize = 50;

#[derive(Template)]
#[template(path = "groups/group.html")]
struct GroupPage<'a> {
    v: &'a Visit,
    /// The place in the list from which the page was opened.
    list: ListPlace,
    group: Group,
    home: HomeChoice,
    query: &'a str,
    /// The users found, and whether each is a member.
    found: Vec<(Found, bool)>,
    section: &'a str,
    sent: &'a Form,
    problems: Problems,
}

impl GroupPage<'_> {
    /// Where this page is, and where its forms go.
    fn address(&self) -> String {
        self.list.kept_by(&path(&self.group.id))
    }

    fn is_refused(&self, section: &str) -> bool {
        self.section == section
    }

    fn name(&self) -> &str {
        match self.section {
            "name" => self.sent.shown("name"),
            _ => &self.group.name,
        }
    }

    fn shown_members(&self) -> &[Found] {
        let members = &self.group.members;
        &members[..members.len().min(MOST_MEMBERS)]
    }

    fn size(&self) -> usize {
        self.group.members.len()
    }

    /// The permissions: name, what it is called, what it allows, and whether it is ticked.
    fn permissions(&self) -> Vec<(&'static str, &'static str, &'static str, bool)> {
        let t = &self.v.t.groups;
        let all = PERMISSIONS.iter().map(|permission| {
            let ticked = match self.section {
                "permissions" => self.sent.all("permissions").any(|sent| sent == *permission),
                _ => self.group.is_permitted(permission),
            };
            (
                *permission,
                t.permission(permission),
                t.allows(permission),
                ticked,
            )
        });
        all.collect()
    }
}

impl Group {
    fn was_read(&self) -> WasRead {
        WasRead::of(&[("name", &self.name)])
    }

    /// The permissions that the page showed as ticked.
    fn shown_permissions(&self) -> Vec<&'static str> {
        let all = PERMISSIONS.iter().copied();
        all.filter(|permission| self.is_permitted(permission)).collect()
    }

    /// The stored permissions, with the ticks that were set and taken away in a form.
    fn with_edits<'a>(&self, form: &'a Form) -> Vec<&'a str> {
        let has = |field: &'a str, permission: &str| form.all(field).any(|sent| sent == permission);
        if !form.is_ticked("was-shown") {
            return form.all("permissions").collect();
        }
        let all = PERMISSIONS.iter().copied();
        all.filter(|permission| {
            let (was, is) = (has("was-permitted", permission), has("permissions", permission));
            if was == is {
                self.is_permitted(permission)
            } else {
                is
            }
        })
        .collect()
    }
}

/// Where the page of a group is.
pub(super) fn path(id: &str) -> String {
    format!("/groups/{}", segment(id))
}

async fn read_group(visit: &Visit, id: &str) -> Result<Group, ApiError> {
    visit.user()?;
    let groups = read_groups(&visit.api).await?;
    let mut groups = groups.into_iter();
    groups
        .find(|group| group.id == id)
        .ok_or_else(ApiError::not_found)
}

async fn group_page<'a>(
    visit: &'a Visit,
    id: &str,
    query: &'a str,
    sent: &'a Form,
    problems: Problems,
) -> Result<GroupPage<'a>, ApiError> {
    let group = read_group(visit, id).await?;
    let found = find(&visit.api, query).await?.into_iter().map(|user| {
        let is_member = group.members.iter().any(|member| member.id == user.id);
        (user, is_member)
    });
    let refused = Some(sent).filter(|sent| sent.text("section") == "home");
    Ok(GroupPage {
        v: visit,
        home: HomeChoice::read(visit, Some(id), refused).await?,
        list: ListPlace::of(visit, LIST),
        found: found.collect(),
        group,
        query,
        section: sent.text("section"),
        sent,
        problems,
    })
}

async fn show(visit: Visitor, Path(id): Path<String>, query: Query) -> PageResult {
    let (form, text) = (Form::default(), query.text("q").trim());
    Ok(page(
        &group_page(&visit, &id, text, &form, Problems::default()).await?,
    ))
}

async fn save(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let api = &visit.api;
    let membership = || json!({ "groupId": id, "userId": form.text("userId") });
    let saved = match form.text("section") {
        "name" => {
            let group = read_group(&visit, &id).await?;
            let merged = Merged::of(&visit, &form, &[("name", &group.name, form.text("name"))]);
            if !merged.problems.is_empty() {
                let query = form.shown("q").trim();
                return Ok(again(
                    &group_page(&visit, &id, query, &form, merged.problems).await?,
                ));
            }
            let input = json!({ "groupId": id, "name": merged.text("name") });
            api.change("group.rename", input).await
        }
        "permissions" => {
            let group = read_group(&visit, &id).await?;
            let permissions = group.with_edits(&form);
            let input = json!({ "groupId": id, "permissions": permissions });
            api.change("group.savePermissions", input).await
        }
        "home" => {
            read_group(&visit, &id).await?;
            let problems = home_boards::store(&visit, Some(&id), &form).await?;
            if !problems.is_empty() {
                return Ok(again(&group_page(&visit, &id, "", &form, problems).await?));
            }
            Ok(())
        }
        "add" => api.change("group.addMember", membership()).await,
        "remove" => api.change("group.removeMember", membership()).await,
        _ => Err(ApiError::not_found()),
    };
    let Err(error) = saved else {
        let mut here = ListPlace::of(&visit, LIST).kept_by(&path(&id));
        if let Some(text) = form.optional("q") {
            let mark = if here.contains('?') { '&' } else { '?' };
            here = format!("{here}{mark}q={}", utf8_percent_encode(text, NON_ALPHANUMERIC));
        }
        return Ok(see(&noted(&here, "saved")));
    };
    let problems = visit.problems(error, &["name"])?;
    let query = form.shown("q").trim();
    Ok(again(&group_page(&visit, &id, query, &form, problems).await?))
}

#[derive(Template)]
#[template(path = "groups/delete.html")]
struct DeletePage<'a> {
    v: &'a Visit,
    list: ListPlace,
    group: Group,
    problems: Problems,
}

impl DeletePage<'_> {
    /// The page of the group.
    fn back(&self) -> String {
        self.list.kept_by(&path(&self.group.id))
    }

    fn size(&self) -> usize {
        self.group.members.len()
    }
}

async fn ask(visit: Visitor, Path(id): Path<String>) -> PageResult {
    Ok(page(&DeletePage {
        v: &visit,
        list: ListPlace::of(&visit, LIST),
        group: read_group(&visit, &id).await?,
        problems: Problems::default(),
    }))
}

async fn delete(visit: Visitor, Path(id): Path<String>, request: Request) -> PageResult {
    visit.user()?;
    let form = visit.form(request).await?;
    let list = ListPlace::kept(&form, LIST);
    match visit.api.change("group.deleteGroup", json!({ "id": id })).await {
        Ok(()) => Ok(see(&list.with_note("deleted"))),
        Err(error) => {
            let problems = visit.problems(error, &[])?;
            Ok(again(&DeletePage {
                v: &visit,
                list,
                group: read_group(&visit, &id).await?,
                problems,
            }))
        }
    }
}
