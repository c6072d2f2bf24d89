//! The second factor.

use super::texts;

texts! {
    /// Signing in with it, and setting it up.
    SecondFactor {
        title: "Second factor", "Zweiter Faktor";
        lead: "When you sign in with your password, Portico also asks for your second factor, such as a code that changes every half minute. Then your password alone is not enough to get in.", "Wenn Sie sich mit Ihrem Passwort anmelden, fragt Portico zusätzlich nach Ihrem zweiten Faktor, etwa einem Code, der sich alle halbe Minute ändert. Wer nur Ihr Passwort kennt, kommt nicht hinein.";
        elsewhere: "You sign in with a provider: the second factor is set up there.", "Sie melden sich mit einem Anbieter an: Der zweite Faktor wird dort eingerichtet.";
        is_required: "A second factor is required here. If you remove it, you set one up again at the next sign-in.", "Hier ist ein zweiter Faktor Pflicht. Wenn Sie ihn entfernen, richten Sie bei der nächsten Anmeldung wieder einen ein.";
        kind: "Kind", "Art";
        totp: "Authenticator app", "Authenticator-App";
        passkey: "Passkey", "Passkey";
        set_up: "Set up an authenticator app", "Authenticator-App einrichten";
        set_up_lead: "You need an authenticator app on your phone or computer, for example Aegis, Ente Auth or your password manager.", "Sie brauchen eine Authenticator-App auf Ihrem Telefon oder Computer, zum Beispiel Aegis, Ente Auth oder Ihren Passwort-Manager.";
        further: "You have a second factor already. If you signed in more than ten minutes ago, sign in again before you add another.", "Sie haben schon einen zweiten Faktor. Wenn Sie sich vor mehr als zehn Minuten angemeldet haben, melden Sie sich noch einmal an, bevor Sie einen weiteren hinzufügen.";
        must: "Set up a second factor now", "Jetzt einen zweiten Faktor einrichten";
        must_lead: "It is required here before you go on.", "Hier ist er Pflicht, bevor Sie weitermachen.";
        scan: "Scan this picture with the app, or type the secret into it.", "Scannen Sie dieses Bild mit der App, oder tippen Sie das Geheimnis ein.";
        picture: "QR code of the secret", "QR-Code des Geheimnisses";
        secret: "Secret", "Geheimnis";
        first_code: "Code that the app shows now", "Code, den die App jetzt zeigt";
        confirm: "Confirm", "Bestätigen";
        step: "Second step", "Zweiter Schritt";
        step_lead: "Type the code that your app shows now.", "Geben Sie den Code ein, den Ihre App jetzt zeigt.";
        code: "Code", "Code";
        or_recovery: "Or one of your recovery codes.", "Oder einen Ihrer Wiederherstellungscodes.";
        other_account: "Sign in with another account", "Mit einem anderen Konto anmelden";
        codes_title: "Your recovery codes", "Ihre Wiederherstellungscodes";
        codes_lead: "Each of them signs you in once if you lose the app. They are shown only now: print them, or keep them in a safe place.", "Jeder davon meldet Sie einmal an, wenn Sie die App verlieren. Sie werden nur jetzt gezeigt: Drucken Sie sie aus, oder bewahren Sie sie sicher auf.";
        go_on: "I have kept them, go on", "Ich habe sie aufbewahrt, weiter";
        recovery: "Recovery codes", "Wiederherstellungscodes";
        left: "One recovery code is left.|{} recovery codes are left.", "Ein Wiederherstellungscode ist übrig.|{} Wiederherstellungscodes sind übrig.";
        renew: "Make ten new ones", "Zehn neue anlegen";
        renew_hint: "The present ones stop working. You need a code for this.", "Die jetzigen gelten dann nicht mehr. Dafür brauchen Sie einen Code.";
        remove: "Remove", "Entfernen";
        remove_title: "Remove this second factor?", "Diesen zweiten Faktor entfernen?";
        remove_lead: "Your other sessions end. You need a second factor, or a recovery code, for this.", "Ihre anderen Sitzungen enden. Dafür brauchen Sie einen zweiten Faktor oder einen Wiederherstellungscode.";
        never_used: "never", "nie";
        of_user: "A user who has lost the app and the recovery codes cannot sign in. Remove the second factor only if you are sure who is asking: the user's sessions end.", "Ein Benutzer, der App und Wiederherstellungscodes verloren hat, kann sich nicht anmelden. Entfernen Sie den zweiten Faktor nur, wenn Sie sicher sind, wer darum bittet: Die Sitzungen des Benutzers enden.";
        none_of_user: "This user has none.", "Dieser Benutzer hat keinen.";
        remove_of_user: "Remove the second factor", "Zweiten Faktor entfernen";
    }
}
