//! `portico icons fetch`, and the setting of fetching.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use portico_icons::{AllowList, IconError, IconFileSettings, IconFiles, is_servable};
use portico_sandbox::Kind;
use portico_server::{data_dir::DataDir, icons::IconSettings};
use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    output::print,
    process::block_on,
    progress::Progress,
    settings::Settings,
    target::{ProcedureRef, Target},
    terminal::printable,
};

/// Icons that are requested at the same time. Fewer are fetched at the same time.
const AT_ONCE: usize = 64;

const HELP: &str = "\
A host fetches an icon when it is first shown, and keeps it in the data directory. This fetches all
icons of apps and search engines that are not there yet, so that the first look at a board is quick
and the dashboard is whole without the internet. Icons that were fetched before are left alone.

With --url, a running host says which icons there are (to the owner of an administrator's key), and
they are kept in --data, which must be the data directory of that host; it may serve meanwhile.

Examples:
  portico icons fetch --data /var/lib/portico
  PORTICO_KEY=… portico icons fetch --data /var/lib/portico --url http://127.0.0.1:7575
  portico icons fetch --icons-allow http://nas.lan:8080,http://192.168.1.7

A line for each icon that cannot be had says why. The exit code is 0, and 1 if there are icons and none
of them could be had.";

/// What the settings file has under `[icons]` about fetching.
#[derive(Args)]
pub struct IconArgs {
    /// The hosts in private networks from which icons may be fetched: http://nas.lan:8080,http://10.0.0.7
    /// [default: none]
    #[arg(long = "icons-allow", env = "PORTICO_ICONS_ALLOW", value_name = "LIST")]
    allow: Option<AllowList>,
}

impl IconArgs {
    /// Overrides the file.
    pub fn put_into(self, settings: &mut IconSettings) {
        if let Some(allow) = self.allow {
            settings.allow = allow;
        }
    }
}

/// The pictures of icons in a data directory.
pub fn files(data: &Path, allow: AllowList) -> Arc<IconFiles> {
    let settings = IconFileSettings {
        allow,
        ..IconFileSettings::default()
    };
    IconFiles::open(DataDir::pictures_in(data), settings)
}

#[derive(Args)]
pub struct Icons {
    #[command(subcommand)]
    command: IconsCommand,
}

#[derive(Subcommand)]
enum IconsCommand {
    /// Fetch all icons of apps and search engines that are not there yet
    Fetch(Box<Fetch>),
}

#[derive(Args)]
#[command(after_long_help = HELP)]
struct Fetch {
    #[command(flatten)]
    icons: IconArgs,
    #[command(flatten)]
    target: Target,
}

impl Icons {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let IconsCommand::Fetch(fetch) = self.command;
        fetch.run(settings)
    }
}

impl Fetch {
    fn run(self, mut settings: Settings) -> anyhow::Result<()> {
        self.icons.put_into(&mut settings.icons);
        let (data, allow) = (self.target.data(&settings), settings.icons.allow.clone());
        ensure!(
            !self.target.is_remote() || data.is_dir(),
            "there is no data directory {}: name that of the running host with --data",
            data.display()
        );
        let procedure = ProcedureRef {
            name: "state.export",
            kind: Some(Kind::Query),
        };
        let state = self
            .target
            .call(settings, procedure, None, None)?
            .context("no answer to `state.export`")?;
        let icons = Wanted::of(&state);
        drop(state);
        block_on(fetch(&files(&data, allow), icons))
    }
}

/// The icons that apps and search engines have.
struct Wanted {
    /// On the web, each once.
    urls: BTreeSet<String>,
    /// How many are contained in their records.
    inside: usize,
    /// How many are neither: paths, and other schemes.
    elsewhere: usize,
}

impl Wanted {
    /// From the document of `state.export`.
    fn of(state: &Value) -> Self {
        let mut wanted = Self {
            urls: BTreeSet::new(),
            inside: 0,
            elsewhere: 0,
        };
        let records = ["apps", "searchEngines"].map(|list| state[list].as_array());
        for record in records.into_iter().flatten().flatten() {
            let icon_url = record["iconUrl"].as_str().unwrap_or_default();
            let is_data = icon_url
                .get(..5)
                .is_some_and(|start| start.eq_ignore_ascii_case("data:"));
            if is_data {
                wanted.inside += 1;
            } else if is_servable(icon_url) {
                wanted.urls.insert(icon_url.to_owned());
            } else {
                wanted.elsewhere += 1;
            }
        }
        wanted
    }
}

/// How many icons had which outcome.
#[derive(Default)]
struct Counts {
    fetched: usize,
    kept: usize,
    failed: usize,
}

async fn fetch(files: &Arc<IconFiles>, icons: Wanted) -> anyhow::Result<()> {
    let all = icons.urls.len();
    let mut urls = icons.urls.into_iter();
    let mut counts = Counts::default();
    let mut progress = Progress::new();
    let mut tasks = JoinSet::new();
    loop {
        for url in urls.by_ref().take(AT_ONCE - tasks.len()) {
            tasks.spawn(fetch_one(files.clone(), url));
        }
        let Some(ended) = tasks.join_next().await else {
            break;
        };
        let (url, outcome) = ended?;
        match outcome {
            Ok(true) => counts.kept += 1,
            Ok(false) => counts.fetched += 1,
            Err(error) => {
                counts.failed += 1;
                progress.clear();
                print(&format!(
                    "no icon from {}: {}",
                    printable(&url),
                    printable(&error.to_string())
                ))?;
            }
        }
        let done = counts.fetched + counts.kept + counts.failed;
        progress.show(|| format!("fetching icons: {done} of {all}"));
    }
    drop(progress);
    let Counts {
        fetched,
        kept,
        failed,
    } = counts;
    print(&format!(
        "{all} icons: {fetched} fetched, {kept} were there, {failed} failed"
    ))?;
    if icons.inside > 0 {
        print(&format!("{} more are part of their apps", icons.inside))?;
    }
    if icons.elsewhere > 0 {
        print(&format!(
            "{} are paths or names, and not URLs with http: or https:; no picture is shown for them",
            icons.elsewhere
        ))?;
    }
    ensure!(all == 0 || failed < all, "none of the icons could be had");
    Ok(())
}

/// Whether the icon was there already.
async fn fetch_one(files: Arc<IconFiles>, url: String) -> (String, Result<bool, IconError>) {
    let is_kept = files.is_kept(&url).await;
    let outcome = files.get(&url).await;
    (url, outcome.map(|_| is_kept))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_url_of_an_icon_is_wanted_once() {
        let apps = [
            "https://example.com/a.svg",
            "https://example.com/a.svg",
            "DATA:image/png,x",
            "/x.svg",
            "mdi:home",
        ];
        let apps = apps.map(|icon_url| json!({ "iconUrl": icon_url }));
        let engines = [json!({ "iconUrl": "http://example.com/b.svg" })];
        let wanted = Wanted::of(&json!({ "apps": apps, "searchEngines": engines }));
        let urls: Vec<_> = wanted.urls.iter().map(String::as_str).collect();
        assert_eq!(urls, ["http://example.com/b.svg", "https://example.com/a.svg"]);
        assert_eq!((wanted.inside, wanted.elsewhere), (1, 2));
    }
}
