//! `group.*`: groups, the only source of permissions.
//!
//! Invariant: no change of groups takes `admin` from the last administrator.

use portico_model::error::{Code, Error};
use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_rules::{bounds, permissions::Permission};
use portico_storage::{Access, DashboardTransaction};

use super::{
    transaction::{not_found_if_referred, require_found, require_name_free},
    validate::{Fields, LABEL},
};
use crate::{
    accounts::admin_exists,
    procedures::{
        call::{ById, Call, Created, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        NAMED,
        Shape::{self, Choice, List, Named, Nothing, Record, Text},
        Shaped, records, required,
    },
};

records! {
    struct Create {
        name: String = required("name", LABEL).about("1 to 64 characters on one line, trimmed; unique."),
    }

    struct Rename {
        group_id: String = required("groupId", Text).about("Which group: its id."),
        name: String = required("name", LABEL).about("1 to 64 characters on one line, trimmed; unique."),
    }

    struct SavePermissions {
        group_id: String = required("groupId", Text).about("Which group: its id."),
        permissions: Vec<String> = required("permissions", List(&Choice(&Permission::NAMES)))
            .about("What its members may do, all of it."),
    }

    struct Membership {
        group_id: String = required("groupId", Text).about("Which group: its id."),
        user_id: String = required("userId", Text).about("Which user: their id."),
    }
}
const MEMBERSHIP: Shape = Named("Membership", &Membership::SHAPE);

pub(super) static ROWS: &[Row] = &[
    query(
        "group.getAll",
        Nothing,
        List(&Named(
            "Group",
            &Record(&[
                required("id", Text).about("The group's id."),
                required("name", Text).about("The group's name, unique."),
                required("permissions", List(&Text)).about("What its members may do."),
                required("members", List(&NAMED)).about("The users in it."),
            ]),
        )),
        |call| Box::pin(get_all(call)),
    )
    .large()
    .about("All groups with their permissions and members, by name.")
    .at("GET", "/api/groups"),
    mutation("group.createGroup", Create::SHAPE, ID, |call| {
        Box::pin(create(call))
    })
    .about("Makes a group without permissions and members, and answers its id.")
    .at("POST", "/api/groups")
    .refuses(&[Code::Conflict]),
    mutation("group.rename", Rename::SHAPE, Nothing, |call| {
        Box::pin(rename(call))
    })
    .about("Gives a group another name. Its permissions and members stay.")
    .at("PATCH", "/api/groups/{groupId}")
    .refuses(&[Code::NotFound, Code::Conflict]),
    mutation("group.deleteGroup", ID, Nothing, |call| Box::pin(delete(call)))
        .about(
            "Deletes a group: its members lose what it permitted. `CONFLICT`: no administrator would remain.",
        )
        .at("DELETE", "/api/groups/{id}")
        .refuses(&[Code::NotFound, Code::Conflict]),
    mutation("group.savePermissions", SavePermissions::SHAPE, Nothing, |call| {
        Box::pin(save_permissions(call))
    })
    .about("Sets what the members of a group may do. `CONFLICT`: no administrator would remain.")
    .at("PUT", "/api/groups/{groupId}/permissions")
    .refuses(&[Code::NotFound, Code::Conflict]),
    mutation("group.addMember", MEMBERSHIP, Nothing, |call| {
        Box::pin(add_member(call))
    })
    .about("Adds a user to a group; does nothing for an existing member.")
    .at("PUT", "/api/groups/{groupId}/members/{userId}")
    .refuses(&[Code::NotFound]),
    mutation("group.removeMember", MEMBERSHIP, Nothing, |call| {
        Box::pin(remove_member(call))
    })
    .about("Removes a user from a group. `CONFLICT`: no administrator would remain.")
    .at("DELETE", "/api/groups/{groupId}/members/{userId}")
    .refuses(&[Code::NotFound, Code::Conflict]),
];

/// Checks the name of a group, and trims it. The caller checks a new one with [`Fields::keeps_direction`].
pub(super) fn check_name(fields: &mut Fields, name: &str) -> String {
    fields.label("name", name, bounds::LABEL)
}

/// Permissions in order, each once.
pub(super) fn in_order(mut permissions: Vec<String>) -> Vec<String> {
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
    fields.keeps_direction("name", &name, None);
    fields.check()?;

    let id = call.resources.new_id();
    let name_key = call.resources.sandbox.name_key(call.context(), &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    require_name_free(
        transaction.insert_group(&id, &name, &name_key).await?,
        UniqueName::Group,
    )?;
    transaction.commit().await?;
    json(&Created { id })
}

async fn rename(mut call: Call) -> Result<Output, Error> {
    let input: Rename = call.input()?;
    let mut fields = Fields::default();
    let name = check_name(&mut fields, &input.name);
    fields.check()?;

    let name_key = call.resources.sandbox.name_key(call.context(), &name).await?;
    let mut transaction = call.begin(Access::Write).await?;
    let holder = transaction.find_group(&name_key).await?;
    let is_own = holder.as_ref() == Some(&input.group_id);
    let is_free = is_own || holder.is_none();
    if !is_own {
        let mut fields = Fields::default();
        fields.keeps_direction("name", &name, None);
        fields.check()?;
    }
    let renamed = is_free
        && transaction
            .update_group(&input.group_id, &name, &name_key)
            .await?;
    require_name_free(is_free, UniqueName::Group)?;
    require_found(renamed, Missing::Group)?;
    transaction.commit().await?;
    json(&())
}

async fn delete(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    let guard = AdministratorGuard::before(&mut *transaction).await?;
    require_found(transaction.delete_group(&input.id).await?, Missing::Group)?;
    guard.after(&mut *transaction).await?;
    transaction.commit().await?;
    json(&())
}

async fn save_permissions(mut call: Call) -> Result<Output, Error> {
    let input: SavePermissions = call.input()?;
    let permissions = in_order(input.permissions);

    let mut transaction = call.begin(Access::Write).await?;
    let guard = AdministratorGuard::before(&mut *transaction).await?;
    require_found(
        transaction
            .set_group_permissions(&input.group_id, &permissions)
            .await?,
        Missing::Group,
    )?;
    guard.after(&mut *transaction).await?;
    transaction.commit().await?;
    json(&())
}

async fn add_member(mut call: Call) -> Result<Output, Error> {
    let input: Membership = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    let added = transaction.add_to_group(&input.user_id, &input.group_id).await;
    require_found(
        added.map_err(|error| not_found_if_referred(error, Missing::User))?,
        Missing::Group,
    )?;
    transaction.commit().await?;
    json(&())
}

async fn remove_member(mut call: Call) -> Result<Output, Error> {
    let input: Membership = call.input()?;
    let mut transaction = call.begin(Access::Write).await?;
    let guard = AdministratorGuard::before(&mut *transaction).await?;
    require_found(
        transaction
            .remove_from_group(&input.user_id, &input.group_id)
            .await?,
        Missing::Member,
    )?;
    guard.after(&mut *transaction).await?;
    transaction.commit().await?;
    json(&())
}

/// Refuses a change that takes `admin` from the last administrator.
struct AdministratorGuard {
    existed: bool,
}

impl AdministratorGuard {
    async fn before(transaction: &mut dyn DashboardTransaction) -> Result<Self, Error> {
        Ok(Self {
            existed: admin_exists(transaction).await?,
        })
    }

    async fn after(self, transaction: &mut dyn DashboardTransaction) -> Result<(), Error> {
        if self.existed && !admin_exists(transaction).await? {
            return Err(Refusal::LastAdminLoses.into());
        }
        Ok(())
    }
}

/// Refuses a state without an administrator, even if there was none before.
pub(super) async fn require_administrator(transaction: &mut dyn DashboardTransaction) -> Result<(), Error> {
    if admin_exists(transaction).await? {
        return Ok(());
    }
    Err(Refusal::NoAdministrator.into())
}
