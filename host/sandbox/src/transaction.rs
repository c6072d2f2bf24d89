//! The resource `transaction` of the contract's interface `storage`.

use portico_storage::Transaction;

/// A transaction that the component holds by a handle, until it is committed or dropped.
pub struct OpenTransaction(pub Box<dyn Transaction>);
