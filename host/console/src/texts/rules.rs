//! What the API says about rules and refusals, in the language of the reader.
//!
//! The API speaks English, in the sentences of `portico_rules`: a message is read back and said again. One that is not
//! among them (of a foreign component, or about HTTP itself) is shown unchanged.

use portico_rules::{
    refusal::Refusal,
    rule::{Noun, Plain, Rule, UrlProblem},
};

use super::{Language, refusals};
use refusals::FormRefusal;

/// How the API ends a message of a failure, with the id under which the log has more.
const REQUEST: &str = " (request ";

/// A message of the API in this language.
pub fn say(language: Language, message: &str) -> String {
    match language {
        Language::English => message.to_owned(),
        Language::German => in_german(message).unwrap_or_else(|| message.to_owned()),
    }
}

fn in_german(message: &str) -> Option<String> {
    if let Some(rule) = Rule::parse(message) {
        return Some(german(&rule));
    }
    if let Some(refusal) = Refusal::parse(message) {
        return Some(refusals::german(&refusal));
    }
    if let Some(refusal) = FormRefusal::parse(message) {
        return Some(refusals::german_of_form(&refusal));
    }
    let (message, request) = message.strip_suffix(')')?.rsplit_once(REQUEST)?;
    let refusal = Refusal::parse(message)?;
    Some(format!("{} (Anfrage {request})", refusals::german(&refusal)))
}

fn german(rule: &Rule) -> String {
    use Rule as R;
    match rule {
        R::Empty => "darf nicht leer sein".into(),
        R::TooShort { least, got } => format!("muss mindestens {least} Zeichen haben (jetzt {got})"),
        R::TooLong { most, got } => format!("darf höchstens {most} Zeichen haben (jetzt {got})"),
        R::CharactersBetween { least, most, got } => {
            format!("muss {least} bis {most} Zeichen haben (jetzt {got})")
        }
        R::EachOnOneLine { least, most } => {
            format!("müssen jeweils {least} bis {most} Zeichen auf einer Zeile haben")
        }
        R::ControlCharacter { found } => format!("darf keine Steuerzeichen enthalten (gefunden: {found})"),
        R::ControlCharacters => "darf keine Steuerzeichen enthalten".into(),
        R::ControlCharactersInLines => {
            "darf außer Zeilenumbruch und Tabulator keine Steuerzeichen enthalten".into()
        }
        R::InvisibleCharacter { found } => {
            format!("darf keine unsichtbaren Steuerzeichen enthalten (gefunden: {found})")
        }
        R::TurningCharacter { found } => {
            format!("darf keine Zeichen enthalten, die die Schreibrichtung ändern (gefunden: {found})")
        }
        R::NulCharacter => "darf das Zeichen U+0000 nicht enthalten".into(),

        R::LinkWithoutScheme { meant } => {
            format!("muss eine vollständige Adresse sein: Meinten Sie {meant}?")
        }
        R::FileOfComputer => {
            "muss eine vollständige Adresse sein, keine Datei eines Computers: Browser öffnen solche nicht \
                              von Seiten aus"
                .into()
        }
        R::NotAbsoluteUrl { why } => german_of_url(why).into(),
        R::NotHttp => "muss eine Adresse mit http: oder https: sein".into(),
        R::RefusedScheme { scheme } => format!("darf keine Adresse mit {scheme}: sein"),
        R::NotGateAddress => {
            "muss eine Adresse mit http: oder https: sein, ohne Abfrage, Fragment, Benutzername und *, deren Pfad alle Programme \
             gleich lesen"
                .into()
        }
        R::NotOfGateDomain { domain } => format!("muss an einem Host von {domain} sein, vor dem das Tor steht"),
        R::AtOwnHost => {
            "muss an einem anderen Host als dem dieses Dashboards sein: Seiten dort könnten tun, was ihr Besucher hier darf".into()
        }
        R::NotUrlTemplate => "muss mit http:// oder https:// beginnen und %s enthalten".into(),
        R::NotPathOfHost => "muss ein Pfad auf diesem Host sein: Er beginnt mit einem /".into(),
        R::NotVisiblePath => {
            "darf nur sichtbare ASCII-Zeichen und keinen Backslash enthalten: alles andere mit % kodiert"
                .into()
        }
        R::PathTooLong { most } => format!("darf höchstens {most} Zeichen haben"),
        R::NotEmail => "muss eine E-Mail-Adresse sein, etwa name@example.com".into(),

        R::NotDataUri => "muss ein Bild als Data-URI sein: data:image/...;base64,...".into(),
        R::NotPictureType => "muss ein Bild vom Typ PNG, JPEG, GIF oder WebP sein".into(),
        R::NotBase64 => "muss in Base64 mit Füllzeichen kodiert sein".into(),
        R::NotThatPicture { mime } => format!("muss das Bild sein, das sein Typ nennt: {mime}"),
        R::NotPicture => "muss ein Bild als Data-URI oder eine Adresse mit http: oder https: sein".into(),
        R::TooManyPixels {
            side,
            all,
            width,
            height,
        } => format!(
            "darf höchstens {side} Pixel breit und hoch sein und insgesamt {all} haben (jetzt {width}x{height})"
        ),
        R::NotImage => "muss ein Bild sein, wenn es eine Data-URI ist: data:image/...,...".into(),

        R::NotPictureFormat => "muss ein PNG, JPEG, WebP, GIF, AVIF oder ICO sein".into(),
        R::TooManyBytes { most, got } => format!("darf höchstens {most} Bytes haben (jetzt {got})"),
        R::NotHashOfPicture { id } => format!("muss der SHA-256 des Bildes sein: {id}"),
        R::NotStoredPicture => "muss die ID eines gespeicherten Bildes sein".into(),
        R::NotColor => "muss eine Farbe sein, etwa #3451c6".into(),
        R::NotCheckedHost => {
            "muss ein Netz sein (192.168.0.0/16), eine Adresse, ein Host (nas.lan) oder die Namen darunter (*.lan), ohne Schema \
             und Port"
                .into()
        }
        R::NotPrivateNetwork => {
            "muss in einem privaten Netz liegen: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 oder fc00::/7".into()
        }

        R::NumberBetween { least, most, got } => {
            format!("muss eine ganze Zahl von {least} bis {most} sein (jetzt {got})")
        }
        R::NumberFrom { least, got } => format!("muss eine ganze Zahl ab {least} sein (jetzt {got})"),
        R::NumberOutside { least, most, got } => {
            format!("muss von {least} bis {most} sein (jetzt {got})")
        }
        R::ItemsBetween { least, most, got } => {
            format!("muss {least} bis {most} Einträge haben (jetzt {got})")
        }
        R::TooManyEntries { most, got } => format!("darf höchstens {most} Einträge haben (jetzt {got})"),
        R::TooManyItems { most, got } => {
            format!("darf insgesamt höchstens {most} Einträge haben (jetzt {got})")
        }
        R::TooLongNotes { most, got } => {
            format!("darf Notizen von insgesamt höchstens {most} Zeichen haben (jetzt {got})")
        }
        R::TooManyPasswords { most, got } => format!(
            "darf höchstens {most} neue Einträge mit Passwort haben (jetzt {got}): Wenden Sie sie in Teilen an"
        ),
        R::NotTimeZone => "muss der Name einer Zeitzone sein, etwa Europe/Berlin".into(),
        R::NotSlug { most } => {
            format!(
                "muss aus 1 bis {most} Buchstaben a bis z und Ziffern bestehen, mit einzelnen Bindestrichen dazwischen"
            )
        }
        R::NotBeforeYear { year } => format!("muss vor dem Jahr {year} sein"),
        R::NotBefore { end } => {
            format!("darf höchstens {end} sein: Dann endet der Schlüssel, mit dem der Aufruf kam")
        }
        R::NotInFuture => "muss in der Zukunft liegen".into(),

        R::RequiredOfOperator => "fehlt: Der Betreiber ist kein Benutzer".into(),
        R::RequiredItems => "fehlt: eine Liste, oder Abschnitte".into(),
        R::Required { noun } => format!("fehlt: {}", german_of_noun(noun)),
        R::WrongType { noun, got } => {
            format!(
                "muss {} sein (jetzt {})",
                german_of_noun(noun),
                german_of_noun(got)
            )
        }
        R::NotOneOf { choices } => format!("muss eines von {choices} sein"),
        R::KeyTwice => "kommt mehr als einmal vor".into(),
        R::UnknownKey { keys } => format!("ist keiner der Schlüssel {keys}"),
        R::PreviousPasswordNeeded => "ist nötig, um Ihr eigenes Passwort zu ändern".into(),
        R::NotSecretOfCodes => "muss ein Geheimnis aus 32 Buchstaben A bis Z und Ziffern 2 bis 7 sein, wie das angezeigte".into(),
        R::NotBase64Url { most } => format!("muss base64url mit 1 bis {most} Bytes sein"),
        R::NotNewPasskey => {
            "muss ein neuer Passkey sein, an der öffentlichen Adresse erstellt und innerhalb von fünf Minuten".into()
        }
        R::CodeNotOfSecret => {
            "passt nicht: Geben Sie den Code ein, den die App jetzt zeigt, und prüfen Sie die Uhr ihres Geräts".into()
        }
        R::NotEnabledProvider => {
            "muss ein eingeschalteter Anbieter sein (siehe GET /api/auth/providers)".into()
        }
        R::NotExternalProvider => "muss ein externer Anbieter sein".into(),

        R::OfProvider => "muss fehlen: Ein externer Anbieter bürgt für diesen Benutzer".into(),
        R::NotHashed => "muss zuerst gehasht werden".into(),
        R::VerifiedWithoutEmail => "muss null sein, wo keine E-Mail-Adresse ist".into(),
        R::NotStorableIds => "müssen IDs sein, die dieses Dashboard speichern kann".into(),
        R::NotOnce => "darf nur einmal in der Liste stehen".into(),
        R::ListedTwiceWithoutId => "steht mehrmals in der Liste: Geben Sie jedem davon eine ID".into(),
        R::ListedTwice => "steht mehrmals in der Liste".into(),
        R::FitsApps { count } => format!("passt auf {count} Apps: Geben Sie die ID von einer an"),
        R::NotItemsOfSections => "muss enthalten, was in den Abschnitten ist, oder fehlen".into(),
        R::ItemsWithSections => "muss fehlen, wenn es Abschnitte gibt".into(),
        R::NotOneKindOfItem => "muss genau eines von app, bookmarks, note und clock haben".into(),
        R::NamesNoGroup { name } => format!("nennt eine Gruppe, die es nicht gibt: {name}"),
        R::NamesNoBoard { name } => format!("nennt ein Board, das es nicht gibt: {name}"),
        R::NamesNoUser { name } => format!("nennt einen Benutzer, den es nicht gibt: {name}"),
        R::NamesUsers { count, name } => {
            format!("passt auf {count} Benutzer: Schreiben Sie {{name, provider}} für {name}")
        }
        R::NamesNoAppId { id } => format!("nennt eine App, die es nicht gibt: die ID {id}"),
        R::NamesNoApp { name } => format!("nennt eine App, die es nicht gibt: {name}"),
        R::NamesApps { count, name } => format!("passt auf {count} Apps: Schreiben Sie {{id}} für {name}"),
    }
}

fn german_of_url(why: &UrlProblem) -> &'static str {
    match why {
        UrlProblem::NoScheme => "muss eine vollständige Adresse sein, etwa https://nas.example",
        UrlProblem::NoHost => "muss eine vollständige Adresse sein (der Host fehlt)",
        UrlProblem::Port => "muss eine vollständige Adresse sein (der Port ist falsch)",
        UrlProblem::International => "muss eine vollständige Adresse sein (der Host ist falsch)",
        UrlProblem::Ipv6 => "muss eine vollständige Adresse sein (die IPv6-Adresse ist falsch)",
        UrlProblem::Ipv4 => "muss eine vollständige Adresse sein (die IPv4-Adresse ist falsch)",
        UrlProblem::DomainCharacter => {
            "muss eine vollständige Adresse sein (der Host enthält ein falsches Zeichen)"
        }
        UrlProblem::Other => "muss eine vollständige Adresse sein (sie ist nicht lesbar)",
    }
}

fn german_of_noun(noun: &Noun) -> String {
    match noun {
        Noun::Plain(plain) => german_of_type(plain),
        Noun::Or(first, rest) => format!("{} oder {}", german_of_type(first), german_of_noun(rest)),
    }
}

fn german_of_type(plain: &Plain) -> String {
    match plain {
        Plain::Nothing => "nichts",
        Plain::Null => "null",
        Plain::Text => "ein Text",
        Plain::AnotherText => "ein anderer Text",
        Plain::Boolean => "true oder false",
        Plain::Number => "eine Zahl",
        Plain::WholeNumber => "eine ganze Zahl",
        Plain::Date => "ein Zeitpunkt wie 2026-01-31T12:00:00.000Z",
        Plain::List => "eine Liste",
        Plain::Object => "ein Objekt",
        Plain::Anything => "irgendetwas",
        Plain::OneOf { choices } => return format!("eines von {choices}"),
        Plain::Sent { number } => return number.to_string(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use portico_rules::refusal::{HeaderRule, Missing, SiteRule, UniqueName};

    use super::*;

    /// What the sample of a part looks like in the sentence: `Noun` and the like are said in other words.
    fn parts(sample: &impl Debug) -> Vec<String> {
        let shown = format!("{sample:?}");
        let words = shown.split(|letter: char| !letter.is_ascii_alphanumeric());
        let is_part = |word: &&str| {
            word.starts_with("text")
                || word.starts_with("word")
                || word.parse::<u64>().is_ok_and(|it| it > 70)
        };
        words.filter(is_part).map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(message: &str, sample: &impl Debug) {
        let german = say(Language::German, message);
        assert_ne!(german, message);
        for part in parts(sample) {
            assert!(german.contains(&part), "{part} is missing in {german:?}");
        }
        assert_eq!(say(Language::English, message), message);
    }

    #[test]
    fn every_rule_and_refusal_is_said_in_german_with_its_parts() {
        for rule in Rule::samples() {
            check(&rule.to_string(), &rule);
        }
        for refusal in Refusal::samples() {
            check(&refusal.to_string(), &refusal);
        }
        for refusal in FormRefusal::samples() {
            check(&refusal.to_string(), &refusal);
        }
        assert_eq!(parts(&Rule::TooShort { least: 71, got: 72 }), ["71", "72"]);
    }

    #[test]
    fn every_phrase_in_a_sentence_is_said_in_german() {
        let rules = UrlProblem::samples().map(|why| Rule::NotAbsoluteUrl { why });
        let types = Plain::samples().map(|plain| Rule::Required { noun: plain.into() });
        for rule in rules.chain(types) {
            check(&rule.to_string(), &rule);
        }
        let headers = HeaderRule::samples().map(|rule| Refusal::ProxyHeader {
            name: "word1".into(),
            rule,
        });
        let missing = Missing::samples().map(|what| Refusal::NotFound { what });
        let names = UniqueName::samples().map(|what| Refusal::NameTaken { what });
        let sites = SiteRule::samples().map(|what| Refusal::OtherSite { what });
        for refusal in headers.chain(missing).chain(names).chain(sites) {
            check(&refusal.to_string(), &refusal);
        }
    }

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
            say("Too many tries; try again in 1 second"),
            "Zu viele Versuche; versuchen Sie es in einer Sekunde noch einmal"
        );
        assert_eq!(
            say("Storage is busy; try again in a moment (request 0199)"),
            "Der Speicher ist beschäftigt; versuchen Sie es gleich noch einmal (Anfrage 0199)"
        );
        assert_eq!(
            say("must have at least 8 friends"),
            "must have at least 8 friends"
        );
    }
}
