//! Managing search engines.

use super::texts;

texts! {
    /// Search engines.
    Engines {
        title: "Search engines", "Suchmaschinen";
        lead: "People type a short name and what they look for into the search box of the first page.", "Auf der Startseite tippt man ein Kürzel und den Suchtext in das Suchfeld.";
        new: "New search engine", "Neue Suchmaschine";
        edit: "Edit search engine", "Suchmaschine bearbeiten";
        search: "Find a search engine by its name", "Suchmaschine nach Namen suchen";
        found: "1 search engine|{} search engines", "1 Suchmaschine|{} Suchmaschinen";
        short: "Short name", "Kürzel";
        short_hint: "1 to 8 characters, such as w", "1 bis 8 Zeichen, etwa w";
        url: "Address", "Adresse";
        url_hint: "Where it searches; %s stands for what people look for: https://search.example/?q=%s", "Wo sie sucht; %s steht für den Suchtext: https://suche.example/?q=%s";
        known: "Add with one click", "Mit einem Klick hinzufügen";
        instance: "Address of your own {}", "Adresse Ihres eigenen {}";
        edit_one: "Edit {}", "{} bearbeiten";
        delete_one: "Delete {}", "{} löschen";
        actions: "Actions", "Aktionen";
        empty: "No search engines yet", "Noch keine Suchmaschinen";
        empty_text: "Add one, and people search it from the first page.", "Fügen Sie eine hinzu; dann kann man von der Startseite aus suchen.";
        no_match: "No search engine has “{}” in its name.", "Keine Suchmaschine hat „{}“ im Namen.";
        show_all: "Show all search engines", "Alle Suchmaschinen zeigen";
        delete_title: "Delete “{}”?", "„{}“ löschen?";
        delete_lead: "People whose own search engine it is have none afterwards. This cannot be undone.", "Wessen eigene Suchmaschine es ist, hat danach keine. Das lässt sich nicht rückgängig machen.";
    }
}
