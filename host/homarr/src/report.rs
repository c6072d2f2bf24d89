//! What an import does: how many records of each kind it creates, and a note for each thing that is not imported as it
//! was.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use serde::{Serialize, Serializer, ser::SerializeMap};

/// How much of a text a note shows.
const MOST_SHOWN: usize = 80;

/// The kinds of records that are imported, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Group,
    User,
    App,
    SearchEngine,
    Board,
    ApiKey,
    Invite,
    Other,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum What {
    /// A record is imported with a change, because it broke a rule.
    Repaired,
    /// A part of a record is not imported.
    Lost,
    /// A record is not imported.
    LeftOut,
    /// A record has the name of a record that is already in Portico.
    Collided,
    /// A part of a record is imported though it breaks a rule of new ones.
    Kept,
}

/// One thing that is not imported as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    pub kind: Kind,
    /// The id of the record in Homarr; empty if the note is about no single record.
    #[serde(skip)]
    pub id: String,
    /// The name of the record, or its id; empty if the note is about no single record.
    pub name: String,
    /// What happened to it.
    pub what: What,
    /// The same as text.
    pub text: String,
}

/// How many records of a kind there are, and what happens to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// In Homarr's database.
    pub found: u64,
    /// New in Portico.
    pub created: u64,
    /// Already in Portico, under their ids.
    pub present: u64,
    /// Already in Portico under their names, and treated as the same.
    pub joined: u64,
    /// Not imported.
    pub left_out: u64,
    /// How many notes say that a record was changed.
    pub repaired: u64,
    /// How many notes say that a part of a record is not imported.
    pub lost: u64,
    /// How many notes say that a record has the name of a record that is already in Portico.
    pub collided: u64,
    /// How many notes say something else.
    #[serde(skip)]
    unnumbered: u64,
}

/// What an import does.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    #[serde(serialize_with = "by_kind")]
    pub counts: BTreeMap<Kind, Count>,
    /// In the order in which they were noticed.
    pub notes: Vec<Note>,
    /// Whether it sets what the whole dashboard looks like, or what everyone sees first, which no kind of record counts.
    #[serde(skip)]
    pub sets_whole: bool,
}

impl Count {
    /// The number of notes that say this.
    fn of(&mut self, what: What) -> &mut u64 {
        match what {
            What::Repaired => &mut self.repaired,
            What::Lost => &mut self.lost,
            What::Collided => &mut self.collided,
            What::LeftOut | What::Kept => &mut self.unnumbered,
        }
    }
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Group,
        Self::User,
        Self::App,
        Self::SearchEngine,
        Self::Board,
        Self::ApiKey,
        Self::Invite,
    ];

    /// In words, one of them.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::User => "user",
            Self::App => "app",
            Self::SearchEngine => "search engine",
            Self::Board => "board",
            Self::ApiKey => "API key",
            Self::Invite => "invite",
            Self::Other => "other",
        }
    }
}

impl Report {
    pub fn count(&mut self, kind: Kind) -> &mut Count {
        self.counts.entry(kind).or_default()
    }

    /// Notes something that is about no single record, or that stays true whatever happens to the record.
    pub fn note(&mut self, kind: Kind, name: &str, what: What, text: impl Into<String>) {
        self.note_of(kind, ("", name), what, text);
    }

    /// Notes what happens to the record of this id and name, if it is imported.
    pub fn note_of(&mut self, kind: Kind, (id, name): (&str, &str), what: What, text: impl Into<String>) {
        *self.count(kind).of(what) += 1;
        self.notes.push(Note {
            kind,
            id: id.to_owned(),
            name: shown(name),
            what,
            text: text.into(),
        });
    }

    /// Takes the notes of these records back: they are not created, because they are here already.
    pub fn take_back(&mut self, records: &HashSet<(Kind, &str)>) {
        let counts = &mut self.counts;
        self.notes.retain(|note| {
            let is_kept = note.id.is_empty() || !records.contains(&(note.kind, &note.id[..]));
            if !is_kept {
                *counts.entry(note.kind).or_default().of(note.what) -= 1;
            }
            is_kept
        });
    }

    /// Notes that a record is not imported, and counts it.
    pub fn leave_out(&mut self, kind: Kind, name: &str, why: impl Into<String>) {
        self.count(kind).left_out += 1;
        self.note(kind, name, What::LeftOut, why);
    }

    /// Whether there is anything to write.
    pub fn changes_anything(&self) -> bool {
        self.sets_whole || self.counts.values().any(|count| count.created > 0)
    }

    /// The report for people: a line for each kind, and one for each note.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for kind in Kind::ALL {
            let count = self.counts.get(&kind).copied().unwrap_or_default();
            let _ = write!(text, "{}s: {} in Homarr", kind.singular(), count.found);
            for (number, words) in [
                (count.created, "created"),
                (count.present, "here already"),
                (count.joined, "joined with one of the same name"),
                (count.left_out, "left out"),
                (count.repaired, "with a change"),
                (count.collided, "with a name that was taken"),
            ] {
                if number > 0 {
                    let _ = write!(text, ", {number} {words}");
                }
            }
            match count.lost {
                0 => {}
                1 => text.push_str(", 1 loss"),
                number => {
                    let _ = write!(text, ", {number} losses");
                }
            }
            text.push('\n');
        }
        for note in &self.notes {
            let what = match note.what {
                What::Repaired => "changed",
                What::Lost => "without",
                What::LeftOut => "left out",
                What::Collided => "collided",
                What::Kept => "kept",
            };
            let subject = match (note.kind, note.name.is_empty()) {
                (Kind::Other, _) => String::new(),
                (kind, true) => format!("{}s: ", kind.singular()),
                (kind, false) => format!("{} {:?}: ", kind.singular(), note.name),
            };
            let _ = writeln!(text, "! {what}: {subject}{}", note.text);
        }
        text
    }
}

/// A number of things: `1 app`, `2 apps`.
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// The beginning of a text that others wrote.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn by_kind<S: Serializer>(counts: &BTreeMap<Kind, Count>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(Kind::ALL.len()))?;
    for kind in Kind::ALL {
        map.serialize_entry(&kind, &counts.get(&kind).copied().unwrap_or_default())?;
    }
    map.end()
}
