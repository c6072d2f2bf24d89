//! The gate in front of apps.

use super::texts;

texts! {
    /// The gate.
    Gate {
        opening: "Opening the app", "Die App wird geöffnet";
        go_on: "Go on to the app", "Weiter zur App";
        refused: "You cannot open this", "Das können Sie nicht öffnen";
        to_dashboard: "To the dashboard", "Zum Dashboard";
        link: "Gate", "Tor";
        title: "Gate", "Tor";
        of_app: "{} at the gate", "{} am Tor";
        lead: "People reach the app through the gate, at its link and at these addresses.", "Am Link der App kommt man durch das Tor zu ihr. Hier steht, wo sie sonst noch ist.";
        addresses: "Further addresses", "Weitere Adressen";
        addresses_hint: "One on each line, such as https://tv.home.example/. Everything below an address belongs to the app.", "Eine je Zeile, etwa https://tv.home.example/. Alles unter einer Adresse gehört zur App.";
        is_open: "Let everyone in, signed in or not", "Alle hineinlassen, angemeldet oder nicht";
        is_open_hint: "Only while the app is on a public board.", "Nur solange die App auf einem öffentlichen Board steht.";
    }
}
