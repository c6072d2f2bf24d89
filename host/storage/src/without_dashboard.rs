//! Storage of an embedding dashboard, which stores its keys, sessions and boards itself.

use std::sync::Arc;

use async_trait::async_trait;

use crate::context::CallContext;
use crate::dashboard::{DashboardStorage, DashboardTransaction};
use crate::records::{Access, Error, Result};
use crate::storage::{Storage, Transaction};

/// Storage of users and apps only. The host then offers no procedure and no route that needs more.
pub struct WithoutDashboard(pub Arc<dyn Storage>);

#[async_trait]
impl Storage for WithoutDashboard {
    async fn begin(&self, access: Access, context: &CallContext) -> Result<Box<dyn Transaction>> {
        self.0.begin(access, context).await
    }
}

#[async_trait]
impl DashboardStorage for WithoutDashboard {
    async fn begin_dashboard(&self, _: Access, _: &CallContext) -> Result<Box<dyn DashboardTransaction>> {
        Err(Error::Unavailable(
            "this dashboard keeps its keys and sessions itself".into(),
        ))
    }
}
