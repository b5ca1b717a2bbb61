//! Reports of the tests of sysbench: as text in the layout of sysbench 1.0.20, which scripts read, and as a document.
//!
//! `figures` is what was counted in a part of a run, `cells` the histogram that sysbench reads percentiles from; `text` and `document` write
//! reports. `histogram` has the samples in a document; `read` reads documents back, `merge` makes one of several (`sums` adds counts and rates), `aggregate` writes that as
//! text, and `rates` is what `ferrio compare` takes from them.

mod aggregate;
mod cells;
mod document;
mod figures;
mod histogram;
mod merge;
mod merged_document;
mod rates;
mod read;
mod sums;
mod text;

pub use document::{FORMAT_VERSION, SysbenchDocument, SysbenchDocumentPart, SysbenchSettings};
pub use figures::{SysbenchFigures, ThreadFigures};
pub use merge::{MergeError, NamedDocument, merged};
pub use merged_document::MergedDocument;
pub use rates::DocumentRate;
pub use read::DocumentError;
pub use text::{SysbenchReport, SysbenchTest, in_system};
