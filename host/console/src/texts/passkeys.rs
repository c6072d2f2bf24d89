//! Passkeys.

use super::texts;

texts! {
    /// Signing in with them, adding and naming them.
    Passkeys {
        sign_in: "Sign in with a passkey", "Mit einem Passkey anmelden";
        use_one: "Use a passkey", "Passkey verwenden";
        or_passkey: "Or use one of your passkeys.", "Oder verwenden Sie einen Ihrer Passkeys.";
        add: "Add a passkey", "Passkey hinzufügen";
        add_lead: "Your phone, your computer, your password manager or a security key keeps a passkey. Portico asks for it after your password; if it checks your finger, your face or a PIN, it also signs you in alone.", "Einen Passkey bewahrt Ihr Telefon, Ihr Computer, Ihr Passwort-Manager oder ein Sicherheitsschlüssel auf. Portico fragt nach Ihrem Passwort auch nach ihm; prüft er Ihren Finger, Ihr Gesicht oder eine PIN, meldet er Sie auch allein an.";
        or_add: "Or add a passkey instead", "Oder stattdessen einen Passkey hinzufügen";
        name: "Name", "Name";
        name_hint: "Such as the device that keeps it.", "Zum Beispiel das Gerät, das ihn aufbewahrt.";
        rename: "Rename", "Umbenennen";
        needs_script: "Passkeys need JavaScript.", "Passkeys brauchen JavaScript.";
        failed: "Your browser did not send a passkey: you cancelled it, it took too long, or there is none for this page. Try again.", "Ihr Browser hat keinen Passkey gegeben: Das wurde abgebrochen, hat zu lange gedauert, oder er hat keinen für diese Seite. Versuchen Sie es noch einmal.";
        old: "You signed in more than ten minutes ago. Sign in again before you add a passkey.", "Sie haben sich vor mehr als zehn Minuten angemeldet. Melden Sie sich noch einmal an, bevor Sie einen Passkey hinzufügen.";
        often: "There were too many tries. Try again later.", "Das waren zu viele Versuche. Versuchen Sie es später noch einmal.";
        there: "This device already keeps a passkey of yours.", "Dieses Gerät bewahrt schon einen Passkey von Ihnen auf.";
    }
}
