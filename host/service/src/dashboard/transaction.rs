//! Transactions of the dashboard's procedures, and the errors that follow from their results.

use portico_model::error::Error;
use portico_rules::refusal::{Missing, Refusal, UniqueName};
use portico_storage::{self as storage, Constraint, DashboardTransaction};

use crate::procedures::Call;

impl Call {
    pub(super) async fn begin(
        &self,
        access: storage::Access,
    ) -> Result<Box<dyn DashboardTransaction>, Error> {
        let storage = &self.resources.storage;
        Ok(storage.begin_dashboard(access, &self.context()).await?)
    }

    /// A transaction to write records that refer to their creator: refused once the caller's user is gone. Also returns
    /// the user's id; `None` for the operator.
    pub(super) async fn begin_as_creator(
        &self,
    ) -> Result<(Box<dyn DashboardTransaction>, Option<String>), Error> {
        let creator = self.identity.user_id().map(ToOwned::to_owned);
        let mut transaction = self.begin(storage::Access::Write).await?;
        if let Some(creator) = &creator
            && transaction.get_session_user(creator).await?.is_none()
        {
            return Err(Error::unauthorized());
        }
        Ok((transaction, creator))
    }
}

/// `NOT_FOUND` unless the record was found.
pub(super) fn require_found(found: bool, what: Missing) -> Result<(), Error> {
    if found {
        Ok(())
    } else {
        Err(Error::not_found(what))
    }
}

/// `CONFLICT` unless the name was free.
pub(super) fn require_name_free(free: bool, what: UniqueName) -> Result<(), Error> {
    if free {
        Ok(())
    } else {
        Err(Refusal::NameTaken { what }.into())
    }
}

/// `NOT_FOUND` if a statement failed because it refers to a missing record.
pub(super) fn not_found_if_referred(error: storage::Error, what: Missing) -> Error {
    match error {
        storage::Error::Constraint(Constraint::Reference) => Error::not_found(what),
        error => error.into(),
    }
}
