//! The style sheet that makes pages look as an administrator chose: `/theme/ACCENT-WALLPAPER-HASH.css`.
//!
//! Invariants:
//! - The address says all that the style sheet depends on, so every host serves the same at it, and browsers keep it. It
//!   holds nothing but colours of our own making and the id of a picture.
//! - An accent colour is shown in a lightness in which text is readable, in light and in dark: at least 4.5:1, whichever
//!   colour was chosen.

mod color;

use std::fmt::Write as _;

use axum::{
    Router,
    extract::Path,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};

use self::color::{Color, Lch, READABLE};
use crate::looks::{Looks, is_picture};

/// What stands for nothing in the address.
const NONE: &str = "0";

pub(crate) fn routes() -> Router {
    Router::new().route("/theme/{name}", get(serve))
}

/// The address of the style sheet of these looks; `None` if they need none.
pub(crate) fn path(looks: &Looks) -> Option<String> {
    let accent = looks
        .accent_color
        .as_deref()
        .filter(|accent| Color::parse(accent).is_some());
    let wallpaper = looks.wallpaper.as_deref().filter(|id| is_picture(id));
    if accent.is_none() && wallpaper.is_none() {
        return None;
    }
    let accent = accent.map_or(NONE, |accent| &accent[1..]);
    let wallpaper = wallpaper.unwrap_or(NONE);
    let hash = hash(&write(accent, wallpaper)?);
    Some(format!("/theme/{accent}-{wallpaper}-{hash}.css"))
}

async fn serve(Path(name): Path<String>) -> Response {
    let parts = name
        .strip_suffix(".css")
        .map(|name| name.split('-').collect::<Vec<_>>());
    let Some([accent, wallpaper, asked]) = parts.as_deref() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let Some(css) = write(accent, wallpaper) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // An address of another version of this program: what it had there is not known.
    let keep = match hash(&css) == *asked {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let headers = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, keep),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, css).into_response()
}

fn hash(css: &str) -> String {
    let hash = Sha256::digest(css);
    hash[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The style sheet; `None` if the parts of the address are not of its form.
fn write(accent: &str, wallpaper: &str) -> Option<String> {
    let mut css = String::new();
    if accent != NONE {
        let chosen = Color::parse(&format!("#{accent}"))?;
        let (light, dark) = (Shades::light(chosen), Shades::dark(chosen));
        css.push_str(":root{");
        for (name, of) in VARIABLES {
            let _ = write!(css, "--{name}:light-dark({},{});", of(&light), of(&dark));
        }
        css.push('}');
    }
    if wallpaper != NONE {
        let id = Some(wallpaper).filter(|id| is_picture(id))?;
        let _ = write!(
            css,
            "body:has([data-wall]){{background:linear-gradient(var(--veil),var(--veil)) fixed,\
             url(/api/pictures/{id}) center/cover fixed var(--ground)}}"
        );
    }
    Some(css)
}

/// A variable of `console.css`, and which shade it has.
type Variable = (&'static str, fn(&Shades) -> Color);

const VARIABLES: [Variable; 4] = [
    ("accent", |shades| shades.accent),
    ("accent-hover", |shades| shades.hover),
    ("on-accent", |shades| shades.on_accent),
    ("tint", |shades| shades.tint),
];

/// The colours that follow from an accent colour.
struct Shades {
    accent: Color,
    /// Where the pointer is.
    hover: Color,
    /// Text on the accent colour.
    on_accent: Color,
    /// What is chosen has this behind it.
    tint: Color,
}

/// By how much lightness a search moves.
const STEP: f64 = 0.01;
/// By how much lightness differs where the pointer is.
const HOVER: f64 = 0.07;

impl Shades {
    /// On the light grounds of `console.css`: as dark as it must be.
    fn light(chosen: Color) -> Self {
        let white = Color([0xff; 3]);
        let ground = Color([0xf5, 0xf6, 0xf8]);
        Self::readable(chosen, -STEP, white, [white, ground], 0.945)
    }

    /// On the dark ones: as light as it must be.
    fn dark(chosen: Color) -> Self {
        let text = Color([0x10, 0x13, 0x17]);
        let raised = Color([0x1f, 0x24, 0x2b]);
        Self::readable(chosen, STEP, text, [text, raised], 0.29)
    }

    fn readable(
        chosen: Color,
        step: f64,
        on_accent: Color,
        grounds: [Color; 2],
        tint_lightness: f64,
    ) -> Self {
        let mut shade = chosen.to_lch();
        let tint = Lch {
            lightness: tint_lightness,
            chroma: shade.chroma.min(0.03),
            ..shade
        };
        let tint = tint.to_color();
        let is_readable = |color: Color| {
            let mut others = grounds.into_iter().chain([tint, on_accent]);
            others.all(|other| color.contrast(other) >= READABLE)
        };
        // Black is readable on the light grounds, and white on the dark ones.
        shade.lightness = shade.lightness.clamp(0.0, 1.0);
        let end = if step < 0.0 { 0.0 } else { 1.0 };
        while !is_readable(shade.to_color()) && shade.lightness != end {
            shade.lightness = (shade.lightness + step).clamp(0.0, 1.0);
        }
        let hover = Lch {
            lightness: (shade.lightness + step.signum() * HOVER).clamp(0.0, 1.0),
            ..shade
        };
        Self {
            accent: shade.to_color(),
            hover: hover.to_color(),
            on_accent,
            tint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colours of `console.css` that stand on a tint: text, and soft text.
    const TEXTS: [[&str; 2]; 2] = [["#1a1e23", "#56606b"], ["#e9ecf0", "#a3adb8"]];

    #[test]
    fn every_accent_colour_is_readable_in_light_and_in_dark() {
        for step in 0..4096_u32 {
            let channel = |shift: u32| ((step >> shift & 15) * 17) as u8;
            let chosen = Color([channel(0), channel(4), channel(8)]);
            let grounds = [["#ffffff", "#f5f6f8"], ["#101317", "#1f242b"]];
            for ((shades, grounds), texts) in [Shades::light(chosen), Shades::dark(chosen)]
                .iter()
                .zip(grounds)
                .zip(TEXTS)
            {
                let grounds = grounds.map(|ground| Color::parse(ground).unwrap());
                for accent in [shades.accent, shades.hover] {
                    for other in grounds.into_iter().chain([shades.tint, shades.on_accent]) {
                        let found = accent.contrast(other);
                        assert!(found >= READABLE, "{chosen}: {accent} on {other} has {found}");
                    }
                }
                for text in texts {
                    let found = Color::parse(text).unwrap().contrast(shades.tint);
                    assert!(
                        found >= READABLE,
                        "{chosen}: {text} on {} has {found}",
                        shades.tint
                    );
                }
            }
        }
    }

    #[test]
    fn text_on_tiles_is_readable_on_every_wallpaper() {
        // As `console.css` has them: ground, how much of it the veil has, surface, texts on it.
        const CASES: [(&str, f64, &str, [&str; 3]); 2] = [
            ("#f5f6f8", 0.35, "#ffffff", ["#1a1e23", "#56606b", "#b42318"]),
            ("#101317", 0.45, "#181c22", ["#e9ecf0", "#a3adb8", "#ff9d92"]),
        ];
        let css = include_str!("../../assets/console.css");
        for written in [
            "--veil: light-dark(rgb(245 246 248 / 35%), rgb(16 19 23 / 45%))",
            "--surface: light-dark(#ffffff, #181c22)",
            "--soft: light-dark(#56606b, #a3adb8)",
            "--bad: light-dark(#b42318, #ff9d92)",
            "--pane: color-mix(in srgb, var(--surface) 82%, transparent)",
        ] {
            assert!(css.contains(written), "{written}");
        }
        let mix = |over: Color, share: f64, under: Color| {
            let channel = |at: usize| {
                let mixed = share * f64::from(over.0[at]) + (1.0 - share) * f64::from(under.0[at]);
                mixed.round() as u8
            };
            Color([channel(0), channel(1), channel(2)])
        };
        for (ground, veil, surface, texts) in CASES {
            for corner in 0..8_u8 {
                let wall = Color([0, 1, 2].map(|bit| if corner >> bit & 1 == 1 { 255 } else { 0 }));
                let behind = mix(Color::parse(ground).unwrap(), veil, wall);
                let pane = mix(Color::parse(surface).unwrap(), 0.82, behind);
                for text in texts {
                    let found = Color::parse(text).unwrap().contrast(pane);
                    assert!(found >= READABLE, "{text} on {pane} has {found}");
                }
            }
        }
    }

    #[test]
    fn a_colour_that_is_readable_stays_as_it_was_chosen() {
        let chosen = Color::parse("#3451c6").unwrap();
        assert_eq!(Shades::light(chosen).accent, chosen);
        let light = Color::parse("#9db0ff").unwrap();
        assert_eq!(Shades::dark(light).accent, light);
    }

    #[test]
    fn a_style_sheet_holds_only_colours_and_the_id_of_a_picture() {
        let id = "0123456789abcdef".repeat(4);
        let both = write("ff0000", &id).unwrap();
        assert!(both.starts_with(":root{--accent:light-dark(#"), "{both}");
        assert!(both.contains(&format!("url(/api/pictures/{id})")), "{both}");
        assert_eq!(write("0", "0").as_deref(), Some(""));
        for (accent, wallpaper) in [
            ("red", "0"),
            ("ff00", "0"),
            ("", "0"),
            ("0", "x)"),
            ("0", "../a"),
            ("ff0000", ""),
        ] {
            assert_eq!(write(accent, wallpaper), None, "{accent} {wallpaper}");
        }
    }

    #[test]
    fn looks_without_colour_and_wallpaper_have_no_style_sheet() {
        let mut looks = Looks::default();
        assert_eq!(path(&looks), None);
        looks.accent_color = Some("#ff0000".into());
        let red = path(&looks).unwrap();
        assert!(
            red.starts_with("/theme/ff0000-0-") && red.ends_with(".css"),
            "{red}"
        );
        looks.accent_color = Some("red".into());
        assert_eq!(path(&looks), None);
    }
}
