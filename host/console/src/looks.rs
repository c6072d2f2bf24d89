//! What the dashboard looks like, as pages show it.

use serde::Deserialize;

/// The looks, as the API returns them.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Looks {
    pub name: Option<String>,
    pub logo: Option<String>,
    pub accent_color: Option<String>,
    pub wallpaper: Option<String>,
    pub density: String,
    pub columns: Option<u32>,
    pub wide_screens: bool,
    /// Who sees which app, as it is stored.
    pub app_visibility: String,
    /// The same, if the host has fixed it.
    pub fixed_app_visibility: Option<String>,
    /// The id of the board that people see first who are not signed in.
    pub start_board: Option<String>,
    /// For administrators, the hosts in private networks that are checked.
    pub ping_allow: Option<Vec<String>>,
    /// The same, if the host has fixed it.
    pub fixed_ping_allow: Option<Vec<String>>,
}

impl Default for Looks {
    /// Those of an API without looks.
    fn default() -> Self {
        Self {
            name: None,
            logo: None,
            accent_color: None,
            wallpaper: None,
            density: "comfortable".into(),
            columns: None,
            wide_screens: true,
            app_visibility: "everyone".into(),
            fixed_app_visibility: None,
            start_board: None,
            ping_allow: None,
            fixed_ping_allow: None,
        }
    }
}

impl Looks {
    /// Where the logo is.
    pub fn logo_path(&self) -> Option<String> {
        self.logo.as_deref().map(picture_path)
    }
}

/// Whether a text is the id of a picture.
pub(crate) fn is_picture(id: &str) -> bool {
    id.len() == 64 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Where a picture is.
pub(crate) fn picture_path(id: &str) -> String {
    format!("{}{id}", portico_icons::PICTURES)
}

/// The attributes of the element around tiles.
pub(crate) struct TileAttributes<'a> {
    pub looks: &'a Looks,
    /// Whether the page is one that shows tiles to people.
    pub is_board: bool,
    /// Whether the wallpaper hangs behind them.
    pub has_wall: bool,
}

impl std::fmt::Display for TileAttributes<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let looks = self.looks;
        let density = match &*looks.density {
            density @ ("icons" | "compact") => density,
            _ => "comfortable",
        };
        write!(formatter, r#" data-tiles="{density}""#)?;
        if let Some(columns) = looks.columns {
            write!(formatter, r#" data-columns="{columns}""#)?;
        }
        if self.is_board && looks.wide_screens {
            formatter.write_str(" data-wide")?;
        }
        if self.has_wall && looks.wallpaper.is_some() {
            formatter.write_str(" data-wall")?;
        }
        Ok(())
    }
}

/// It consists of words of the console and a number.
impl askama::filters::HtmlSafe for TileAttributes<'_> {}
