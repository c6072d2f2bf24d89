//! What first start, registering and signing in share.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, ApiError};

/// Whether no user exists yet.
pub(super) async fn is_open(api: &Api) -> Result<bool, ApiError> {
    #[derive(Deserialize)]
    struct Step {
        current: String,
    }
    let step: Step = api.query("onboard.currentStep", Value::Null).await?;
    Ok(step.current == "user")
}

/// Signs in. The response of this visit sets the session's cookie.
pub(super) async fn with_password(
    api: &Api,
    username: &str,
    password: &str,
    provider: Option<&str>,
) -> Result<(), ApiError> {
    let mut input = json!({ "username": username, "password": password });
    if let Some(provider) = provider {
        input["provider"] = provider.into();
    }
    api.post::<Value>("/api/auth/sign-in", input).await.map(drop)
}
