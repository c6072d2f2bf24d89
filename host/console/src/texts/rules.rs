//! What the API says about rules and refusals, in German. The API speaks English; what is not in this list is shown
//! unchanged.

use super::{Language, fill};

/// English and German. `{}` represents any text without spaces, which is copied.
const SAID: &[(&str, &str)] = &[
    ("must not be empty", "darf nicht leer sein"),
    (
        "must have at least {} characters, got {}",
        "muss mindestens {} Zeichen haben (jetzt {})",
    ),
    (
        "must have at most {} characters, got {}",
        "darf höchstens {} Zeichen haben (jetzt {})",
    ),
    (
        "must have {} to {} items, got {}",
        "muss {} bis {} Einträge haben (jetzt {})",
    ),
    (
        "must not contain control characters, found {}",
        "darf keine Steuerzeichen enthalten (gefunden: {})",
    ),
    (
        "must not contain invisible or bidirectional control characters, found {}",
        "darf keine unsichtbaren Steuerzeichen enthalten (gefunden: {})",
    ),
    (
        "must not contain characters that change the direction of text, found {}",
        "darf keine Zeichen enthalten, die die Schreibrichtung ändern (gefunden: {})",
    ),
    (
        "must be an absolute URL: did you mean {}?",
        "muss eine vollständige Adresse sein: Meinten Sie {}?",
    ),
    (
        "must be an absolute URL and not a file of a computer: browsers do not open those from a page",
        "muss eine vollständige Adresse sein, keine Datei eines Computers: Browser öffnen solche nicht von Seiten aus",
    ),
    (
        "must have at most {} pixels a side and {} in all, got {}",
        "darf höchstens {} Pixel breit und hoch sein und insgesamt {} haben (jetzt {})",
    ),
    (
        "must be an absolute URL (relative URL without a base)",
        "muss eine vollständige Adresse sein, etwa https://nas.example",
    ),
    (
        "must be a URL with http: or https:",
        "muss eine Adresse mit http: oder https: sein",
    ),
    (
        "must not be a URL of the scheme {}",
        "darf keine Adresse mit {} sein",
    ),
    (
        "must be an email address such as name@example.com",
        "muss eine E-Mail-Adresse sein, etwa name@example.com",
    ),
    ("must be in the list once", "darf nur einmal in der Liste stehen"),
    (
        "must be of type image/png, image/jpeg, image/gif or image/webp",
        "muss ein Bild vom Typ PNG, JPEG, GIF oder WebP sein",
    ),
    (
        "must have {} to {} characters, got {}",
        "muss {} bis {} Zeichen haben (jetzt {})",
    ),
    (
        "must not contain control characters",
        "darf keine Steuerzeichen enthalten",
    ),
    (
        "must be a whole number from {} to {}, got {}",
        "muss eine ganze Zahl von {} bis {} sein (jetzt {})",
    ),
    (
        "must have at most {} entries, got {}",
        "darf höchstens {} Einträge haben (jetzt {})",
    ),
    (
        "must have at most {} items in all, got {}",
        "darf insgesamt höchstens {} Einträge haben (jetzt {})",
    ),
    (
        "must have notes of at most {} characters in all, got {}",
        "darf Notizen von insgesamt höchstens {} Zeichen haben (jetzt {})",
    ),
    (
        "must be a name of the IANA time zone database, such as Europe/Berlin",
        "muss der Name einer Zeitzone sein, etwa Europe/Berlin",
    ),
    (
        "must have 1 to 64 letters a to z and digits, with single hyphens between them",
        "muss aus 1 bis 64 Buchstaben a bis z und Ziffern bestehen, mit einzelnen Bindestrichen dazwischen",
    ),
    (
        "The board's short address is taken",
        "Diese kurze Adresse ist schon vergeben",
    ),
    (
        "must be a data URI: data:image/...;base64,...",
        "muss ein Bild als Data-URI sein: data:image/...;base64,...",
    ),
    (
        "must be the image that its type says: {}",
        "muss das Bild sein, das sein Typ nennt: {}",
    ),
    (
        "is needed to change your own password",
        "ist nötig, um Ihr eigenes Passwort zu ändern",
    ),
    (
        "The previous password is wrong",
        "Das jetzige Passwort ist falsch",
    ),
    (
        "The password was changed meanwhile",
        "Das Passwort wurde inzwischen geändert",
    ),
    (
        "Name, email and password of this user belong to an external provider",
        "Name, E-Mail und Passwort dieses Benutzers gehören zu einem externen Anbieter",
    ),
    (
        "The last administrator cannot be deleted",
        "Der letzte Administrator kann nicht gelöscht werden",
    ),
    (
        "The last administrator cannot be disabled",
        "Der letzte Administrator kann nicht gesperrt werden",
    ),
    (
        "This would take admin from the last administrator",
        "Das nähme dem letzten Administrator seine Rechte",
    ),
    (
        "There would be no administrator: no user in a group with the permission admin",
        "Es gäbe keinen Administrator mehr: keinen Benutzer in einer Gruppe mit dem Recht admin",
    ),
    (
        "The group's name is taken",
        "Dieser Gruppenname ist schon vergeben",
    ),
    (
        "You have {} API keys; delete one first",
        "Sie haben {} API-Schlüssel; löschen Sie zuerst einen",
    ),
    (
        "Delete your own account in your profile",
        "Löschen Sie Ihr eigenes Konto in Ihrem Profil",
    ),
    (
        "This is only allowed for your own user",
        "Das ist nur für Ihr eigenes Konto erlaubt",
    ),
    (
        "This API key may only read",
        "Dieser API-Schlüssel darf nur lesen",
    ),
    (
        "An API key that may do less than its user makes no keys",
        "Ein API-Schlüssel, der weniger darf als sein Benutzer, legt keine Schlüssel an",
    ),
    (
        "An API key without the permission admin does not change how its user signs in",
        "Ein API-Schlüssel ohne das Recht admin ändert nicht, wie sein Benutzer sich anmeldet",
    ),
    ("This needs the permission {}", "Dafür brauchen Sie das Recht {}"),
    (
        "This needs a share that lets you change the board, or the permission board-modify-all",
        "Dafür muss das Board zum Ändern mit Ihnen geteilt sein, oder Sie brauchen das Recht board-modify-all",
    ),
    (
        "This needs to have made the board, or the permission board-full-all",
        "Das darf nur, wer das Board angelegt hat, oder wer das Recht board-full-all hat",
    ),
    (
        "To change isPublic, this needs the permission board-full-all",
        "Wer alle ein Board sehen lässt oder nicht, braucht das Recht board-full-all",
    ),
    (
        "This link cannot be used: it was used or replaced, or has expired. Ask for a new one",
        "Dieser Link gilt nicht: Er wurde benutzt oder ersetzt, oder er ist abgelaufen. Bitten Sie um einen neuen",
    ),
    (
        "The user is disabled: enable the user first",
        "Der Benutzer ist gesperrt: Entsperren Sie ihn zuerst",
    ),
    (
        "Too many tries; try again in {} seconds",
        "Zu viele Versuche; versuchen Sie es in {} Sekunden noch einmal",
    ),
    (
        "Too many tries; try again in 1 second",
        "Zu viele Versuche; versuchen Sie es in einer Sekunde noch einmal",
    ),
    (
        "Invalid invite",
        "Diese Einladung gilt nicht: Sie wurde benutzt oder ist abgelaufen, oder der Link ist unvollständig",
    ),
    ("App not found", "Eine dieser Apps gibt es nicht mehr"),
    ("Board not found", "Dieses Board gibt es nicht mehr"),
    ("Search engine not found", "Diese Suchmaschine gibt es nicht mehr"),
    ("Username already taken", "Dieser Benutzername ist schon vergeben"),
    (
        "Wrong username or password",
        "Benutzername oder Passwort ist falsch",
    ),
    (
        "must have 1 to {} characters, got {}",
        "muss 1 bis {} Zeichen haben (jetzt {})",
    ),
    (
        "must not contain control characters other than newline and tab",
        "darf außer Zeilenumbruch und Tabulator keine Steuerzeichen enthalten",
    ),
    (
        "must be an absolute URL (empty host)",
        "muss eine vollständige Adresse sein (der Host fehlt)",
    ),
    (
        "must be an absolute URL (invalid port number)",
        "muss eine vollständige Adresse sein (der Port ist falsch)",
    ),
    (
        "must be an absolute URL (invalid international domain name)",
        "muss eine vollständige Adresse sein (der Host ist falsch)",
    ),
    (
        "must be an absolute URL (invalid IPv6 address)",
        "muss eine vollständige Adresse sein (die IPv6-Adresse ist falsch)",
    ),
    (
        "must be an absolute URL (invalid IPv4 address)",
        "muss eine vollständige Adresse sein (die IPv4-Adresse ist falsch)",
    ),
    (
        "must be an image where it is a data URI: data:image/...,...",
        "muss ein Bild sein, wenn es eine data-URI ist: data:image/...,...",
    ),
    (
        "must begin with http:// or https:// and contain %s",
        "muss mit http:// oder https:// beginnen und %s enthalten",
    ),
    (
        "The board's name is taken",
        "Ein Board dieses Namens gibt es schon",
    ),
    (
        "The search engine's name or short is taken",
        "Name oder Kürzel hat schon eine andere Suchmaschine",
    ),
    (
        "User or group not found",
        "Ein Benutzer oder eine Gruppe davon existiert nicht mehr",
    ),
    (
        "Another site cannot send forms to this service",
        "Eine andere Website darf diesem Dienst keine Formulare senden",
    ),
    (
        "This form is from another session or another site",
        "Dieses Formular stammt aus einer anderen Sitzung. Öffnen Sie die Seite neu.",
    ),
    (
        "You have signed in again since this page was opened, so nothing was changed. Check what stands here and send it again",
        "Sie haben sich neu angemeldet, seit diese Seite geöffnet wurde; darum wurde nichts geändert. Prüfen Sie die Angaben und \
         senden Sie sie noch einmal",
    ),
];

/// A message of the API in this language.
pub(crate) fn say(language: Language, message: &str) -> String {
    if language == Language::English {
        return message.to_owned();
    }
    let said = SAID.iter().find_map(|(english, german)| {
        let values = matched(english, message)?;
        let values: Vec<&dyn std::fmt::Display> = values.iter().map(|value| value as _).collect();
        Some(fill(german, &values))
    });
    said.unwrap_or_else(|| message.to_owned())
}

/// The values in the places of a pattern, if a text is of its form.
fn matched<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut values = Vec::new();
    for part in parts {
        let end = if part.is_empty() {
            rest.len()
        } else {
            rest.find(part)?
        };
        let (value, after) = rest.split_at(end);
        values.push(value);
        rest = &after[part.len()..];
    }
    let is_word = |value: &&str| !value.is_empty() && !value.contains(' ');
    (rest.is_empty() && values.iter().all(is_word)).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_says_is_said_in_german_with_its_numbers() {
        let say = |message| say(Language::German, message);
        assert_eq!(
            say("must have at least 8 characters, got 7"),
            "muss mindestens 8 Zeichen haben (jetzt 7)"
        );
        assert_eq!(
            say("must not be a URL of the scheme javascript:"),
            "darf keine Adresse mit javascript: sein"
        );
        assert_eq!(
            say("must have at least 8 friends"),
            "must have at least 8 friends"
        );
        assert_eq!(
            super::say(Language::English, "must not be empty"),
            "must not be empty"
        );
    }

    #[test]
    fn both_languages_have_the_same_places() {
        for (english, german) in SAID {
            assert_eq!(
                english.matches("{}").count(),
                german.matches("{}").count(),
                "{english}"
            );
        }
    }
}
