//! The schemas of Homarr that can be read.
//!
//! Homarr's migrator has a table `__drizzle_migrations` with the moment of each migration of the database. A database
//! is accepted if these moments are those of the first migrations in
//! `packages/db/migrations/sqlite/meta/_journal.json`, up to one that is listed here. After all of Homarr 1 there may be
//! others that are not known: its columns are checked when a table is read, and what is new is reported
//! (`inventory.rs`).

use std::fmt::Write as _;

use anyhow::{Context, bail};
use portico_sqlite::foreign;
use rusqlite::{Connection, types::ValueRef};

/// A schema of Homarr, named after its last migration.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    pub migration: &'static str,
    /// The commit of github.com/homarr-labs/homarr that added it.
    pub commit: &'static str,
}

/// The moments of all migrations, in milliseconds, in order.
const JOURNAL: [i64; 49] = [
    1_715_334_238_443,
    1_715_871_797_713,
    1_715_973_963_014,
    1_716_148_434_186,
    1_720_036_615_408,
    1_722_014_142_492,
    1_722_517_033_483,
    1_723_746_828_385,
    1_727_526_190_343,
    1_728_074_724_956,
    1_728_142_590_232,
    1_728_490_026_154,
    1_729_348_200_091,
    1_729_369_389_386,
    1_729_524_387_583,
    1_730_653_336_134,
    1_732_210_918_783,
    1_733_777_395_703,
    1_735_593_831_501,
    1_735_651_175_378,
    1_736_510_755_691,
    1_737_883_733_050,
    1_737_927_609_085,
    1_738_686_324_915,
    1_738_961_178_990,
    1_739_468_826_756,
    1_739_907_755_789,
    1_739_915_486_467,
    1_740_086_746_417,
    1_740_255_687_392,
    1_740_255_968_549,
    1_740_784_849_045,
    1_746_821_779_051,
    1_750_014_001_941,
    1_760_968_503_571,
    1_775_399_918_831,
    1_775_400_000_000,
    1_779_199_046_805,
    1_780_764_406_810,
    1_780_764_500_000,
    1_783_176_100_870,
    1_783_786_658_943,
    // Homarr 2.
    1_784_305_283_910,
    1_786_212_459_480,
    1_786_215_203_092,
    1_786_217_088_950,
    1_787_556_956_665,
    1_788_763_848_930,
    1_788_845_055_278,
];

/// How many of them are of Homarr 1. A database with all of these may have others that are not known.
const OF_HOMARR_1: usize = 42;

/// The number of migrations of the oldest schema that can be read: that of Homarr 1.0.0.
const OLDEST: usize = 21;

/// The schemas with 21 to 49 migrations.
pub static SUPPORTED: [Schema; JOURNAL.len() - OLDEST + 1] = [
    Schema {
        migration: "0020_empty_hellfire_club",
        commit: "e01d74f4f89aee9a122b660e6303c356871c6ebb",
    },
    Schema {
        migration: "0021_famous_bruce_banner",
        commit: "92f70f5a03048c7b269604f1ce33313ecf23a64b",
    },
    Schema {
        migration: "0022_modern_sunfire",
        commit: "7cb0aa70f11253aa4016d928f326eb71183626f6",
    },
    Schema {
        migration: "0023_fix_on_delete_actions",
        commit: "26468a413795afa7cc3444058bfc73435fb7f2a0",
    },
    Schema {
        migration: "0024_bitter_scrambler",
        commit: "dff6cb9d31c3884bf811774a7c90dad27ac19691",
    },
    Schema {
        migration: "0025_add-group-home-board-settings",
        commit: "ffe72598026e5e27588b18feeaaf7d30065d5536",
    },
    Schema {
        migration: "0026_add-border-radius",
        commit: "7705bc44ae7c93751e718b019c98c11369c221af",
    },
    Schema {
        migration: "0027_wooden_blizzard",
        commit: "de5c34ab079c308c80cc3b1ba8f9c8a265e3a1c3",
    },
    Schema {
        migration: "0028_add_app_ping_url",
        commit: "fb467ac16553d3c498770a531cf77b9f2c7c0a9e",
    },
    Schema {
        migration: "0029_add_layouts",
        commit: "7761dc29c809b28cc8275dcabf77c453cea3621c",
    },
    Schema {
        migration: "0030_migrate_item_and_section_for_layouts",
        commit: "7761dc29c809b28cc8275dcabf77c453cea3621c",
    },
    Schema {
        migration: "0031_add_dynamic_section_options",
        commit: "7dfb108a56e38c32e712b82d1e1bd65a5c15722b",
    },
    Schema {
        migration: "0032_add_trusted_certificate_hostnames",
        commit: "ef9a5e9895d7079008046df66f6a6d538af106c9",
    },
    Schema {
        migration: "0033_add_cron_job_configuration",
        commit: "9398dd983cce00959af2a4885e92da6acfe2f57e",
    },
    Schema {
        migration: "0034_add_app_reference_to_integration",
        commit: "172db0e3f905839b01e934a121c5bc5e45f3314a",
    },
    Schema {
        migration: "0035_remove_salt",
        commit: "2454cac7be14207f822bf3e38f9a7fd261645dc5",
    },
    Schema {
        migration: "0036_add_user_ddg_bangs",
        commit: "b5c316b825bdffa267fd173a3c39a12269142665",
    },
    Schema {
        migration: "0037_add_user_onboarding_tour_status",
        commit: "0b663a7fc6c017b9fbe78c019f06d46ee95f165f",
    },
    Schema {
        migration: "0038_crazy_hobgoblin",
        commit: "aecbca2b81ad1693c599e3168fd0c0723311b3b4",
    },
    Schema {
        migration: "0039_merge_custom_widget_url",
        commit: "aecbca2b81ad1693c599e3168fd0c0723311b3b4",
    },
    Schema {
        migration: "0040_add_widget_secret",
        commit: "885be1b9a1553da083e1a4869a35e261acdb33e5",
    },
    Schema {
        migration: "0041_add_right_click_preference",
        commit: "5e39c8813a73ee57f2bc7491eb5814af11cff267",
    },
    Schema {
        migration: "0042_custom_widget_v2_tables",
        commit: "7a2d6009f79a94058d3f3d54e7e7918222fba6cb",
    },
    Schema {
        migration: "0043_add_layout_gutters",
        commit: "93276abc8c779c1b27a803b8447c57d86d2f1203",
    },
    Schema {
        migration: "0044_add_layout_role",
        commit: "a0390490847685ba0a50fe12480df25206c1f5b5",
    },
    Schema {
        migration: "0045_add_assistant_tables",
        commit: "9fd7a8a05bee796daf143f84a198769998e20ddc",
    },
    Schema {
        migration: "0046_add_header_preferences_and_branding",
        commit: "4b5e04a6eca0804d9b53df3bd2ac0ad647f3289a",
    },
    Schema {
        migration: "0047_add_byte_unit_system",
        commit: "3064c15b17702e4c45df3435a6c3f6c530a49d4c",
    },
    Schema {
        migration: "0048_add_fixed_board_scaling",
        commit: "ecc1009e23c3d5b1db02bddda419fcbf6a10be5c",
    },
];

/// The schema of a database.
#[derive(Clone, Copy, Debug)]
pub struct Identified {
    /// The newest that is known.
    pub schema: &'static Schema,
    /// How many migrations the database has had after it.
    pub newer: usize,
}

/// More migrations than Homarr will have.
const MOST_MIGRATIONS: i64 = 10_000;

/// The schema of a database. Refuses one that is unknown, and says what was found.
pub fn identify(connection: &Connection) -> anyhow::Result<Identified> {
    if foreign::check_table(connection, "__drizzle_migrations")?.is_none() {
        let tables = first_tables(connection)?;
        bail!("it is not a database of Homarr: there is no table __drizzle_migrations, but {tables}");
    }
    let sql = "SELECT created_at FROM __drizzle_migrations NOT INDEXED LIMIT ?1";
    let mut statement = connection
        .prepare(sql)
        .context("its table __drizzle_migrations is not Homarr's")?;
    let moments = statement.query_map([MOST_MIGRATIONS], |row| {
        Ok(match row.get_ref(0)? {
            ValueRef::Integer(moment) => moment,
            _ => 0,
        })
    })?;
    let mut moments: Vec<i64> = moments.collect::<rusqlite::Result<_>>()?;
    moments.sort_unstable();
    let known = JOURNAL.iter().zip(&moments);
    let known = known.take_while(|(known, moment)| known == moment).count();
    let newer = moments.len() - known;
    if (newer == 0 || known >= OF_HOMARR_1)
        && let Some(schema) = known.checked_sub(OLDEST).and_then(|index| SUPPORTED.get(index))
    {
        return Ok(Identified { schema, newer });
    }
    bail!("its schema is unknown: {}", describe(&moments));
}

/// What is wrong with these migrations, and what to do.
fn describe(moments: &[i64]) -> String {
    let (first, last) = (&SUPPORTED[0], &SUPPORTED[SUPPORTED.len() - 1]);
    let known = format!(
        "this portico reads those from {} to {} (github.com/homarr-labs/homarr, commits {} to {})",
        first.migration,
        last.migration,
        short(first),
        short(last)
    );
    let mut text = format!("it has had {} migrations", moments.len());
    if let Some(moment) = moments.last() {
        let _ = write!(text, ", the last of {}", day(*moment));
    }
    let advice = match moments.len() {
        count if count < OLDEST && JOURNAL.starts_with(moments) => {
            "it is older: start a newer Homarr on it once, which brings it up to date"
        }
        _ if moments
            .first()
            .is_some_and(|first| (1..JOURNAL[0]).contains(first)) =>
        {
            "it is of a time before Homarr 1: import its boards, which are files of JSON, into a Homarr 1 (Manage, Boards, \
             Import), and give the db.sqlite of that"
        }
        _ => "some of them are not Homarr's",
    };
    format!("{text}; {known}; {advice}")
}

/// The beginning of a schema's commit, to show.
pub fn short(schema: &Schema) -> &'static str {
    &schema.commit[..12]
}

fn day(milliseconds: i64) -> String {
    let moment = u64::try_from(milliseconds)
        .ok()
        .and_then(portico_model::time::format);
    moment.map_or_else(
        || milliseconds.to_string(),
        |moment| moment.chars().take(10).collect(),
    )
}

fn first_tables(connection: &Connection) -> anyhow::Result<String> {
    const SHOWN: i64 = 5;
    let sql = "SELECT substr(name, 1, 60) FROM sqlite_schema WHERE type = 'table' ORDER BY name LIMIT ?1";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([SHOWN], |row| row.get::<_, String>(0))?;
    let names: Vec<_> = names.collect::<rusqlite::Result<_>>()?;
    Ok(match names.is_empty() {
        true => "no table at all".into(),
        false => format!("tables like {names:?}"),
    })
}
