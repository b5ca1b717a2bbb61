//! Blocks that jobs with other options or other releases wrote, or jobs that do not verify.

use super::*;

#[test]
fn data_without_a_header_was_written_without_verify() {
    let job = reader(crc32c());
    let mut block = vec![0; LEN];
    body(&mut block, 777);
    assert_eq!(job.says(&block).0, DamageKind::NoHeader);
    block[500..3000].copy_from_slice(&garbage(2500));
    assert_eq!(job.says(&block).0, DamageKind::NoHeader, "with a part that is something else");
}

#[test]
fn data_of_other_options_says_which() {
    let md5 = spec(VerifyMethod::Md5);
    let pattern = |bytes: &[u8]| BlockPattern::new(bytes.to_vec(), vec![], 0).ok();
    let with_pattern = |method, bytes| VerifySpec { pattern: pattern(bytes), ..spec(method) };
    let cases = [
        (crc32c(), md5.clone(), "verify=md5"),
        (crc32c(), VerifySpec { interval: 512, ..crc32c() }, "verify_interval=512"),
        (VerifySpec { interval: 512, ..crc32c() }, crc32c(), "verify_interval=4096"),
        (crc32c(), VerifySpec { offset: 100, ..crc32c() }, "verify_offset=100"),
        (VerifySpec { offset: 100, ..crc32c() }, crc32c(), "no verify_offset"),
        (crc32c(), VerifySpec { offset: 100, ..md5.clone() }, "verify=md5, verify_offset=100"),
        (with_pattern(VerifyMethod::PatternHdr, &[1]), crc32c(), "verify=crc32c, no verify_pattern"),
        (
            crc32c(),
            with_pattern(VerifyMethod::PatternHdr, &[0xab, 0xcd]),
            "verify=pattern_hdr, verify_pattern=0xabcd",
        ),
        (
            with_pattern(VerifyMethod::PatternHdr, &[1]),
            with_pattern(VerifyMethod::PatternHdr, &[1, 2, 3]),
            "verify_pattern=0x010203",
        ),
        (
            with_pattern(VerifyMethod::Pattern, &[1]),
            with_pattern(VerifyMethod::Pattern, &[1, 2, 3]),
            "verify_pattern=0x010203",
        ),
        (with_pattern(VerifyMethod::Pattern, &[1]), md5, "verify=md5, no verify_pattern"),
    ];
    for (read, written, options) in cases {
        let damage = reader(read).explain(&reader(written).wanted());
        assert_eq!(
            (damage.kind, damage.options.as_deref()),
            (DamageKind::OtherOptions, Some(options)),
            "{damage}"
        );
    }
}

#[test]
fn a_header_of_a_method_without_headers_is_no_proof_of_other_options() {
    for layout in [HeaderLayout::Current, HeaderLayout::Fio340] {
        for method in [VerifyMethod::Pattern, VerifyMethod::Null] {
            let job = reader(VerifySpec { layout, ..crc32c() });
            let mut block = job.wanted();
            let mut header = BlockHeader::read_as(layout, &block).expect("a header");
            header.method = method.code();
            header.write_as(layout, &mut block);
            block[1000] ^= 1;
            let damage = job.explain(&block);
            assert_ne!(damage.kind, DamageKind::OtherOptions, "{damage}");
        }
    }
}

#[test]
fn headers_of_old_releases_are_compared_as_such() {
    let old = || VerifySpec { layout: HeaderLayout::Fio340, ..crc32c() };
    let any = || VerifySpec { any_layout: true, ..crc32c() };
    for job in [own_job(old()), reader(any())] {
        let writer = own_job(old());
        let damage = job.explain(&writer.block(1, 20480, LEN));
        assert_eq!(damage.kind, DamageKind::OtherBlock, "{damage}");
        assert_eq!(damage.found, Some(FoundWrite { offset: Some(20480), number: Some(1), job: Some(1) }));
        assert_eq!(job.says(&mixed(&writer.wanted(), &[0; LEN], 512..1024)).0, DamageKind::Zeros);
        let mut block = writer.wanted();
        block[37] ^= 4;
        let damage = job.explain(&block);
        assert_eq!(
            (damage.kind, damage.byte.map(|byte| byte.at)),
            (DamageKind::BitFlip, Some(37)),
            "{damage}"
        );
    }
    let sha512 = |layout, any_layout| VerifySpec { layout, any_layout, ..spec(VerifyMethod::Sha512) };
    let job = reader(sha512(HeaderLayout::Current, true));
    let writer = reader(sha512(HeaderLayout::Fio340, true));
    let mut block = writer.wanted();
    let field = crate::layout::unfinished_sha512(&block[168..]);
    block[40..168].copy_from_slice(field.as_bytes());
    // The field has the data from byte 88 to byte 128.
    block[168 + 100] ^= 4;
    let damage = job.explain(&block);
    assert_eq!((damage.kind, damage.byte.map(|byte| byte.at)), (DamageKind::BitFlip, Some(268)), "{damage}");
    let damage = own_job(crc32c()).explain(&own_job(old()).wanted());
    assert_eq!(damage.options.as_deref(), Some("verify_layout=fio-3.40"), "{damage}");
    let damage = own_job(old()).explain(&own_job(crc32c()).wanted());
    assert_eq!(damage.options.as_deref(), Some("verify_layout=current"), "{damage}");
}
