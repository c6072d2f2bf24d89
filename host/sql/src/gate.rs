//! Statements of the gate: where apps are, and the user with a pass.

use std::collections::BTreeSet;

use portico_storage::{AppGate, AppPlace, GateVisitor, Result, SecretHash, Viewer};

use crate::apps::storable;
use crate::database::{Database, Row};
use crate::parameter::Value;
use crate::statement::{Sql, declare};
use crate::transaction::Runner;
use crate::values::timestamp;
use crate::views::seen;

declare! {
    FIND = Sql::short("SELECT app.id FROM ~app AS app WHERE [among app.id $1] ORDER BY app.id LIMIT 1").alone();
    FIND_SEEN = Sql::short(concat!(
        "SELECT app.id FROM ~app AS app WHERE [among app.id $3] AND ", seen!(), " ORDER BY app.id LIMIT 1"
    )).alone();
    FIND_OPEN = Sql::short(
        "SELECT gate.app_id FROM ~app_gate AS gate
        WHERE [among gate.app_id $1] AND gate.is_open
            AND (EXISTS (SELECT 1 FROM ~board_item AS item JOIN ~board AS viewed ON viewed.id = item.board_id
                    WHERE item.app_id = gate.app_id AND viewed.is_public)
                OR EXISTS (SELECT 1 FROM ~board_item_app AS item JOIN ~board AS viewed ON viewed.id = item.board_id
                    WHERE item.app_id = gate.app_id AND viewed.is_public))
        ORDER BY gate.app_id LIMIT 1"
    ).alone();
    LIST_PLACES = Sql::long(
        "SELECT app.id, app.href, gate.addresses FROM ~app AS app LEFT JOIN ~app_gate AS gate ON gate.app_id = app.id
        WHERE app.href IS NOT NULL OR gate.addresses <> '' ORDER BY app.id"
    );
    LIST = Sql::long("SELECT app_id, addresses, is_open FROM ~app_gate ORDER BY app_id");
    GET = Sql::short(
        "SELECT app.id, coalesce(gate.addresses, ''), coalesce(gate.is_open, false)
        FROM ~app AS app LEFT JOIN ~app_gate AS gate ON gate.app_id = app.id WHERE app.id = $1"
    ).alone();
    SET = Sql::short(
        "INSERT INTO ~app_gate (app_id, addresses, is_open) SELECT id, $2, $3 FROM ~app WHERE id = $1
        ON CONFLICT (app_id) DO UPDATE SET addresses = $2, is_open = $3"
    ).alone();
    UNSET = Sql::short("DELETE FROM ~app_gate WHERE app_id = $1").alone();
    PUT_PASS = Sql::short(
        "INSERT INTO ~gate_pass (session_id, token_hash, session_hash) SELECT id, $2, token_hash FROM ~session
        WHERE id = $1 AND token_hash = $3
        ON CONFLICT (session_id) DO UPDATE SET token_hash = excluded.token_hash, session_hash = excluded.session_hash"
    ).alone();
    /// One row for each group and permission of the user, or one row without them.
    FIND_VISITOR = Sql::short(
        "SELECT credential.id, account.id, account.name,
            CASE WHEN account.email_verified IS NOT NULL OR account.provider = 'ldap' THEN account.email END,
            credential.expires_at, credential.ends_at,
            EXISTS (SELECT 1 FROM ~user_account AS other
                WHERE other.name_key = account.name_key AND other.id <> account.id
                    AND (account.provider = 'credentials' OR other.provider <> 'credentials'
                        OR EXISTS (SELECT 1 FROM ~group_member AS member JOIN ~group_permission AS held
                                ON held.group_id = member.group_id
                            WHERE member.user_id = other.id AND held.permission = 'admin'))),
            joined.name, held.permission
        FROM ~gate_pass AS pass
            JOIN ~session AS credential
                ON credential.id = pass.session_id AND credential.token_hash = pass.session_hash
            JOIN ~user_account AS account ON account.id = credential.user_id AND NOT account.disabled
            LEFT JOIN ~group_member AS member ON member.user_id = account.id
            LEFT JOIN ~user_group AS joined ON joined.id = member.group_id
            LEFT JOIN ~group_permission AS held ON held.group_id = member.group_id
        WHERE pass.token_hash = $1"
    ).alone();
}

/// A visitor whose groups and permissions are being collected.
type Found = (GateVisitor, BTreeSet<String>, BTreeSet<String>);

impl<D: Database> Runner<D> {
    pub(crate) async fn find_seen_app(&mut self, ids: &[String], viewer: &Viewer) -> Result<Option<String>> {
        let ids = storable(ids);
        let (sql, values) = match self.view(viewer).await? {
            None => (&FIND, vec![ids]),
            Some(view) => (
                &FIND_SEEN,
                vec![(&view.user_id).into(), self.counts_permissions(), ids],
            ),
        };
        self.find(sql, values, |row| row.text(0)).await
    }

    pub(crate) async fn find_open_app(&mut self, ids: &[String]) -> Result<Option<String>> {
        self.find(&FIND_OPEN, vec![storable(ids)], |row| row.text(0))
            .await
    }

    pub(crate) async fn list_app_places(&mut self) -> Result<Vec<AppPlace>> {
        self.list_sized(&LIST_PLACES, Vec::new(), |row| {
            Ok(AppPlace {
                app_id: row.text(0)?,
                href: row.get_text(1)?,
                addresses: words(&row.get_text(2)?.unwrap_or_default()),
            })
        })
        .await
    }

    pub(crate) async fn list_app_gates(&mut self) -> Result<Vec<AppGate>> {
        self.list_sized(&LIST, Vec::new(), gate).await
    }

    pub(crate) async fn get_app_gate(&mut self, app_id: &str) -> Result<Option<AppGate>> {
        self.find(&GET, vec![app_id.into()], gate).await
    }

    pub(crate) async fn set_app_gate(&mut self, gate: &AppGate) -> Result<bool> {
        if gate.is_unset() {
            self.execute(&UNSET, vec![(&gate.app_id).into()]).await?;
            return Ok(self.get_app_gate(&gate.app_id).await?.is_some());
        }
        let values = vec![
            (&gate.app_id).into(),
            Value::Text(Some(gate.addresses.join(" "))),
            gate.is_open.into(),
        ];
        self.change(&SET, values).await
    }

    pub(crate) async fn put_gate_pass(
        &mut self,
        session_id: &str,
        token: &SecretHash,
        pass: &SecretHash,
    ) -> Result<bool> {
        let values = vec![session_id.into(), pass[..].into(), token[..].into()];
        self.change(&PUT_PASS, values).await
    }

    pub(crate) async fn find_gate_visitor(&mut self, pass: &SecretHash) -> Result<Option<GateVisitor>> {
        let none: Option<Found> = None;
        let found = self
            .fold(&FIND_VISITOR, vec![pass[..].into()], none, |found, row| {
                let (_, groups, permissions) = match found {
                    Some(found) => found,
                    None => found.insert((visitor(row)?, BTreeSet::new(), BTreeSet::new())),
                };
                groups.extend(row.get_text(7)?);
                permissions.extend(row.get_text(8)?);
                Ok(())
            })
            .await?;
        Ok(found.map(|(visitor, groups, permissions)| GateVisitor {
            groups: groups.into_iter().collect(),
            permissions: permissions.into_iter().collect(),
            ..visitor
        }))
    }
}

fn gate(row: &dyn Row) -> Result<AppGate> {
    Ok(AppGate {
        app_id: row.text(0)?,
        addresses: words(&row.text(1)?),
        is_open: row.bool(2)?,
    })
}

/// Addresses are kept as words between spaces.
fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn visitor(row: &dyn Row) -> Result<GateVisitor> {
    Ok(GateVisitor {
        session_id: row.text(0)?,
        user_id: row.text(1)?,
        name: row.text(2)?,
        email: row.get_text(3)?,
        expires_at: timestamp(row, 4)?,
        ends_at: timestamp(row, 5)?,
        is_name_shared: row.bool(6)?,
        groups: Vec::new(),
        permissions: Vec::new(),
    })
}
