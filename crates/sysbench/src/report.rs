//! Reports of the tests of sysbench: as text in the layout of sysbench 1.0.20, which scripts read, and as a document.
//!
//! `figures` is what was counted in a part of a run, `cells` the histogram that sysbench reads percentiles from; `text` and `document` write
//! reports.

mod cells;
mod document;
mod figures;
mod text;

pub use document::{FORMAT_VERSION, SysbenchDocument, SysbenchDocumentPart, SysbenchSettings};
pub use figures::{SysbenchFigures, ThreadFigures};
pub use text::{SysbenchReport, SysbenchTest};
