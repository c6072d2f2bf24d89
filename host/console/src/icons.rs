//! Where the pages find icons: on this host, which fetches and keeps them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

/// The address of an app's icon. It changes with the icon's URL, so that browsers may keep it.
pub(crate) fn of_app(id: &str, icon_url: &str) -> String {
    address("apps", id, icon_url)
}

/// The address of a search engine's icon.
pub(crate) fn of_engine(id: &str, icon_url: &str) -> String {
    address("engines", id, icon_url)
}

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

fn address(kind: &str, id: &str, icon_url: &str) -> String {
    let hash = Sha256::digest(icon_url.as_bytes());
    let version: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("/icons/{kind}/{id}?v={version}")
}
