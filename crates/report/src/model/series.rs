//! Figures over time: parts of the `ferrio` object of documents in the format json+.
//!
//! A row is a period of time. Each column is an array with one value per row, written on one line.

use ferrio_job::Direction;
use schemars::JsonSchema;
use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::to_raw_value;

/// Figures of an entry over time. Rows are half a second long, or two, four … times as long if there would be too many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Series {
    /// Name of the first job of the entry.
    pub jobname: String,
    /// Number of this job in the run, from 1, as in the names of log files.
    #[schemars(range(min = 1))]
    pub job_number: u32,
    /// Group number.
    pub groupid: u32,
    /// Nominal length of a row, in ms. The last row and rows at the end of a ramp may be shorter.
    #[schemars(range(min = 1))]
    pub interval_ms: u64,
    /// Start of the first row, in ms since the start of the run. Every other row starts at the end of the previous one.
    pub start_ms: u64,
    /// End of each row, in ms since the start of the run.
    #[serde(serialize_with = "on_one_line")]
    pub time_ms: Vec<u64>,
    /// End of the ramp, in ms since the start of the run; 0 without a ramp. Rows that end at this time or earlier belong to the ramp.
    pub ramp_until_ms: u64,
    /// Mean number of I/Os in flight; null if latencies are not measured.
    #[serde(serialize_with = "on_one_line")]
    pub iodepth_mean: Vec<Option<f64>>,
    /// Number of errors.
    #[serde(serialize_with = "on_one_line")]
    pub errors: Vec<u64>,
    /// Reads, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<DirectionSeries>,
    /// Writes, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<DirectionSeries>,
    /// Trims, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<DirectionSeries>,
}

impl Series {
    /// The figures of a direction; `None` without any.
    #[must_use]
    pub const fn direction(&self, direction: Direction) -> Option<&DirectionSeries> {
        match direction {
            Direction::Read => self.read.as_ref(),
            Direction::Write => self.write.as_ref(),
            Direction::Trim => self.trim.as_ref(),
        }
    }
}

/// One direction of an entry over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DirectionSeries {
    /// Completed I/Os.
    #[serde(serialize_with = "on_one_line")]
    pub ios: Vec<u64>,
    /// Completed bytes.
    #[serde(serialize_with = "on_one_line")]
    pub bytes: Vec<u64>,
    /// Largest completion latency, in ns; total latency if only that is measured; 0 without samples.
    #[serde(serialize_with = "on_one_line")]
    pub max_ns: Vec<u64>,
    /// Histograms of these latencies: for each bucket that is not empty, its number followed by its number of samples. Bucket b has
    /// latencies from 2^(b/8) ns up to 2^((b+1)/8) ns; 0 ns is in bucket 0.
    #[serde(serialize_with = "on_one_line")]
    pub cells: Vec<Vec<u64>>,
    /// Mean latencies in ns, if a log has nothing else; not in the document.
    #[serde(skip)]
    pub mean_ns: Vec<Option<u64>>,
}

/// Activity of a disk over time, by all programs together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceSeries {
    /// Name of the disk, as in `disk_util`.
    pub name: String,
    /// End of each row, in ms since the start of the run. The first row starts at 0.
    #[serde(serialize_with = "on_one_line")]
    pub time_ms: Vec<u64>,
    /// Completed reads.
    #[serde(serialize_with = "on_one_line")]
    pub read_ios: Vec<u64>,
    /// Completed writes.
    #[serde(serialize_with = "on_one_line")]
    pub write_ios: Vec<u64>,
    /// Bytes read.
    #[serde(serialize_with = "on_one_line")]
    pub read_bytes: Vec<u64>,
    /// Bytes written.
    #[serde(serialize_with = "on_one_line")]
    pub write_bytes: Vec<u64>,
    /// Percentage of time in which the disk had requests.
    #[serde(serialize_with = "on_one_line")]
    pub util_percent: Vec<f64>,
}

/// Writes a column without line breaks, which the layout of documents would add after each value.
fn on_one_line<S: Serializer>(column: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    to_raw_value(column).map_err(S::Error::custom)?.serialize(serializer)
}
