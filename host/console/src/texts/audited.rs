//! What the audit log records, in words.

use super::Language;

/// Procedures, in English and German.
const ACTIONS: &[(&str, &str, &str)] = &[
    ("sign-in", "Sign in", "Anmelden"),
    ("gate", "Open an app through the gate", "App durch das Tor öffnen"),
    (
        "gate.byId",
        "Read what the gate knows of an app",
        "Angaben zu einer App am Tor lesen",
    ),
    (
        "gate.getAll",
        "List what the gate knows of apps",
        "Angaben zu Apps am Tor auflisten",
    ),
    (
        "gate.update",
        "Change what the gate knows of an app",
        "Angaben zu einer App am Tor ändern",
    ),
    ("sign-out", "Sign out", "Abmelden"),
    (
        "second-factor-set-up",
        "Set up a second factor at sign-in",
        "Zweiten Faktor bei der Anmeldung einrichten",
    ),
    (
        "secondFactor.getOwn",
        "List own second factors",
        "Eigene zweite Faktoren auflisten",
    ),
    (
        "secondFactor.newSecret",
        "Begin to set up a second factor",
        "Einrichten eines zweiten Faktors beginnen",
    ),
    (
        "secondFactor.addTotp",
        "Set up an authenticator app",
        "Authenticator-App einrichten",
    ),
    (
        "secondFactor.beginPasskey",
        "Begin to add a passkey",
        "Hinzufügen eines Passkeys beginnen",
    ),
    ("secondFactor.addPasskey", "Add a passkey", "Passkey hinzufügen"),
    ("secondFactor.rename", "Rename a passkey", "Passkey umbenennen"),
    (
        "secondFactor.beginProof",
        "Begin to use a passkey",
        "Verwenden eines Passkeys beginnen",
    ),
    (
        "secondFactor.delete",
        "Remove own second factor",
        "Eigenen zweiten Faktor entfernen",
    ),
    (
        "secondFactor.renewRecoveryCodes",
        "Make new recovery codes",
        "Neue Wiederherstellungscodes anlegen",
    ),
    (
        "secondFactor.getOfUser",
        "List a user's second factors",
        "Zweite Faktoren eines Benutzers auflisten",
    ),
    (
        "secondFactor.deleteOfUser",
        "Remove a user's second factors",
        "Zweite Faktoren eines Benutzers entfernen",
    ),
    ("restore", "Restore a backup", "Sicherung wiederherstellen"),
    ("import", "Import", "Importieren"),
    (
        "relink",
        "Move to an issuer's new address",
        "An die neue Adresse eines Ausstellers umziehen",
    ),
    ("audit", "Not recorded", "Nicht aufgezeichnet"),
    ("apiKeys.create", "Create an API key", "API-Schlüssel anlegen"),
    (
        "apiKeys.createOwn",
        "Create an own API key",
        "Eigenen API-Schlüssel anlegen",
    ),
    ("apiKeys.delete", "Delete an API key", "API-Schlüssel löschen"),
    (
        "apiKeys.deleteOwn",
        "Delete an own API key",
        "Eigenen API-Schlüssel löschen",
    ),
    (
        "apiKeys.getAll",
        "List all API keys",
        "Alle API-Schlüssel auflisten",
    ),
    (
        "apiKeys.getOwn",
        "List own API keys",
        "Eigene API-Schlüssel auflisten",
    ),
    ("app.create", "Create an app", "App anlegen"),
    ("app.createMany", "Create apps", "Apps anlegen"),
    ("app.update", "Change an app", "App ändern"),
    ("app.delete", "Delete an app", "App löschen"),
    ("app.all", "List apps", "Apps auflisten"),
    (
        "app.selectable",
        "List apps to choose from",
        "Apps zur Auswahl auflisten",
    ),
    ("app.getPaginated", "Read a page of apps", "Eine Seite Apps lesen"),
    ("app.search", "Search for apps", "Apps suchen"),
    ("app.byId", "Read an app", "App lesen"),
    ("app.byIds", "Read apps", "Apps lesen"),
    ("app.seenBy", "See who sees an app", "Sehen, wer eine App sieht"),
    (
        "app.readAddress",
        "Look at the address of a new app",
        "Adresse einer neuen App ansehen",
    ),
    (
        "app.status",
        "Ask whether apps can be reached",
        "Erreichbarkeit von Apps erfragen",
    ),
    ("audit.getPaginated", "Read the audit log", "Protokoll lesen"),
    ("board.create", "Make a board", "Board anlegen"),
    ("board.update", "Change a board", "Board ändern"),
    ("board.share", "Share a board", "Board teilen"),
    ("board.delete", "Delete a board", "Board löschen"),
    ("board.getAll", "List all boards", "Alle Boards auflisten"),
    ("board.getVisible", "List boards", "Boards auflisten"),
    (
        "board.getChangeable",
        "List boards to change",
        "Änderbare Boards auflisten",
    ),
    ("board.byId", "Read a board", "Board lesen"),
    (
        "board.bySlug",
        "Read a board by its short address",
        "Board über seine kurze Adresse lesen",
    ),
    (
        "board.getRight",
        "Ask what is allowed on a board",
        "Rechte an einem Board erfragen",
    ),
    (
        "board.getShares",
        "Read with whom a board is shared",
        "Freigaben eines Boards lesen",
    ),
    (
        "board.getShareable",
        "Look for somebody to share a board with",
        "Jemanden zum Teilen eines Boards suchen",
    ),
    (
        "extras.ofUser",
        "Read what clients keep about a user",
        "Lesen, was Clients zu einem Benutzer ablegen",
    ),
    (
        "extras.saveOfUser",
        "Keep what clients say about a user",
        "Ablegen, was Clients zu einem Benutzer sagen",
    ),
    (
        "extras.ofBoard",
        "Read what clients keep about a board",
        "Lesen, was Clients zu einem Board ablegen",
    ),
    (
        "extras.saveOfBoard",
        "Keep what clients say about a board",
        "Ablegen, was Clients zu einem Board sagen",
    ),
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
        "Mitglied zu einer Gruppe hinzufügen",
    ),
    (
        "group.removeMember",
        "Remove a member from a group",
        "Mitglied aus einer Gruppe entfernen",
    ),
    ("group.deleteGroup", "Delete a group", "Gruppe löschen"),
    ("group.getAll", "List groups", "Gruppen auflisten"),
    ("icon.search", "Search for icons", "Icons suchen"),
    ("invite.createInvite", "Create an invite", "Einladung anlegen"),
    ("invite.deleteInvite", "Delete an invite", "Einladung löschen"),
    ("invite.getAll", "List invites", "Einladungen auflisten"),
    (
        "invite.getByToken",
        "Open the link of an invite",
        "Link einer Einladung öffnen",
    ),
    (
        "onboard.currentStep",
        "Ask for the step of the setup",
        "Schritt der Einrichtung erfragen",
    ),
    ("picture.create", "Upload a picture", "Bild hochladen"),
    ("site.get", "Read the looks", "Aussehen lesen"),
    (
        "site.update",
        "Change looks, who sees what, or what is checked",
        "Aussehen, Sichtbarkeit oder Prüfungen ändern",
    ),
    (
        "searchEngine.create",
        "Create a search engine",
        "Suchmaschine anlegen",
    ),
    (
        "searchEngine.update",
        "Change a search engine",
        "Suchmaschine ändern",
    ),
    (
        "searchEngine.delete",
        "Delete a search engine",
        "Suchmaschine löschen",
    ),
    (
        "searchEngine.getAll",
        "List all search engines",
        "Alle Suchmaschinen auflisten",
    ),
    (
        "searchEngine.getSelectable",
        "List search engines",
        "Suchmaschinen auflisten",
    ),
    ("searchEngine.byId", "Read a search engine", "Suchmaschine lesen"),
    ("session", "Read the session", "Sitzung lesen"),
    ("session.getAll", "List sessions", "Sitzungen auflisten"),
    ("session.delete", "End a session", "Sitzung beenden"),
    (
        "session.deleteOthers",
        "End all other sessions",
        "Alle anderen Sitzungen beenden",
    ),
    ("state.apply", "Apply a configuration", "Konfiguration anwenden"),
    (
        "state.export",
        "Download the configuration",
        "Konfiguration herunterladen",
    ),
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
        "Name oder E-Mail ändern",
    ),
    ("user.setProfileImage", "Change the picture", "Bild ändern"),
    ("user.changePassword", "Change a password", "Passwort ändern"),
    (
        "user.createPasswordLink",
        "Make a link for a new password",
        "Link für ein neues Passwort anlegen",
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
    ("user.delete", "Delete a user", "Benutzer löschen"),
    ("user.getAll", "List all users", "Alle Benutzer auflisten"),
    (
        "user.getPaginated",
        "Read a page of users",
        "Eine Seite Benutzer lesen",
    ),
    ("user.search", "Search for users", "Benutzer suchen"),
    (
        "user.selectable",
        "List users to choose from",
        "Benutzer zur Auswahl auflisten",
    ),
    ("user.getById", "Read a user", "Benutzer lesen"),
    (
        "user.seenApps",
        "See which apps a user sees",
        "Sehen, welche Apps ein Benutzer sieht",
    ),
    ("user.changeColorScheme", "Choose colours", "Farben wählen"),
    (
        "user.changeFirstDayOfWeek",
        "Choose the first day of the week",
        "Ersten Tag der Woche wählen",
    ),
    (
        "board.getHome",
        "Read which boards come first",
        "Lesen, welche Boards zuerst kommen",
    ),
    (
        "board.getDefaultHomes",
        "Read the home boards of groups and everyone",
        "Start-Boards von Gruppen und allen lesen",
    ),
    (
        "board.setDefaultHome",
        "Choose the home board of a group or of everyone",
        "Start-Board einer Gruppe oder für alle wählen",
    ),
    (
        "user.changeHomeBoards",
        "Choose home boards",
        "Start-Boards wählen",
    ),
    (
        "user.changePingIconsEnabled",
        "Choose whether reachability is shown",
        "Wählen, ob Erreichbarkeit gezeigt wird",
    ),
    (
        "user.changeSearchPreferences",
        "Choose search and links",
        "Suche und Links wählen",
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
    ("PAYLOAD_TOO_LARGE", "too large", "zu groß"),
    ("METHOD_NOT_SUPPORTED", "wrong method", "falsche Methode"),
    (
        "UNSUPPORTED_MEDIA_TYPE",
        "wrong kind of content",
        "falsche Art von Inhalt",
    ),
    ("SERVICE_UNAVAILABLE", "unavailable", "nicht verfügbar"),
    ("INTERNAL_SERVER_ERROR", "failed", "fehlgeschlagen"),
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
