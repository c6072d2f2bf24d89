//! The profile of a user: image, name and email.

use super::user::{name_taken, require_credentials, require_found, require_storable, require_user};
use crate::bindings::storage::Profile;
use crate::bindings::types::{Caller, Error, ProfileChange, TextChange, User};
use crate::procedures::{Procedure, authorise};
use crate::validate::email::optional_email;
use crate::validate::{self, Issues, field, username};
use crate::{names, transaction};

/// `user.setProfileImage`
pub fn set_image(caller: &Caller, user_id: &str, image: Option<&str>) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserSetProfileImage)?;
    let sent = field("image", image.map(validate::image::data_uri).transpose())?;
    authorised.require_own_user_or_permission(user_id)?;
    require_storable(user_id)?;
    let new = sent.as_deref().map(validate::image::new).transpose();

    transaction::write(&caller.context, |transaction| {
        let user = require_user(transaction, user_id)?;
        let image = match &new {
            Ok(new) => new,
            // The user's present one may be older than the rule.
            Err(problem) if user.image != sent => {
                return field("image", Err(problem.clone())).map_err(Into::into);
            }
            Err(_) => &sent,
        };
        let found = transaction.set_image(user_id, image.as_deref())?;
        Ok(require_found(found)?)
    })
}

/// `user.editProfile`
pub fn edit(caller: &Caller, edit: &ProfileChange) -> Result<(), Error> {
    let authorised = authorise(caller, Procedure::UserEditProfile)?;
    let mut issues = Issues::default();
    let name = issues.check("name", username::username(&edit.name));
    let email = issues.check("email", edit.email.checked(optional_email));
    issues.finish()?;
    authorised.require_own_user_or_permission(&edit.id)?;

    require_storable(&edit.id)?;
    transaction::write(&caller.context, |transaction| {
        let user = require_user(transaction, &edit.id)?;
        require_credentials(user.provider)?;
        if name != names::key(&user.name) {
            field("name", username::visible(&name))?;
        }
        let profile = profile_after(&name, &email, &user);
        let found = transaction.set_profile(&edit.id, &profile).map_err(name_taken)?;
        Ok(require_found(found)?)
    })
}

/// The profile after the change. A different email is no longer verified.
pub(super) fn profile_after(name: &str, email: &TextChange, user: &User) -> Profile {
    let email = email.clone().applied_to(user.email.clone());
    let email_verified = user.email_verified.filter(|_| email == user.email);
    Profile {
        name_key: names::key(name),
        name: name.into(),
        email,
        email_verified,
    }
}

#[cfg(test)]
mod tests {
    use super::super::user::new_user;
    use super::*;
    use crate::bindings::types::Provider;

    #[test]
    fn only_an_email_that_differs_loses_its_verification() {
        let with_email = || User {
            email: Some("a@b".into()),
            email_verified: Some(5),
            ..new_user("id".into(), Provider::Credentials, "alice".into())
        };
        let set = |email: &str| TextChange::Set(email.into());
        for (change, email, verified) in [
            (TextChange::Keep, Some("a@b"), Some(5)),
            (set("a@b"), Some("a@b"), Some(5)),
            (set("A@b"), Some("A@b"), None),
            (set("c@d"), Some("c@d"), None),
            (TextChange::Clear, None, None),
        ] {
            let profile = profile_after("bob", &change, &with_email());
            assert_eq!(profile.email.as_deref(), email);
            assert_eq!(profile.email_verified, verified);
            assert_eq!((profile.name.as_str(), profile.name_key.as_str()), ("bob", "bob"));
        }
    }
}
