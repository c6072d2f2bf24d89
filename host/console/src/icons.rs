//! Where the pages find icons: on this host, which fetches and keeps them.

use sha2::{Digest, Sha256};

/// The address of an app's icon. It changes with the icon's URL, so that browsers may keep it.
pub(crate) fn of_app(id: &str, icon_url: &str) -> String {
    address("apps", id, icon_url)
}

/// The address of a search engine's icon.
pub(crate) fn of_engine(id: &str, icon_url: &str) -> String {
    address("engines", id, icon_url)
}

fn address(kind: &str, id: &str, icon_url: &str) -> String {
    let hash = Sha256::digest(icon_url.as_bytes());
    let version: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("/icons/{kind}/{id}?v={version}")
}
