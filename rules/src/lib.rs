//! The rules that the component and the host share: bounds, names, permissions, pictures, hosts that may be checked, the table of procedures, and every rule
//! and refusal in words.
//! Nothing here does I/O or knows the contract's types.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod bcrypt;
pub mod bounds;
pub mod checked_hosts;
pub mod code;
pub mod direction;
pub mod icons;
pub mod links;
pub mod names;
pub mod passwords;
pub mod permissions;
pub mod pictures;
pub mod procedures;
pub mod refusal;
pub mod rule;
pub mod sentences;
