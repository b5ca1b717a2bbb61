//! The contents of dump files (`verify_dump`): a bad interval as read, and as it should be.

use super::Verifier;
use crate::{BlockHeader, BlockMismatch, HeaderLayout, IntervalFailure, IntervalProblem};

/// A file of `verify_dump`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The kind of its contents.
    pub kind: DumpKind,
    /// Offset of the interval in its file, bytes.
    pub offset: u64,
    /// The interval.
    pub bytes: Vec<u8>,
}

/// The kind of a dump file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpKind {
    /// An interval with a bad header, as it was read.
    BadHeader,
    /// An interval with bad data, as it was read.
    Received,
    /// The same interval as expected on disk.
    Expected,
}

impl DumpKind {
    /// The suffix of the file's name, and fio's word for it in messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            DumpKind::BadHeader => "hdr_fail",
            DumpKind::Received => "received",
            DumpKind::Expected => "expected",
        }
    }
}

impl Verifier {
    /// The dumps of one failure. `block` is as [`check`](Verifier::check) left it: header and digest are at the front of the interval
    /// whatever `verify_offset` is, and received intervals are dumped in this form. `body` fills a block from its seed, as in
    /// [`fill`](Verifier::fill).
    #[must_use]
    pub fn dumps(
        &self,
        block: &[u8],
        mismatch: &BlockMismatch,
        failure: &IntervalFailure,
        body: impl FnOnce(&mut [u8], u64),
    ) -> Vec<Dump> {
        let start = (failure.offset - mismatch.offset) as usize;
        let end = start + failure.len as usize;
        let dump = |kind, bytes: &[u8]| Dump { kind, offset: failure.offset, bytes: bytes.to_vec() };
        match failure.problem {
            IntervalProblem::NotZero { .. } => vec![dump(DumpKind::Received, &block[start..end])],
            IntervalProblem::Digest(_) | IntervalProblem::Pattern { .. } if self.spec.method.has_header() => {
                let mut wanted = vec![0; block.len()];
                let layout = self.layout_of(&block[start..end], end - start, failure.offset);
                let media = BlockHeader::read_as(layout, &block[start..end]);
                match (&self.spec.pattern, &media) {
                    (Some(pattern), _) => pattern.fill(&mut wanted, mismatch.offset),
                    (None, Some(media)) => body(&mut wanted, media.seed),
                    (None, None) => {}
                }
                let wanted = &mut wanted[start..end];
                if let Some(media) = media {
                    self.seal_again(wanted, layout, media);
                }
                vec![dump(DumpKind::Received, &block[start..end]), dump(DumpKind::Expected, wanted)]
            }
            IntervalProblem::Digest(_) | IntervalProblem::Pattern { .. } => {
                self.dumps_of_pattern(block, mismatch.offset)
            }
            _ => vec![dump(DumpKind::BadHeader, &block[start..end])],
        }
    }

    /// Writes the header of a bad interval, which is sound, over its original data, with the digest of that data.
    fn seal_again(&self, interval: &mut [u8], layout: HeaderLayout, media: BlockHeader) {
        media.seal(layout, self.spec.method, interval);
        self.exchange(interval, layout.overhead(self.spec.method));
    }

    /// Blocks without headers are compared as a whole; the intervals that differ are dumped.
    fn dumps_of_pattern(&self, block: &[u8], offset: u64) -> Vec<Dump> {
        let Some(pattern) = &self.spec.pattern else { return Vec::new() };
        let mut wanted = vec![0; block.len()];
        pattern.fill(&mut wanted, offset);
        let interval = self.spec.interval as usize;
        let step = if interval <= block.len() && !self.spec.whole_blocks { interval } else { block.len() };
        let pairs = block.chunks(step.max(1)).zip(wanted.chunks(step.max(1)));
        let places = (offset..).step_by(step.max(1));
        let bad = pairs.zip(places).filter(|((received, expected), _)| received != expected);
        bad.flat_map(|((received, expected), offset)| {
            [(DumpKind::Received, received), (DumpKind::Expected, expected)].map(|(kind, bytes)| Dump {
                kind,
                offset,
                bytes: bytes.to_vec(),
            })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{body, complete, image, spec};
    use super::*;
    use crate::{BlockPattern, ExpectedHeader, VerifyMethod, VerifySpec};

    /// Checks block 1 of a file and dumps what is wrong with it, by name: offset and kind.
    fn dumped(verifier: &Verifier, file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut block = file[4096..8192].to_vec();
        let mismatch =
            verifier.check(&mut block, 4096, &ExpectedHeader::default()).expect_err("it is damaged");
        let dumps = mismatch.failures.iter().flat_map(|bad| verifier.dumps(&block, &mismatch, bad, body));
        dumps.map(|dump| (format!("{}.{}", dump.offset, dump.kind.word()), dump.bytes)).collect()
    }

    fn flipped(good: &[u8], at: usize) -> Vec<u8> {
        let mut bad = good.to_vec();
        bad[at] ^= 0x10;
        bad
    }

    #[test]
    fn a_bad_digest_is_dumped_as_it_was_read_and_as_it_was_written() {
        for &method in VerifyMethod::ALL {
            if !method.has_digest() && method != VerifyMethod::PatternHdr {
                continue;
            }
            let verifier = Verifier::new(complete(spec(method))).unwrap();
            let good = image(&verifier);
            let bad = flipped(&good, 7000);
            let want = vec![
                ("4096.received".to_owned(), bad[4096..8192].to_vec()),
                ("4096.expected".to_owned(), good[4096..8192].to_vec()),
            ];
            assert_eq!(dumped(&verifier, &bad), want, "{method:?}");
        }
    }

    #[test]
    fn each_bad_interval_is_dumped_with_its_own_offset() {
        let verifier = Verifier::new(VerifySpec { interval: 1024, ..spec(VerifyMethod::Md5) }).unwrap();
        let good = image(&verifier);
        let bad = flipped(&flipped(&good, 4096 + 100), 4096 + 3000);
        let dumps = dumped(&verifier, &bad);
        let names: Vec<&str> = dumps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["4096.received", "4096.expected", "6144.received", "6144.expected"]);
        assert_eq!(dumps[2].1, bad[6144..7168]);
        assert_eq!(dumps[3].1, good[6144..7168]);
    }

    #[test]
    fn with_an_offset_the_header_is_in_front_in_what_was_read_and_in_its_place_in_what_should_be() {
        let verifier = Verifier::new(VerifySpec { offset: 512, ..spec(VerifyMethod::Md5) }).unwrap();
        let good = image(&verifier);
        let bad = flipped(&good, 4096 + 3000);
        let dumps = dumped(&verifier, &bad);
        assert_eq!(dumps[0].1[..2], [0xca, 0xac]);
        assert_eq!(dumps[0].1[512 + 64..], bad[4096 + 512 + 64..8192]);
        assert_eq!(dumps[1].1, good[4096..8192]);
        let no_header = dumped(&verifier, &flipped(&good, 4096 + 512));
        assert_eq!(no_header[0].0, "4096.hdr_fail");
        assert_eq!(no_header[0].1[..2], [0xda, 0xac], "the header is in front");
    }

    #[test]
    fn what_another_method_wrote_is_expected_as_this_method_writes_it() {
        let writer = Verifier::new(spec(VerifyMethod::Crc32c)).unwrap();
        let reader = Verifier::new(spec(VerifyMethod::Md5)).unwrap();
        assert_eq!(dumped(&reader, &image(&writer))[1].1, image(&reader)[4096..8192]);
    }

    #[test]
    fn of_a_pattern_without_headers_the_intervals_that_differ_are_dumped() {
        let pattern = BlockPattern::new(vec![1, 2, 3], vec![], 0).ok();
        let spec = VerifySpec { interval: 1024, pattern, ..spec(VerifyMethod::Pattern) };
        let verifier = Verifier::new(spec).unwrap();
        let good = image(&verifier);
        let bad = flipped(&flipped(&good, 4096 + 1500), 8191);
        let dumps = dumped(&verifier, &bad);
        let names: Vec<&str> = dumps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["5120.received", "5120.expected", "7168.received", "7168.expected"]);
        assert_eq!((&dumps[0].1[..], &dumps[1].1[..]), (&bad[5120..6144], &good[5120..6144]));
    }

    #[test]
    fn a_block_with_an_old_header_is_dumped_with_one() {
        let old = VerifySpec { layout: HeaderLayout::Fio340, ..spec(VerifyMethod::Md5) };
        let good = image(&Verifier::new(old).unwrap());
        let bad = flipped(&good, 7000);
        let reader = Verifier::new(VerifySpec { any_layout: true, ..spec(VerifyMethod::Md5) }).unwrap();
        let want = vec![
            ("4096.received".to_owned(), bad[4096..8192].to_vec()),
            ("4096.expected".to_owned(), good[4096..8192].to_vec()),
        ];
        assert_eq!(dumped(&reader, &bad), want);
    }
}
