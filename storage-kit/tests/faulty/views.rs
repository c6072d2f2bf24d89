//! Faults of views that depend on boards.

use portico_model::App;
use portico_storage::*;

use super::{Fault, FaultyTransaction};

impl FaultyTransaction {
    /// The viewer, or an anonymous one in place of a user whom the fault forgets.
    pub async fn viewer(&mut self, viewer: &Viewer) -> Result<Viewer> {
        let Viewer::User(id) = viewer else {
            return Ok(viewer.clone());
        };
        let fault = self.fault;
        let inner = self.ask().await?;
        let mut forgotten = match fault {
            Fault::MembersSeeNothing => !inner.list_memberships(id).await?.is_empty(),
            _ => false,
        };
        if matches!(fault, Fault::CreatorsSeeNothing | Fault::SharedSeeNothing) {
            for board in inner.list_boards().await? {
                let shares = inner.get_shares(&board.id).await?.unwrap_or_default();
                forgotten |= match fault {
                    Fault::CreatorsSeeNothing => board.creator_id.as_ref() == Some(id),
                    _ => shares.users.iter().any(|share| share.id == *id),
                };
            }
        }
        Ok(match forgotten {
            true => Viewer::Anonymous,
            false => viewer.clone(),
        })
    }

    /// Without those that anonymous callers see, if the fault is that users do not see these.
    pub async fn without_public(&mut self, apps: Vec<App>, viewer: &Viewer) -> Result<Vec<App>> {
        if !self.is(Fault::PublicForAnonymousOnly) || !matches!(viewer, Viewer::User(_)) {
            return Ok(apps);
        }
        let mut left = Vec::new();
        for app in apps {
            let public = self.ask().await?.get_app(&app.id, &Viewer::Anonymous).await?;
            if public.is_none() {
                left.push(app);
            }
        }
        Ok(left)
    }

    /// Each app once for each board that shows it, as a join without DISTINCT returns them.
    pub async fn repeated(&mut self, apps: Vec<App>, viewer: &Viewer) -> Result<Vec<App>> {
        let Viewer::User(user_id) = viewer else {
            return Ok(apps);
        };
        if !self.is(Fault::AppOnTwoBoardsTwice) {
            return Ok(apps);
        }
        let inner = self.ask().await?;
        let mut boards = Vec::new();
        for board in inner.list_boards().await? {
            if inner.can_view_board(user_id, &board.id).await? {
                boards.extend(inner.get_board(&board.id).await?);
            }
        }
        let times = |app: &App| {
            let shows = |board: &&Board| {
                let is_app =
                    |item: &BoardItem| matches!(item, BoardItem::App { app_id } if *app_id == app.id);
                board.items().any(is_app)
            };
            boards.iter().filter(shows).count()
        };
        let each = apps.into_iter().flat_map(|app| {
            let times = times(&app);
            std::iter::repeat_n(app, times)
        });
        Ok(each.collect())
    }
}
