//! The profile.

use super::texts;

texts! {
    /// What users set for themselves.
    Profile {
        title: "Profile", "Profil";
        person: "Name and email", "Name und E-Mail";
        username: "Username", "Benutzername";
        email: "Email", "E-Mail";
        external: "Name, email and password of this account belong to the provider that you sign in with.", "Name, E-Mail und Passwort dieses Kontos gehören zum Anbieter, mit dem Sie sich anmelden.";
        picture: "Picture", "Bild";
        picture_file: "New picture", "Neues Bild";
        picture_hint: "PNG, JPEG, GIF or WebP, at most {}", "PNG, JPEG, GIF oder WebP, höchstens {}";
        picture_upload: "Upload", "Hochladen";
        picture_remove: "Remove picture", "Bild entfernen";
        picture_missing: "Please choose a file first", "Bitte wählen Sie zuerst eine Datei";
        picture_kind: "This is no PNG, JPEG, GIF or WebP", "Das ist kein PNG, JPEG, GIF oder WebP";
        picture_too_large: "The picture has {}; it may have at most {}", "Das Bild hat {}; es darf höchstens {} haben";
        appearance: "Appearance", "Darstellung";
        colors: "Colours", "Farben";
        light: "Light", "Hell";
        dark: "Dark", "Dunkel";
        auto: "As the device", "Wie das Gerät";
        first_day: "First day of the week", "Erster Tag der Woche";
        ping_icons: "Show on apps whether they can be reached", "An Apps zeigen, ob sie erreichbar sind";
        monday: "Monday", "Montag";
        tuesday: "Tuesday", "Dienstag";
        wednesday: "Wednesday", "Mittwoch";
        thursday: "Thursday", "Donnerstag";
        friday: "Friday", "Freitag";
        saturday: "Saturday", "Samstag";
        sunday: "Sunday", "Sonntag";
        boards: "Home boards", "Start-Boards";
        boards_hint: "What the first page shows. Without a board of your choice it shows that of your groups, or of everyone, or all apps.", "Was die Startseite zeigt. Ohne gewähltes Board zeigt sie das Ihrer Gruppen, das aller oder alle Apps.";
        home_board: "On large screens", "Auf großen Bildschirmen";
        mobile_home_board: "On phones", "Auf Telefonen";
        all_apps: "No choice of your own", "Keine eigene Wahl";
        search: "Search", "Suche";
        engine: "Search engine", "Suchmaschine";
        no_engine: "None", "Keine";
        new_tab: "Open links in a new tab", "Links in einem neuen Tab öffnen";
        password: "Password", "Passwort";
        password_lead: "Your other sessions end. Your API keys stay.", "Ihre anderen Sitzungen enden. Ihre API-Schlüssel bleiben.";
        previous_password: "Present password", "Jetziges Passwort";
        new_password: "New password", "Neues Passwort";
        repeated: "New password, again", "Neues Passwort, noch einmal";
        not_the_same: "The two passwords are not the same", "Die beiden Passwörter sind nicht gleich";
        change_password: "Change password", "Passwort ändern";
        keys_lead: "For programs that act in your name. A key may do at most what you may do.", "Für Programme, die in Ihrem Namen handeln. Ein Schlüssel darf höchstens, was Sie dürfen.";
        sessions: "Sessions", "Sitzungen";
        sessions_lead: "Where you are signed in.", "Wo Sie angemeldet sind.";
        session: "Session", "Sitzung";
        this_session: "This browser", "Dieser Browser";
        other_session: "Another browser or program", "Ein anderer Browser oder ein Programm";
        browser_on: "{} on {}", "{} unter {}";
        address: "Address", "IP-Adresse";
        began: "Began", "Begonnen";
        last_used: "Last used", "Zuletzt benutzt";
        ends: "Ends", "Endet";
        end: "End", "Beenden";
        end_others: "End all others", "Alle anderen beenden";
        more_sessions: "Another {} sessions are not shown.", "Weitere {} Sitzungen werden nicht gezeigt.";
        delete: "Delete account", "Konto löschen";
        delete_lead: "Your account is gone at once, and nothing brings it back.", "Ihr Konto ist sofort weg, und nichts bringt es zurück.";
        goes_sessions: "your sessions and API keys end", "Ihre Sitzungen und API-Schlüssel enden";
        goes_memberships: "you leave all groups, and boards are no longer shared with you", "Sie verlassen alle Gruppen, und Boards sind nicht mehr mit Ihnen geteilt";
        goes_invites: "invites that you made can no longer be used", "Einladungen, die Sie erstellt haben, gelten nicht mehr";
        stays_boards: "boards and apps that you made stay", "Boards und Apps, die Sie angelegt haben, bleiben";
        sure: "Yes, delete my account", "Ja, mein Konto löschen";
        tick_first: "Please tick this first", "Bitte kreuzen Sie das zuerst an";
    }
}
