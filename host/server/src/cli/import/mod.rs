//! `portico import`: moves the data of another dashboard in.

mod check;
mod write;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use portico_homarr::{FileKind, Homarr, Identified, Kind, Report, Surroundings, convert};
use portico_http::PublicUrl;
use portico_model::time::{Clock, SystemClock};
use serde::Serialize;

use super::{
    host::{self, Host},
    output::print,
    process::block_on,
    settings::{HostArgs, Settings},
    terminal,
};

const HELP: &str = "\
FILE is Homarr's db.sqlite (in its data folder, under db/), the ZIP of a backup that Homarr exported, or
Homarr's data folder, itself or as .zip, .tar or .tar.gz. Stop Homarr first, unless you give its backup.

What comes along: users with their passwords, preferences and images, groups with permissions and
members, API keys, invites that have not expired, apps, search engines, and boards with their sections,
apps, bookmarks, notes, clocks and shares; home boards, uploaded pictures, and the name, colour and logo
of the dashboard. Grids, other widgets and looks of boards are kept for clients of Homarr. Ids stay.
People sign in with the passwords that they have, and scripts go on with their API keys.
docs/homarr.md says for every other thing of Homarr what becomes of it.

Everything is imported, or nothing. What is in Portico already stays as it is: a record with the same
id is left alone, and one with the same name is taken for the same. So importing the same file again
changes nothing. The report has a line for each kind of record, and one for each thing that does not
come along as it was.

No host may use the data directory meanwhile: stop `portico serve` first. With --database, other hosts
may go on.

Scripts and clients that were written for Homarr find its interface with `[compat] homarr = true` in
the settings of `portico serve`.

Examples:
  portico import homarr /appdata/db/db.sqlite --dry-run
  portico import homarr homarr-backup-2026-11-23.zip --data /var/lib/portico
  portico import homarr db.sqlite --oidc-issuer https://id.example/realms/home --json";

#[derive(Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Subcommand)]
enum From {
    /// Import the data of Homarr 1 or 2: its db.sqlite, the ZIP of a backup, or its data folder
    Homarr(Box<HomarrArgs>),
}

#[derive(Args)]
#[command(after_long_help = HELP)]
struct HomarrArgs {
    /// Homarr's db.sqlite, the ZIP of its backup, or its data folder
    file: PathBuf,
    /// Say what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// The issuer that users of OpenID Connect sign in with, as `portico serve` has it: links them to
    /// their accounts there [default: the issuer of the settings file]
    #[arg(long, env = "PORTICO_OIDC_ISSUER", value_name = "URL")]
    oidc_issuer: Option<String>,
    /// Where people reach Portico, as `portico serve` has it: links that are paths (`/router`) lead there
    /// [default: the public URL of the settings file]
    #[arg(long, env = "PORTICO_PUBLIC_URL", value_name = "URL")]
    public_url: Option<PublicUrl>,
    #[command(flatten)]
    host: HostArgs,
}

/// The report as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed<'a> {
    dry_run: bool,
    schema: Source<'a>,
    #[serde(flatten)]
    report: &'a Report,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    migration: &'a str,
    commit: &'a str,
    /// How many migrations the database has had after it, which this portico does not know.
    newer_migrations: usize,
}

impl Import {
    pub fn run(self, settings: Settings) -> anyhow::Result<()> {
        match self.from {
            From::Homarr(homarr) => homarr.run(settings),
        }
    }
}

impl HomarrArgs {
    fn run(self, settings: Settings) -> anyhow::Result<()> {
        let settings = settings.with(self.host)?;
        settings.start_log(true)?;
        let shown = self.file.display().to_string();
        let cannot = || format!("cannot import {shown}");
        // Looked at before a data directory is created.
        FileKind::of(&self.file).with_context(cannot)?;
        let issuer = self
            .oidc_issuer
            .or_else(|| settings.oidc.issuer().map(Into::into));
        let surroundings = Surroundings {
            now: SystemClock.now(),
            issuer: issuer.filter(|issuer| !issuer.is_empty()),
            public_url: self
                .public_url
                .or_else(|| settings.http.public_url.clone())
                .map(|url| url.to_string()),
        };
        let dry_run = self.dry_run;
        let file = self.file;
        let (identified, report) = block_on(async {
            let host = Host::open(&settings).await?;
            let homarr = Homarr::read(&file, host.data.path()).with_context(cannot)?;
            let report = import(&settings, &host, &homarr, &surroundings, dry_run).await?;
            anyhow::Ok((homarr.identified, report))
        })?;
        show(identified, &report, dry_run, self.json)
    }
}

/// Checks the records, plans what is new, and writes it.
async fn import(
    settings: &Settings,
    host: &Host,
    homarr: &Homarr,
    surroundings: &Surroundings,
    dry_run: bool,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut dashboard = convert(homarr, surroundings, &mut report);
    let trial = host::trial(settings, host).await?;
    let keys = check::check(&trial, &mut dashboard, &mut report).await?;
    dashboard.drop_dangling(&mut report);
    write::write(&host.service, dashboard, keys, dry_run, &mut report).await?;
    Ok(report)
}

fn show(identified: Identified, report: &Report, dry_run: bool, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let printed = Printed {
            dry_run,
            schema: Source {
                migration: identified.schema.migration,
                commit: identified.schema.commit,
                newer_migrations: identified.newer,
            },
            report,
        };
        return print(&terminal::json(&serde_json::to_value(&printed)?)?);
    }
    print(report.text().trim_end())?;
    let created = |kind| report.counts.get(&kind).is_some_and(|count| count.created > 0);
    if dry_run {
        return print("Nothing was written: this was a dry run");
    }
    if !report.changes_anything() {
        return print("Nothing to import: everything is here already");
    }
    if created(Kind::ApiKey) {
        print(
            "Scripts go on with their API keys. Those that expect Homarr's own interface need `[compat] homarr = true` \
             in the settings of `portico serve`: see docs/homarr.md",
        )?;
    }
    Ok(())
}
