//! A board as people see it: its sections with tiles, notes and clocks.

use super::{
    super::{
        PageResult, segment,
        tiles::{self, App},
    },
    Right, StoredBoard,
    stored::StoredItem,
};
use crate::{
    api::{Api, ApiError},
    links,
    respond::see,
    visit::{Visit, Visitor},
};

/// What a board shows.
pub(in crate::pages) struct ShownBoard {
    pub id: String,
    pub name: String,
    pub sections: Vec<ShownSection>,
    /// Whether the reader may change it.
    pub may_edit: bool,
}

pub(in crate::pages) struct ShownSection {
    pub name: Option<String>,
    pub collapsed: bool,
    pub items: Vec<ShownItem>,
}

pub(in crate::pages) struct ShownItem {
    pub size: String,
    pub kind: ShownKind,
}

pub(in crate::pages) enum ShownKind {
    App(App),
    Bookmarks(Vec<App>),
    Note(Vec<Paragraph>),
    /// Where, if not where the reader is.
    Clock(Option<String>),
}

/// The lines of a paragraph, each in pieces.
pub(in crate::pages) type Paragraph = Vec<Vec<Piece>>;

/// A piece of a line.
#[derive(Debug, PartialEq)]
pub(in crate::pages) enum Piece {
    Text(String),
    Link(String),
}

impl ShownBoard {
    /// The apps of all its items.
    pub fn apps(&mut self) -> impl Iterator<Item = &mut App> {
        let items = self.sections.iter_mut().flat_map(|section| &mut section.items);
        items.flat_map(|item| match &mut item.kind {
            ShownKind::App(app) => std::slice::from_mut(app),
            ShownKind::Bookmarks(apps) => apps,
            ShownKind::Note(_) | ShownKind::Clock(_) => &mut [],
        })
    }

    /// The board of this id. Only people who are signed in may change it.
    pub async fn read(visit: &Visit, id: &str) -> Result<Self, ApiError> {
        let board = StoredBoard::read(&visit.api, id);
        let right = async {
            match &visit.user {
                None => Ok(Right::View),
                Some(_) => Right::read(&visit.api, id).await,
            }
        };
        let (board, right) = tokio::join!(board, right);
        Self::of(&visit.api, board?, right? >= Right::Change).await
    }

    async fn of(api: &Api, board: StoredBoard, may_edit: bool) -> Result<Self, ApiError> {
        let found = tiles::by_ids(api, board.app_ids()).await?;
        let sections = board.sections.into_iter().map(|section| {
            let items = section.items.into_iter().filter_map(|placed| {
                let kind = match placed.item {
                    StoredItem::App { app_id } => found.get(&app_id).cloned().map(ShownKind::App),
                    StoredItem::Bookmarks { app_ids } => {
                        let apps = app_ids.iter().filter_map(|id| found.get(id).cloned());
                        let apps: Vec<App> = apps.collect();
                        (!apps.is_empty()).then_some(ShownKind::Bookmarks(apps))
                    }
                    StoredItem::Note { text } => Some(ShownKind::Note(paragraphs(&text))),
                    StoredItem::Clock { time_zone } => Some(ShownKind::Clock(time_zone)),
                };
                let size = placed.size;
                kind.map(|kind| ShownItem { size, kind })
            });
            ShownSection {
                name: section.name,
                collapsed: section.collapsed,
                items: items.collect(),
            }
        });
        Ok(Self {
            sections: sections.collect(),
            id: board.id,
            name: board.name,
            may_edit,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.items.is_empty())
    }

    /// Where it is shown.
    pub fn path(&self) -> String {
        format!("/boards/{}", segment(&self.id))
    }
}

impl ShownSection {
    /// Whether it opens and closes.
    pub fn folds(&self) -> bool {
        self.name.is_some() || self.collapsed
    }
}

/// `/b/{slug}` leads to its board.
pub(super) async fn follow(visit: &Visitor, slug: &str) -> PageResult {
    let board = visit.or_sign_in(StoredBoard::at(&visit.api, slug).await)?;
    Ok(see(&format!("/boards/{}", segment(&board.id))))
}

/// A text in paragraphs, which empty lines separate. An address that may be opened is a link.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut is_new = true;
    for line in text.lines() {
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        match paragraphs.last_mut() {
            Some(last) if !is_new => last.push(pieces(line)),
            _ => paragraphs.push(vec![pieces(line)]),
        }
        is_new = false;
    }
    paragraphs
}

fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    for word in line.split_inclusive(char::is_whitespace) {
        let start = word.find("https://").or_else(|| word.find("http://"));
        let Some(start) = start else {
            text.push_str(word);
            continue;
        };
        let (before, rest) = word.split_at(start);
        // No address contains these, and what ends the sentence is not part of it either.
        let end = rest.find(['<', '>', '"']).unwrap_or(rest.len());
        let link = rest[..end]
            .trim_end_matches(|letter: char| letter.is_whitespace() || ".,;:!?)]}'".contains(letter));
        if !links::may_be_opened(link) || link.ends_with("//") {
            text.push_str(word);
            continue;
        }
        text.push_str(before);
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Link(link.to_owned()));
        text.push_str(&rest[link.len()..]);
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_paragraphs_with_links() {
        let text = |text: &str| Piece::Text(text.into());
        let link = |address: &str| Piece::Link(address.into());
        let note = "Milk\n see (https://shop.example/a?b=1).\n\n \nhttps://\n<b>bold</b> javascript:x\n\n<b>https://a.example/</b>";
        let shown = paragraphs(note);
        assert_eq!(
            shown,
            [
                vec![
                    vec![text("Milk")],
                    vec![text(" see ("), link("https://shop.example/a?b=1"), text(").")],
                ],
                vec![vec![text("https://")], vec![text("<b>bold</b> javascript:x")]],
                vec![vec![text("<b>"), link("https://a.example/"), text("</b>")]],
            ]
        );
        assert_eq!(paragraphs(" \n"), Vec::<Paragraph>::new());
    }
}
