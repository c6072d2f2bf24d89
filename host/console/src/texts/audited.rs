//! What the audit log records, in words.

use super::Language;

/// Procedures, in English and German.
const ACTIONS: &[(&str, &str, &str)] = &[
    ("sign-in", "Sign in", "Anmelden"),
    ("sign-out", "Sign out", "Abmelden"),
    ("restore", "Restore a backup", "Sicherung wiederherstellen"),
    ("import", "Import", "Importieren"),
    ("audit", "Not recorded", "Nicht aufgezeichnet"),
    (
        "apiKeys.create",
        "Create an API key",
        "API-Schl\u{fc}ssel anlegen",
    ),
    (
        "apiKeys.createOwn",
        "Create an own API key",
        "Eigenen API-Schl\u{fc}ssel anlegen",
    ),
    (
        "apiKeys.delete",
        "Delete an API key",
        "API-Schl\u{fc}ssel l\u{f6}schen",
    ),
    (
        "apiKeys.deleteOwn",
        "Delete an own API key",
        "Eigenen API-Schl\u{fc}ssel l\u{f6}schen",
    ),
    ("app.create", "Create an app", "App anlegen"),
    ("app.createMany", "Create apps", "Apps anlegen"),
    ("app.update", "Change an app", "App \u{e4}ndern"),
    ("app.delete", "Delete an app", "App l\u{f6}schen"),
    ("board.create", "Make a board", "Board anlegen"),
    ("board.update", "Change a board", "Board \u{e4}ndern"),
    ("board.share", "Share a board", "Board teilen"),
    ("board.delete", "Delete a board", "Board l\u{f6}schen"),
    ("group.createGroup", "Create a group", "Gruppe anlegen"),
    ("group.rename", "Rename a group", "Gruppe umbenennen"),
    (
        "group.savePermissions",
        "Set a group's permissions",
        "Rechte einer Gruppe setzen",
    ),
    (
        "group.addMember",
        "Add a member to a group",
        "Mitglied zu einer Gruppe hinzuf\u{fc}gen",
    ),
    (
        "group.removeMember",
        "Remove a member from a group",
        "Mitglied aus einer Gruppe entfernen",
    ),
    ("group.deleteGroup", "Delete a group", "Gruppe l\u{f6}schen"),
    ("invite.createInvite", "Create an invite", "Einladung anlegen"),
    (
        "invite.deleteInvite",
        "Delete an invite",
        "Einladung l\u{f6}schen",
    ),
    ("picture.create", "Upload a picture", "Bild hochladen"),
    ("site.update", "Change the looks", "Aussehen \u{e4}ndern"),
    (
        "searchEngine.create",
        "Create a search engine",
        "Suchmaschine anlegen",
    ),
    (
        "searchEngine.update",
        "Change a search engine",
        "Suchmaschine \u{e4}ndern",
    ),
    (
        "searchEngine.delete",
        "Delete a search engine",
        "Suchmaschine l\u{f6}schen",
    ),
    ("session.delete", "End a session", "Sitzung beenden"),
    (
        "session.deleteOthers",
        "End all other sessions",
        "Alle anderen Sitzungen beenden",
    ),
    ("state.apply", "Apply a document", "Dokument anwenden"),
    (
        "user.initUser",
        "Create the administrator",
        "Administrator anlegen",
    ),
    ("user.create", "Create a user", "Benutzer anlegen"),
    (
        "user.register",
        "Register with an invite",
        "Mit Einladung registrieren",
    ),
    (
        "user.editProfile",
        "Change name or email",
        "Name oder E-Mail \u{e4}ndern",
    ),
    ("user.setProfileImage", "Change the picture", "Bild \u{e4}ndern"),
    ("user.changePassword", "Change a password", "Passwort \u{e4}ndern"),
    (
        "user.createPasswordLink",
        "Make a link for a new password",
        "Link f\u{fc}r ein neues Passwort anlegen",
    ),
    (
        "user.setPasswordByLink",
        "Set a new password with a link",
        "Neues Passwort mit einem Link setzen",
    ),
    (
        "user.setDisabled",
        "Disable or enable a user",
        "Benutzer sperren oder entsperren",
    ),
    ("user.delete", "Delete a user", "Benutzer l\u{f6}schen"),
    ("user.changeColorScheme", "Choose colours", "Farben w\u{e4}hlen"),
    (
        "user.changeFirstDayOfWeek",
        "Choose the first day of the week",
        "Ersten Tag der Woche w\u{e4}hlen",
    ),
    (
        "user.changeHomeBoards",
        "Choose home boards",
        "Start-Boards w\u{e4}hlen",
    ),
    (
        "user.changePingIconsEnabled",
        "Choose whether reachability is shown",
        "W\u{e4}hlen, ob Erreichbarkeit gezeigt wird",
    ),
    (
        "user.changeSearchPreferences",
        "Choose search and links",
        "Suche und Links w\u{e4}hlen",
    ),
];

/// Outcomes, in English and German.
const OUTCOMES: &[(&str, &str, &str)] = &[
    ("OK", "done", "erledigt"),
    ("UNAUTHORIZED", "not signed in", "nicht angemeldet"),
    ("FORBIDDEN", "not permitted", "nicht erlaubt"),
    ("TOO_MANY_REQUESTS", "too many attempts", "zu viele Versuche"),
    ("BAD_REQUEST", "wrong input", "falsche Eingabe"),
    ("NOT_FOUND", "not there", "nicht vorhanden"),
    ("CONFLICT", "in conflict", "im Konflikt"),
    ("NOT_RECORDED", "not recorded", "nicht aufgezeichnet"),
    ("TIMEOUT", "took too long", "dauerte zu lange"),
];

fn say<'a>(table: &'static [(&str, &str, &str)], language: Language, text: &'a str) -> &'a str {
    let found = table.iter().find(|(name, ..)| *name == text);
    match (found, language) {
        (Some((_, english, _)), Language::English) => english,
        (Some((.., german)), Language::German) => german,
        (None, _) => text,
    }
}

/// What a procedure does; its name, if it is not among these.
pub(crate) fn action(language: Language, procedure: &str) -> &str {
    say(ACTIONS, language, procedure)
}

/// How a call ended.
pub(crate) fn outcome(language: Language, code: &str) -> &str {
    say(OUTCOMES, language, code)
}

/// The procedures that have words, to choose from.
pub(crate) fn actions(language: Language) -> Vec<(&'static str, &'static str)> {
    let all = ACTIONS.iter().map(|(name, ..)| (*name, action(language, name)));
    all.collect()
}
