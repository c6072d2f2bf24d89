//! What the dashboard looks like, and the pictures that people upload for it.

use serde::{Deserialize, Serialize};

use portico_model::{Id, Timestamp};

/// What the dashboard looks like, for everyone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Looks {
    /// What it is called instead of Portico.
    pub name: Option<String>,
    /// The id of the picture in place of Portico's mark.
    pub logo: Option<Id>,
    /// The colour of links and buttons, as `#rrggbb` in lower case.
    pub accent_color: Option<String>,
    /// The id of the picture behind the tiles.
    pub wallpaper: Option<Id>,
    /// How large tiles are.
    pub density: Density,
    /// How many columns of tiles there are; `None`: as many as fit.
    pub columns: Option<u32>,
    /// Whether tiles take the whole width of a wide screen.
    pub wide_screens: bool,
    /// Who sees which app, unless the operator has fixed it.
    pub app_visibility: AppVisibility,
    /// The id of the board that people see first who are not signed in. Documents name it otherwise.
    #[serde(skip)]
    pub start_board: Option<Id>,
    /// The hosts in private networks that status checks may reach, unless the operator has fixed them. Not for everyone.
    #[serde(skip)]
    pub ping_allow: Vec<String>,
}

impl Default for Looks {
    /// Those of Portico, which use wide screens.
    fn default() -> Self {
        Self {
            name: None,
            logo: None,
            accent_color: None,
            wallpaper: None,
            density: Density::Comfortable,
            columns: None,
            wide_screens: true,
            app_visibility: AppVisibility::Everyone,
            start_board: None,
            ping_allow: Vec::new(),
        }
    }
}

/// Who sees which app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AppVisibility {
    /// Every signed-in user sees all apps; by their ids, anyone.
    #[default]
    Everyone,
    /// Callers see the apps on boards that they may view.
    Boards,
}

impl AppVisibility {
    /// The names of all, as the API has them.
    pub const NAMES: [&str; 2] = ["everyone", "boards"];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Boards => "boards",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Everyone, Self::Boards]
            .into_iter()
            .find(|visibility| visibility.name() == name)
    }
}

/// Who sees which app at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibilityInForce {
    /// What is in force.
    pub visibility: AppVisibility,
    /// Whether the operator has fixed it, so that what is stored has no effect.
    pub is_fixed: bool,
}

/// How large tiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Icons with their names.
    Icons,
    /// One line.
    Compact,
    /// With descriptions.
    Comfortable,
}

impl Density {
    /// The names of all, as the API has them.
    pub const NAMES: [&str; 3] = ["icons", "compact", "comfortable"];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icons => "icons",
            Self::Compact => "compact",
            Self::Comfortable => "comfortable",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = [Self::Icons, Self::Compact, Self::Comfortable].into_iter();
        all.find(|density| density.name() == name)
    }
}

/// A picture that is uploaded.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPicture {
    /// The SHA-256 of its bytes, in hexadecimal digits: the same picture is stored once.
    pub id: Id,
    /// The picture.
    pub picture: Picture,
    /// The id of the user who uploaded it; `None` for the operator.
    pub uploader_id: Option<Id>,
    /// When it was uploaded. Until somebody uses it, it is kept for a while after that.
    pub uploaded_at: Timestamp,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its MIME type.
    pub content_type: String,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// The id of these bytes as a picture.
    pub fn id_of(bytes: &[u8]) -> Id {
        use sha2::Digest;
        let hash = sha2::Sha256::digest(bytes);
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a text can be the id of a picture.
    pub fn is_id(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }
}

/// How many pictures there are, and their bytes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PictureCount {
    pub pictures: u64,
    pub bytes: u64,
}

impl PictureCount {
    /// The most pictures that there are, and the most bytes of all of them.
    pub const MOST: Self = Self {
        pictures: 2_000,
        bytes: 256 << 20,
    };
}
