//! The disks under the files of a run.

/// Activity of one disk.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DiskReport {
    /// Name below /sys/block.
    pub name: String,
    /// Completed reads.
    pub read_ios: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Merged reads.
    pub read_merges: u64,
    /// Merged writes.
    pub write_merges: u64,
    /// ms spent reading.
    pub read_ticks: u64,
    /// ms spent writing.
    pub write_ticks: u64,
    /// ms weighted by requests in the queue.
    pub in_queue: u64,
    /// Busy time in percent.
    pub util: f64,
    /// Means over the slaves, when there are any.
    #[serde(flatten)]
    pub slaves: Option<SlaveMeans>,
}

/// Integer means over the slaves of a stacked device.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SlaveMeans {
    /// Completed reads.
    pub aggr_read_ios: u64,
    /// Completed writes.
    pub aggr_write_ios: u64,
    /// Sectors read.
    pub aggr_read_sectors: u64,
    /// Sectors written.
    pub aggr_write_sectors: u64,
    /// Merged reads.
    pub aggr_read_merges: u64,
    /// Merged writes. The key is singular in fio's documents.
    #[serde(rename = "aggr_write_merge")]
    pub aggr_write_merges: u64,
    /// ms spent reading.
    pub aggr_read_ticks: u64,
    /// ms spent writing.
    pub aggr_write_ticks: u64,
    /// ms weighted by requests in the queue.
    pub aggr_in_queue: u64,
    /// Busy time of the busiest slave, percent.
    pub aggr_util: f64,
}
