//! Reports of runs, in every format.

mod benchmarks;
pub mod json_document;
mod json_keys;
mod junit;
mod openmetrics;
mod response_time;
mod rows;
mod series;
mod several_outputs;
mod statistics;
mod terse;
mod text;
mod thresholds;
mod throttling;
mod tuning;
