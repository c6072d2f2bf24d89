//! The facts in a database of PostgreSQL, as `durability/facts.rs` reads them from SQLite's.

use std::collections::BTreeMap;

use portico_tests::postgresql::Postgresql;

use crate::durability::facts::Facts;

/// Each row: the fact's key, its value, and the id of the record, if it is one. One statement: one state. What the
/// other load writes (`load.rs`) has no email and no description, and is not a fact.
const FACTS: &str = "
    SELECT 'app ' || description, name || ' ' || coalesce(href, ''), id FROM app WHERE description IS NOT NULL
    UNION ALL SELECT 'user ' || email, name || ' ' || first_day_of_week, id FROM user_account WHERE email IS NOT NULL
    UNION ALL SELECT 'group ' || name,
        coalesce((SELECT string_agg(permission, ' ' ORDER BY permission) FROM group_permission WHERE group_id = id), ''),
        id FROM user_group
    UNION ALL SELECT 'member ' || g.name || ' ' || u.email, '', '' FROM group_member
        JOIN user_group AS g ON g.id = group_id JOIN user_account AS u ON u.id = user_id WHERE email IS NOT NULL
    UNION ALL SELECT 'key ' || k.name, u.email, k.id FROM api_key AS k JOIN user_account AS u ON u.id = user_id
        WHERE k.name IS NOT NULL
    UNION ALL SELECT 'invite ' || to_char(to_timestamp(expires_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS')
            || '.' || lpad((expires_at % 1000)::text, 3, '0') || 'Z',
        u.email, i.id FROM invite AS i JOIN user_account AS u ON u.id = creator_id
    UNION ALL SELECT 'board ' || b.name, is_public::integer || ' ' || coalesce(u.email, ''), b.id FROM board AS b
        LEFT JOIN user_account AS u ON u.id = creator_id
    UNION ALL SELECT 'item ' || b.name || ' ' || i.position, coalesce(description, ''), '' FROM board_item AS i
        JOIN board AS b ON b.id = board_id LEFT JOIN app ON app.id = app_id
    UNION ALL SELECT 'bookmark ' || b.name || ' ' || item_position || ' ' || a.position, description, ''
        FROM board_item_app AS a JOIN board AS b ON b.id = board_id JOIN app ON app.id = app_id
    UNION ALL SELECT 'share ' || b.name || ' ' || u.email, '', '' FROM board_user
        JOIN board AS b ON b.id = board_id JOIN user_account AS u ON u.id = user_id
    UNION ALL SELECT 'share ' || b.name || ' ' || g.name, '', '' FROM board_group
        JOIN board AS b ON b.id = board_id JOIN user_group AS g ON g.id = group_id";

/// Every fact, and the ids of records by their facts' keys. References to nothing are impossible by the schema.
pub fn look(server: &Postgresql) -> (Facts, BTreeMap<String, String>) {
    // The last column keeps the ends of lines, which may be empty.
    let sql =
        format!("SELECT concat_ws(chr(9), key, value, id, '.') FROM ({FACTS}) AS facts (key, value, id)");
    let (mut facts, mut ids) = (Facts::new(), BTreeMap::new());
    for row in server.run("home", &sql).lines() {
        let columns: Vec<_> = row.split('\t').collect();
        let [key, value, id, _] = columns[..] else {
            panic!("no fact: {row:?}");
        };
        let twice = facts.insert(key.to_owned(), value.to_owned());
        assert_eq!(twice, None, "{key} is there twice");
        if !id.is_empty() {
            ids.insert(key.to_owned(), id.to_owned());
        }
    }
    (facts, ids)
}
