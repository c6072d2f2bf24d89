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
        search: "Find an app by its name", "App nach Namen suchen";
        link: "Link", "Link";
        link_hint: "Where the tile leads, such as https://nas.example", "Wohin die Kachel führt, etwa https://nas.example";
        ping: "Ping address", "Ping-Adresse";
        ping_hint: "With http: or https:; Portico's clients ask it whether the app is up.", "Mit http: oder https:; dort fragen Clients, ob die App läuft.";
        link_completed: "Becomes {} when you save.", "Wird beim Speichern zu {}.";
        link_not_opened: "This is stored, and the tile does not open it: browsers open no such links from a page. Save again to keep it.", "Das wird gespeichert, aber die Kachel öffnet es nicht: Browser öffnen solche Links nicht von einer Seite aus. Speichern Sie erneut, um es zu behalten.";
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
