//! What a document puts on a board, and with whom it shares it: the references of the plan as the ids of records.

use portico_model::Id;
use portico_storage::{Board, BoardItem, PlacedItem, Section, Share, Shares};

use super::plan::{Content, Contents, Item, Referent, SharedTarget};

/// The ids of the records that the entries of each list name.
pub(super) struct Ids {
    pub groups: Vec<Id>,
    pub users: Vec<Id>,
    pub apps: Vec<Id>,
}

pub(super) fn resolved<'a>(target: &'a Referent, listed: &'a [Id]) -> &'a str {
    match target {
        Referent::Existing(id) => id,
        Referent::Listed(index) => &listed[*index],
    }
}

/// What is on a board from now on.
pub(super) fn sections(contents: &Contents, present: Option<&Board>, apps: &[Id]) -> Vec<Section> {
    let sections: Vec<Section> = match (&contents.sections, present) {
        (Some(sections), _) => {
            let sections = sections.iter().map(|section| Section {
                name: section.name.clone(),
                collapsed: section.collapsed,
                items: section.items.iter().map(|item| placed(item, apps)).collect(),
            });
            sections.collect()
        }
        (None, Some(present)) => present.sections.clone(),
        (None, None) => Vec::new(),
    };
    if sections.is_empty() {
        return vec![Section::default()];
    }
    sections
}

fn placed(item: &Item, apps: &[Id]) -> PlacedItem {
    let content = match &item.content {
        Content::App(app) => BoardItem::App {
            app_id: resolved(app, apps).into(),
        },
        Content::Bookmarks(targets) => BoardItem::Bookmarks {
            app_ids: targets.iter().map(|app| resolved(app, apps).into()).collect(),
        },
        Content::Note(text) => BoardItem::Note { text: text.clone() },
        Content::Clock(time_zone) => BoardItem::Clock {
            time_zone: time_zone.clone(),
        },
    };
    PlacedItem {
        size: item.size.unwrap_or_else(|| content.default_size()),
        item: content,
    }
}

/// The users and groups that a board is shared with: sorted and each once, as storage gives them. Of two shares with
/// one of them, the one that lets them change the board counts.
pub(super) fn shares(contents: &Contents, before: &Shares, ids: &Ids) -> Shares {
    let all = |targets: &Option<Vec<SharedTarget>>, listed: &[Id], before: &[Share]| match targets {
        None => before.to_vec(),
        Some(targets) => {
            let share = |(target, may_change): &SharedTarget| Share {
                id: resolved(target, listed).into(),
                may_change: *may_change,
            };
            let mut shares: Vec<Share> = targets.iter().map(share).collect();
            shares.sort_unstable_by(|one, other| {
                one.id.cmp(&other.id).then(other.may_change.cmp(&one.may_change))
            });
            shares.dedup_by(|one, first| one.id == first.id);
            shares
        }
    };
    Shares {
        users: all(&contents.users, &ids.users, &before.users),
        groups: all(&contents.groups, &ids.groups, &before.groups),
    }
}
