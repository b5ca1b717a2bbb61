//! The text of compressed logs (`--inflate-log`): zlib streams one after another in, rows out as they are read.
//!
//! Records of fio before 3.38 have no room for a maximum. Nothing in a file says which ones it has, so that the first records decide:
//! those of the other kind make no sense.

use std::io::{self, Read, Write};

use flate2::{Decompress, FlushDecompress, Status};

use super::record::{Record, RecordLayout};

/// Bytes that are read, and bytes that are unpacked, at a time.
const PIECE: usize = 64 << 10;
/// Bytes of records that decide which kind they are.
const SIGHT: usize = 32 << 10;

/// Why a compressed log could not be printed to its end. Numbers are zlib's.
#[derive(Debug, thiserror::Error)]
pub enum InflateError {
    /// The log cannot be read.
    #[error("{0}")]
    Read(io::Error),
    /// The text cannot be written.
    #[error("{0}")]
    Write(io::Error),
    /// The file holds something else.
    #[error("failed inflating log: -3: it is no compressed log, or damaged")]
    Data,
    /// The file ends within a stream or a record.
    #[error("failed inflating log: -5: it is cut off, its last rows are missing")]
    CutOff,
}

/// Writes the rows of the compressed `log` to `out` as text. An empty log has no rows.
///
/// # Errors
/// The log is damaged, cut off, or something else; or an input or output error. What could be read before was written.
pub fn inflate_log(mut log: impl Read, out: &mut dyn Write) -> Result<(), InflateError> {
    let mut decompress = Decompress::new(true);
    let mut rows = RecordText::default();
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
            // A full buffer may not hold all that the input stands for.
            if packed.is_empty() && (ended || unpacked.len() < unpacked.capacity()) {
                break;
            }
        }
    }
    let whole = rows.end(out)?;
    if ended && whole { Ok(()) } else { Err(InflateError::CutOff) }
}

/// Records that become text.
#[derive(Debug, Default)]
struct RecordText {
    /// What is not yet a whole record, or not enough to tell the kind of the records.
    bytes: Vec<u8>,
    /// Known once there were enough records.
    old: Option<bool>,
    text: Vec<u8>,
}

impl RecordText {
    /// Takes unpacked bytes and writes the rows of those that make whole records.
    fn add(&mut self, unpacked: &[u8], out: &mut dyn Write) -> Result<(), InflateError> {
        self.bytes.extend_from_slice(unpacked);
        if self.old.is_none() && self.bytes.len() >= SIGHT {
            self.old = Some(is_old(&self.bytes, false));
        }
        self.old.map_or(Ok(()), |old| self.write(old, out))
    }

    /// Writes what is left. False when the last record is not whole.
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
            let Some(record) = Record::read(bytes, layout) else {
                good = false;
                break;
            };
            self.text.extend_from_slice(record.text(layout).as_bytes());
            self.text.push(b'\n');
            used += layout.len();
        }
        self.bytes.drain(..used);
        out.write_all(&self.text).map_err(InflateError::Write)?;
        if good { Ok(()) } else { Err(InflateError::Data) }
    }
}

/// True when these are records of the old kind, and only of that. `all` says that nothing follows.
fn is_old(bytes: &[u8], all: bool) -> bool {
    !fits(bytes, false, all) && fits(bytes, true, all)
}

/// True when the bytes make sense as records of that kind: all have the same columns, and maxima only where those are shown.
fn fits(mut bytes: &[u8], old: bool, all: bool) -> bool {
    let first = RecordLayout::read(bytes, old);
    while let Some(layout) = RecordLayout::read(bytes, old) {
        if bytes.len() < layout.len() && !all {
            return true;
        }
        let hidden = |record: &Record| record.maximum > 0 && !layout.maximum;
        let strange = old && (layout.maximum || layout.issue_time);
        match Record::read(bytes, layout) {
            Some(record) if Some(layout) == first && !strange && !hidden(&record) => {}
            _ => return false,
        }
        bytes = &bytes[layout.len()..];
    }
    bytes.is_empty() || !all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::packer::{Compressor, Packer};
    use super::*;

    /// Records in streams of about a KiB.
    fn packed(records: &[Record], layout: RecordLayout) -> Vec<u8> {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.push_to(&mut bytes, layout));
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

    fn text(records: &[Record], layout: RecordLayout) -> String {
        records.iter().map(|record| record.text(layout) + "\n").collect()
    }

    /// Records of single I/Os, or of windows.
    fn records(windows: bool) -> impl Strategy<Value = Vec<Record>> {
        let one = (0u64..5000, 1u64..1 << 40, 0u32..=2, 1u64..100, any::<u32>());
        prop::collection::vec(one, 0..200).prop_map(move |ios| {
            let record = |(time_ms, value, direction, blocks, offset)| {
                let whole = Record { time_ms, value, direction, ..Record::default() };
                match windows {
                    true => Record { maximum: value * 2, ..whole },
                    false => Record { block_size: blocks * 512, offset: u64::from(offset), ..whole },
                }
            };
            ios.into_iter().map(record).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_was_packed_comes_out_as_text(records in records(false), offset: bool, priority: bool, issue_time: bool) {
            let layout = RecordLayout { offset, priority, issue_time, ..RecordLayout::default() };
            let (got, result) = inflated(&packed(&records, layout));
            prop_assert!(result.is_ok());
            prop_assert_eq!(got, text(&records, layout));
        }

        #[test]
        fn windows_come_out_with_their_maxima(records in records(true), offset: bool) {
            let layout = RecordLayout { maximum: true, offset, ..RecordLayout::default() };
            let (got, result) = inflated(&packed(&records, layout));
            prop_assert!(result.is_ok());
            prop_assert_eq!(got, text(&records, layout));
        }

        #[test]
        fn logs_of_older_fio_are_told_by_their_records(records in records(false), offset: bool, priority: bool) {
            let layout = RecordLayout { offset, priority, old: true, ..RecordLayout::default() };
            let (got, result) = inflated(&packed(&records, layout));
            prop_assert!(result.is_ok());
            prop_assert_eq!(got, text(&records, layout));
        }

        #[test]
        fn a_log_that_is_cut_off_has_the_rows_before_that(records in records(false), cut in any::<prop::sample::Index>()) {
            let file = packed(&records, RecordLayout::default());
            prop_assume!(!file.is_empty());
            let (got, result) = inflated(&file[..cut.index(file.len())]);
            prop_assert!(text(&records, RecordLayout::default()).starts_with(&got));
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
        let record = Record { time_ms: 7, value: 9, block_size: 4096, ..Record::default() };
        let records = vec![record; 20_000];
        let (got, result) = inflated(&packed(&records, RecordLayout::default()));
        assert!(result.is_ok());
        assert_eq!(got.len(), records.len() * "7, 9, 0, 4096, 0\n".len());
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
            packed(&[Record { value: 5, block_size: 512, ..Record::default() }], RecordLayout::default());
        damaged.extend_from_slice(b"garbage");
        let (text, result) = inflated(&damaged);
        assert_eq!(text, "0, 5, 0, 512, 0\n");
        assert!(matches!(result, Err(InflateError::Data)));
    }
}
