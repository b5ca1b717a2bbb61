//! Compressed logs. Packing (`log_store_compressed`) takes records and gives zlib streams, one for each full piece and one for the
//! rest; inflating (`--inflate-log`) takes such streams, one after another, and gives rows as text.
//!
//! All logs of a run share one compressor, whose memory is larger than a piece; each keeps only its unfinished piece. Records of fio
//! before 3.38 have no room for a maximum, and nothing in a file marks them: the first records decide, because those of the other kind
//! make no sense.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::record::{LogRow, RecordLayout};
use crate::rows::Rows;

/// Bytes of unfinished pieces of all logs together.
const ROOM: usize = 16 << 20;
/// Larger pieces do not compress better: zlib sees the last 32 KiB.
const LARGEST: usize = 256 << 10;

/// The compressor of all logs of a run.
#[derive(Clone, Debug)]
pub(crate) struct Compressor(Arc<Mutex<Compress>>);

/// The unfinished piece of a log.
#[derive(Debug)]
pub(crate) struct Packer {
    compressor: Compressor,
    piece: usize,
    records: Vec<u8>,
    streams: Vec<u8>,
}

impl Compressor {
    pub(crate) fn new() -> Self {
        Compressor(Arc::new(Mutex::new(Compress::new(Compression::default(), true))))
    }

    /// Adds `data` as one whole stream to `to`.
    fn stream(&self, data: &[u8], to: &mut Vec<u8>) -> io::Result<()> {
        let mut compress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        compress.reset();
        loop {
            // At most the whole piece has been taken.
            let taken = usize::try_from(compress.total_in()).unwrap_or(data.len()).min(data.len());
            to.reserve(4096);
            match compress
                .compress_vec(&data[taken..], to, FlushCompress::Finish)
                .map_err(io::Error::other)?
            {
                Status::StreamEnd => return Ok(()),
                Status::Ok | Status::BufError => {}
            }
        }
    }
}

impl Packer {
    /// Packs records of `record` bytes into streams of at most `piece` bytes, at least one record each. Streams are shorter if there
    /// are many `logs`, so that the memory of all of them is bounded.
    pub(crate) fn new(compressor: Compressor, record: usize, piece: u32, logs: usize) -> Self {
        let piece = usize::try_from(piece).unwrap_or(LARGEST).min(LARGEST).min(ROOM / logs.max(1)) / record;
        Packer { compressor, piece: piece.max(1) * record, records: Vec::new(), streams: Vec::new() }
    }

    /// Takes whole records; returns the streams that they fill.
    pub(crate) fn pack(&mut self, mut records: &[u8]) -> io::Result<&[u8]> {
        self.streams.clear();
        while self.records.len() + records.len() >= self.piece {
            let (now, later) = records.split_at(self.piece - self.records.len());
            self.records.extend_from_slice(now);
            self.compressor.stream(&self.records, &mut self.streams)?;
            self.records.clear();
            records = later;
        }
        self.records.extend_from_slice(records);
        Ok(&self.streams)
    }

    /// The stream of the unfinished piece, empty without one.
    pub(crate) fn finish(&mut self) -> io::Result<&[u8]> {
        self.streams.clear();
        if !self.records.is_empty() {
            self.compressor.stream(&self.records, &mut self.streams)?;
            self.records.clear();
        }
        Ok(&self.streams)
    }
}

/// Bytes that are read, and bytes that are unpacked, at a time.
const PIECE: usize = 64 << 10;
/// Bytes of records that decide whether they are old ones.
const SAMPLE: usize = 32 << 10;

/// A reason why a compressed log cannot be printed to its end. Numbers are zlib's.
#[derive(Debug, thiserror::Error)]
pub enum InflateError {
    /// The log cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// The text cannot be written.
    #[error("{0}")]
    Write(io::Error),
    /// The file holds something else.
    #[error("failed inflating log: -3: not a compressed log, or damaged")]
    Data,
    /// The file ends within a stream or a record.
    #[error("failed inflating log: -5: truncated; its last rows are missing")]
    CutOff,
}

/// Writes the rows of the compressed `log` to `out` as text. An empty log has no rows.
///
/// # Errors
/// The log is damaged, cut off, or no log; or an input or output error. The rows before the error are written.
pub fn inflate_log(mut log: impl Read, out: &mut dyn Write) -> Result<(), InflateError> {
    let mut decompress = Decompress::new(true);
    let mut rows = Inflated::default();
    let mut input = vec![0; PIECE];
    let mut unpacked = Vec::with_capacity(PIECE);
    let mut ended = true;
    loop {
        let read = match log.read(&mut input) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(InflateError::Read(error)),
        };
        let mut packed = &input[..read];
        loop {
            let before = decompress.total_in();
            unpacked.clear();
            let status = decompress.decompress_vec(packed, &mut unpacked, FlushDecompress::None);
            let Ok(status) = status else {
                rows.end(out)?;
                return Err(InflateError::Data);
            };
            let taken = usize::try_from(decompress.total_in() - before).unwrap_or(packed.len());
            packed = &packed[taken..];
            rows.add(&unpacked, out)?;
            ended = status == Status::StreamEnd;
            if ended {
                decompress.reset(true);
            }
            // If the buffer is full, the same input may yield more.
            if packed.is_empty() && (ended || unpacked.len() < unpacked.capacity()) {
                break;
            }
        }
    }
    let whole = rows.end(out)?;
    if ended && whole { Ok(()) } else { Err(InflateError::CutOff) }
}

/// Unpacked records, which become text.
#[derive(Debug, Default)]
struct Inflated {
    /// An incomplete record, or too few records to decide whether they are old ones.
    bytes: Vec<u8>,
    /// The records are old ones; known once there are enough of them.
    old: Option<bool>,
    rows: Rows,
    text: Vec<u8>,
}

impl Inflated {
    /// Takes unpacked bytes and writes the rows of those that make whole records.
    fn add(&mut self, unpacked: &[u8], out: &mut dyn Write) -> Result<(), InflateError> {
        self.bytes.extend_from_slice(unpacked);
        if self.old.is_none() && self.bytes.len() >= SAMPLE {
            self.old = Some(is_old(&self.bytes, false));
        }
        self.old.map_or(Ok(()), |old| self.write(old, out))
    }

    /// Writes the rest. False if the last record is incomplete.
    fn end(&mut self, out: &mut dyn Write) -> Result<bool, InflateError> {
        let old = self.old.unwrap_or_else(|| is_old(&self.bytes, true));
        self.write(old, out)?;
        out.flush().map_err(InflateError::Write)?;
        Ok(self.bytes.is_empty())
    }

    fn write(&mut self, old: bool, out: &mut dyn Write) -> Result<(), InflateError> {
        self.text.clear();
        let mut used = 0;
        let mut good = true;
        while let Some(layout) = RecordLayout::read(&self.bytes[used..], old) {
            let bytes = &self.bytes[used..];
            if bytes.len() < layout.len() {
                break;
            }
            let Some(row) = LogRow::read_record(bytes, layout) else {
                good = false;
                break;
            };
            self.rows.begin(layout.columns, 0);
            self.rows.push(&row);
            self.text.extend_from_slice(self.rows.text());
            used += layout.len();
        }
        self.bytes.drain(..used);
        out.write_all(&self.text).map_err(InflateError::Write)?;
        if good { Ok(()) } else { Err(InflateError::Data) }
    }
}

/// True if these bytes make sense only as old records. `all` says that nothing follows.
fn is_old(bytes: &[u8], all: bool) -> bool {
    !fits(bytes, false, all) && fits(bytes, true, all)
}

/// True if the bytes make sense as such records: all have the same columns, and maxima only where those are shown.
fn fits(mut bytes: &[u8], old: bool, all: bool) -> bool {
    let first = RecordLayout::read(bytes, old);
    while let Some(layout) = RecordLayout::read(bytes, old) {
        if bytes.len() < layout.len() && !all {
            return true;
        }
        let columns = layout.columns;
        let is_hidden = |row: &LogRow| row.maximum > 0 && !columns.maximum;
        let is_strange = old && (columns.maximum || columns.issue_time);
        match LogRow::read_record(bytes, layout) {
            Some(row) if Some(layout) == first && !is_strange && !is_hidden(&row) => {}
            _ => return false,
        }
        bytes = &bytes[layout.len()..];
    }
    bytes.is_empty() || !all
}

#[cfg(test)]
mod tests {
    use flate2::bufread::ZlibDecoder;
    use proptest::prelude::*;

    use super::*;
    use crate::record::Columns;

    /// The contents of streams that follow each other.
    fn contents(mut streams: &[u8]) -> Vec<Vec<u8>> {
        let mut contents = Vec::new();
        while !streams.is_empty() {
            let mut decoder = ZlibDecoder::new(streams);
            let mut content = Vec::new();
            decoder.read_to_end(&mut content).unwrap();
            streams = decoder.into_inner();
            contents.push(content);
        }
        contents
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn streams_are_full_pieces_and_a_rest(
            batches in prop::collection::vec(prop::collection::vec(any::<[u8; 40]>(), 0..60), 0..20),
            piece in 1024u32..5000,
        ) {
            let mut packer = Packer::new(Compressor::new(), 40, piece, 1);
            let mut file = Vec::new();
            for batch in &batches {
                file.extend_from_slice(packer.pack(batch.as_flattened()).unwrap());
            }
            file.extend_from_slice(packer.finish().unwrap());
            file.extend_from_slice(packer.finish().unwrap());
            let contents = contents(&file);
            let records: Vec<u8> = batches.concat().concat();
            let full = piece as usize / 40 * 40;
            let lengths: Vec<usize> = records.chunks(full).map(<[u8]>::len).collect();
            prop_assert_eq!(contents.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
            prop_assert_eq!(contents.concat(), records);
        }
    }

    #[test]
    fn pieces_are_bounded_however_many_logs_there_are() {
        let piece = |piece, logs| Packer::new(Compressor::new(), 40, piece, logs).piece;
        assert_eq!((piece(1024, 1), piece(u32::MAX, 1)), (1000, LARGEST / 40 * 40));
        assert!(piece(u32::MAX, 6000) * 6000 <= ROOM);
        assert_eq!(piece(1024, usize::MAX), 40);
    }

    /// Records in streams of about a KiB.
    fn packed(rows: &[LogRow], layout: RecordLayout) -> Vec<u8> {
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| row.push_record(&mut bytes, layout));
        let mut packer = Packer::new(Compressor::new(), layout.len(), 1024, 1);
        let mut file = packer.pack(&bytes).unwrap().to_vec();
        file.extend_from_slice(packer.finish().unwrap());
        file
    }

    fn inflated(file: &[u8]) -> (String, Result<(), InflateError>) {
        let mut text = Vec::new();
        let result = inflate_log(file, &mut text);
        (String::from_utf8(text).unwrap(), result)
    }

    fn text(written: &[LogRow], layout: RecordLayout) -> String {
        let mut rows = Rows::default();
        rows.begin(layout.columns, 0);
        written.iter().for_each(|row| rows.push(row));
        String::from_utf8(rows.text().to_vec()).unwrap()
    }

    /// Rows of single I/Os, or of windows.
    fn rows(windows: bool) -> impl Strategy<Value = Vec<LogRow>> {
        let one = (0u64..5000, 1u64..1 << 40, 0u8..=2, 1u64..100, any::<u32>());
        prop::collection::vec(one, 0..200).prop_map(move |ios| {
            let row = |(time_ms, value, direction, blocks, offset)| {
                let whole = LogRow { time_ms, value, direction, ..LogRow::default() };
                match windows {
                    true => LogRow { maximum: value * 2, ..whole },
                    false => LogRow { block_size: blocks * 512, offset: u64::from(offset), ..whole },
                }
            };
            ios.into_iter().map(row).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_was_packed_comes_out_as_text(rows in rows(false), offset: bool, priority: bool, issue_time: bool) {
            let columns = Columns { offset, priority, issue_time, ..Columns::default() };
            let layout = RecordLayout { columns, old: false };
            let (got, result) = inflated(&packed(&rows, layout));
            prop_assert!(result.is_ok());
            prop_assert_eq!(got, text(&rows, layout));
        }

        #[test]
        fn windows_come_out_with_their_maxima(rows in rows(true), offset: bool) {
            let columns = Columns { maximum: true, offset, ..Columns::default() };
            let layout = RecordLayout { columns, old: false };
            let (got, result) = inflated(&packed(&rows, layout));
            prop_assert!(result.is_ok());
            prop_assert_eq!(got, text(&rows, layout));
        }

        #[test]
        fn logs_of_older_fio_are_recognized_by_their_records(rows in rows(false), offset: bool, priority: bool) {
            let columns = Columns { offset, priority, ..Columns::default() };
            let layout = RecordLayout { columns, old: true };
            let (got, result) = inflated(&packed(&rows, layout));
            prop_assert!(result.is_ok());
            prop_assert_eq!(got, text(&rows, layout));
        }

        #[test]
        fn a_log_that_is_cut_off_has_the_rows_before_that(rows in rows(false), cut in any::<prop::sample::Index>()) {
            let file = packed(&rows, RecordLayout::default());
            prop_assume!(!file.is_empty());
            let (got, result) = inflated(&file[..cut.index(file.len())]);
            prop_assert!(text(&rows, RecordLayout::default()).starts_with(&got));
            prop_assert!(got.is_empty() || got.ends_with('\n'));
            // Between two streams nothing shows that more belongs there.
            let between = result.is_ok() && got.lines().count() % 25 == 0;
            prop_assert!(between || matches!(result, Err(InflateError::CutOff)), "{:?}", result);
        }

        #[test]
        fn any_file_is_answered(file: Vec<u8>) {
            let _ = inflated(&file);
        }
    }

    #[test]
    fn logs_that_fio_wrote_have_the_text_that_fio_prints() {
        let samples: [(&[u8], &str); 2] = [
            (include_bytes!("samples/fio-3.42.log.fz"), include_str!("samples/fio-3.42.txt")),
            (include_bytes!("samples/fio-3.33.log.fz"), include_str!("samples/fio-3.33.txt")),
        ];
        for (log, text) in samples {
            let (got, result) = inflated(log);
            assert!(result.is_ok());
            assert_eq!(got, text);
        }
    }

    #[test]
    fn a_log_of_many_pieces_is_read_with_little_memory() {
        let row = LogRow { time_ms: 7, value: 9, block_size: 4096, ..LogRow::default() };
        let rows = vec![row; 20_000];
        let (got, result) = inflated(&packed(&rows, RecordLayout::default()));
        assert!(result.is_ok());
        assert_eq!(got.len(), rows.len() * "7, 9, 0, 4096, 0\n".len());
    }

    #[test]
    fn what_is_no_log_is_refused_and_an_empty_one_has_no_rows() {
        assert!(
            matches!(inflated(b"hello, this is text\n"), (text, Err(InflateError::Data)) if text.is_empty())
        );
        assert!(matches!(inflated(b""), (text, Ok(())) if text.is_empty()));
        let mut packer = Packer::new(Compressor::new(), 1, 1024, 1);
        packer.pack(&[b'x'; 100]).unwrap();
        let other = packer.finish().unwrap().to_vec();
        assert!(matches!(inflated(&other), (text, Err(InflateError::Data)) if text.is_empty()));
        let mut damaged =
            packed(&[LogRow { value: 5, block_size: 512, ..LogRow::default() }], RecordLayout::default());
        damaged.extend_from_slice(b"garbage");
        let (text, result) = inflated(&damaged);
        assert_eq!(text, "0, 5, 0, 512, 0\n");
        assert!(matches!(result, Err(InflateError::Data)));
    }
}
