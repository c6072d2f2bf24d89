//! `portico relink`: the same users after an issuer has moved.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, Subcommand};
use portico_service::{
    external::{Relinking, Subjects, relink},
    json,
};
use serde_json::Value;

use super::{
    host::Host,
    local::REQUEST_ID,
    output::print,
    process::block_on,
    settings::{HostArgs, Settings},
    terminal::printable,
};

/// The longest file with subjects, in bytes.
const MOST_BYTES: u64 = 16 << 20;

const HELP: &str = "\
To Portico, an issuer under another URL is another issuer, with other people. Use this after the same issuer
has got another URL and kept its subjects (the claim `sub`). A user of --from becomes the user with the same
subject at --to. Users are never found by name or email, because people may choose those.

If the subjects have changed, --map names a file with a JSON object of the old and the new ones. Then only
the users in it move. Without it, never move to another issuer that numbers its users: 7 is another person.

To move people from a trusted proxy (--proxy-user-header) to an issuer or back, use `proxy` as its URL, with a
map: what the proxy calls a person is a name, which an issuer may give to someone else.

If another user has one of the new subjects already, nothing is changed. Set --oidc-issuer before or after it;
until both are done, people of the new URL are refused or become new users.

Examples:
  portico relink oidc --from https://old.example --to https://new.example --dry-run
  portico relink oidc --from https://a.example --to https://b.example --map subjects.json";

#[derive(Args)]
pub struct Relink {
    #[command(subcommand)]
    provider: RelinkProvider,
}

#[derive(Subcommand)]
enum RelinkProvider {
    /// Users of an issuer of OpenID Connect
    #[command(after_long_help = HELP)]
    Oidc(RelinkOidc),
}

#[derive(Args)]
struct RelinkOidc {
    /// The old URL of the issuer, as it was in --oidc-issuer
    #[arg(long, value_name = "URL")]
    from: String,
    /// The new URL of the issuer
    #[arg(long, value_name = "URL")]
    to: String,
    /// A file with the new subjects: a JSON object {"old subject": "new subject"}
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Print what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    host: HostArgs,
}

impl Relink {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        let RelinkProvider::Oidc(command) = self.provider;
        command.run(settings)
    }
}

impl RelinkOidc {
    fn run(self, settings: Settings) -> anyhow::Result<()> {
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        let relinking = Relinking {
            from: self.from,
            to: self.to,
            map: self.map.map(read_map).transpose()?,
        };
        relinking.check().map_err(|problem| anyhow!(problem))?;
        let subjects = block_on(run(&settings, &relinking, self.dry_run))?;
        show(&subjects, self.dry_run)
    }
}

async fn run(settings: &Settings, relinking: &Relinking, is_dry_run: bool) -> anyhow::Result<Subjects> {
    let host = Host::open(settings).await?;
    let done = relink(&host.service, relinking, is_dry_run, REQUEST_ID).await;
    Ok(done?)
}

fn show(subjects: &Subjects, is_dry_run: bool) -> anyhow::Result<()> {
    let Subjects {
        moved,
        taken,
        kept,
        unknown,
    } = subjects;
    for (user, subject) in kept {
        line(&format!("not in the map: {} {}, {subject}", user.name, user.id))?;
    }
    for subject in unknown {
        line(&format!("of no user: {subject}"))?;
    }
    let is_done = !is_dry_run && taken.is_empty();
    for found in moved {
        let what = if is_done { "moved" } else { "would move" };
        let (user, old, new) = (&found.user, &found.old, &found.new);
        line(&format!("{what}: {} {}, {old} to {new}", user.name, user.id))?;
    }
    for (found, holder) in taken {
        let (user, new) = (&found.user, &found.new);
        line(&format!(
            "taken: {} {} would get {new}, which {} {} has",
            user.name, user.id, holder.name, holder.id
        ))?;
    }
    ensure!(
        taken.is_empty(),
        "nothing is changed: {} of the new subjects belong to other users. Delete those users if they are the same people \
         who have signed in at the new issuer already, or leave them out of a map",
        taken.len()
    );
    match (moved.len(), is_dry_run) {
        (0, _) => print("No user of that issuer moves; nothing is changed."),
        (count, true) => print(&format!("{count} users would move; nothing is changed.")),
        (count, false) => print(&format!("{count} users moved.")),
    }
}

fn line(text: &str) -> anyhow::Result<()> {
    print(&printable(text))
}

fn read_map(file: PathBuf) -> anyhow::Result<BTreeMap<String, String>> {
    let expected = || {
        format!(
            "{} must be a JSON object like {{\"old subject\": \"new subject\"}}",
            file.display()
        )
    };
    let problem = || format!("cannot read {}", file.display());
    let size = fs::metadata(&file).with_context(problem)?.len();
    ensure!(size <= MOST_BYTES, "{} is larger than 16 MiB", file.display());
    let text = fs::read(&file).with_context(problem)?;
    let Value::Object(entries) = json::read(&text).with_context(expected)? else {
        bail!(expected());
    };
    let entries = entries.into_iter().map(|(old, new)| match new {
        Value::String(new) => Ok((old, new)),
        _ => bail!(expected()),
    });
    entries.collect()
}
