//! `group.*`: permissions come from groups, and from nowhere else.
//!
//! Invariant: whatever is done to groups, an administrator remains where there was one.

use serde::Deserialize;

use super::{NAMED, Row, found, free, mutation, query, referred, validate::Fields};
use crate::{
    error::{Code, Error},
    model::PathSegment,
    procedures::{ById, Call, Created, Output, json},
    shape::{
        ID,
        Shape::{self, List, Nothing, Record, Text},
        required,
    },
    storage::{Access, DashboardTransaction},
};

/// What a group may hold.
const PERMISSIONS: [&str; 7] = [
    "admin",
    "app-create",
    "app-modify-all",
    "app-full-all",
    "board-view-all",
    "board-modify-all",
    "board-full-all",
];

const MEMBERSHIP: Shape = Record(&[required("groupId", Text), required("userId", Text)]);

#[derive(Deserialize)]
struct Create {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavePermissions {
    group_id: String,
    permissions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Membership {
    group_id: String,
    user_id: String,
}

pub(super) static ROWS: &[Row] = &[
    query(
        "group.getAll",
        Nothing,
        List(&Record(&[
            required("id", Text),
            required("name", Text),
            required("permissions", List(&Text)),
            required("members", List(&NAMED)),
        ])),
        |call| Box::pin(get_all(call)),
    ),
    mutation(
        "group.createGroup",
        Record(&[required("name", Text)]),
        ID,
        |call| Box::pin(create(call)),
    ),
    mutation("group.deleteGroup", ID, Nothing, |call| Box::pin(delete(call))),
    mutation(
        "group.savePermissions",
        Record(&[required("groupId", Text), required("permissions", List(&Text))]),
        Nothing,
        |call| Box::pin(save_permissions(call)),
    ),
    mutation("group.addMember", MEMBERSHIP, Nothing, |call| {
        Box::pin(add_member(call))
    }),
    mutation("group.removeMember", MEMBERSHIP, Nothing, |call| {
        Box::pin(remove_member(call))
    }),
];

/// The name of a group, trimmed.
pub(super) fn check_name(fields: &mut Fields, name: &str) -> String {
    fields.label("name", name, 64)
}

/// What a group permits: in order, each once.
pub(super) fn check_permissions(fields: &mut Fields, mut permissions: Vec<String>) -> Vec<String> {
    for (index, permission) in permissions.iter().enumerate() {
        if !PERMISSIONS.contains(&permission.as_str()) {
            let place = [
                PathSegment::Field("permissions".into()),
                PathSegment::Index(index as u32),
            ];
            fields.refuse_at(place, format!("must be one of {}", PERMISSIONS.join(", ")));
        }
    }
    permissions.sort();
    permissions.dedup();
    permissions
}

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    json(&transaction.list_groups().await?)
}

async fn create(mut call: Call) -> Result<Output, Error> {
    let input: Create = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &input.name);
    fields.check()?;

    let id = call.new_id();
    let name_key = call.service.sandbox.name_key(call.context(), &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    free(
        transaction.insert_group(&id, &name, &name_key).await?,
        "The group's name",
    )?;
    transaction.commit().await?;
    json(&Created { id })
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    let guard = AdministratorGuard::before(&mut *transaction).await?;
    found(transaction.delete_group(&input.id).await?, "Group")?;
    guard.after(&mut *transaction).await?;
    transaction.commit().await?;
    json(&())
}

async fn save_permissions(mut call: Call) -> Result<Output, Error> {
    let input: SavePermissions = call.input()?;
    let mut fields = Fields::default();
    let permissions = check_permissions(&mut fields, input.permissions);
    fields.check()?;

    let mut transaction = call.begin(Access::Write).await?;
    let guard = AdministratorGuard::before(&mut *transaction).await?;
    found(
        transaction
            .set_group_permissions(&input.group_id, &permissions)
            .await?,
        "Group",
    )?;
    guard.after(&mut *transaction).await?;
    transaction.commit().await?;
    json(&())
}

async fn add_member(mut call: Call) -> Result<Output, Error> {
    let input: Membership = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    let added = transaction.add_to_group(&input.user_id, &input.group_id).await;
    found(added.map_err(|error| referred(error, "User"))?, "Group")?;
    transaction.commit().await?;
    json(&())
}

async fn remove_member(mut call: Call) -> Result<Output, Error> {
    let input: Membership = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    let guard = AdministratorGuard::before(&mut *transaction).await?;
    found(
        transaction
            .remove_from_group(&input.user_id, &input.group_id)
            .await?,
        "Member",
    )?;
    guard.after(&mut *transaction).await?;
    transaction.commit().await?;
    json(&())
}

/// Sees to it that a change does not take `admin` from the last who has it.
struct AdministratorGuard {
    there_was_one: bool,
}

impl AdministratorGuard {
    async fn before(transaction: &mut dyn DashboardTransaction) -> Result<Self, Error> {
        Ok(Self {
            there_was_one: is_there_one(transaction).await?,
        })
    }

    async fn after(self, transaction: &mut dyn DashboardTransaction) -> Result<(), Error> {
        if self.there_was_one && !is_there_one(transaction).await? {
            return Err(Error::new(
                Code::Conflict,
                "This would take admin from the last administrator",
            ));
        }
        Ok(())
    }
}

/// Refuses a state that nobody could administer, whatever was there before.
pub(super) async fn require_administrator(transaction: &mut dyn DashboardTransaction) -> Result<(), Error> {
    if is_there_one(transaction).await? {
        return Ok(());
    }
    let message = "There would be no administrator: no user in a group with the permission admin";
    Err(Error::new(Code::Conflict, message))
}

async fn is_there_one(transaction: &mut dyn DashboardTransaction) -> Result<bool, Error> {
    let nobody = "";
    Ok(transaction.another_admin_exists(nobody).await?)
}
