//! What the dashboard looks like.

use super::texts;

texts! {
    /// Looks.
    Looks {
        title: "Looks", "Aussehen";
        site: "Name and logo", "Name und Logo";
        logo: "Logo", "Logo";
        logo_now: "The present logo", "Das jetzige Logo";
        logo_remove: "Without a logo", "Ohne Logo";
        no_picture: "no picture", "kein Bild";
        other_picture: "another picture", "ein anderes Bild";
        picture_hint: "PNG, JPEG, WebP, GIF, AVIF or ICO, at most {}. Larger pictures are fitted by browsers with JavaScript.", "PNG, JPEG, WebP, GIF, AVIF oder ICO, höchstens {}. Browser mit JavaScript passen größere Bilder ein.";
        colour: "Colour and wallpaper", "Farbe und Hintergrundbild";
        own_accent: "A colour of our own", "Eine eigene Farbe";
        accent: "Colour of links and buttons", "Farbe von Links und Knöpfen";
        accent_hint: "Where it would be hard to read, pages show a lighter or a darker one.", "Wo sie schwer zu lesen wäre, zeigen Seiten eine hellere oder eine dunklere.";
        wallpaper: "Wallpaper", "Hintergrundbild";
        wallpaper_now: "The present wallpaper", "Das jetzige Hintergrundbild";
        wallpaper_hint: "Behind the tiles of the first page and of boards.", "Hinter den Kacheln der Startseite und der Boards.";
        wallpaper_remove: "Without a wallpaper", "Ohne Hintergrundbild";
        tiles: "Tiles", "Kacheln";
        density: "Size", "Größe";
        comfortable: "With descriptions", "Mit Beschreibungen";
        compact: "One line", "Eine Zeile";
        icons: "Icons with names", "Symbole mit Namen";
        columns: "Columns", "Spalten";
        columns_auto: "As many as fit", "So viele, wie passen";
        wide: "Use the whole width of wide screens", "Die ganze Breite großer Bildschirme nutzen";
        start_board: "Before signing in", "Vor der Anmeldung";
        start_board_label: "First page of people who are not signed in", "Erste Seite für alle, die nicht angemeldet sind";
        start_board_none: "Everyone's home board if it is public, or the page for signing in", "Das Start-Board aller, wenn es öffentlich ist, sonst die Seite zum Anmelden";
        start_board_hint: "A public board, for example for a tablet on a wall.", "Ein öffentliches Board, zum Beispiel für ein Tablet an der Wand.";
        start_board_closed: "not public any more: they sign in", "nicht mehr öffentlich: dann die Seite zum Anmelden";
        start_board_fixed: "The setting --start-board of this host decides it. What is chosen here has no effect until that setting is gone.", "Die Einstellung --start-board dieses Hosts bestimmt sie. Was hier gewählt wird, wirkt erst, wenn diese Einstellung fehlt.";
        example: "Example", "Beispiel";
        example_about: "What an app is good for", "Wozu eine App gut ist";
        try_it: "Try it", "Ausprobieren";
        tried: "This is how it would look. Nothing is saved yet.", "So sähe es aus. Noch ist nichts gespeichert.";
    }
}
