//! The slowest search that a caller can cause by choosing both the names of apps and the search text.
//!
//! 100,000 names of ten families, most of which repeat: letters, words, prefixes. 10,000 texts, each
//! made of a name of one family in one of ten ways. All of it comes from one seed. Each text is looked
//! for as `app.getPaginated` does: how many names contain it, and the first ten of them. The storage
//! driver does it in this process, whose processor time is what counts.

use std::{fs, time::Duration};

use anyhow::{Context as _, ensure};
use portico_model::App;
use portico_server::data_dir::DataDir;
use portico_service::identity::Identity;
use portico_sqlite::SqliteStorage;
use portico_storage::{Access, AppFilter, CallContext, DashboardStorage, Slice, Storage, StoredApp};

use super::Bench;
use crate::{
    data::name_key,
    report::{Figure, Row, Target, Unit, median},
};

const SEED: u64 = 14;
const NAMES: usize = 100_000;
const PAIRS: usize = 10_000;
const FAMILIES: usize = 10;
const KINDS: usize = 10;

/// The longest name, in characters.
const LONGEST: usize = 64;

/// How many of the slowest searches are measured again, and how often. The fastest time counts; the rest is
/// noise.
const AGAIN: (usize, usize) = (20, 5);

/// The most processor time of a search.
const MOST: Duration = Duration::from_millis(250);

/// How many apps one transaction creates while seeding.
const CHUNK: usize = 5_000;

/// All figures of one run.
pub fn worst(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let data = DataDir::open(&bench.path("families"))?;
    let storage = SqliteStorage::open(&data.database())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(
        &storage,
        if bench.is_quick() { PAIRS / 10 } else { PAIRS },
    ))
}

async fn measure(storage: &SqliteStorage, pairs: usize) -> anyhow::Result<Vec<Row>> {
    let context = Identity::operator().context("worst");
    let mut random = Random(SEED);
    let names: Vec<String> = (0..NAMES).map(|number| name(&mut random, number)).collect();
    fill(storage, &context, &names).await?;

    let mut costs = Vec::with_capacity(pairs);
    for pair in 0..pairs {
        let (family, kind) = (pair % FAMILIES, pair / FAMILIES % KINDS);
        let text = name_key(&text(&mut random, &names, family, kind));
        let cost = cost(storage, &context, &names, &text).await?;
        costs.push((cost, family, kind, text));
    }
    costs.sort_by_key(|cost| std::cmp::Reverse(cost.0));
    let (most, often) = AGAIN;
    for (least, _, _, text) in costs.iter_mut().take(most) {
        for _ in 0..often {
            *least = cost(storage, &context, &names, text).await?.min(*least);
        }
    }
    costs.sort_by_key(|cost| std::cmp::Reverse(cost.0));
    for (cost, family, kind, text) in costs.iter().take(3) {
        eprintln!("  {cost:?}: family {family}, kind {kind}, {text:?}");
    }
    let micros = |cost: Duration| cost.as_secs_f64() * 1e6;
    let median = median(costs.iter().map(|(cost, ..)| micros(*cost)));
    let worst = micros(costs.first().context("there are pairs")?.0);
    let figure = |value| Figure::new(value, Unit::ProcessorMicros);
    Ok(vec![
        Row::new(
            format!("of {pairs} searches in 100,000 apps, the median against the worst"),
            figure(median),
            figure(worst),
            worst / median,
        )
        .target(Target::AtMost(20.0)),
        Row::new(
            "the worst of them, of 250 ms",
            figure(micros(MOST)),
            figure(worst),
            worst / micros(MOST),
        )
        .target(Target::AtMost(1.0)),
    ])
}

/// The processor time of one search; fails if its answer is wrong.
async fn cost(
    storage: &SqliteStorage,
    context: &CallContext,
    names: &[String],
    text: &str,
) -> anyhow::Result<Duration> {
    let refused = |error| anyhow::anyhow!("storage refused: {error:?}");
    let filter = AppFilter {
        name_contains: Some(text.into()),
        ..AppFilter::EVERYTHING
    };
    let before = processor_time()?;
    let mut transaction = storage.begin(Access::Read, context).await.map_err(refused)?;
    let count = transaction.count_apps(&filter).await.map_err(refused)?;
    // As in the component: without hits there is no page.
    let first = match count {
        0 => Vec::new(),
        _ => transaction
            .list_apps(&filter, Slice::first(10))
            .await
            .map_err(refused)?,
    };
    drop(transaction);
    let after = processor_time()?;
    // The benchmark's names equal their name-keys.
    let expected = names.iter().filter(|name| name.contains(text)).count();
    ensure!(
        count as usize == expected && first.len() == expected.min(10),
        "{text:?} has {count} hits and shows {}, not {expected}",
        first.len()
    );
    ensure!(
        first.iter().all(|app| app.name.contains(text)) && first.is_sorted_by_key(|app| &app.name),
        "wrong hits for {text:?}"
    );
    // If a thread has ended meanwhile, its time is missing and the sample is invalid.
    Ok(after.saturating_sub(before))
}

/// The processor time of all threads of this process but the first: those of the storage driver, which are
/// idle between searches.
fn processor_time() -> anyhow::Result<Duration> {
    let first = std::process::id().to_string();
    let mut nanos = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let thread = thread?;
        if *thread.file_name() != *first {
            let times = fs::read_to_string(thread.path().join("schedstat"))?;
            let on_a_processor = times.split_whitespace().next().context("schedstat is empty")?;
            nanos += on_a_processor.parse::<u64>()?;
        }
    }
    Ok(Duration::from_nanos(nanos))
}

async fn fill(storage: &SqliteStorage, context: &CallContext, names: &[String]) -> anyhow::Result<()> {
    let refused = |error| anyhow::anyhow!("storage refused: {error:?}");
    for (chunk, names) in names.chunks(CHUNK).enumerate() {
        let apps: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(index, name)| StoredApp {
                name_key: name_key(name),
                app: App {
                    id: format!("00000000-0000-7000-8000-{:012}", chunk * CHUNK + index),
                    name: name.clone(),
                    description: Some("One of the apps that are measured".into()),
                    icon_url: "https://icons.example/svg/app.svg".into(),
                    href: Some("https://app.home.example/".into()),
                    ping_url: None,
                },
            })
            .collect();
        let mut transaction = storage
            .begin_dashboard(Access::Write, context)
            .await
            .map_err(refused)?;
        transaction.insert_apps(&apps).await.map_err(refused)?;
        transaction.commit().await.map_err(refused)?;
    }
    Ok(())
}

/// A name of one of the families, in turn.
fn name(random: &mut Random, number: usize) -> String {
    const WORDS: [&str; 12] = [
        "archive", "backup", "calendar", "download", "editor", "feed", "gallery", "home", "index", "journal",
        "kitchen", "library",
    ];
    let length = 1 + random.below(LONGEST);
    match number % FAMILIES {
        0 => "a".repeat(length),
        1 => "a".repeat(LONGEST),
        2 => format!("www.{}.example", random.letters('a', 26, 1)),
        3 => "ab".repeat(LONGEST / 2)[..length].into(),
        4 => format!("node-{:04}", random.below(10_000)),
        5 => format!("the long common prefix of many services of one house {number:06}"),
        6 => {
            let words = (0..3).map(|_| {
                let length = 3 + random.below(8);
                random.letters('a', 26, length)
            });
            words.collect::<Vec<_>>().join(" ")
        }
        7 => random.letters('а', 32, 3 + length / 4),
        8 => "😀".repeat(length),
        _ => format!(
            "{} {} service {number:06}",
            WORDS[random.below(WORDS.len())],
            WORDS[random.below(WORDS.len())]
        ),
    }
}

/// A search text, made from a name of this family in one of ten ways.
fn text(random: &mut Random, names: &[String], family: usize, kind: usize) -> String {
    let name = |random: &mut Random, family: usize| -> Vec<char> {
        let place = random.below(NAMES / FAMILIES) * FAMILIES + family;
        names[place].chars().collect()
    };
    let whole = name(random, family);
    let from = random.below(whole.len());
    let part = &whole[from..=from + random.below(whole.len() - from)];
    let text: Vec<char> = match kind {
        0 => whole,
        1 => part.into(),
        2 => whole[..=from].into(),
        // All but one of its trigrams.
        3 => [part, &['~']].concat(),
        4 => whole
            .iter()
            .map(|letter| if *letter == whole[from] { 'b' } else { *letter })
            .collect(),
        // All trigrams of a name, but contained in no name.
        5 => {
            let other = random.below(FAMILIES);
            [&whole[..=from], &name(random, other)].concat()
        }
        6 => [&whole[..], &whole[..]].concat(),
        7 => vec![whole[from]; 1 + random.below(LONGEST)],
        8 => part.iter().take(1 + random.below(3)).copied().collect(),
        _ => whole.iter().rev().copied().collect(),
    };
    // A longer text is answered without asking storage.
    text.into_iter().take(4 * LONGEST).collect()
}

/// SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn letters(&mut self, first: char, alphabet: usize, count: usize) -> String {
        let letter = |number: usize| char::from_u32(first as u32 + number as u32).unwrap_or(first);
        (0..count).map(|_| letter(self.below(alphabet))).collect()
    }
}
