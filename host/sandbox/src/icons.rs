//! Icons by name: the contract's interface `icons`, as its host offers it.

use async_trait::async_trait;

/// Finds icons.
#[async_trait]
pub trait Icons: Send + Sync + 'static {
    /// For each name the URL of an icon that fits it, or none.
    async fn find(&self, names: &[String]) -> Vec<Option<String>>;

    /// The icon for everything else.
    fn default_icon(&self) -> String;
}

/// Finds nothing.
#[derive(Debug)]
pub struct NoIcons {
    default_icon: String,
}

impl NoIcons {
    /// Answers this icon (not empty) for everything.
    pub fn new(default_icon: impl Into<String>) -> Self {
        Self {
            default_icon: default_icon.into(),
        }
    }
}

#[async_trait]
impl Icons for NoIcons {
    async fn find(&self, names: &[String]) -> Vec<Option<String>> {
        vec![None; names.len()]
    }

    fn default_icon(&self) -> String {
        self.default_icon.clone()
    }
}
