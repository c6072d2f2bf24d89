//! `gate.*`: where apps are for the gate in front of them, in addition to their links, and which of them let everyone in.

use portico_model::{
    PathSegment,
    error::{Code, Error},
};
use portico_rules::{bounds, permissions::Permission, refusal::Missing, rule::Rule};
use portico_storage::{Access, AppGate};
use serde::Serialize;

use super::{transaction::require_found, validate::Fields};
use crate::{
    gate::{GateHosts, kept_address},
    procedures::{
        call::{ById, Call, ID, Output, json},
        row::{Row, mutation, query},
    },
    shape::{
        Bound,
        Shape::{self, Boolean, Bounded, List, Named, Nothing, Record, Text},
        Shaped, records, required,
    },
};

/// The most further addresses of an app.
const MOST_ADDRESSES: usize = 20;

pub(super) const ADDRESSES: Shape = Bounded(
    &List(&Bounded(&Text, Bound::length(bounds::GATE_ADDRESS))),
    Bound::Count(0, MOST_ADDRESSES as u32),
);
pub(super) const ADDRESSES_ABOUT: &str = "The further addresses of the app, in addition to its link: URLs with `http:` or \
     `https:`, of at most 2,048 characters, without a query, a fragment and a username. Everything below an address is the app's.";
pub(super) const IS_OPEN_ABOUT: &str =
    "Whether the gate lets everyone in, signed in or not, while the app is on a public board.";

records! {
    struct Update {
        id: String = required("id", Text).about("Which app: its id."),
        addresses: Vec<String> = required("addresses", ADDRESSES).about(ADDRESSES_ABOUT),
        is_open: bool = required("isOpen", Boolean).about(IS_OPEN_ABOUT),
    }
}

const GATE: Shape = Named(
    "AppGate",
    &Record(&[
        required("id", Text).about("The app's id."),
        required("addresses", List(&Text))
            .about("The further addresses of the app, in addition to its link."),
        required("isOpen", Boolean).about(IS_OPEN_ABOUT),
    ]),
);

pub(super) static ROWS: &[Row] = &[
    query("gate.getAll", Nothing, List(&GATE), |call| Box::pin(get_all(call)))
        .needs(Permission::AppModifyAll)
        .large()
        .about("What is set of apps for the gate in front of them, where something is, by id."),
    query("gate.byId", ID, GATE, |call| Box::pin(by_id(call)))
        .needs(Permission::AppModifyAll)
        .about("What is set of an app for the gate in front of apps.")
        .at("GET", "/api/apps/{id}/gate")
        .refuses(&[Code::NotFound]),
    mutation("gate.update", Update::SHAPE, Nothing, |call| {
        Box::pin(update(call))
    })
    .needs(Permission::AppModifyAll)
    .about(
        "Replaces what is set of an app for the gate: further addresses, as browsers write them and each once, and whether \
         the gate lets everyone in.",
    )
    .at("PUT", "/api/apps/{id}/gate")
    .refuses(&[Code::NotFound]),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: &'a str,
    addresses: &'a [String],
    is_open: bool,
}

impl<'a> From<&'a AppGate> for Shown<'a> {
    fn from(gate: &'a AppGate) -> Self {
        Self {
            id: &gate.app_id,
            addresses: &gate.addresses,
            is_open: gate.is_open,
        }
    }
}

/// Checks further addresses: as they are kept, each once.
pub(super) fn check_addresses(fields: &mut Fields, addresses: &[String]) -> Vec<String> {
    fields.count("addresses", addresses.len(), MOST_ADDRESSES);
    let mut kept = Vec::new();
    for (index, address) in addresses.iter().take(MOST_ADDRESSES).enumerate() {
        let path = [
            PathSegment::Field("addresses".into()),
            PathSegment::Index(index as u32),
        ];
        let length = address.trim().chars().count();
        if !bounds::GATE_ADDRESS.contains(&length) {
            let (least, most) = bounds::GATE_ADDRESS.into_inner();
            let rule = Rule::CharactersBetween {
                least,
                most,
                got: length,
            };
            fields.refuse_at(path, rule);
            continue;
        }
        match kept_address(address) {
            // Punycode is longer than what was typed.
            Some(address) if bounds::GATE_ADDRESS.contains(&address.len()) => {
                if !kept.contains(&address) {
                    kept.push(address);
                }
            }
            _ => fields.refuse_at(path, Rule::NotGateAddress),
        }
    }
    kept
}

/// Refuses addresses at which the gate finds no app. Only where it is on: documents are also applied elsewhere.
fn check_hosts(addresses: &[String], hosts: &GateHosts) -> Result<(), Error> {
    let mut fields = Fields::default();
    for (index, address) in addresses.iter().enumerate() {
        let path = [
            PathSegment::Field("addresses".into()),
            PathSegment::Index(index as u32),
        ];
        if let Some(rule) = hosts.rule_against(address.trim()) {
            fields.refuse_at(path, rule);
        }
    }
    fields.check()
}

async fn get_all(call: Call) -> Result<Output, Error> {
    let mut transaction = call.begin(Access::Read).await?;
    let gates = transaction.list_app_gates().await?;
    json(&gates.iter().map(Shown::from).collect::<Vec<_>>())
}

async fn by_id(mut call: Call) -> Result<Output, Error> {
    let input: ById = call.input()?;
    let mut transaction = call.begin(Access::Read).await?;
    let gate = transaction.get_app_gate(&input.id).await?;
    json(&Shown::from(&gate.ok_or_else(|| Error::not_found(Missing::App))?))
}

async fn update(mut call: Call) -> Result<Output, Error> {
    let input: Update = call.input()?;
    let mut fields = Fields::default();
    let addresses = check_addresses(&mut fields, &input.addresses);
    fields.check()?;
    if let Some(hosts) = call.resources.gate_hosts.get() {
        check_hosts(&input.addresses, hosts)?;
    }
    let gate = AppGate {
        app_id: input.id,
        addresses,
        is_open: input.is_open,
    };
    let mut transaction = call.begin(Access::Write).await?;
    require_found(transaction.set_app_gate(&gate).await?, Missing::App)?;
    transaction.commit().await?;
    json(&())
}
