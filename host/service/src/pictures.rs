//! Uploaded pictures, as they are served: to everyone who knows the id, because pages for people who are not signed in show
//! them. The id is a hash, which nobody guesses.

use portico_model::error::Error;
use portico_storage::{Access, Picture};

use crate::{identity::Identity, service::Service};

/// The picture with this id.
pub async fn read(service: &Service, id: &str, request_id: &str) -> Result<Option<Picture>, Error> {
    if !Picture::is_id(id) {
        return Ok(None);
    }
    let context = Identity::anonymous().context(request_id);
    let read = async {
        let mut transaction = service.storage.begin_dashboard(Access::Read, &context).await?;
        Ok(transaction.get_picture(id).await?)
    };
    service.in_time(read).await
}
