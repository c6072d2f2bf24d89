//! API keys, own and all, and expiry dates.

use super::texts;

texts! {
    /// API keys.
    Keys {
        title: "API keys", "API-Schlüssel";
        lead: "A key may do at most what its user may do.", "Ein Schlüssel darf höchstens, was sein Benutzer darf.";
        new: "New key", "Neuer Schlüssel";
        name: "What it is for", "Wofür er ist";
        name_hint: "For example: backup on the NAS", "Zum Beispiel: Backup auf dem NAS";
        create: "Create key", "Schlüssel anlegen";
        unnamed: "Without a name, begins with {}", "Ohne Namen, beginnt mit {}";
        user: "User", "Benutzer";
        for_user: "For {}", "Für {}";
        other_user: "For another user", "Für einen anderen Benutzer";
        find_user: "Part of the name", "Teil des Namens";
        no_user: "No user has this name.", "Kein Benutzer heißt so.";
        choose: "Choose", "Wählen";
        made: "Created", "Angelegt";
        ends: "Ends", "Endet";
        last_used: "Last used", "Zuletzt benutzt";
        number: "1 key|{} keys", "1 Schlüssel|{} Schlüssel";
        empty: "No keys yet", "Noch keine Schlüssel";
        empty_text: "Programs such as backups or scripts sign in with a key.", "Programme wie Backups oder Skripte melden sich mit einem Schlüssel an.";
        made_title: "The key is ready", "Der Schlüssel ist fertig";
        made_text: "Copy it now. It is shown only this once.", "Kopieren Sie ihn jetzt. Er wird nur dieses eine Mal gezeigt.";
        made_use: "Programs send it in the header ApiKey.", "Programme senden ihn in der Kopfzeile ApiKey.";
        secret: "Key", "Schlüssel";
        copy: "Copy", "Kopieren";
        copied: "Copied", "Kopiert";
        delete_title: "Delete key", "Schlüssel löschen";
        delete_text: "The key {} stops working at once. Programs that use it are refused.", "Der Schlüssel {} gilt ab sofort nicht mehr. Programme, die ihn benutzen, werden abgewiesen.";
        delete_named: "Delete the key {}", "Den Schlüssel {} löschen";
        lasts: "Ends after", "Endet nach";
        day: "1 day", "1 Tag";
        week: "1 week", "1 Woche";
        month: "1 month", "1 Monat";
        year: "1 year", "1 Jahr";
        limits: "What it may do", "Was er darf";
        limits_hint: "Without a tick: all that its user may do.", "Ohne Häkchen: alles, was sein Benutzer darf.";
        only_read: "Only read", "Nur lesen";
        only_read_hint: "It changes nothing, whatever its permissions are.", "Er ändert nichts, welche Rechte er auch hat.";
        none: "No permission", "Kein Recht";
        none_allows: "Only what every user may do.", "Nur, was alle Benutzer dürfen.";
        allowed: "May do", "Darf";
        everything: "all that its user may", "alles, was sein Benutzer darf";
        reads: "only read", "nur lesen";
        no_permission: "no permission", "kein Recht";
        never: "Never", "Nie";
        until: "Or at the end of a day", "Oder am Ende eines Tages";
        until_hint: "This day counts if you choose one (UTC).", "Dieser Tag gilt, wenn Sie einen wählen (UTC).";
        not_a_day: "must be a day such as 2030-12-31", "muss ein Tag sein, etwa 2030-12-31";
        past_day: "must not be over yet", "darf noch nicht vorbei sein";
    }
}
