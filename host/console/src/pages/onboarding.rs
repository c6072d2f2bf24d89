//! What first start, registering and signing in share.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    api::{Api, ApiError},
    form::Form,
};

/// Whether no user exists yet.
pub(super) async fn is_open(api: &Api) -> Result<bool, ApiError> {
    #[derive(Deserialize)]
    struct Step {
        current: String,
    }
    let step: Step = api.query("onboard.currentStep", Value::Null).await?;
    Ok(step.current == "user")
}

/// Signs in for the first time, and sets the colours that the form has.
pub(super) async fn begin(api: &Api, form: &Form) -> Result<(), ApiError> {
    with_password(api, form.text("username"), form.text("password"), None).await?;
    let input = json!({ "colorScheme": form.text("colorScheme") });
    // The account is there, so a refusal of this is no reason to stop. The profile has the same choice.
    let colors = api
        .with_new_session()
        .change("user.changeColorScheme", input)
        .await;
    if let Err(error) = colors {
        tracing::warn!(error.message, "the colours of a new account were not set");
    }
    Ok(())
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
