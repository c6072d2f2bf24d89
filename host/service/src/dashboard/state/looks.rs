//! The looks and the pictures of a document.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_model::{PICTURES, TextChange, error::Error};
use portico_rules::{rule::Rule, sentences::Word};
use portico_storage::{Access, DashboardTransaction, Looks, Picture};
use serde::Serialize;

use super::{
    super::{
        looks::{self, LooksChange},
        pictures,
        validate::Fields,
    },
    document::{Document, MOST_PICTURES, entries},
    snapshot::{Keys, Snapshot},
};
use crate::{procedures::call::Call, report::Warning, shape::quote};

/// Larger pictures are not in an export: a document is read by people and kept in repositories.
const LARGEST_EXPORTED: u64 = 64 << 10;
/// The bytes of the pictures in an export together, so that it can be applied.
const MOST_EXPORTED: u64 = 4 << 20;

/// What a document says about looks and pictures.
pub(super) struct WantedLooks {
    change: Option<LooksChange>,
    pictures: Vec<Picture>,
    /// What is left out.
    pub warnings: Vec<Warning>,
}

impl WantedLooks {
    /// Takes them out of a document, and checks them.
    pub fn of(document: &mut Document, fields: &mut Fields) -> Self {
        let mut wanted = Self {
            change: document.site.take(),
            pictures: Vec::new(),
            warnings: Vec::new(),
        };
        if let Some(change) = &mut wanted.change {
            fields.enter_record("site");
            change.check(fields);
        }
        for (index, picture) in entries(&document.pictures).iter().take(MOST_PICTURES).enumerate() {
            fields.enter("pictures", index);
            match pictures::read(&picture.image) {
                Ok(read) => {
                    let id = Picture::id_of(&read.bytes);
                    if picture.id.as_ref().is_some_and(|given| *given != id) {
                        fields.refuse("id", Rule::NotHashOfPicture { id: Word(id) });
                    }
                    wanted.pictures.push(read);
                }
                Err(problem) => fields.refuse("image", problem),
            }
        }
        fields.leave();
        wanted
    }

    /// Whether the document states looks.
    pub fn is_stated(&self) -> bool {
        self.change.is_some()
    }

    /// The name of the board that people are to see first who are not signed in.
    pub fn start_board(&self) -> Option<&str> {
        match &self.change.as_ref()?.start_board {
            TextChange::Set(name) => Some(name),
            TextChange::Keep | TextChange::Clear => None,
        }
    }

    /// Stores them, after boards were put and pruned. A picture that is nowhere is left out.
    pub async fn put(
        &mut self,
        call: &Call,
        transaction: &mut dyn DashboardTransaction,
        keys: &Keys,
    ) -> Result<(), Error> {
        for picture in self.pictures.drain(..) {
            let uploader = call.identity.user_id().map(ToOwned::to_owned);
            pictures::put(transaction, picture, uploader, call.resources.clock.now()).await?;
        }
        let Some(change) = &mut self.change else {
            return Ok(());
        };
        let present = transaction.get_looks().await?;
        let mut fields = Fields::default();
        fields.enter_record("site");
        change.keeps_direction(&mut fields, &present);
        if let TextChange::Set(name) = &mut change.start_board {
            let boards = transaction.list_boards().await?;
            match boards
                .into_iter()
                .find(|board| keys.of(&board.name) == keys.of(name))
            {
                Some(board) => *name = board.id,
                None => fields.refuse("startBoard", Rule::NamesNoBoard { name: quote(name) }),
            }
        }
        fields.check()?;
        for (field, wanted) in [("logo", &mut change.logo), ("wallpaper", &mut change.wallpaper)] {
            let TextChange::Set(id) = wanted else { continue };
            if transaction.get_picture_size(id).await?.is_none() {
                *wanted = TextChange::Keep;
                self.warnings.push(Warning {
                    kind: "site".into(),
                    name: name_of(&present).into(),
                    field: field.into(),
                    message: Rule::NotStoredPicture.into(),
                });
            }
        }
        looks::put(transaction, &present, &change.of(&present)).await
    }
}

/// What the dashboard is called.
pub(super) fn name_of(looks: &Looks) -> &str {
    looks.name.as_deref().unwrap_or("Portico")
}

/// A picture in an export.
#[derive(Serialize)]
pub(super) struct ExportedPicture {
    id: String,
    image: String,
}

/// The pictures that an export holds: those that are used and small enough, by id.
pub(super) async fn read_pictures(call: &Call, snapshot: &Snapshot) -> Result<Vec<ExportedPicture>, Error> {
    let apps = snapshot.apps.iter().map(|app| &app.icon_url);
    let engines = snapshot.search_engines.iter().map(|engine| &engine.icon_url);
    let icons = apps.chain(engines).filter_map(|icon| icon.strip_prefix(PICTURES));
    let looks = [&snapshot.looks.logo, &snapshot.looks.wallpaper];
    let used: BTreeSet<&str> = icons
        .chain(looks.into_iter().flatten().map(String::as_str))
        .filter(|id| Picture::is_id(id))
        .collect();
    let mut transaction = call.begin(Access::Read).await?;
    let (mut exported, mut bytes) = (Vec::new(), 0);
    for id in used {
        let size = transaction.get_picture_size(id).await?.unwrap_or(u64::MAX);
        if size > LARGEST_EXPORTED || bytes + size > MOST_EXPORTED || exported.len() == MOST_PICTURES {
            continue;
        }
        if let Some(picture) = transaction.get_picture(id).await? {
            bytes += size;
            exported.push(ExportedPicture {
                id: id.to_owned(),
                image: format!(
                    "data:{};base64,{}",
                    picture.content_type,
                    STANDARD.encode(&picture.bytes)
                ),
            });
        }
    }
    Ok(exported)
}
