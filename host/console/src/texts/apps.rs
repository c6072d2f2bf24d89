//! Managing apps, and choosing icons.

use super::texts;

texts! {
    /// Apps.
    Apps {
        title: "Apps", "Apps";
        lead: "The services that people open from here.", "Die Dienste, die man von hier aus öffnet.";
        new: "New app", "Neue App";
        edit: "Edit app", "App bearbeiten";
        many: "Add many", "Viele hinzufügen";
        catalogue: "Catalogue", "Katalog";
        search: "Find an app by its name", "App nach Namen suchen";
        link: "Link", "Link";
        link_hint: "Where the tile leads, such as https://nas.example", "Wohin die Kachel führt, etwa https://nas.example";
        ping: "Ping address", "Ping-Adresse";
        ping_hint: "With http: or https:; Portico asks there whether the app can be reached.", "Mit http: oder https:; dort fragt Portico, ob die App erreichbar ist.";
        link_completed: "Becomes {} when you save.", "Wird beim Speichern zu {}.";
        link_not_opened: "This is stored, and the tile does not open it: browsers open no such links from a page. Save again to keep it.", "Das wird gespeichert, aber die Kachel öffnet es nicht: Browser öffnen solche Links nicht von einer Seite aus. Speichern Sie erneut, um es zu behalten.";
        row_not_opened: "The tile does not open it: browsers open no such links from a page.", "Die Kachel öffnet das nicht: Browser öffnen solche Links nicht von einer Seite aus.";
        no_link: "no link", "kein Link";
        actions: "Actions", "Aktionen";
        edit_one: "Edit {}", "{} bearbeiten";
        delete_one: "Delete {}", "{} löschen";
        found: "1 app|{} apps", "1 App|{} Apps";
        empty: "No apps yet", "Noch keine Apps";
        empty_text: "Add the first one, or paste a list of those that you have.", "Fügen Sie die erste hinzu, oder fügen Sie eine Liste Ihrer Apps ein.";
        empty_may_not: "You see the apps of the boards that are shared with you. There are none yet.", "Sie sehen die Apps der Boards, die mit Ihnen geteilt sind. Noch gibt es keine.";
        no_match: "No app has “{}” in its name.", "Keine App hat „{}“ im Namen.";
        show_all: "Show all apps", "Alle Apps zeigen";
        select_one: "Select {}", "{} auswählen";
        delete_selected: "Delete selected", "Ausgewählte löschen";
        delete_count: "Delete 1 app?|Delete {} apps?", "1 App löschen?|{} Apps löschen?";
        delete_many_lead: "They disappear from the list and from every board. This cannot be undone.", "Sie verschwinden aus der Liste und von jedem Board. Das lässt sich nicht rückgängig machen.";
        delete_title: "Delete “{}”?", "„{}“ löschen?";
        delete_lead: "The app disappears from the list and from every board. This cannot be undone.", "Die App verschwindet aus der Liste und von jedem Board. Das lässt sich nicht rückgängig machen.";
        on_boards: "It is on these boards:", "Sie steht auf diesen Boards:";
        on_no_board: "It is on no board that you see.", "Sie steht auf keinem Board, das Sie sehen.";
        maybe_others: "Only the first 100 boards were looked through: it may be on others.", "Nur die ersten 100 Boards wurden durchgesehen: Sie kann auch auf anderen stehen.";
        many_title: "Add many apps", "Viele Apps hinzufügen";
        many_lead: "One app on each line: name, link and icon, separated by a vertical bar. A table (CSV, or copied from a spreadsheet) and the bookmarks file of a browser work as well; the first line of a table may name its columns: name, link, icon, description and ping.", "Eine App je Zeile: Name, Link und Symbol, getrennt durch einen senkrechten Strich. Auch eine Tabelle (CSV oder aus einer Tabellenkalkulation kopiert) und die Lesezeichen-Datei eines Browsers gehen; die erste Zeile einer Tabelle darf ihre Spalten benennen: Name, Link, Icon, Beschreibung und Ping.";
        many_hint: "Without an icon, Portico chooses one that fits the name. Up to 1,000 apps; if one line is wrong, none is added.", "Ohne Symbol wählt Portico eines, das zum Namen passt. Bis zu 1.000 Apps; ist eine Zeile falsch, wird keine hinzugefügt.";
        list: "List of apps", "Liste der Apps";
        list_empty: "The list is empty", "Die Liste ist leer";
        list_too_long: "At most {} apps at once; this list has {}", "Höchstens {} Apps auf einmal; diese Liste hat {}";
        too_many_columns: "too many columns", "zu viele Spalten";
        quote_open: "The quotation mark of line {} is not closed", "Das Anführungszeichen in Zeile {} wird nicht geschlossen";
        ignored: "Columns that are not read: {}", "Spalten, die nicht gelesen werden: {}";
        not_made: "Nothing is made yet. This is what would be.", "Noch ist nichts angelegt. Das würde angelegt.";
        place: "Where", "Wo";
        look: "Look at it first", "Erst ansehen";
        line: "Line {}", "Zeile {}";
        add_all: "Add all", "Alle hinzufügen";
    }
}

texts! {
    /// A new app from its address.
    Address {
        address: "Address of the app", "Adresse der App";
        hint: "Where it opens, such as nas.lan:8096 or https://cloud.example. Portico looks there for its name and icon.", "Wo sie sich öffnet, etwa nas.lan:8096 oder https://cloud.example. Portico sucht dort Name und Symbol.";
        look: "Look there", "Dort nachsehen";
        by_hand: "Fill in everything by hand", "Alles von Hand ausfüllen";
        catalogue: "Choose from a list of services", "Aus einer Liste von Diensten wählen";
        found: "This is what the address says. Change what you like.", "Das sagt die Adresse. Ändern Sie, was Sie möchten.";
        nothing: "The page there has no title. Type the name yourself.", "Die Seite dort hat keinen Titel. Geben Sie den Namen selbst ein.";
        not_allowed: "This address is in your own network, where Portico looks only if its setting for icons names the host (--icons-allow {}). Check what it suggests, or type it yourself.", "Diese Adresse liegt in Ihrem eigenen Netz. Dort sieht Portico nur nach, wenn die Einstellung für Symbole den Host nennt (--icons-allow {}). Prüfen Sie den Vorschlag, oder geben Sie alles selbst ein.";
        no_answer: "No page could be read there. Check what the address suggests, or enter it yourself.", "Dort antwortet gerade keine Seite. Prüfen Sie, was die Adresse nahelegt, oder geben Sie alles selbst ein.";
        busy: "Many addresses are being looked at. Try again in a moment, or type it yourself.", "Gerade werden viele Adressen angesehen. Versuchen Sie es gleich noch einmal, oder geben Sie alles selbst ein.";
        preview: "Preview", "Vorschau";
        no_name: "Name of the app", "Name der App";
    }
}

texts! {
    /// Services that many people run.
    Catalogue {
        title: "Services that many people run", "Dienste, die viele betreiben";
        lead: "One click adds one.", "Ein Klick fügt einen hinzu.";
        done: "To the list of apps", "Zur Liste der Apps";
        run: "What do you run?", "Was betreiben Sie?";
        one_click: "One click adds a service, with its icon. What is added can be changed later.", "Ein Klick fügt einen Dienst mit seinem Symbol hinzu. Alles lässt sich später ändern.";
        host: "Where do they run?", "Wo laufen sie?";
        host_hint: "The name or address of the machine. Services with a usual port then get a link, such as http://nas.lan:8096; others get theirs when you edit them.", "Name oder Adresse des Rechners. Dienste mit einem üblichen Port bekommen damit einen Link, etwa http://nas.lan:8096; die anderen bekommen ihn beim Bearbeiten.";
        host_wrong: "must be the name or the address of a machine, such as nas.lan", "muss Name oder Adresse eines Rechners sein, etwa nas.lan";
        add: "add", "hinzufügen";
        added: "added; edit", "hinzugefügt; bearbeiten";
        other_ways: "Other ways to begin", "Andere Anfänge";
        homarr: "Coming from Homarr?", "Kommen Sie von Homarr?";
        homarr_text: "Stop Portico, and type on its machine:", "Beenden Sie Portico, und geben Sie auf seinem Rechner ein:";
        homarr_hint: "db.sqlite is Homarr's database; the ZIP of a backup works as well. The first line only says what would come along.", "db.sqlite ist die Datenbank von Homarr; auch die ZIP-Datei einer Sicherung geht. Die erste Zeile sagt nur, was mitkäme.";
        media: "Films, music, photos and books", "Filme, Musik, Fotos und Bücher";
        downloads: "Finding and downloading", "Finden und Herunterladen";
        files: "Files and documents", "Dateien und Dokumente";
        household: "Household, reading and notes", "Haushalt, Lesen und Notizen";
        home: "The house", "Das Haus";
        network: "The network", "Das Netz";
        servers: "Machines", "Rechner";
        tools: "Tools and figures", "Werkzeuge und Zahlen";
    }
}

texts! {
    /// Choosing an icon.
    IconPicker {
        icon: "Icon", "Symbol";
        icon_hint: "The address of a picture. Portico fetches it once and keeps it.", "Die Adresse eines Bildes. Portico holt es einmal und behält es.";
        by_name: "Leave it empty, and Portico chooses one by the name.", "Bleibt es leer, wählt Portico eines nach dem Namen.";
        upload: "Or a picture of your own", "Oder ein eigenes Bild";
        search: "Find an icon by name", "Symbol nach Namen suchen";
        results: "Icons that were found", "Gefundene Symbole";
        found: "1 icon|{} icons", "1 Symbol|{} Symbole";
        none: "No icon was found for “{}”.", "Für „{}“ wurde kein Symbol gefunden.";
        unreachable: "No collection of icons can be reached now. Type the address of a picture, or try again later.", "Keine Sammlung von Symbolen ist jetzt erreichbar. Geben Sie die Adresse eines Bildes ein, oder versuchen Sie es später noch einmal.";
        as_typed: "As typed above", "Wie oben eingegeben";
    }
}
