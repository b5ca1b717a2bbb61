//! Single-bit flips at random places: each is found, and the explanation names byte and bit. Sound blocks stay sound.

use std::time::Duration;

use super::*;
use crate::verifier::tests::{SEEDS, body, complete, spec, verifier_of};
use crate::{BlockPattern, HeaderLayout, VerifyMethod, VerifySpec, WriteStamp};

/// A small generator, so that each run has the same places.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Layouts of blocks: interval, offset of the header, pattern.
fn layouts(method: VerifyMethod) -> Vec<VerifySpec> {
    let base = || complete(spec(method));
    let mut layouts =
        vec![base(), VerifySpec { interval: 512, ..base() }, VerifySpec { interval: 500, ..base() }];
    if method.has_header() {
        layouts.push(VerifySpec { offset: 180, ..base() });
        layouts.push(VerifySpec { interval: 1024, offset: 600, ..base() });
        layouts.push(VerifySpec { whole_blocks: true, ..base() });
        if method != VerifyMethod::Sha512 {
            layouts.push(VerifySpec { layout: HeaderLayout::Fio340, ..base() });
        }
    }
    if method != VerifyMethod::Null {
        let pattern = BlockPattern::new(b"pattern \0\0\0\0\0\0\0\0.".to_vec(), vec![8], 0).ok();
        layouts.push(VerifySpec { pattern: pattern.clone(), ..base() });
        layouts.push(VerifySpec { pattern, interval: 512, ..base() });
    }
    layouts
}

/// Whether the check of a method covers the byte at `at`: `meta` covers headers, and patterns if there is one.
fn is_covered(spec: &VerifySpec, at: usize) -> bool {
    let place = at % spec.interval as usize;
    let header = spec.offset as usize..spec.offset as usize + spec.layout.bytes();
    spec.method != VerifyMethod::Meta || spec.pattern.is_some() || header.contains(&place)
}

#[test]
fn five_hundred_flips_are_found_and_named_and_none_is_invented() {
    let mut random = Random(1);
    let drawn = DrawnSeeds::new(0, SEEDS.into_iter());
    let methods = VerifyMethod::ALL.iter().copied().filter(|&method| method != VerifyMethod::Null);
    let layouts: Vec<VerifySpec> = methods.flat_map(layouts).collect();
    let mut found = 0;
    for round in 0.. {
        let spec = layouts[round % layouts.len()].clone();
        let verifier = verifier_of(spec.clone());
        let len = 2000;
        let (offset, seed, number) = ((round * len) as u64, SEEDS[round % 4], (round % 4) as u64);
        let stamp =
            WriteStamp { offset, seed, number, time: Duration::from_nanos(random.below(1 << 31) as u64) };
        let mut sound = vec![0; len];
        verifier.fill(&mut sound, &stamp, body).expect("room");
        // A job that reads back what it wrote, and one that reads what others wrote.
        for is_own in [true, false] {
            let expected = match is_own {
                true => ExpectedHeader { seed: Some(seed), number: Some(number) },
                false => ExpectedHeader::default(),
            };
            assert_eq!(verifier.check(&mut sound.clone(), offset, &expected), Ok(()), "{spec:?}");
            let (at, bit) = (random.below(len), random.below(8));
            let mut block = sound.clone();
            block[at] ^= 1 << bit;
            let checked = verifier.check(&mut block, offset, &expected);
            if !is_covered(&spec, at) {
                assert_eq!(checked, Ok(()), "{spec:?}");
                continue;
            }
            let mismatch = checked.expect_err("a flipped bit");
            let evidence = DamageEvidence {
                block: &block,
                mismatch: &mismatch,
                expected,
                is_own,
                overwrites: false,
                fill: &body,
                drawn: &drawn,
            };
            let damage = verifier.explain(&evidence);
            let named = damage.byte.map(|byte| (byte.at as usize, byte.bit() as usize));
            let (kind, differing) = (damage.kind, damage.differing);
            assert_eq!(
                (kind, named, differing),
                (DamageKind::BitFlip, Some((at, bit)), Some(1)),
                "{spec:?} own={is_own}: {damage}"
            );
            let byte = damage.byte.expect("named");
            assert_eq!((byte.found, byte.wanted), (sound[at] ^ 1 << bit, sound[at]), "{spec:?}");
            found += 1;
        }
        if found >= 500 {
            return;
        }
    }
}
