//! The page of help.

use super::texts;

texts! {
    /// Help: questions, and their answers as `…_text`.
    Help {
        lead: "What you can do here, and where.", "Was Sie hier tun können, und wo.";
        open: "Open", "Öffnen";
        everyone: "For everyone", "Für alle";
        home: "How do I open an app?", "Wie öffne ich eine App?";
        home_text: "The first page shows your apps: click a tile. Your profile says whether links open in a new tab.", "Die Startseite zeigt Ihre Apps: Klicken Sie auf eine Kachel. In Ihrem Profil steht, ob Links in einem neuen Tab aufgehen.";
        search: "How do I search?", "Wie suche ich?";
        search_text: "Type into the box of the first page: it finds apps by their names, descriptions and hosts, and boards and pages; Enter opens what is chosen. / or Ctrl-K opens it on every page. The same box searches the web with the engine of your profile.", "Tippen Sie in das Feld der Startseite: Es findet Apps nach Name, Beschreibung und Host, dazu Boards und Seiten; die Eingabetaste öffnet, was gewählt ist. / oder Strg-K öffnet es auf jeder Seite. Dasselbe Feld sucht im Netz mit der Suchmaschine aus Ihrem Profil.";
        boards: "What is a board?", "Was ist ein Board?";
        boards_text: "A page of apps and lists of links in the order that you choose. Its maker shares it with people and groups, or with everyone. Your profile says which board is your first page.", "Eine Seite mit Apps und Linklisten in einer Reihenfolge, die Sie bestimmen. Wer es angelegt hat, teilt es mit Personen und Gruppen oder mit allen. In Ihrem Profil steht, welches Board Ihre Startseite ist.";
        apps: "How do I add apps?", "Wie füge ich Apps hinzu?";
        apps_text: "With the permission to create apps: one at a time, or many at once from a list or a browser's bookmarks. Without it, ask your administrator.", "Mit dem Recht, Apps anzulegen: einzeln oder viele auf einmal, aus einer Liste oder den Lesezeichen eines Browsers. Ohne dieses Recht fragen Sie Ihren Administrator.";
        profile: "Where do I change my name, picture or colours?", "Wo ändere ich Namen, Bild oder Farben?";
        profile_text: "In your profile. Where a sign-in provider knows you, it decides on your name and email.", "In Ihrem Profil. Wenn ein Anmeldedienst Sie kennt, bestimmt er Namen und E-Mail-Adresse.";
        password: "I forgot my password", "Ich habe mein Passwort vergessen";
        password_text: "Ask your administrator for a link with which you set a new one.", "Bitten Sie Ihren Administrator um einen Link, mit dem Sie ein neues setzen.";
        second_factor: "How do I keep out others who know my password?", "Wie halte ich andere fern, die mein Passwort kennen?";
        second_factor_text: "With a second factor: codes of an authenticator app on your phone, which you set up in your profile. If you lose the app, one of your recovery codes signs you in; without those, ask your administrator.", "Mit einem zweiten Faktor: Codes einer Authenticator-App auf Ihrem Telefon, die Sie in Ihrem Profil einrichten. Wenn Sie die App verlieren, melden Sie sich mit einem Wiederherstellungscode an; ohne diese fragen Sie Ihren Administrator.";
        missing: "Why do I not see an app or a board?", "Warum sehe ich eine App oder ein Board nicht?";
        missing_text: "It is not shared with you, or it was deleted. Ask who made it, or your administrator.", "Es ist nicht mit Ihnen geteilt, oder es wurde gelöscht. Fragen Sie, wer es angelegt hat, oder Ihren Administrator.";
        keys: "How does a program sign in?", "Wie meldet sich ein Programm an?";
        keys_text: "With an API key of yours. It may do what you may do, and is shown once.", "Mit einem API-Schlüssel von Ihnen. Er darf, was Sie dürfen, und wird einmal gezeigt.";
        administrators: "For administrators", "Für Administratoren";
        people: "How do people get in?", "Wie kommen Leute hinein?";
        people_text: "Send an invite: its link lets somebody choose a name and a password. Or create the user yourself, or set up a sign-in provider.", "Senden Sie eine Einladung: Mit ihrem Link wählt jemand Namen und Passwort. Oder legen Sie den Benutzer selbst an, oder richten Sie einen Anmeldedienst ein.";
        rights: "Who may do what?", "Wer darf was?";
        rights_text: "Groups give permissions to their members: on apps, on boards, or on everything.", "Gruppen geben ihren Mitgliedern Rechte: an Apps, an Boards oder an allem.";
        forgotten: "Somebody forgot their password", "Jemand hat sein Passwort vergessen";
        forgotten_text: "Open the user and make a link for a new password. On the server, portico recover helps you yourself.", "Öffnen Sie den Benutzer und legen Sie einen Link für ein neues Passwort an. Ihnen selbst hilft auf dem Server portico recover.";
        audit: "What happened?", "Was ist geschehen?";
        audit_text: "The audit log has every change, every sign-in and who was refused.", "Im Protokoll steht jede Änderung, jede Anmeldung und wer abgewiesen wurde.";
        state: "Can I keep everything in a file?", "Kann ich alles in einer Datei halten?";
        state_text: "Download the configuration, change it, and apply it: you see the difference first.", "Laden Sie die Konfiguration herunter, ändern Sie sie, und wenden Sie sie an: Den Unterschied sehen Sie vorher.";
        backup: "How do I back it up?", "Wie sichere ich es?";
        backup_text: "On the server: portico backup FILE, also while Portico runs.", "Auf dem Server: portico backup DATEI, auch während Portico läuft.";
        programs: "For programs", "Für Programme";
        programs_text: "Every page does what programs can do, too.", "Jede Seite tut nur, was auch Programme können.";
    }
}
