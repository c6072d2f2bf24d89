//! Users, groups and invites.

use super::{Texts, texts};

texts! {
    /// Users.
    Users {
        title: "Users", "Benutzer";
        new: "New user", "Neuer Benutzer";
        invite: "Invite", "Einladen";
        create: "Create user", "Benutzer anlegen";
        new_lead: "With an invite, people choose name and password themselves.", "Mit einer Einladung wählen andere Name und Passwort selbst.";
        find: "Part of the name", "Teil des Namens";
        number: "1 user|{} users", "1 Benutzer|{} Benutzer";
        none_found: "No user fits.", "Kein Benutzer passt dazu.";
        show_all: "Show all", "Alle zeigen";
        name: "Username", "Benutzername";
        email: "Email", "E-Mail";
        email_verified: "Email verified", "E-Mail bestätigt";
        provider: "Signs in with", "Meldet sich an mit";
        any_provider: "Any way to sign in", "Jede Art der Anmeldung";
        credentials: "Password", "Passwort";
        ldap: "LDAP", "LDAP";
        oidc: "OpenID Connect", "OpenID Connect";
        status: "Status", "Status";
        any_status: "Active and disabled", "Aktiv und gesperrt";
        active: "Active", "Aktiv";
        disabled: "Disabled", "Gesperrt";
        unknown: "Not known", "Nicht bekannt";
        id: "Id", "Id";
        person: "Name and email", "Name und E-Mail";
        external: "Name, email and password belong to the provider with which this user signs in.", "Name, E-Mail und Passwort gehören zum Anbieter, mit dem sich dieser Benutzer anmeldet.";
        groups: "Groups", "Gruppen";
        no_groups: "This user is in no group, and so has no permissions.", "Dieser Benutzer ist in keiner Gruppe und hat daher keine Rechte.";
        more_groups: "{} further groups are not shown. Open a group to remove the user from it.", "{} weitere Gruppen werden nicht gezeigt. Öffnen Sie eine Gruppe, um den Benutzer daraus zu entfernen.";
        add_to: "Add to a group", "Zu einer Gruppe hinzufügen";
        add: "Add", "Hinzufügen";
        remove: "Remove", "Entfernen";
        remove_from: "Remove from {}", "Aus {} entfernen";
        password: "Set a password", "Passwort setzen";
        password_lead: "The user's sessions and API keys end.", "Die Sitzungen und API-Schlüssel des Benutzers enden.";
        password_keeps: "Second factors and passkeys stay, and a passkey alone signs in, without the password.", "Zweite Faktoren und Passkeys bleiben, und mit einem Passkey allein meldet man sich auch ohne das Passwort an.";
        password_removes: "Remove second factors and passkeys as well", "Auch zweite Faktoren und Passkeys entfernen";
        new_password: "New password", "Neues Passwort";
        link_lead: "Or make a link with which the user sets a new password: once, within a day. Nothing ends before that.", "Oder legen Sie einen Link an, mit dem der Benutzer selbst ein neues Passwort setzt: einmal, innerhalb eines Tages. Bis dahin endet nichts.";
        make_link: "Make a link", "Link anlegen";
        link_made: "The link is ready", "Der Link ist fertig";
        link_made_text: "Send this link to the user. It is shown only this once, replaces an earlier one, and ends at:", "Senden Sie diesen Link an den Benutzer. Er wird nur dieses eine Mal gezeigt, ersetzt einen früheren und endet:";
        link: "Link for a new password", "Link für ein neues Passwort";
        access: "Access", "Zugang";
        disable: "Disable", "Sperren";
        disable_lead: "A disabled user cannot sign in. Sessions and API keys end at once.", "Ein gesperrter Benutzer kann sich nicht anmelden. Sitzungen und API-Schlüssel enden sofort.";
        enable: "Enable", "Entsperren";
        enable_lead: "This user is disabled and cannot sign in.", "Dieser Benutzer ist gesperrt und kann sich nicht anmelden.";
        own: "This is you. Name, picture and password are in your profile.", "Das sind Sie. Name, Bild und Passwort sind in Ihrem Profil.";
        own_profile: "To your profile", "Zu Ihrem Profil";
        delete: "Delete user", "Benutzer löschen";
        delete_lead: "The user {} is gone at once, and nothing brings the account back.", "Der Benutzer {} ist sofort weg, und nichts bringt das Konto zurück.";
        delete_or: "To keep someone out for some time, disable the user instead.", "Um jemanden nur eine Zeit lang auszusperren, sperren Sie den Benutzer.";
        goes: "What goes with the user", "Was mit dem Benutzer verschwindet";
        goes_sessions: "all sessions", "alle Sitzungen";
        goes_keys: "1 API key|{} API keys", "1 API-Schlüssel|{} API-Schlüssel";
        goes_groups: "the membership in: {}", "die Mitgliedschaft in: {}";
        goes_invites: "invites that the user made", "Einladungen, die der Benutzer erstellt hat";
        goes_shares: "the user's access to boards that were shared", "der Zugang zu geteilten Boards";
        stays: "Apps and boards that the user made stay, and so does what the audit log says of them.", "Apps und Boards des Benutzers bleiben, ebenso was im Protokoll steht.";
    }
}

texts! {
    /// Groups and permissions.
    Groups {
        title: "Groups", "Gruppen";
        lead: "Groups give permissions to their members.", "Gruppen geben ihren Mitgliedern Rechte.";
        new: "New group", "Neue Gruppe";
        create: "Create group", "Gruppe anlegen";
        name: "Name", "Name";
        name_hint: "At most 64 characters", "Höchstens 64 Zeichen";
        number: "1 group|{} groups", "1 Gruppe|{} Gruppen";
        empty: "No groups yet", "Noch keine Gruppen";
        empty_text: "Make a group for people who may do more than look at apps.", "Legen Sie eine Gruppe an für alle, die mehr dürfen als Apps ansehen.";
        members: "Members", "Mitglieder";
        size: "1 member|{} members", "1 Mitglied|{} Mitglieder";
        no_members: "This group has no members yet.", "Diese Gruppe hat noch keine Mitglieder.";
        more_members: "{} members are not shown. Find them by name.", "{} Mitglieder werden nicht gezeigt. Suchen Sie sie mit ihrem Namen.";
        find: "Find users to add or remove", "Benutzer zum Hinzufügen oder Entfernen suchen";
        find_hint: "Part of the name", "Teil des Namens";
        add: "Add", "Hinzufügen";
        add_named: "Add {}", "{} hinzufügen";
        remove: "Remove", "Entfernen";
        remove_named: "Remove {}", "{} entfernen";
        permissions: "Permissions", "Rechte";
        no_permissions: "none", "keine";
        admin: "Administrator", "Administrator";
        admin_allows: "Everything: users, groups, keys, and all that follows here.", "Alles: Benutzer, Gruppen, Schlüssel und alles, was hier folgt.";
        app_full: "Manage apps fully", "Apps ganz verwalten";
        app_full_allows: "Delete any app. Includes changing and creating apps.", "Jede App löschen. Enthält Ändern und Anlegen.";
        app_modify: "Change apps", "Apps ändern";
        app_modify_allows: "Change any app. Includes creating apps.", "Jede App ändern. Enthält Anlegen.";
        app_create: "Create apps", "Apps anlegen";
        app_create_allows: "Create apps.", "Apps anlegen.";
        board_full: "Manage boards fully", "Boards ganz verwalten";
        board_full_allows: "Share and delete any board, and decide which everyone may see. Includes changing, seeing and making boards.", "Jedes Board teilen und löschen und bestimmen, welche alle sehen. Enthält Ändern, Sehen und Anlegen.";
        board_modify: "Change boards", "Boards ändern";
        board_modify_allows: "Change the name and the apps of any board. Includes seeing all boards.", "Name und Apps jedes Boards ändern. Enthält Sehen aller Boards.";
        board_view: "See all boards", "Alle Boards sehen";
        board_view_allows: "See every board, shared or not.", "Jedes Board sehen, geteilt oder nicht.";
        board_create: "Make boards", "Boards anlegen";
        board_create_allows: "Make boards, and change, share and delete those.", "Boards anlegen und diese ändern, teilen und löschen.";
        delete: "Delete group", "Gruppe löschen";
        delete_lead: "The group {} is gone at once.", "Die Gruppe {} ist sofort weg.";
        delete_members: "Its 1 member loses what the group permitted.|Its {} members lose what the group permitted.", "Ihr 1 Mitglied verliert, was die Gruppe erlaubt hat.|Ihre {} Mitglieder verlieren, was die Gruppe erlaubt hat.";
        delete_shares: "Boards are no longer shared with it. The users stay.", "Boards sind nicht mehr mit ihr geteilt. Die Benutzer bleiben.";
    }
}

texts! {
    /// Invites.
    Invites {
        title: "Invites", "Einladungen";
        lead: "An invite lets one person create an account. They choose name and password themselves.", "Mit einer Einladung legt eine Person ein Konto an. Name und Passwort wählt sie selbst.";
        new: "New invite", "Neue Einladung";
        create: "Create link", "Link anlegen";
        number: "1 open invite|{} open invites", "1 offene Einladung|{} offene Einladungen";
        empty: "There are no open invites.", "Es gibt keine offenen Einladungen.";
        expires: "Valid until", "Gültig bis";
        expired: "expired", "abgelaufen";
        creator: "Created by", "Erstellt von";
        operator: "the operator", "dem Betreiber";
        invite: "Invite", "Einladung";
        note: "For whom", "Für wen";
        note_hint: "A name, so that you know the invite again. The person reads it, too.", "Ein Name, an dem Sie die Einladung wiedererkennen. Auch die Person liest ihn.";
        gives: "Groups that the person joins", "Gruppen, in die die Person kommt";
        groups: "Groups", "Gruppen";
        no_groups: "none", "keine";
        made_title: "The invite is ready", "Die Einladung ist fertig";
        made_text: "Send this link to the person. It is shown only this once, and works for one account.", "Senden Sie diesen Link an die Person. Er wird nur dieses eine Mal gezeigt und gilt für ein Konto.";
        link: "Link", "Link";
        delete: "Delete invite", "Einladung löschen";
        delete_text: "The link of this invite can no longer be used. An account that was created with it stays.", "Der Link dieser Einladung gilt dann nicht mehr. Ein Konto, das damit angelegt wurde, bleibt.";
        delete_named: "Delete the invite {}", "Die Einladung {} löschen";
    }
}

impl Texts {
    /// A provider in words.
    pub fn provider<'a>(&self, provider: &'a str) -> &'a str {
        match provider {
            "credentials" => self.users.credentials,
            "ldap" => self.users.ldap,
            "oidc" => self.users.oidc,
            other => other,
        }
    }
}

impl Groups {
    /// A permission in words.
    pub fn permission<'a>(&self, permission: &'a str) -> &'a str {
        match permission {
            "admin" => self.admin,
            "app-full-all" => self.app_full,
            "app-modify-all" => self.app_modify,
            "app-create" => self.app_create,
            "board-full-all" => self.board_full,
            "board-modify-all" => self.board_modify,
            "board-view-all" => self.board_view,
            "board-create" => self.board_create,
            other => other,
        }
    }

    /// What a permission allows, and what it includes.
    pub fn allows(&self, permission: &str) -> &'static str {
        match permission {
            "admin" => self.admin_allows,
            "app-full-all" => self.app_full_allows,
            "app-modify-all" => self.app_modify_allows,
            "app-create" => self.app_create_allows,
            "board-full-all" => self.board_full_allows,
            "board-modify-all" => self.board_modify_allows,
            "board-view-all" => self.board_view_allows,
            "board-create" => self.board_create_allows,
            _ => "",
        }
    }
}
