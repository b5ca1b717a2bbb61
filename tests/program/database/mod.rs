//! Jobs that do the I/O of a database.

mod calls;
mod ends;
mod figures;
mod jobs;
