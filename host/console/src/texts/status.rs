//! Whether apps can be reached.

use super::texts;

texts! {
    /// Whether apps can be reached.
    Status {
        title: "Status", "Status";
        lead: "Which apps can be reached from here; what cannot comes first.", "Welche Apps von hier aus erreichbar sind; was nicht erreichbar ist, steht vorn.";
        checked: "Last check", "Letzte Prüfung";
        none: "Nothing is checked", "Nichts wird geprüft";
        none_text: "An app is checked if it has a ping address, unless the operator has turned checks off (--ping off).", "Eine App wird geprüft, wenn sie eine Ping-Adresse hat, es sei denn, der Betreiber hat die Prüfungen abgeschaltet (--ping off).";
        allowed: "What is checked in private networks", "Was in privaten Netzen geprüft wird";
        allowed_hosts: "Networks and hosts", "Netze und Hosts";
        allowed_hint: "One on each line: a network (192.168.0.0/16), an address, a host (nas.lan) or the names below one (*.lan). What has a public address is always checked. Each of these hosts gets a GET of the ping addresses that those who may change apps enter.", "Je Zeile eins: ein Netz (192.168.0.0/16), eine Adresse, ein Host (nas.lan) oder die Namen darunter (*.lan). Was eine öffentliche Adresse hat, wird immer geprüft. Jeder dieser Hosts bekommt ein GET der Ping-Adressen, die jemand einträgt, der Apps ändern darf.";
        allowed_fixed: "The settings of this host (--ping and --ping-allow) decide it. What is entered here has no effect until they are gone. Now it is:", "Die Einstellungen dieses Hosts (--ping und --ping-allow) bestimmen es. Was hier steht, wirkt erst, wenn sie fehlen. Jetzt ist es:";
        allowed_nothing: "nothing", "nichts";
        about_title: "Who asks whether this can be reached", "Wer fragt, ob das hier erreichbar ist";
        about: "Portico is a dashboard. While people look at their apps, it asks each app's ping address at most once a minute: one GET, without cookies and without following redirects. Any HTTP status below 500 counts as up. Whoever runs this Portico can change or remove an address, or turn checks off.", "Portico ist ein Dashboard. Solange Menschen ihre Apps ansehen, fragt es die Ping-Adresse jeder App höchstens einmal je Minute: ein GET, ohne Cookies und ohne Weiterleitungen zu folgen. Jeder HTTP-Status unter 500 gilt als erreichbar. Wer dieses Portico betreibt, kann eine Adresse ändern oder entfernen oder die Prüfungen abschalten.";
        up: "Up, {} ms", "Läuft, {} ms";
        all_up: "The one app that is checked can be reached|All {} apps can be reached", "Die eine App, die geprüft wird, ist erreichbar|Alle {} Apps sind erreichbar";
        some_unknown: "1 app is not checked yet|{} apps are not checked yet", "1 App ist noch nicht geprüft|{} Apps sind noch nicht geprüft";
        some_not_allowed: "1 app may not be checked|{} apps may not be checked", "1 App darf nicht geprüft werden|{} Apps dürfen nicht geprüft werden";
        some_down: "1 app cannot be reached|{} apps cannot be reached", "1 App ist nicht erreichbar|{} Apps sind nicht erreichbar";
        down: "Down", "Nicht erreichbar";
        down_since: "Down since", "Nicht erreichbar seit";
        unknown: "Not checked yet", "Noch nicht geprüft";
        not_allowed: "May not be checked", "Darf nicht geprüft werden";
        unknown_name: "The name of its host is not known.", "Der Name des Hosts ist nicht bekannt.";
        no_connection: "No connection could be made.", "Es kam keine Verbindung zustande.";
        too_slow: "It did not answer in time.", "Die Antwort kam nicht rechtzeitig.";
        tls: "The encrypted connection (TLS) failed.", "Die verschlüsselte Verbindung (TLS) ist gescheitert.";
        not_http: "The response is not HTTP.", "Was dort antwortet, ist kein HTTP.";
        server_error: "It answered with an HTTP status of 500 or more.", "Die Antwort hatte einen HTTP-Status ab 500.";
        private_address: "Its address is in a private network. Administrators can allow the network or the host under Status; what is on this machine itself, the operator: --ping-allow 127.0.0.1", "Die Adresse liegt in einem privaten Netz. Das Netz oder den Host können Administratoren unter Status erlauben, was auf diesem Rechner selbst ist, der Betreiber: --ping-allow 127.0.0.1";
        blocked_port: "Its port is one that browsers block, too.", "Den Port sperren auch Browser.";
        not_a_url: "The ping address does not begin with http: or https:.", "Die Ping-Adresse beginnt nicht mit http: oder https:.";
    }
}
