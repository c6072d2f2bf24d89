//! The table of procedures of the component that ships.

use alloc::string::ToString;
use alloc::vec::Vec;

use portico_rules::permissions::Permission;
use portico_rules::procedures::{Access, Cost, Kind, Row, TABLE};

use crate::Plugin;
use crate::bindings::exports::portico::dashboard::procedures as contract;

impl contract::Guest for Plugin {
    fn describe() -> Vec<contract::Procedure> {
        TABLE.iter().map(described).collect()
    }
}

fn described(row: &Row) -> contract::Procedure {
    let names = |permission: Permission| permission.given_by().iter().map(ToString::to_string).collect();
    contract::Procedure {
        name: row.name.to_string(),
        kind: match row.kind {
            Kind::Query => contract::Kind::Query,
            Kind::Mutation => contract::Kind::Mutation,
        },
        access: match row.access {
            Access::Public => contract::Access::Public,
            Access::Onboarding => contract::Access::Onboarding,
            Access::Protected => contract::Access::Protected,
            Access::OwnUserOr(permission) => contract::Access::OwnUserOr(names(permission)),
            Access::Holds(permission) => contract::Access::OneOf(names(permission)),
        },
        cost: match row.cost {
            Cost::Small => contract::Cost::Small,
            Cost::Large => contract::Cost::Large,
            Cost::Hash => contract::Cost::Hash,
        },
    }
}
