//! Who sees which app.

use super::texts;

texts! {
    /// Who sees which app.
    Visibility {
        title: "Who sees what", "Wer sieht was";
        lead: "Which apps the people here see.", "Welche Apps die Menschen hier sehen.";
        question: "Who sees which app?", "Wer sieht welche App?";
        everyone: "Everyone sees every app", "Alle sehen alle Apps";
        everyone_hint: "All who sign in. Boards only arrange apps.", "Alle, die sich anmelden. Boards ordnen Apps nur an.";
        boards: "People see only what is on their boards", "Jeder sieht nur, was auf seinen Boards steht";
        boards_hint: "Their own boards, those that are shared with them or their groups, and public ones. Those who may add apps see all.", "Auf den eigenen, auf denen, die mit ihnen oder ihren Gruppen geteilt sind, und auf öffentlichen. Wer Apps hinzufügen darf, sieht alle.";
        fixed_everyone: "The setting --app-visibility of this host says that everyone sees every app. What is chosen here has no effect until that setting is gone.", "Die Einstellung --app-visibility dieses Hosts bestimmt, dass alle alle Apps sehen. Was hier gewählt wird, wirkt erst, wenn diese Einstellung fehlt.";
        fixed_boards: "The setting --app-visibility of this host says that people see only what is on their boards. What is chosen here has no effect until that setting is gone.", "Die Einstellung --app-visibility dieses Hosts bestimmt, dass jeder nur sieht, was auf seinen Boards steht. Was hier gewählt wird, wirkt erst, wenn diese Einstellung fehlt.";
        where_shown: "The page of each app says who sees it, and the page of each user which apps they see.", "Die Seite jeder App sagt, wer sie sieht, und die Seite jedes Benutzers, welche Apps er sieht.";
        seen_by: "Seen by", "Wer sie sieht";
        by_strangers: "Everyone, also without signing in: it is on a public board.", "Alle, auch ohne Anmeldung: Sie steht auf einem öffentlichen Board.";
        by_everyone: "Everyone who signs in.", "Alle, die sich anmelden.";
        by_boards: "Those who see these boards:", "Wer diese Boards sieht:";
        by_nobody: "It is not on a board. Only people who see every app see it.", "Sie steht auf keinem Board. Nur wer alle Apps sieht, sieht sie.";
        on_boards: "It is on these boards:", "Sie steht auf diesen Boards:";
        public: "everyone", "alle";
        group: "group {}", "Gruppe {}";
        more: "and {} more", "und {} weitere";
        more_boards: "and 1 more board|and {} more boards", "und 1 weiteres Board|und {} weitere Boards";
        share: "Share {}", "{} teilen";
        see_all: "These groups see every app:", "Diese Gruppen sehen alle Apps:";
        change: "Change who sees what", "Ändern, wer was sieht";
        sees: "What this user sees", "Was dieser Benutzer sieht";
        all_as_everyone: "The only app, as everyone does.|All {} apps, as everyone does.", "Die einzige App, wie alle.|Alle {} Apps, wie alle.";
        all_by_permission: "The only app, by a permission of a group.|All {} apps, by a permission of a group.", "Die einzige App, durch ein Recht einer Gruppe.|Alle {} Apps, durch ein Recht einer Gruppe.";
        sees_some: "1 app, through boards:|{} apps, through boards:", "1 App, durch Boards:|{} Apps, durch Boards:";
        sees_nothing: "No app: none is on a board that this user may view.", "Keine App: Keine steht auf einem Board, das dieser Benutzer sehen darf.";
        by_creator: "own board", "eigenes Board";
        by_user: "shared with the user", "mit dem Benutzer geteilt";
        by_group: "shared with the group {}", "mit der Gruppe {} geteilt";
        by_public: "public", "öffentlich";
        home: "What people see first", "Was man zuerst sieht";
        home_hint: "For those who have chosen no home board, and none of whose groups has one that they may see. A board that everyone may see is also the first page of those who are not signed in.", "Für alle, die kein Start-Board gewählt haben und in deren Gruppen keines gilt, das sie sehen dürfen. Ein öffentliches Board ist auch die erste Seite für alle, die nicht angemeldet sind.";
        home_of_group_hint: "For members who have chosen no home board. Of several groups, the first by name counts whose board they may see.", "Für Mitglieder, die kein Start-Board gewählt haben. Von mehreren Gruppen zählt die nach Namen erste, deren Board sie sehen dürfen.";
        home_all: "All apps", "Alle Apps";
        home_none: "None", "Keines";
        home_same: "As on large screens", "Wie auf großen Bildschirmen";
    }
}
