//! Where a page shows an icon that no app has yet.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The longest URL of an icon that can be shown before it is used, in bytes: the address of its preview holds it.
const LONGEST_PREVIEWED: usize = 4096;

/// The address at which an icon is shown before an app has it; empty if there is none.
pub(crate) fn preview(icon_url: &str) -> String {
    let icon_url = icon_url.trim();
    let scheme = icon_url
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match scheme.as_str() {
        "data" if icon_url.starts_with("data:image/") => icon_url.into(),
        "http" | "https" if icon_url.len() <= LONGEST_PREVIEWED => {
            format!(
                "/icons/preview?url={}",
                utf8_percent_encode(icon_url, NON_ALPHANUMERIC)
            )
        }
        _ => String::new(),
    }
}
