//! Colours: between sRGB and OKLCH, and how readable one is on another.
//!
//! OKLCH is OKLab (Björn Ottosson) in polar form. Moving its lightness keeps the hue that people chose.

/// A colour of 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color(pub [u8; 3]);

/// Lightness from 0 to 1, chroma, and hue in radians.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lch {
    pub lightness: f64,
    pub chroma: f64,
    pub hue: f64,
}

/// What the largest text still needs is less; this holds for all text (WCAG 2.2, AA).
pub(super) const READABLE: f64 = 4.5;

impl Color {
    /// `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }

    /// Its luminance, from 0 to 1.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// The contrast of two colours, from 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    pub fn to_lch(self) -> Lch {
        let [red, green, blue] = self.0.map(linear);
        let l = (0.412_221_47 * red + 0.536_332_54 * green + 0.051_445_99 * blue).cbrt();
        let m = (0.211_903_5 * red + 0.680_699_55 * green + 0.107_396_96 * blue).cbrt();
        let s = (0.088_302_46 * red + 0.281_718_84 * green + 0.629_978_7 * blue).cbrt();
        let lightness = 0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_05 * s;
        let a = 1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s;
        let b = 0.025_904_04 * l + 0.782_771_77 * m - 0.808_675_77 * s;
        Lch {
            lightness,
            chroma: a.hypot(b),
            hue: b.atan2(a),
        }
    }
}

impl std::fmt::Display for Color {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Lch {
    /// The nearest colour that screens have: of this lightness and hue, with as much of the chroma as there is.
    pub fn to_color(self) -> Color {
        let whole = self.channels();
        let is_shown = |channels: [f64; 3]| channels.iter().all(|one| (-1e-4..=1.0001).contains(one));
        if is_shown(whole) {
            return rounded(whole);
        }
        let (mut least, mut most) = (0.0, self.chroma);
        for _ in 0..16 {
            let chroma = f64::midpoint(least, most);
            match is_shown(Self { chroma, ..self }.channels()) {
                true => least = chroma,
                false => most = chroma,
            }
        }
        rounded(
            Self {
                chroma: least,
                ..self
            }
            .channels(),
        )
    }

    /// Linear sRGB, which may be beyond what screens show.
    fn channels(self) -> [f64; 3] {
        let (a, b) = (self.chroma * self.hue.cos(), self.chroma * self.hue.sin());
        let l = (self.lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
        let m = (self.lightness - 0.105_561_35 * a - 0.063_854_17 * b).powi(3);
        let s = (self.lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
        [
            4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
            -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
            -0.004_196_09 * l - 0.703_418_6 * m + 1.707_614_7 * s,
        ]
    }
}

fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    match value <= 0.040_45 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }
}

fn rounded(channels: [f64; 3]) -> Color {
    let channel = |linear: f64| {
        let linear = linear.clamp(0.0, 1.0);
        let value = match linear <= 0.003_130_8 {
            true => linear * 12.92,
            false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
        };
        (value * 255.0).round() as u8
    };
    Color(channels.map(channel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_those_of_wcag() {
        let color = |text| Color::parse(text).unwrap();
        for (one, other, expected) in [
            ("#000000", "#ffffff", 21.0),
            ("#ffffff", "#ffffff", 1.0),
            ("#767676", "#ffffff", 4.54),
            ("#3451c6", "#ffffff", 6.69),
        ] {
            let found = color(one).contrast(color(other));
            assert!((found - expected).abs() < 0.05, "{one} on {other}: {found}");
        }
    }

    #[test]
    fn a_colour_comes_back_from_oklch_as_it_was() {
        for step in 0..4096_u32 {
            let channel = |shift: u32| ((step >> shift & 15) * 17) as u8;
            let color = Color([channel(0), channel(4), channel(8)]);
            assert_eq!(color.to_lch().to_color(), color);
        }
        assert_eq!(Color::parse("#0aF9b3").unwrap().to_string(), "#0af9b3");
        for wrong in ["", "#fff", "red", "#12345g", "123456", "#ééé"] {
            assert_eq!(Color::parse(wrong), None, "{wrong}");
        }
    }
}
