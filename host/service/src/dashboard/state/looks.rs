//! The looks and the pictures of a document.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use portico_model::{Id, PICTURES, error::Error};
use portico_rules::{rule::Rule, sentences::Word};
use portico_storage::{Access, DashboardTransaction, Looks, Picture};
use serde::Serialize;

use super::{
    super::{looks, pictures, validate::Fields},
    document::{Document, MOST_PICTURES, entries},
    snapshot::Snapshot,
};
use crate::{procedures::call::Call, report::Warning};

/// Larger pictures are not in an export: a document is read by people and kept in repositories.
const LARGEST_EXPORTED: u64 = 64 << 10;
/// The bytes of the pictures in an export together, so that it can be applied.
const MOST_EXPORTED: u64 = 4 << 20;

/// The pictures of a document, and what is left out of its looks.
pub(super) struct WantedLooks {
    pictures: Vec<Picture>,
    pub warnings: Vec<Warning>,
}

impl WantedLooks {
    /// Checks the looks and the pictures of a document, and reads the pictures.
    pub fn of(document: &mut Document, fields: &mut Fields) -> Self {
        let mut wanted = Self {
            pictures: Vec::new(),
            warnings: Vec::new(),
        };
        if let Some(change) = &mut document.site {
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

    /// Stores them, after boards were put and pruned: the start board is the one that its name led to. A picture that is
    /// nowhere is left out.
    pub async fn put(
        &mut self,
        call: &Call,
        transaction: &mut dyn DashboardTransaction,
        document: &Document,
        start_board: Option<Option<Id>>,
    ) -> Result<(), Error> {
        for picture in self.pictures.drain(..) {
            let uploader = call.identity.user_id().map(ToOwned::to_owned);
            pictures::put(transaction, picture, uploader, call.resources.clock.now()).await?;
        }
        let Some(change) = &document.site else {
            return Ok(());
        };
        let present = transaction.get_looks().await?;
        let mut fields = Fields::default();
        fields.enter_record("site");
        change.keeps_direction(&mut fields, &present);
        fields.check()?;
        let mut wanted = change.of(&present);
        if let Some(board) = start_board {
            wanted.start_board = board;
        }
        for (field, id) in change.pictures() {
            if transaction.get_picture_size(id).await?.is_none() {
                match field {
                    "logo" => wanted.logo.clone_from(&present.logo),
                    _ => wanted.wallpaper.clone_from(&present.wallpaper),
                }
                self.warnings.push(Warning {
                    kind: "site".into(),
                    name: name_of(&present).into(),
                    field: field.into(),
                    message: Rule::NotStoredPicture.into(),
                });
            }
        }
        looks::put(transaction, &present, &wanted).await
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
