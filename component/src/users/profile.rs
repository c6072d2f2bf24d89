//! What a user shows of themselves: image, name and email.

use alloc::string::String;

use super::{name_taken, require_credentials, require_user, update, user_not_found};
use crate::access::authorise;
use crate::bindings::storage::{Profile, UserChange};
use crate::bindings::types::{Caller, Error, ProfileChange, TextChange, User};
use crate::procedures::Procedure;
use crate::validate::{self, Checked, Issues, field, username::username};
use crate::{names, transaction};

/// `user.setProfileImage`
pub fn set_image(caller: &Caller, user_id: &str, image: Option<&str>) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserSetProfileImage)?;
    let image = field("image", image.map(validate::image::data_uri).transpose())?;
    caller.require_own_user_or_permission(user_id)?;
    let change = UserChange::Image(image);
    transaction::write(|transaction| update(transaction, user_id, &change))
}

/// `user.editProfile`
pub fn edit(caller: &Caller, change: &ProfileChange) -> Result<(), Error> {
    let caller = authorise(caller, Procedure::UserEditProfile)?;
    let mut issues = Issues::default();
    let name = issues.check("name", username(&change.name));
    let email = issues.check("email", email_change(&change.email));
    issues.finish()?;
    caller.require_own_user_or_permission(&change.id)?;

    transaction::write(|transaction| {
        let user = require_user(transaction, &change.id)?;
        require_credentials(user.provider)?;
        let profile = UserChange::Profile(profile_after(&name, &email, user));
        if !transaction
            .update_user(&change.id, &profile)
            .map_err(name_taken)?
        {
            return Err(user_not_found().into());
        }
        Ok(())
    })
}

/// What becomes of an email.
#[derive(Default)]
enum EmailChange {
    #[default]
    Keep,
    Set(Option<String>),
}

fn email_change(change: &TextChange) -> Checked<EmailChange> {
    match change {
        TextChange::Keep => Ok(EmailChange::Keep),
        TextChange::Clear => Ok(EmailChange::Set(None)),
        TextChange::Set(email) => validate::email::optional_email(email).map(EmailChange::Set),
    }
}

/// The profile after the change: an email that differs is not verified any more.
fn profile_after(name: &str, email: &EmailChange, user: User) -> Profile {
    let (email, email_verified) = match email {
        EmailChange::Set(email) if *email != user.email => (email.clone(), None),
        EmailChange::Set(_) | EmailChange::Keep => (user.email, user.email_verified),
    };
    Profile {
        name_key: names::key(name),
        name: name.into(),
        email,
        email_verified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::types::Provider;

    #[test]
    fn only_an_email_that_differs_loses_its_verification() {
        let with_email = || User {
            email: Some("a@b".into()),
            email_verified: Some(5),
            ..super::super::new_user("id".into(), Provider::Credentials, "alice".into())
        };
        let set = |email: Option<&str>| EmailChange::Set(email.map(Into::into));
        for (change, email, verified) in [
            (EmailChange::Keep, Some("a@b"), Some(5)),
            (set(Some("a@b")), Some("a@b"), Some(5)),
            (set(Some("A@b")), Some("A@b"), None),
            (set(Some("c@d")), Some("c@d"), None),
            (set(None), None, None),
        ] {
            let profile = profile_after("bob", &change, with_email());
            assert_eq!(profile.email.as_deref(), email);
            assert_eq!(profile.email_verified, verified);
            assert_eq!((profile.name.as_str(), profile.name_key.as_str()), ("bob", "bob"));
        }
    }

    #[test]
    fn an_empty_email_is_removed() {
        let is_removed = |change| matches!(email_change(&change), Ok(EmailChange::Set(None)));
        assert!(is_removed(TextChange::Clear));
        assert!(is_removed(TextChange::Set(" ".into())));
        assert!(matches!(email_change(&TextChange::Keep), Ok(EmailChange::Keep)));
        assert!(email_change(&TextChange::Set("nonsense".into())).is_err());
    }
}
