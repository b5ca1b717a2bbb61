//! Compression of stored logs (`log_store_compressed`): records in, zlib streams out, one for each full piece and one for the rest.
//!
//! All logs of a run share one compressor, whose memory is larger than a piece; each keeps its unfinished piece only.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::{Compress, Compression, FlushCompress, Status};

/// Bytes of unfinished pieces of all logs together.
const ROOM: usize = 16 << 20;
/// Larger pieces do not compress better: zlib sees the last 32 KiB.
const LARGEST: usize = 256 << 10;

/// The compressor of all logs of a run.
#[derive(Clone, Debug)]
pub(super) struct Compressor(Arc<Mutex<Compress>>);

/// What is left of a log until it fills a piece.
#[derive(Debug)]
pub(super) struct Packer {
    compressor: Compressor,
    piece: usize,
    records: Vec<u8>,
    streams: Vec<u8>,
}

impl Compressor {
    pub(super) fn new() -> Self {
        Compressor(Arc::new(Mutex::new(Compress::new(Compression::default(), true))))
    }

    /// Adds `data` as one whole stream to `to`.
    fn stream(&self, data: &[u8], to: &mut Vec<u8>) -> io::Result<()> {
        let mut compress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        compress.reset();
        loop {
            // What is taken so far is never more than the piece: it came from there.
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
    /// For records of `record` bytes, in streams of at most `piece` bytes of them (at least one record). With many `logs` streams
    /// are shorter, so that the memory of all is bounded.
    pub(super) fn new(compressor: Compressor, record: usize, piece: u32, logs: usize) -> Self {
        let piece = usize::try_from(piece).unwrap_or(LARGEST).min(LARGEST).min(ROOM / logs.max(1)) / record;
        Packer { compressor, piece: piece.max(1) * record, records: Vec::new(), streams: Vec::new() }
    }

    /// Takes whole records; returns the streams that they fill.
    pub(super) fn pack(&mut self, mut records: &[u8]) -> io::Result<&[u8]> {
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

    /// The stream of what is left, nothing if there is none.
    pub(super) fn finish(&mut self) -> io::Result<&[u8]> {
        self.streams.clear();
        if !self.records.is_empty() {
            self.compressor.stream(&self.records, &mut self.streams)?;
            self.records.clear();
        }
        Ok(&self.streams)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::bufread::ZlibDecoder;
    use proptest::prelude::*;

    use super::*;

    /// The contents of streams that stand one after another.
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
}
