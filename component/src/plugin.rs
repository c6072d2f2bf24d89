//! The type that carries the component's exports.

/// What this component exports: each area implements its interface for it.
pub struct Plugin;
