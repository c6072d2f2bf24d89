//! Managing boards.

use super::texts;

texts! {
    /// Boards.
    Boards {
        title: "Boards", "Boards";
        lead: "Apps in an order of your own, for the people whom you share them with.", "Apps in eigener Anordnung, für die Menschen, mit denen Sie sie teilen.";
        new: "New board", "Neues Board";
        edit: "Edit board", "Board bearbeiten";
        search: "Find a board by its name", "Board nach Namen suchen";
        found: "1 board|{} boards", "1 Board|{} Boards";
        who: "Who sees it", "Wer es sieht";
        public: "Everyone", "Alle";
        not_public: "Chosen people", "Ausgewählte";
        public_label: "Everyone may see this board, signed in or not", "Alle dürfen dieses Board sehen, angemeldet oder nicht";
        public_hint: "Its apps can then be seen by everyone, too.", "Auch seine Apps sind dann für alle zu sehen.";
        open: "Open", "Öffnen";
        share: "Share", "Teilen";
        open_one: "Open {}", "{} öffnen";
        edit_one: "Edit {}", "{} bearbeiten";
        share_one: "Share {}", "{} teilen";
        delete_one: "Delete {}", "{} löschen";
        actions: "Actions", "Aktionen";
        empty: "No boards yet", "Noch keine Boards";
        empty_for_others: "Boards that you may change will be here.", "Hier stehen die Boards, die Sie ändern dürfen.";
        empty_text: "A board shows apps in the order that you choose, and you decide who sees it.", "Ein Board zeigt Apps in Ihrer Reihenfolge, und Sie bestimmen, wer es sieht.";
        no_match: "No board has “{}” in its name.", "Kein Board hat „{}“ im Namen.";
        show_all: "Show all boards", "Alle Boards zeigen";
        new_hint: "You add its apps on the next page.", "Seine Apps fügen Sie auf der nächsten Seite hinzu.";
        items: "On this board", "Auf diesem Board";
        items_empty: "Nothing yet. Find apps below and add them.", "Noch nichts. Suchen Sie unten Apps und fügen Sie sie hinzu.";
        bookmarks: "Bookmarks {}", "Lesezeichen {}";
        bookmarks_empty: "No apps yet: choose this group where you add apps.", "Noch keine Apps: Wählen Sie diese Gruppe beim Hinzufügen.";
        add_bookmarks: "Add a group of bookmarks", "Gruppe von Lesezeichen hinzufügen";
        up: "Move {} up", "{} nach oben";
        down: "Move {} down", "{} nach unten";
        remove: "Remove {}", "{} entfernen";
        moved: "{} is now at place {} of {}", "{} steht jetzt auf Platz {} von {}";
        add: "Add", "Hinzufügen";
        add_one: "Add {}", "{} hinzufügen";
        add_title: "Add apps", "Apps hinzufügen";
        find_app: "Find an app by its name", "App nach Namen suchen";
        into: "Add to", "Hinzufügen zu";
        into_board: "The board itself", "Dem Board selbst";
        not_saved: "Nothing is stored until you save.", "Erst beim Speichern wird etwas geändert.";
        changed: "This board was changed after you opened this page, so nothing was saved. Your changes are still below. If you save again, they replace what is stored now.", "Das Board wurde geändert, nachdem Sie diese Seite geöffnet hatten; darum wurde nichts gespeichert. Ihre Änderungen stehen noch unten. Wenn Sie erneut speichern, ersetzen sie den jetzigen Stand.";
        missing: "These apps are on the stored board, but not below:", "Diese Apps stehen auf dem gespeicherten Board, aber nicht unten:";
        see_stored: "Open the board as it is stored", "Gespeicherten Stand öffnen";
        apps_gone: "Apps that were deleted in the meantime are no longer below. Save again.", "Apps, die inzwischen gelöscht wurden, stehen nicht mehr unten. Speichern Sie erneut.";
        too_large: "This board has {} apps and groups, more than a page can edit. Change it with the API (board.update) or with a document of the desired state.", "Dieses Board hat {} Apps und Gruppen, mehr als eine Seite bearbeiten kann. Ändern Sie es mit der API (board.update) oder mit einem Dokument des Soll-Zustands.";
        arranged: "This board has sections, sizes, notes or clocks. Change it with the API (board.update) or with a document of the desired state.", "Dieses Board hat Abschnitte, Größen, Notizen oder Uhren. Ändern Sie es mit der API (board.update) oder mit einem Dokument des Soll-Zustands.";
        full: "This board has as many apps and groups as a page can edit.", "Dieses Board hat so viele Apps und Gruppen, wie eine Seite bearbeiten kann.";
        delete_title: "Delete the board “{}”?", "Board „{}“ löschen?";
        delete_lead: "The board disappears, and people who have it as their home board will have none. Its apps stay. This cannot be undone.", "Das Board verschwindet, und wer es als Startboard hat, hat dann keines. Die Apps bleiben. Das lässt sich nicht rückgängig machen.";
        delete_items: "1 app and group is on it.|{} apps and groups are on it.", "1 App oder Gruppe steht darauf.|{} Apps und Gruppen stehen darauf.";
        share_title: "Share “{}”", "„{}“ teilen";
        share_lead: "Who may see this board, besides its creator and those who may see all boards.", "Wer dieses Board sehen darf, außer seinem Ersteller und allen, die alle Boards sehen dürfen.";
        shared_with: "Shared with", "Geteilt mit";
        shared_none: "No one yet. Find users and groups above and add them.", "Noch mit niemandem. Suchen Sie oben Benutzer und Gruppen und fügen Sie sie hinzu.";
        parties: "1 user or group|{} users and groups", "1 Benutzer oder Gruppe|{} Benutzer und Gruppen";
        add_party: "Share with others", "Mit anderen teilen";
        unshare: "Remove", "Entfernen";
        back: "Back to the board", "Zurück zum Board";
        may_view: "sees it", "sieht es";
        may_change: "sees and changes it", "sieht und ändert es";
        let_change: "Let change", "Ändern lassen";
        let_change_one: "Let {} change it, too", "{} auch ändern lassen";
        let_view: "Only let see", "Nur sehen lassen";
        let_view_one: "Let {} only see it", "{} nur sehen lassen";
        change_means: "Those who change it decide which of the apps that they see are on it.", "Wer es ändert, bestimmt, welche der für ihn sichtbaren Apps darauf stehen.";
        share_public: "This board is public: everyone sees it, whatever you choose here.", "Dieses Board ist öffentlich: Alle sehen es, was immer Sie hier wählen.";
        user: "User", "Benutzer";
        group: "Group", "Gruppe";
        find_party: "Find users and groups by name", "Benutzer und Gruppen nach Namen suchen";
        parties_found: "1 found|{} found", "1 gefunden|{} gefunden";
        nothing_found: "Nothing else was found for “{}”.", "Für „{}“ wurde nichts Weiteres gefunden.";
    }
}
