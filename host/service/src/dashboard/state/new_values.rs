//! Rules of which existing records are free, because they may be older than the rule. The component has those of users and
//! apps.

use std::collections::HashMap;

use portico_model::{Id, TextChange};
use portico_rules::icons;

use super::{
    super::validate::Fields,
    document::{Document, Matches, entries},
    snapshot::Snapshot,
};

/// Refuses names and descriptions that change the direction of text. An existing record may keep its own, because they
/// may be older than the rule. (It is found by its name.)
pub(super) fn check_directions(
    fields: &mut Fields,
    document: &Document,
    snapshot: &Snapshot,
    [groups, search_engines, boards]: [&Matches; 3],
) {
    fn check<'a>(
        fields: &mut Fields,
        list: &str,
        names: impl Iterator<Item = &'a String>,
        matches: &Matches,
    ) {
        for (index, (name, _)) in names.zip(matches).enumerate().filter(|(_, (_, id))| id.is_none()) {
            fields.enter(list, index);
            fields.keeps_direction("name", name, None);
        }
    }
    let names = entries(&document.groups).iter().map(|group| &group.name);
    check(fields, "groups", names, groups);
    let names = entries(&document.search_engines)
        .iter()
        .map(|engine| &engine.name);
    check(fields, "searchEngines", names, search_engines);
    let names = entries(&document.boards).iter().map(|board| &board.name);
    check(fields, "boards", names, boards);

    let present = snapshot.search_engines.iter();
    let present: HashMap<&Id, _> = present.map(|engine| (&engine.id, &engine.description)).collect();
    for (index, engine) in entries(&document.search_engines).iter().enumerate() {
        if let TextChange::Set(description) = &engine.description {
            let present = search_engines[index].as_ref().and_then(|id| present.get(id));
            fields.enter("searchEngines", index);
            fields.keeps_direction(
                "description",
                description,
                present.and_then(|text| text.as_deref()),
            );
        }
    }
}

/// Refuses icons that no new search engine may have. An existing search engine may keep such an icon, because it may be
/// older than the rule.
pub(super) fn check_icons(fields: &mut Fields, document: &Document, snapshot: &Snapshot, matches: &Matches) {
    let present = snapshot.search_engines.iter();
    let present: HashMap<&Id, &String> = present.map(|engine| (&engine.id, &engine.icon_url)).collect();
    for (index, engine) in entries(&document.search_engines).iter().enumerate() {
        let stays = matches[index].as_ref().and_then(|id| present.get(id)) == Some(&&engine.icon_url);
        if let Some(problem) = icons::problem(&engine.icon_url).filter(|_| !stays) {
            fields.enter("searchEngines", index);
            fields.refuse("iconUrl", problem);
        }
    }
}
