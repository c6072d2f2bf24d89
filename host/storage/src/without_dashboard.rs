//! Storage of a dashboard that keeps its keys, sessions and boards itself.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Access, CallContext, DashboardStorage, DashboardTransaction, Error, Result, Storage, Transaction,
};

/// Users and apps, and nothing else. The procedures that need more are not in the table then, nor
/// are the routes.
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
