//! The frame of every page, errors, notes, and the pages that everyone sees.

use super::{Texts, texts};

texts! {
    /// The frame.
    Common {
        brand: "Portico", "Portico";
        skip: "Skip to the content", "Zum Inhalt springen";
        menu: "Menu", "Menü";
        home: "Home", "Start";
        manage: "Manage", "Verwalten";
        apps: "Apps", "Apps";
        boards: "Boards", "Boards";
        users: "Users", "Benutzer";
        groups: "Groups", "Gruppen";
        invites: "Invites", "Einladungen";
        keys: "API keys", "API-Schlüssel";
        engines: "Search engines", "Suchmaschinen";
        audit: "Audit log", "Protokoll";
        state: "Configuration", "Konfiguration";
        profile: "Profile", "Profil";
        help: "Help", "Hilfe";
        api: "API description", "API-Beschreibung";
        sign_in: "Sign in", "Anmelden";
        sign_out: "Sign out", "Abmelden";
        save: "Save", "Speichern";
        cancel: "Cancel", "Abbrechen";
        create: "Create", "Anlegen";
        edit: "Edit", "Bearbeiten";
        delete: "Delete", "Löschen";
        search: "Search", "Suchen";
        name: "Name", "Name";
        description: "Description", "Beschreibung";
        optional: "optional", "optional";
        previous: "Previous page", "Vorige Seite";
        next: "Next page", "Nächste Seite";
        page_of: "Page {} of {}", "Seite {} von {}";
        problem: "Please check what you typed", "Bitte prüfen Sie Ihre Eingabe";
        never: "never", "nie";
        yes: "yes", "ja";
        no: "no", "nein";
    }
}

texts! {
    /// Pages of errors.
    Errors {
        not_found_title: "There is nothing here", "Hier ist nichts";
        not_found: "This page or entry does not exist, or it was deleted in the meantime.", "Diese Seite oder dieser Eintrag existiert nicht oder wurde inzwischen gelöscht.";
        forbidden_title: "You may not do this", "Das ist Ihnen nicht erlaubt";
        too_many_title: "Too many attempts", "Zu viele Versuche";
        failed_title: "Something went wrong", "Etwas ist schiefgegangen";
        failed: "Portico could not do this. Its log says why.", "Portico konnte das nicht tun. Das Protokoll des Servers sagt, warum.";
        unavailable_title: "Portico is busy or cannot reach its data", "Portico ist überlastet oder erreicht seine Daten nicht";
        unavailable: "Please try again in a moment.", "Bitte versuchen Sie es gleich noch einmal.";
        refused_title: "This was refused", "Das wurde abgelehnt";
        sign_in_failed_title: "Sign-in did not succeed", "Die Anmeldung ist nicht gelungen";
        request: "What the log calls it:", "So heißt es im Protokoll:";
        home: "Go to the first page", "Zur Startseite";
        changed_meanwhile: "This was changed meanwhile, to: {}. Save again to replace it.", "Das wurde inzwischen geändert, zu: {}. Speichern Sie erneut, um es zu ersetzen.";
        unreachable: "Portico cannot be reached. What you typed is still here; try again in a moment.", "Portico ist nicht erreichbar. Ihre Eingaben stehen noch hier; versuchen Sie es gleich noch einmal.";
        sign_in_again: "Your session has ended, and nothing was changed. What you typed is still here: keep a copy, sign in, and send it again.", "Ihre Sitzung ist beendet, und nichts wurde geändert. Ihre Eingaben stehen noch hier: Heben Sie sie auf, melden Sie sich an und senden Sie sie erneut.";
    }
}

texts! {
    /// Notes above a page after something was done.
    Notes {
        session_ended: "Please sign in to go on.", "Bitte melden Sie sich an, um fortzufahren.";
        sign_in_failed: "Signing in has failed. Try it here.", "Die Anmeldung ist fehlgeschlagen. Versuchen Sie es hier.";
        signed_out: "You are signed out.", "Sie sind abgemeldet.";
        still_signed_in: "You are still signed in: what is in front of Portico, such as a proxy, signs you in with each request. Sign out there.", "Sie sind weiter angemeldet: Was vor Portico steht, etwa ein Proxy, meldet Sie bei jeder Anfrage an. Melden Sie sich dort ab.";
        saved: "Saved.", "Gespeichert.";
        created: "Created.", "Angelegt.";
        deleted: "Deleted.", "Gelöscht.";
        home: "This board is your home now.", "Dieses Board ist jetzt Ihre Startseite.";
        none_ticked: "Nothing is selected.", "Nichts ist ausgewählt.";
        password_changed: "Your password is changed.", "Ihr Passwort ist geändert.";
        second_factor_removed: "The second factor is removed. Your other sessions have ended.", "Der zweite Faktor ist entfernt. Ihre anderen Sitzungen sind beendet.";
        session_ended_here: "Ended.", "Beendet.";
        account_deleted: "Your account is deleted.", "Ihr Konto ist gelöscht.";
        form_old: "You have signed in again since that page was opened, so nothing was changed. Send the form again.", "Sie haben sich neu angemeldet, seit die Seite geöffnet wurde; darum wurde nichts geändert. Senden Sie das Formular noch einmal.";
        password_set: "Your new password is set. Sign in with it.", "Ihr neues Passwort ist gesetzt. Melden Sie sich damit an.";
        visibility_not_stored: "Everyone sees every app: your choice could not be stored. Make it again under “Who sees what”.", "Alle sehen alle Apps: Ihre Wahl konnte nicht gespeichert werden. Treffen Sie sie noch einmal unter „Wer sieht was“.";
        registered: "Your account is there. Sign in with it.", "Ihr Konto ist angelegt. Melden Sie sich damit an.";
    }
}

texts! {
    /// The first start.
    Start {
        title: "Welcome to Portico", "Willkommen bei Portico";
        lead: "Create the administrator: the account that may do everything. It takes one minute.", "Legen Sie den Administrator an: das Konto, das alles darf. Es dauert eine Minute.";
        username: "Username", "Benutzername";
        username_hint: "3 to 255 characters", "3 bis 255 Zeichen";
        email: "Email", "E-Mail";
        password: "Password", "Passwort";
        password_hint: "At least 8 characters; a sentence is good", "Mindestens 8 Zeichen; ein Satz ist gut";
        submit: "Create administrator", "Administrator anlegen";
        done_title: "Portico is ready", "Portico ist bereit";
        done_lead: "Add what you run, then go home.", "Fügen Sie hinzu, was Sie betreiben, und gehen Sie zur Startseite.";
        go_home: "Go to the home page", "Zur Startseite";
        next_app: "Add an app by its address", "Eine App nach ihrer Adresse hinzufügen";
        next_app_text: "Type where it is; name and icon are found.", "Geben Sie ein, wo sie ist; Name und Symbol werden gefunden.";
        next_many_text: "Paste a list, a table or your browser's bookmarks.", "Fügen Sie eine Liste, eine Tabelle oder die Lesezeichen Ihres Browsers ein.";
        next_board: "Make a board", "Ein Board anlegen";
        next_board_text: "Arrange apps, and share them with people.", "Apps anordnen und mit anderen teilen.";
        next_invite: "Invite a person", "Jemanden einladen";
        next_invite_text: "They choose name and password themselves.", "Name und Passwort wählen sie selbst.";
    }
}

texts! {
    /// Signing in.
    SignIn {
        title: "Sign in", "Anmelden";
        username: "Username", "Benutzername";
        password: "Password", "Passwort";
        with: "Account", "Konto";
        submit: "Sign in", "Anmelden";
        continue_with: "Continue with {}", "Weiter mit {}";
        signing_out: "Signing out …", "Abmelden …";
        sign_out_there: "Sign out at the provider, too", "Auch beim Anbieter abmelden";
        or: "or", "oder";
        public_boards: "Boards that are open to everyone", "Boards, die für alle offen sind";
        elsewhere: "You have opened this page at {}, where signing in may not work.", "Sie haben diese Seite unter {} geöffnet; dort gelingt die Anmeldung vielleicht nicht.";
        go_there: "Open it at its own address", "An der richtigen Adresse öffnen";
        own_accounts: "Username and password", "Benutzername und Passwort";
    }
}

texts! {
    /// Setting a new password with a link.
    NewPassword {
        title: "Set a new password", "Neues Passwort setzen";
        cut: "This link is incomplete. Open the whole link, or ask for a new one.", "Dieser Link ist unvollständig. Öffnen Sie den ganzen Link, oder bitten Sie um einen neuen.";
        lead: "The link works once. Your other sessions and your API keys end.", "Der Link gilt einmal. Ihre anderen Sitzungen und Ihre API-Schlüssel enden.";
    }
}

texts! {
    /// Registering with an invite.
    Register {
        title: "Create your account", "Konto anlegen";
        lead: "You were invited. Choose a name and a password.", "Sie wurden eingeladen. Wählen Sie Namen und Passwort.";
        lead_elsewhere: "You were invited. Sign in to make your account.", "Sie wurden eingeladen. Melden Sie sich an, um Ihr Konto anzulegen.";
        cut: "This link is incomplete. Open the whole link of the invite, or ask for a new one.", "Dieser Link ist unvollständig. Öffnen Sie den ganzen Link der Einladung, oder bitten Sie um einen neuen.";
        gone: "This invite is not valid. It may have been used or withdrawn. Ask for a new one.", "Diese Einladung gilt nicht. Vielleicht wurde sie schon benutzt oder zurückgezogen. Bitten Sie um eine neue.";
        expired: "This invite has expired. Ask for a new one. It was valid until:", "Diese Einladung ist abgelaufen. Bitten Sie um eine neue. Sie galt bis:";
        for_whom: "This invite is for {}.", "Diese Einladung ist für {}.";
        submit: "Create account", "Konto anlegen";
    }
}

texts! {
    /// Home and boards.
    Home {
        title: "Home", "Start";
        all_apps: "All apps", "Alle Apps";
        all_boards: "All boards", "Alle Boards";
        no_boards: "There are no boards that you may see.", "Es gibt keine Boards, die Sie sehen dürfen.";
        find: "Find an app or search the web", "App finden oder im Netz suchen";
        find_label: "Filter apps, or search with a search engine", "Apps filtern oder mit einer Suchmaschine suchen";
        hint: "Press / or Ctrl-K on any page to type, arrow keys to choose, Enter to open.", "/ oder Strg-K auf jeder Seite zum Tippen, Pfeiltasten zum Wählen, Eingabe zum Öffnen.";
        engines: "Search engines: type the short name, a space and what you look for", "Suchmaschinen: das Kürzel tippen, ein Leerzeichen und den Suchtext";
        empty_title: "No apps yet", "Noch keine Apps";
        empty_may: "Add the services that you run; they appear here as tiles.", "Fügen Sie die Dienste hinzu, die Sie betreiben; hier erscheinen sie als Kacheln.";
        empty_may_not: "An administrator can add apps, or share a board with you.", "Ein Administrator kann Apps hinzufügen oder ein Board mit Ihnen teilen.";
        add_app: "Add an app", "App hinzufügen";
        no_match: "No app fits.", "Keine App passt dazu.";
        other_apps: "Other apps", "Andere Apps";
        destinations: "Boards and pages", "Boards und Seiten";
        search_web: "Search {} for “{}”", "Mit {} nach „{}“ suchen";
        board_empty: "This board is empty.", "Dieses Board ist leer.";
        found: "1 app|{} apps", "1 App|{} Apps";
        opening: "Searching …", "Suche …";
        open_search: "Open the search", "Suche öffnen";
    }
}

impl Texts {
    /// The note with which a page was opened; empty if there is no note of this name.
    pub fn note(&self, name: &str) -> &'static str {
        let notes = &self.notes;
        match name {
            "session-ended" => notes.session_ended,
            "sign-in-failed" => notes.sign_in_failed,
            "signed-out" => notes.signed_out,
            "still-signed-in" => notes.still_signed_in,
            "saved" => notes.saved,
            "created" => notes.created,
            "deleted" => notes.deleted,
            "home" => notes.home,
            "none-ticked" => notes.none_ticked,
            "password-changed" => notes.password_changed,
            "second-factor-removed" => notes.second_factor_removed,
            "session-ended-here" => notes.session_ended_here,
            "account-deleted" => notes.account_deleted,
            "password-set" => notes.password_set,
            "registered" => notes.registered,
            "visibility-not-stored" => notes.visibility_not_stored,
            "form-old" => notes.form_old,
            _ => "",
        }
    }
}
