//! What users have chosen of the dashboard's own boards and search engines, once these are deleted.

use super::Result;
use crate::executor::now;
use crate::transaction::write;

pub fn forget_board(id: &str) -> Result<()> {
    write(|transaction| Ok(now(transaction.forget_board(id))?))
}

pub fn forget_search_engine(id: &str) -> Result<()> {
    write(|transaction| Ok(now(transaction.forget_search_engine(id))?))
}
