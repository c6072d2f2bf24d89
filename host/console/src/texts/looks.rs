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
        example: "Example", "Beispiel";
        example_about: "What an app is good for", "Wozu eine App gut ist";
        try_it: "Try it", "Ausprobieren";
        tried: "This is how it would look. Nothing is saved yet.", "So sähe es aus. Noch ist nichts gespeichert.";
    }
}
