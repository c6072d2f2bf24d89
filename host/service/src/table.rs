//! The procedure table: every procedure with its shapes, its transports and the function that runs it.
//!
//! Procedure calls, REST, sign-in, the command line, OpenAPI and the access tests all work from it. Kind and access of
//! the component's procedures come from its `describe`: the host does not start if the component does not describe the
//! procedure of a row, or if a described procedure has no row. All other rows state kind and access themselves.

use std::{collections::HashMap, sync::Arc};

use anyhow::bail;
use portico_sandbox::{Cost, Described};

use crate::{
    dashboard,
    procedures::{
        self, Procedure,
        row::{Row, Transports},
    },
    shape::Shape,
};

/// The input of `state.apply`.
pub const DOCUMENT: Shape = dashboard::DOCUMENT;

/// The keys under which a document has something: all but the options.
pub fn parts_of_document() -> impl Iterator<Item = &'static str> {
    let fields = DOCUMENT.fields().unwrap_or_default().iter();
    let parts = fields.filter(|field| !matches!(field.shape, Shape::Boolean));
    parts.map(|field| field.name)
}

/// All procedures, in order.
pub struct Table {
    procedures: Vec<Arc<Procedure>>,
    /// Positions in `procedures`.
    by_name: HashMap<&'static str, usize>,
    /// Those that are reached only at their route.
    routes: Vec<Procedure>,
    /// Positions in `routes`.
    route_by_name: HashMap<&'static str, usize>,
}

impl Table {
    /// The procedures that the component describes.
    pub fn new(described: Vec<Described>) -> anyhow::Result<Self> {
        let mut rows: HashMap<_, _> = procedures::component_rows().map(|row| (row.name, row)).collect();
        let mut procedures = Vec::new();
        let mut unknown = Vec::new();
        for described in described {
            let Some(row) = rows.remove(described.name.as_str()) else {
                let name = described.name.chars().take(100);
                unknown.push(name.flat_map(char::escape_debug).collect::<String>());
                continue;
            };
            procedures.push(row.with(described));
        }
        let mut lacking: Vec<_> = rows.into_keys().collect();
        lacking.sort_unstable();
        let what_to_do = "use the Portico version it was built for, or rebuild it";
        if !unknown.is_empty() {
            bail!(
                "the component describes procedures that this host does not know ({}): {what_to_do}",
                unknown[..unknown.len().min(10)].join(", ")
            );
        }
        if !lacking.is_empty() {
            bail!(
                "the component does not describe procedures that this host calls ({}): {what_to_do}",
                lacking.join(", ")
            );
        }
        let mut table = Self {
            procedures: Vec::new(),
            by_name: HashMap::new(),
            routes: Vec::new(),
            route_by_name: HashMap::new(),
        };
        table.extend(procedures);
        Ok(table)
    }

    /// The same with the dashboard side, and with sign-in, sign-out and the session.
    pub fn with_dashboard(mut self) -> Self {
        let rows = dashboard::rows().chain(procedures::sign_in_rows());
        self.extend(rows.filter_map(Row::procedure_as_stated));
        self
    }

    fn extend(&mut self, procedures: impl IntoIterator<Item = Procedure>) {
        for procedure in procedures {
            match procedure.transports {
                Transports::Route => {
                    let index = self.routes.len();
                    self.route_by_name.insert(procedure.name, index);
                    self.routes.push(procedure);
                }
                Transports::Calls(_) => {
                    let index = self.procedures.len();
                    self.by_name.insert(procedure.name, index);
                    self.procedures.push(procedure.into());
                }
            }
        }
    }

    /// Refuses another component if the kind or the access of a procedure differs: routes, descriptions and
    /// clients rely on them.
    pub(crate) fn check_same(&self, described: &Self) -> anyhow::Result<()> {
        let hashes = |procedure: &Procedure| procedure.cost == Cost::Hash;
        let differs = |new: &&Arc<Procedure>| {
            self.find(new.name).is_none_or(|old| {
                old.kind != new.kind || old.access != new.access || hashes(old) != hashes(new)
            })
        };
        let differing: Vec<_> = described
            .procedures
            .iter()
            .filter(differs)
            .map(|procedure| procedure.name)
            .collect();
        if !differing.is_empty() {
            bail!(
                "who may call these procedures, or how, differs from those that are served ({}): restart to \
                 serve it",
                differing.join(", ")
            );
        }
        Ok(())
    }

    /// The procedure with this name, for a procedure call.
    pub fn find(&self, name: &str) -> Option<&Arc<Procedure>> {
        self.by_name.get(name).map(|index| &self.procedures[*index])
    }

    /// All procedures that can be called by name, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Procedure>> {
        self.procedures.iter()
    }

    /// The procedures that are reached only at their route, in order.
    pub fn routes(&self) -> impl Iterator<Item = &Procedure> {
        self.routes.iter()
    }

    /// The procedure with this name that is reached only at its route.
    pub(crate) fn find_route(&self, name: &str) -> Option<&Procedure> {
        self.route_by_name.get(name).map(|index| &self.routes[*index])
    }
}
