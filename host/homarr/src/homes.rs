//! The boards that people see first who have chosen none, and people who are not signed in.
//!
//! In Homarr, `everyone` comes before the server, also on phones: there its home board for all screens comes before the
//! server's one for phones. Only people who are not signed in see those of the server if `everyone` has some.

use portico_model::{HomeBoards, Id};
use portico_storage::DefaultHome;

use crate::homarr::{EVERYONE, Homarr};
use crate::report::{Kind, Report, What};

/// The home boards of everyone and of groups, and the board for people who are not signed in, unless it is everyone's.
pub fn homes(homarr: &Homarr, report: &mut Report) -> (Vec<DefaultHome>, Option<Id>) {
    let [home, mobile] = ["homeBoardId", "mobileHomeBoardId"].map(|field| homarr.setting("board", field));
    let of_server = HomeBoards {
        home_board_id: home,
        mobile_home_board_id: mobile,
    };
    let groups = homarr.groups.iter().map(|group| {
        let boards = HomeBoards {
            home_board_id: group.home_board.clone(),
            mobile_home_board_id: group.mobile_home_board.clone(),
        };
        (group, boards)
    });
    let (everyone, groups): (Vec<_>, Vec<_>) = groups.partition(|(group, _)| group.name == EVERYONE);
    let of_everyone = everyone.into_iter().next().map(|(_, boards)| boards);
    let boards = match of_everyone.unwrap_or_default() {
        HomeBoards {
            home_board_id: None,
            mobile_home_board_id: None,
        } => of_server.clone(),
        own => HomeBoards {
            home_board_id: own.home_board_id.or_else(|| of_server.home_board_id.clone()),
            ..own
        },
    };
    let start_board = start_board(homarr, &boards, of_server, report);
    let of_all = DefaultHome {
        group_id: None,
        boards,
    };
    let of_groups = groups.into_iter().map(|(group, boards)| DefaultHome {
        group_id: Some(group.id.clone()),
        boards,
    });
    let homes = [of_all].into_iter().chain(of_groups);
    let homes = homes.filter(|home| home.boards != HomeBoards::default());
    (homes.collect(), start_board)
}

/// The server's home board, if everyone's is another one. Notes what of the server's comes to nothing.
fn start_board(
    homarr: &Homarr,
    of_all: &HomeBoards,
    of_server: HomeBoards,
    report: &mut Report,
) -> Option<Id> {
    let mut lose = |text: &str| report.note(Kind::Other, "", What::Lost, text);
    let is_private = |id: &Id| {
        let board = homarr.boards.iter().find(|board| board.id == *id);
        board.is_some_and(|board| !board.is_public)
    };
    let others = of_server
        .home_board_id
        .filter(|id| of_all.home_board_id.as_ref() != Some(id));
    if others.as_ref().is_some_and(is_private) {
        lose(
            "the home board of the server: that of the group everyone comes before it, and people who are not \
             signed in may not view it",
        );
    }
    let start_board = others.filter(|id| !is_private(id));
    let shown_on_phones = match &start_board {
        Some(board) => Some(board),
        None => of_all
            .mobile_home_board_id
            .as_ref()
            .or(of_all.home_board_id.as_ref()),
    };
    let on_phones = of_server.mobile_home_board_id.as_ref();
    if on_phones.is_some() && on_phones != shown_on_phones {
        lose(
            "the home board of the server on small screens: that of the group everyone comes before it, and people \
             who are not signed in see the same board on all screens",
        );
    }
    start_board
}
