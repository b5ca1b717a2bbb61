//! Block traces of blktrace: replayed, merged and summarised, side by side with fio and its helper program.

mod btrace2fio;
mod merging;
mod records;
mod replay;
