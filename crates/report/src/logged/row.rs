//! Rows of logs: `time, value[, maximum], direction, block size[, offset], priority[, issue time]`, and `time, direction, block size, count…`
//! in logs of histograms. Logs of fio before 2.99 have neither priority nor what follows it.

use ferrio_stats::latency::{FIO_BUCKETS, fio_bucket_value};

use crate::saturating::saturating_total;

/// The numbers of a row that the page needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogRow {
    /// ms.
    pub(super) time_ms: u64,
    /// Latency in ns, KiB/s or I/Os per second.
    pub(super) value: u64,
    /// The largest value in a window, if the log has this column.
    pub(super) maximum: Option<u64>,
    /// 0 read, 1 write, 2 trim.
    pub(super) direction: usize,
    /// Bytes of a single I/O; 0 for a window.
    pub(super) block_size: u64,
}

/// Where the columns of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The direction is the third column.
    Plain,
    /// The third column is the largest value in a window (`log_window_value=both`).
    WithMaximum,
}

/// What a row tells about the columns of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    This(Layout),
    /// The row is right in both layouts.
    Nothing,
}

/// Latest time of a row; even milliseconds since 1970 are below it. Rows with later times are damaged, and sums of times could overflow.
const LATEST_MS: u64 = 1 << 50;

/// Columns that a row has at most.
const MOST: usize = 8;

/// A row that is not taken apart yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    numbers: [u64; MOST],
    count: usize,
}

impl Numbers {
    /// `None` if the line is no row of a log.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let mut row = Numbers { numbers: [0; MOST], count: 0 };
        for field in line.split(|&byte| byte == b',') {
            *row.numbers.get_mut(row.count)? = number(field)?;
            row.count += 1;
        }
        (row.count >= 4 && row.numbers[0] <= LATEST_MS).then_some(row)
    }

    /// The layouts that the row is possible in; `None` without any.
    pub(super) fn tells(&self) -> Option<Tells> {
        // No block is as small as the number of a direction. Its size is 0 in a row that stands for a window; so is what follows then.
        let is_direction = |at: usize| self.numbers[at] <= 2;
        let is_size = |at: usize| !is_direction(at) || (self.numbers[at] == 0 && self.numbers[at + 1] == 0);
        let plain = is_direction(2) && is_size(3);
        let with_maximum = self.count >= 6 && is_direction(3) && is_size(4);
        match (plain, with_maximum) {
            (true, true) => Some(Tells::Nothing),
            (true, false) => Some(Tells::This(Layout::Plain)),
            (false, true) => Some(Tells::This(Layout::WithMaximum)),
            (false, false) => None,
        }
    }

    pub(super) fn row(&self, layout: Layout) -> LogRow {
        let [time_ms, value, third, fourth, fifth, ..] = self.numbers;
        let (maximum, direction, block_size) = match layout {
            Layout::Plain => (None, third, fourth),
            Layout::WithMaximum => (Some(third), fourth, fifth),
        };
        // At most 2, see `tells`.
        LogRow { time_ms, value, maximum, direction: direction as usize, block_size }
    }
}

/// A row of a log of histograms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HistogramRow {
    pub(super) time_ms: u64,
    pub(super) direction: usize,
    /// Latencies that stand for buckets, ns, and their counts, without empty buckets.
    pub(super) bins: Vec<(u64, u64)>,
}

/// Most I/Os of a row: a machine with 100 million I/Os per second takes three hours for them. Rows with more are damaged, and sums of I/Os
/// could overflow.
const MAX_IOS_PER_ROW: u64 = 1 << 40;

impl HistogramRow {
    /// `None` if the line is no row of such a log.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b',');
        let mut next = || fields.next().and_then(number);
        let (time_ms, direction, _block_size) = (next()?, next()?, next()?);
        let counts: Vec<u64> = fields.map(number).collect::<Option<_>>()?;
        if saturating_total(counts.iter().copied()) > MAX_IOS_PER_ROW {
            return None;
        }
        let coarseness = (0..=6_u32).find(|coarseness| FIO_BUCKETS >> coarseness == counts.len())?;
        let value = |bucket: u64| fio_bucket_value((bucket << coarseness) + (1 << coarseness) / 2);
        let bins = (0..).zip(counts).filter(|&(_, count)| count > 0);
        let bins = bins.map(|(bucket, count)| (value(bucket), count)).collect();
        (direction <= 2 && time_ms <= LATEST_MS).then_some(HistogramRow {
            time_ms,
            direction: direction as usize,
            bins,
        })
    }
}

fn number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Option<Tells> {
        Numbers::read(line.as_bytes())?.tells()
    }

    fn row(line: &str, layout: Layout) -> LogRow {
        Numbers::read(line.as_bytes()).unwrap().row(layout)
    }

    #[test]
    fn columns_are_told_by_what_can_be_a_direction_and_a_block_size() {
        let plain = Some(Tells::This(Layout::Plain));
        let maximum = Some(Tells::This(Layout::WithMaximum));
        for (line, tells) in [
            ("0, 136443, 0, 4096", plain),
            ("0, 136443, 0, 4096, 0", plain),
            ("500, 2000, 1, 0, 0", plain),
            ("2, 7, 1, 4096, 8192, 0", plain),
            ("2, 7, 1, 4096, 0, 1999000", plain),
            ("2, 7, 1, 4096, 0, 0, 1999000", plain),
            ("2, 7, 1, 4096, 8192, 0x4005, 1999000", plain),
            ("250, 489181, 2190178, 0, 0, 0", maximum),
            ("250, 489181, 2190178, 1, 0, 0x0000", maximum),
            ("2, 7, 0, 1, 4096, 0", maximum),
            ("2, 7, 0, 0, 4096, 8192, 0, 5", maximum),
            ("250, 1, 1, 0, 0, 0", Some(Tells::Nothing)),
            ("250, 1, 3, 4, 0, 0", None),
            ("250, 1, 3, 0, 0", None),
        ] {
            assert_eq!(told(line), tells, "{line}");
        }
    }

    #[test]
    fn a_row_has_the_numbers_of_its_layout() {
        let read = LogRow { time_ms: 2, value: 7, maximum: None, direction: 1, block_size: 4096 };
        assert_eq!(row("2, 7, 1, 4096, 8192, 0", Layout::Plain), read);
        assert_eq!(row("2, 7, 9, 1, 4096, 0", Layout::WithMaximum), LogRow { maximum: Some(9), ..read });
    }

    #[test]
    fn what_is_no_row_is_none() {
        for line in [
            "",
            "1, 2, 3",
            "1, 2, x, 4",
            "fio version 3 iolog",
            "1, 2, 3, 4, 5, 6, 7, 8, 9",
            "1,, 0, 4096",
            "-1, 2, 0, 4096",
        ] {
            assert!(told(line).is_none(), "{line}");
        }
    }

    #[test]
    fn buckets_of_histograms_are_as_wide_as_the_row_is_short() {
        let line = |count: usize, set: usize| {
            let counts: Vec<&str> = (0..count).map(|at| if at == set { "7" } else { "0" }).collect();
            format!("503, 1, 4096, {}", counts.join(", "))
        };
        let bins = |count, set| HistogramRow::read(line(count, set).as_bytes()).map(|row| row.bins);
        // Bucket 300 of fio begins at 44 * 2^3 ns + 2^9 … see `fio_bucket_value`.
        assert_eq!(bins(FIO_BUCKETS, 300), Some(vec![(fio_bucket_value(300), 7)]));
        assert_eq!(bins(FIO_BUCKETS / 4, 75), Some(vec![(fio_bucket_value(302), 7)]));
        assert_eq!(bins(FIO_BUCKETS / 64, 28), Some(vec![(fio_bucket_value(28 * 64 + 32), 7)]));
        assert_eq!(bins(1000, 1), None);
        let row = HistogramRow::read(line(29, 0).as_bytes()).unwrap();
        assert_eq!((row.time_ms, row.direction), (503, 1));
        assert_eq!(HistogramRow::read(b"503, 3, 4096, 0"), None);
    }
}
