//! API keys. The whole key is shown once; of its secret there is only the hash.

use portico_rules::refusal::Missing;
use portico_storage::{ApiKey, DashboardTransaction as _, KeyLimits};

use super::{Result, if_referred, input, not_found};
use crate::bindings::people::{Key, NewKey};
use crate::environment;
use crate::executor::now;
use crate::transaction::{answered, look_up, write};

pub fn create(user_id: &str, name: Option<&str>) -> Result<NewKey> {
    let name = answered(name.map(|name| input::label("name", name)).transpose())?;
    let issued = environment::secrets().api_key();
    let key = ApiKey {
        id: issued.id.clone(),
        name,
        user_id: user_id.into(),
        limits: KeyLimits::default(),
        created_at: environment::now(),
        expires_at: None,
        last_used_at: None,
    };
    write(|transaction| {
        now(transaction.insert_key(&key, &issued.hash))
            .map_err(|error| if_referred(error, not_found(Missing::User)))
    })?;
    Ok(NewKey {
        id: issued.id,
        key: issued.text,
    })
}

pub fn list(user_id: &str) -> Result<Vec<Key>> {
    let keys = look_up(|transaction| Ok(now(transaction.list_keys(Some(user_id)))?))?;
    let key = |key: ApiKey| Key {
        id: key.id,
        name: key.name,
        created_at: key.created_at,
        last_used_at: key.last_used_at,
    };
    Ok(keys.into_iter().map(key).collect())
}

pub fn delete(user_id: &str, id: &str) -> Result<()> {
    write(|transaction| {
        let keys = now(transaction.list_keys(Some(user_id)))?;
        if keys.iter().any(|key| key.id == id) {
            now(transaction.delete_key(id))?;
        }
        Ok(())
    })
}
