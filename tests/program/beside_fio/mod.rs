//! The same jobs under fio and under ferrio: what they do, and in which order.

mod articles;
mod profiles;
mod same_io;
pub mod work;
