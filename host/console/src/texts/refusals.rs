//! The refusals of calls and of the console's own forms, in German.

use portico_rules::{
    refusal::{HeaderRule, Missing, Refusal, SiteRule, UniqueName},
    sentences,
    sentences::Seconds,
};

sentences! {
    /// Why the console refuses a form before it calls the API.
    FormRefusal {
        OldSession = "You have signed in again since this page was opened, so nothing was changed. Check what stands here and \
                      send it again",
        OtherSession = "This form is from another session or another site",
        TooLarge { most: usize } = "The form is larger than {most} KiB",
        TooLate = "The form took too long",
        Cut = "The form did not arrive whole",
        NotForm = "This is not a form",
        TooManyFields = "The form has more than 5,000 fields",
        OwnAccount = "Delete your own account in your profile",
    }
}

pub(super) fn german_of_form(refusal: &FormRefusal) -> String {
    match refusal {
        FormRefusal::OldSession => {
            "Sie haben sich neu angemeldet, seit diese Seite geöffnet wurde; darum wurde nichts geändert. Prüfen Sie die \
             Angaben und senden Sie sie noch einmal"
        }
        FormRefusal::OtherSession => {
            "Dieses Formular stammt aus einer anderen Sitzung oder von einer anderen Website. Öffnen Sie die Seite neu"
        }
        FormRefusal::TooLarge { most } => return format!("Das Formular ist größer als {most} KiB"),
        FormRefusal::TooLate => "Das Formular brauchte zu lange",
        FormRefusal::Cut => "Das Formular kam nicht ganz an",
        FormRefusal::NotForm => "Das ist kein Formular",
        FormRefusal::TooManyFields => "Das Formular hat mehr als 5.000 Felder",
        FormRefusal::OwnAccount => "Löschen Sie Ihr eigenes Konto in Ihrem Profil",
    }
    .into()
}

pub(super) fn german(refusal: &Refusal) -> String {
    use Refusal as R;
    match refusal {
        R::SignIn => "Melden Sie sich an, oder senden Sie einen gültigen API-Schlüssel oder ein Sitzungs-Token",
        R::SignInFirst => "Melden Sie sich zuerst an",
        R::WrongPassword => "Benutzername oder Passwort ist falsch",
        R::SecondFactorNeeded => "Das Passwort stimmt. Nötig ist noch der zweite Faktor: Senden Sie dessen Code mit",
        R::SecondFactorToSetUp => {
            "Das Passwort stimmt. Hier ist ein zweiter Faktor Pflicht: Richten Sie zuerst einen ein"
        }
        R::WrongSecondFactor => "Der Code ist falsch oder wurde schon benutzt",
        R::WrongPasskey => "Der Passkey wurde nicht angenommen; versuchen Sie es noch einmal",
        R::DeadTicket => "Diese Anmeldung hat zu lange gedauert oder ist beendet; beginnen Sie neu",
        R::PasswordsOff => "Die Anmeldung mit einem Passwort ist abgeschaltet",
        R::PasswordsOfAdministrators => "Hier melden sich nur Administratoren mit einem Passwort an",
        R::NotYourUser => "Das ist nur für Ihr eigenes Konto erlaubt",
        R::NotYourExtras => "Dafür brauchen Sie das Recht admin: Es geht um einen anderen Benutzer",
        R::KeyOnlyReads => "Dieser API-Schlüssel darf nur lesen",
        R::LimitedKeyMakesKeys => {
            "Ein API-Schlüssel, der weniger darf als sein Benutzer, legt keine Schlüssel an"
        }
        R::LimitedKeySignIn => {
            "Ein API-Schlüssel ohne das Recht admin ändert nicht, wie sein Benutzer sich anmeldet"
        }
        R::LimitedKeyOwnAccess => {
            "Ein API-Schlüssel, der weniger darf als sein Benutzer, sieht und beendet keine Sitzungen und keine anderen \
             Schlüssel"
        }
        R::NeedsPermission { permission } => return format!("Dafür brauchen Sie das Recht {permission}"),
        R::OtherOrigin { what, origin, host } => {
            return format!(
                "{}. Die Seite ist von {origin}, und die Anfrage ging an den Host {host}. Gehören beide zu diesem Dienst, \
                 setzen Sie public-url (--public-url, PORTICO_PUBLIC_URL) auf die Adresse, die aufgerufen wird, oder lassen \
                 Sie den Proxy den Header Host unverändert weitergeben",
                german_of_site(what)
            );
        }
        R::OtherSite { what } => german_of_site(what),
        R::NoUserYetHere { host } => {
            return format!(
                "Es gibt noch keinen Benutzer; bis dahin wird Browsern nur an einer IP-Adresse, an localhost oder am Host von \
                 public-url (--public-url, PORTICO_PUBLIC_URL) geantwortet, nicht an {host}. Öffnen Sie den Dienst dort, oder \
                 setzen Sie public-url auf die Adresse, die Sie benutzen"
            );
        }
        R::InFrame => "Diese Seite öffnet sich nicht in einem Rahmen einer anderen Website",
        R::NotOpened => "Diese Seite wird geöffnet, über einen Link oder eine Weiterleitung, und nicht im Hintergrund geladen",

        R::OnboardingOver => "Die Einrichtung ist abgeschlossen: Es gibt schon einen Benutzer",
        R::OnboardingFirst => "Der erste Benutzer wird bei der Einrichtung angelegt",
        R::InvalidInvite => {
            "Diese Einladung gilt nicht: Sie wurde benutzt oder ist abgelaufen, oder der Link ist unvollständig"
        }
        R::DeadPasswordLink => {
            "Dieser Link gilt nicht: Er wurde benutzt oder ersetzt, oder er ist abgelaufen. Bitten Sie um einen neuen"
        }
        R::OwnPasswordLink => {
            "Um Ihr eigenes Passwort zu setzen, brauchen Sie das jetzige: Ändern Sie es in Ihrem Profil"
        }
        R::UserDisabled => "Der Benutzer ist gesperrt: Entsperren Sie ihn zuerst",
        R::UsernameTaken => "Dieser Benutzername ist schon vergeben",
        R::WrongPreviousPassword => "Das jetzige Passwort ist falsch",
        R::UserChangedAtSignIn => {
            "Der Benutzer oder das Passwort wurde inzwischen geändert; melden Sie sich noch einmal an"
        }
        R::SecondFactorElsewhere => {
            "Der zweite Faktor dieses Benutzers ist Sache des Anbieters, mit dem er sich anmeldet"
        }
        R::OwnSecondFactor => {
            "Um Ihren eigenen zweiten Faktor zu entfernen, brauchen Sie einen Code davon: Das geht in Ihrem Profil"
        }
        R::RecentSignInNeeded => {
            "Ein weiterer zweiter Faktor wird innerhalb von zehn Minuten nach der Anmeldung hinzugefügt: Melden Sie sich zuerst \
             noch einmal an"
        }
        R::WrongOwnSecondFactor => "Der Code passt nicht oder wurde schon benutzt",
        R::WrongOwnPasskey => {
            "Der Passkey wurde nicht angenommen; versuchen Sie es noch einmal, mit einem von Ihren eigenen"
        }
        R::PasskeysOff => {
            "Passkeys sind abgeschaltet: Sie brauchen die Adresse, die Nutzer öffnen, mit https und einem Namen, als public-url \
             (--public-url, PORTICO_PUBLIC_URL)"
        }
        R::SecondFactorThere => "Dieser zweite Faktor ist schon eingerichtet; entfernen Sie ihn zuerst",
        R::TooManySecondFactors { most } => {
            return format!("Sie haben {most} zweite Faktoren; entfernen Sie zuerst einen");
        }
        R::NoSecondFactor => "Es ist kein zweiter Faktor eingerichtet",
        R::NoPasskey => "Es ist kein Passkey eingerichtet",
        R::PasswordChanged => "Das Passwort wurde inzwischen geändert",
        R::ExternalUser => "Name, E-Mail und Passwort dieses Benutzers gehören zu einem externen Anbieter",
        R::LastAdminDeleted => "Der letzte Administrator kann nicht gelöscht werden",
        R::LastAdminDisabled => "Der letzte Administrator kann nicht gesperrt werden",
        R::LastAdminLoses => "Das nähme dem letzten Administrator seine Rechte",
        R::NoAdministrator => {
            "Es gäbe keinen Administrator mehr: keinen Benutzer in einer Gruppe mit dem Recht admin"
        }
        R::TooManyOwnKeys { most } => {
            return format!("Sie haben {most} API-Schlüssel; löschen Sie zuerst einen");
        }
        R::OperatorIsNoUser => "Der Betreiber ist kein Benutzer",

        R::ProviderOff => "Die Anmeldung mit OpenID Connect ist ausgeschaltet",
        R::ProviderSignOutOff => "Die Abmeldung beim Anmeldedienst ist ausgeschaltet",
        R::QueryKeyTwice => "Ein Name in der Adresse kommt mehr als einmal vor",
        R::ProviderSilent => "Der Anmeldedienst antwortet nicht; versuchen Sie es später noch einmal",
        R::ProviderMisconfigured => {
            "Der Anmeldedienst ist falsch eingerichtet; fragen Sie Ihren Administrator (der Grund steht im Log)"
        }
        R::ProviderGroups => "Der Anmeldedienst nennt zu viele Gruppen; fragen Sie Ihren Administrator",
        R::ProviderAccount => {
            "Das Konto des Anbieters kann hier nicht benutzt werden; fragen Sie Ihren Administrator (der Grund steht im Log)"
        }
        R::InviteNeeded => {
            "Sie haben noch keinen Benutzer, und dafür brauchen Sie eine Einladung: Öffnen Sie ihren Link, und melden Sie sich \
             von dort aus an"
        }
        R::ProviderAccountTaken => "Ein anderes Konto des Anbieters ist mit dem Benutzer verknüpft",
        R::SignInNotConfirmed => "Die Anmeldung wurde nicht bestätigt; beginnen Sie noch einmal",
        R::ProxyHeader { name, rule } => {
            return format!("Der Header {name} des Proxys {}", german_of_header(rule));
        }
        R::ProxyElsewhere => {
            "Wen der Proxy angemeldet hat, zählt nur an der öffentlichen Adresse (--public-url): Öffnen Sie den Dienst dort, \
             und lassen Sie den Proxy den Header Host unverändert weitergeben"
        }
        R::GateProxy => {
            "Nur ein Proxy, der in --trusted-proxies genannt ist, darf das Tor fragen, mit genau einem von jedem Header, der \
             sagt, wonach er gefragt wurde, in sichtbaren ASCII-Zeichen"
        }
        R::GateNoApp => "Keine App dieses Dashboards hat diese Adresse",
        R::GateAmbiguous => {
            "Programme lesen diese Adresse verschieden, und sie kann die von mehr als einer App sein"
        }
        R::GateNotYours => {
            "Sie dürfen diese App nicht öffnen. Bitten Sie einen Administrator des Dashboards, ein Board mit Ihnen zu teilen, \
             auf dem sie ist"
        }
        R::GateNameShared => {
            "Jemand anderes hat denselben Namen wie Sie; Apps könnten Sie verwechseln. Bitten Sie einen Administrator des \
             Dashboards, einen der Namen zu ändern"
        }
        R::GateNameReserved => {
            "Ihres Namens wegen könnten Apps Sie für jemand anderen halten, etwa für ihren eigenen Administrator. Bitten Sie einen \
             Administrator des Dashboards, Sie umzubenennen"
        }
        R::GateLoop => {
            "Ihr Browser kommt immer wieder ohne das, was er hier bekam: Lassen Sie ihn die Cookies dieser Domain behalten"
        }
        R::GateNeedsSession => {
            "Durch das Tor kommt, wer sich mit einem Browser an diesem Dashboard selbst angemeldet hat"
        }
        R::GateOff => "Hier ist kein Tor vor den Apps",
        R::DirectorySilent => "Das Verzeichnis ist nicht erreichbar; versuchen Sie es später noch einmal",
        R::DirectoryMisconfigured => {
            "Das Verzeichnis ist falsch eingerichtet; fragen Sie Ihren Administrator (der Grund steht im Log)"
        }

        R::BoardOfOthers => "Das darf nur, wer das Board angelegt hat, oder wer das Recht board-full-all hat",
        R::BoardNotShared => {
            "Dafür muss das Board zum Ändern mit Ihnen geteilt sein, oder Sie brauchen das Recht board-modify-all"
        }
        R::BoardPublic => "Wer alle ein Board sehen lässt oder nicht, braucht das Recht board-full-all",
        R::GroupNotFound { id } => return format!("Die Gruppe {id} gibt es nicht mehr"),
        R::NotFound { what } => german_of_missing(what),
        R::ListedNameTaken { list, index, what } => {
            return format!("{list}[{index}]: {}", german_of_name(what));
        }
        R::NameTaken { what } => german_of_name(what),
        R::VersionChanged => "Es wurde geändert, seit diese Fassung gelesen wurde",
        R::StateChanged => {
            "Ein anderer Aufruf hat inzwischen Benutzer oder Apps geändert; wenden Sie das Dokument noch einmal an"
        }
        R::TooManyUnusedPictures { most, mebibytes } => {
            return format!(
                "Sie haben {most} Bilder oder {mebibytes} MiB davon hochgeladen, die niemand benutzt: Benutzen Sie sie, oder \
                 warten Sie einen Tag"
            );
        }
        R::TooManyPictures { most, mebibytes } => {
            return format!(
                "Es gibt schon {most} Bilder oder {mebibytes} MiB davon: Nehmen Sie zuerst einige aus Apps oder dem Aussehen"
            );
        }
        R::NoIconCollection => "Zurzeit ist keine Icon-Sammlung erreichbar",
        R::NothingHere => "Unter diesem Pfad gibt es nichts",

        R::UsersTooLarge => {
            "Das sind zu viele Benutzer für eine Antwort: Lesen Sie sie in Teilen, mit user.getPaginated oder user.search"
        }
        R::AppsTooLarge => {
            "Das sind zu viele Apps für eine Antwort: Lesen Sie sie seitenweise, mit app.getPaginated"
        }
        R::AskedAppsTooLarge => "Das sind zu viele Apps für eine Antwort: Fragen Sie nach weniger",
        R::AnswerTooLarge => "Die Antwort wäre zu groß",
        R::AnswersTooLarge => "Die Antworten dieser Aufrufe sind zusammen zu groß",
        R::BodyTooLarge { most } => return format!("Was gesendet wurde, ist größer als {most} Bytes"),
        R::BodyCut => "Was gesendet wurde, kam nicht ganz an",
        R::BodyTooSlow => "Was gesendet wurde, kam zu langsam an; versuchen Sie es gleich noch einmal",
        R::BodyTooLate => "Was gesendet wurde, brauchte zu lange",

        R::TooManyTries { wait } => return format!("Zu viele Versuche; versuchen Sie es in {} noch einmal", german_of_wait(*wait)),
        R::TooMuchAtOnce => "Es ist zu viel auf einmal zu tun; versuchen Sie es gleich noch einmal",
        R::TooManySignIns => "Zu viele Anmeldungen auf einmal; versuchen Sie es gleich noch einmal",
        R::TooManyKeysToCheck => {
            "Zu viele API-Schlüssel sind auf einmal zu prüfen; versuchen Sie es gleich noch einmal"
        }
        R::TooManyPasswords => {
            "Zu viele Passwörter sind auf einmal zu verarbeiten; versuchen Sie es gleich noch einmal"
        }
        R::TooManyLongCalls => "Zu viele lange Aufrufe auf einmal; versuchen Sie es gleich noch einmal",
        R::TooManyLargeCalls => "Zu viele große Aufrufe auf einmal; versuchen Sie es gleich noch einmal",
        R::TooManyAnswers => {
            "Zu viele Antworten warten darauf, gelesen zu werden; versuchen Sie es gleich noch einmal"
        }
        R::CallTooLong => "Der Aufruf dauerte zu lange",
        R::CallTooBusy => "Der Aufruf brauchte mehr Rechenzeit, als er haben darf",
        R::CallKeptOthers => "Der Aufruf hielt andere zu lange vom Schreiben ab",
        R::ClientLeft => "Der Aufrufer ging vor der Antwort",
        R::StorageBusy => "Der Speicher ist beschäftigt; versuchen Sie es gleich noch einmal",
        R::StorageUnavailable => "Der Speicher ist nicht erreichbar; versuchen Sie es später noch einmal",
        R::InternalOf { request } => return format!("Interner Fehler (Anfrage {request})"),
        R::Internal => "Interner Fehler",
    }
    .into()
}

fn german_of_site(rule: &SiteRule) -> &'static str {
    match rule {
        SiteRule::SignIn => "Eine andere Website darf niemanden anmelden",
        SiteRule::SignInOrOut => "Eine andere Website darf niemanden an- oder abmelden",
        SiteRule::Change => "Das Sitzungs-Cookie erlaubt keine Änderungen, die eine andere Website verlangt",
        SiteRule::SendForms => "Eine andere Website darf diesem Dienst keine Formulare senden",
        SiteRule::NoUserYet => {
            "Es gibt noch keinen Benutzer; bis dahin wird Browsern nur geantwortet, was die eigenen Seiten dieses Dienstes \
             verlangen. Öffnen Sie den Dienst selbst, an einer IP-Adresse, an localhost oder am Host von public-url \
             (--public-url, PORTICO_PUBLIC_URL)"
        }
    }
}

fn german_of_header(rule: &HeaderRule) -> String {
    match rule {
        HeaderRule::Missing => "fehlt",
        HeaderRule::OtherSpelling => "ist auch in einer anderen Schreibweise da",
        HeaderRule::NotOnce => "darf nur einmal da sein",
        HeaderRule::NotUtf8 => "muss in UTF-8 sein",
        HeaderRule::Encoded => "darf nicht kodiert sein (RFC 2047)",
        HeaderRule::Empty => "darf nicht leer sein",
        HeaderRule::List => "darf keine Liste sein",
        HeaderRule::TooLong { most } => return format!("darf höchstens {most} Zeichen haben"),
    }
    .into()
}

fn german_of_missing(what: &Missing) -> &'static str {
    match what {
        Missing::ApiKey => "Diesen API-Schlüssel gibt es nicht mehr",
        Missing::App => "Eine dieser Apps gibt es nicht mehr",
        Missing::Board => "Dieses Board gibt es nicht mehr",
        Missing::Creator => "Diesen Ersteller gibt es nicht mehr",
        Missing::Group => "Diese Gruppe gibt es nicht mehr",
        Missing::Invite => "Diese Einladung gibt es nicht mehr",
        Missing::Member => "Dieses Mitglied gibt es nicht mehr",
        Missing::Picture => "Dieses Bild gibt es nicht mehr",
        Missing::Procedure => "Diesen Aufruf gibt es nicht",
        Missing::SearchEngine => "Diese Suchmaschine gibt es nicht mehr",
        Missing::SecondFactor => "Diesen zweiten Faktor gibt es nicht mehr",
        Missing::Session => "Diese Sitzung gibt es nicht mehr",
        Missing::User => "Diesen Benutzer gibt es nicht mehr",
        Missing::UserOrGroup => "Ein Benutzer oder eine Gruppe davon existiert nicht mehr",
    }
}

fn german_of_name(what: &UniqueName) -> &'static str {
    match what {
        UniqueName::Board => "Ein Board dieses Namens gibt es schon",
        UniqueName::BoardSlug => "Diese kurze Adresse ist schon vergeben",
        UniqueName::Group => "Dieser Gruppenname ist schon vergeben",
        UniqueName::GroupId => "Die ID der Gruppe ist schon vergeben",
        UniqueName::SearchEngine => "Name oder Kürzel hat schon eine andere Suchmaschine",
        UniqueName::Listed => "Der Name ist schon vergeben",
        UniqueName::ListedBoardSlug => "Die kurze Adresse ist schon vergeben",
        UniqueName::ListedSearchEngine => "Der Name oder das Kürzel ist schon vergeben",
    }
}

fn german_of_wait(wait: Seconds) -> String {
    match wait.0 {
        1 => "einer Sekunde".into(),
        seconds => format!("{seconds} Sekunden"),
    }
}
