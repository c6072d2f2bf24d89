//! The audit log and the configuration.

use super::texts;

texts! {
    /// The audit log.
    Audit {
        title: "Audit log", "Protokoll";
        lead: "Every change, every sign-in, and who was refused; newest first.", "Jede Änderung, jede Anmeldung und wer abgewiesen wurde; das Neueste zuerst.";
        number: "1 entry|{} entries", "1 Eintrag|{} Einträge";
        empty: "No entry fits.", "Kein Eintrag passt dazu.";
        user: "User", "Benutzer";
        user_hint: "Name", "Name";
        which: "Several users have this in their names. Which one?", "Mehrere Benutzer heißen so. Welcher?";
        no_user: "No user is called {}.", "Kein Benutzer heißt {}.";
        procedure: "Action", "Aktion";
        any_procedure: "Any action", "Jede Aktion";
        outcome: "Result", "Ergebnis";
        any_outcome: "Any result", "Jedes Ergebnis";
        from: "From (UTC)", "Von (UTC)";
        until: "Until (UTC)", "Bis (UTC)";
        not_a_day: "A day must be written as in 2030-12-31.", "Ein Tag muss geschrieben sein wie 2030-12-31.";
        filter: "Filter", "Filtern";
        show_all: "Show all", "Alle zeigen";
        time: "Time", "Zeit";
        what: "What", "Was";
        who: "Who", "Wer";
        where_from: "From where", "Woher";
        target: "About", "Betrifft";
        joined: "Joined:", "Neu in:";
        left: "Left:", "Nicht mehr in:";
        more_groups: "and {} more groups", "und {} weitere Gruppen";
        anonymous: "without sign-in", "ohne Anmeldung";
        operator: "the operator", "der Betreiber";
        times: "{} times", "{}-mal";
        by_key: "by API key", "mit API-Schlüssel";
        by_host: "by the dashboard around Portico", "über das Dashboard um Portico";
        by_proxy: "by the proxy in front", "über den Proxy davor";
        ok: "done", "erledigt";
        only_user: "Only what {} did", "Nur was {} tat";
        only_procedure: "Only {}", "Nur {}";
    }
}

texts! {
    /// The configuration: the dashboard as a document (*desired state*).
    State {
        title: "Configuration", "Konfiguration";
        lead: "One document describes groups, users, apps, search engines and boards. Portico shows what would change before it changes anything.", "Ein Dokument beschreibt Gruppen, Benutzer, Apps, Suchmaschinen und Boards. Portico zeigt, was sich ändern würde, bevor es etwas ändert.";
        download: "Download the present state", "Den jetzigen Stand herunterladen";
        download_text: "As JSON, without passwords and keys. Applying it again changes nothing.", "Als JSON, ohne Passwörter und Schlüssel. Es wieder anzuwenden ändert nichts.";
        document: "Document", "Dokument";
        document_hint: "JSON or YAML, as for the command portico apply", "JSON oder YAML, wie für den Befehl portico apply";
        json_hint: "JSON, as for the command portico apply", "JSON, wie für den Befehl portico apply";
        file: "Or a file", "Oder eine Datei";
        file_hint: "The file counts if you choose one.", "Die Datei gilt, wenn Sie eine wählen.";
        prune: "Remove what the document does not name", "Entfernen, was das Dokument nicht nennt";
        prune_hint: "Affects only the kinds of entries that the document lists: a list of apps without one of your apps removes that app.", "Betrifft nur die Arten von Einträgen, die das Dokument auflistet: Fehlt in der Liste der Apps eine Ihrer Apps, wird sie entfernt.";
        show: "Show the difference", "Unterschied zeigen";
        missing: "Please paste a document or choose a file", "Bitte fügen Sie ein Dokument ein oder wählen Sie eine Datei";
        not_text: "The file is not text in UTF-8: save it as UTF-8", "Die Datei ist kein Text in UTF-8: Speichern Sie sie als UTF-8";
        no_document: "This is not a document: it must have one or more of the keys {}", "Das ist kein Dokument: Es muss einen oder mehrere dieser Schlüssel haben: {}";
        unreadable: "The document cannot be read: {}", "Das Dokument ist nicht lesbar: {}";
        breaks_rules: "The document breaks rules. Nothing was changed.", "Das Dokument verletzt Regeln. Nichts wurde geändert.";
        more_rules: "and {} more", "und {} weitere";
        unknown_keys: "Portico does not know these keys; they are probably misspelt:", "Diese Schlüssel kennt Portico nicht; vermutlich sind sie falsch geschrieben:";
        difference: "The difference", "Der Unterschied";
        nothing: "Nothing to change: the present state is as the document says.", "Nichts zu ändern: Der jetzige Stand ist, wie das Dokument sagt.";
        dry: "Nothing has been changed yet.", "Noch ist nichts geändert.";
        applied: "Applied", "Angewendet";
        created: "1 entry is created|{} entries are created", "1 Eintrag wird angelegt|{} Einträge werden angelegt";
        changed: "1 entry is changed|{} entries are changed", "1 Eintrag wird geändert|{} Einträge werden geändert";
        removed: "1 entry is removed|{} entries are removed", "1 Eintrag wird entfernt|{} Einträge werden entfernt";
        warnings: "Taken as it is, though no new entry could have it:", "So übernommen, obwohl es kein neuer Eintrag haben dürfte:";
        removed_warning: "These entries are removed, and nothing brings them back.", "Diese Einträge werden entfernt, und nichts bringt sie zurück.";
        was_created: "1 entry was created|{} entries were created", "1 Eintrag wurde angelegt|{} Einträge wurden angelegt";
        was_changed: "1 entry was changed|{} entries were changed", "1 Eintrag wurde geändert|{} Einträge wurden geändert";
        was_removed: "1 entry was removed|{} entries were removed", "1 Eintrag wurde entfernt|{} Einträge wurden entfernt";
        unchanged: "1 entry is as wanted|{} entries are as wanted", "1 Eintrag ist wie gewünscht|{} Einträge sind wie gewünscht";
        unnamed: "Not in the document, and left alone: {}", "Nicht im Dokument, bleiben unberührt: {}";
        more: "and {} more", "und {} weitere";
        apply: "Apply", "Anwenden";
        edit: "Change the document", "Dokument ändern";
        other_order: "in another order, or in another number", "in anderer Reihenfolge oder Anzahl";
        group: "group", "Gruppe";
        user: "user", "Benutzer";
        app: "app", "App";
        engine: "search engine", "Suchmaschine";
        board: "board", "Board";
        groups: "1 group|{} groups", "1 Gruppe|{} Gruppen";
        users: "1 user|{} users", "1 Benutzer|{} Benutzer";
        apps: "1 app|{} apps", "1 App|{} Apps";
        engines: "1 search engine|{} search engines", "1 Suchmaschine|{} Suchmaschinen";
        boards: "1 board|{} boards", "1 Board|{} Boards";
        before: "before", "vorher";
        after: "after", "nachher";
        again: "Another document", "Anderes Dokument";
    }
}
