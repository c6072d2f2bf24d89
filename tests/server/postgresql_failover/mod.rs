//! Several hosts on one database of PostgreSQL: races across them, what is taken away at one of them, and
//! failures of hosts, servers and connections under load.
//!
//! What was acknowledged is there afterwards, once; what was not is there once or not at all; nothing is there
//! by half; and every host serves again by itself.

mod cuts;
mod facts;
mod load;
mod losses;
mod poolers;
mod races;
mod restarts;
mod site;
mod trial;
