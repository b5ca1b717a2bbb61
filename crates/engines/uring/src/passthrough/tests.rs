use ferrio_engine::testing::{Rig, file_with, open};
use ferrio_job::ProtectionChecks;
use ferrio_nvme::{GuardFormat, ProtectionFormat};
use ferrio_plan::testing::default_job;

use super::*;

const PLAIN: Namespace = Namespace {
    id: 3,
    blocks: 1 << 20,
    data_bytes: 512,
    metadata_bytes: 0,
    is_extended: false,
    protection: None,
};

const TYPE_1: Option<ProtectionFormat> =
    Some(ProtectionFormat { kind: 1, is_first: false, guard: GuardFormat::Bits16, storage_tag_bits: 0 });

fn request(op: Op, offset: u64, len: u64) -> Request {
    Request { op, unit: 0, file: 0, len, priority: 0, offset, buffer: std::ptr::null_mut() }
}

fn protection(by_device: bool) -> ProtectionOptions {
    ProtectionOptions {
        metadata_bytes: 4096,
        by_device,
        checks: ProtectionChecks { guard: true, reference_tag: true, app_tag: false },
        app_tag: 0x1234,
        app_tag_mask: 0xffff,
    }
}

fn command(namespace: Namespace, by_device: bool, offset: u64, len: u64, mode: Option<WriteMode>) -> Command {
    let options = PassthroughOptions { deallocates: true, fua_writes: true, ..PassthroughOptions::default() };
    let device = JobNamespace::new(namespace, &protection(by_device)).unwrap();
    device.rw_command(&request(Op::Read, offset, len), mode, &options, &protection(by_device))
}

#[test]
fn offsets_and_lengths_are_blocks_of_the_device() {
    let read = command(PLAIN, true, 512 * 9, 512 * 8, None);
    assert_eq!((read.opcode, read.namespace, read.words_10_15), (opcode::READ, 3, [9, 0, 7, 0, 0, 0]));
    let large = Namespace { data_bytes: 4096, ..PLAIN };
    assert_eq!(command(large, true, 4096 * 9, 4096, None).words_10_15[..3], [9, 0, 0]);
    let extended = Namespace { data_bytes: 4096, metadata_bytes: 64, is_extended: true, ..PLAIN };
    assert_eq!(command(extended, true, 4160 * 9, 4160 * 2, None).words_10_15[..3], [9, 0, 1]);
}

#[test]
fn each_write_mode_is_a_command_with_the_bits_it_has() {
    let word = |mode| {
        let command = command(PLAIN, true, 0, 512, Some(mode));
        (command.opcode, command.words_10_15[2])
    };
    assert_eq!(word(WriteMode::Write), (0x01, 1 << 30));
    assert_eq!(word(WriteMode::Uncor), (0x04, 0));
    assert_eq!(word(WriteMode::Zeroes), (0x08, 1 << 30 | 1 << 25));
    assert_eq!(word(WriteMode::Verify), (0x0c, 1 << 30));
}

#[test]
fn protection_information_is_made_by_the_device_or_by_the_program() {
    let namespace = Namespace { metadata_bytes: 8, protection: TYPE_1, ..PLAIN };
    let by_device = command(namespace, true, 512 * 5, 512, None);
    assert_eq!(by_device.words_10_15[2..], [1 << 29 | 1 << 28 | 1 << 26, 0, 5, 0xffff_1234]);
    let own = command(namespace, false, 512 * 5, 512, None);
    assert_eq!(own.words_10_15[2], 1 << 28 | 1 << 26);
    let device = |by_device| JobNamespace::new(namespace, &protection(by_device)).unwrap();
    let io = request(Op::Read, 0, 1024);
    assert_eq!([true, false].map(|who| device(who).separate_metadata(&io)), [0, 16]);
    assert_eq!([true, false].map(|who| device(who).own.is_some()), [false, true]);
}

#[test]
fn blocks_of_an_io_have_their_metadata_beside_them_or_behind() {
    for is_extended in [false, true] {
        let namespace = Namespace { metadata_bytes: 16, is_extended, protection: TYPE_1, ..PLAIN };
        let device = JobNamespace::new(namespace, &protection(false)).unwrap();
        assert_eq!(device.own.unwrap().offset, 8, "behind other metadata");
        let mut data = vec![1; 2 * device.block as usize];
        let mut metadata = vec![0; if is_extended { 0 } else { 32 }];
        let io = request(Op::Write, u64::from(device.block) * 7, data.len() as u64);
        let mut blocks = Vec::new();
        let all: Result<(), ()> =
            device.for_each_block(&io, &mut data, &mut metadata, |lba, data, metadata| {
                blocks.push((lba, data.len(), metadata.len()));
                Ok(())
            });
        assert_eq!(all, Ok(()));
        assert_eq!(blocks, [(7, 512, 16), (8, 512, 16)], "extended: {is_extended}");
    }
}

#[test]
fn formats_that_the_program_cannot_make_are_left_to_the_device() {
    let format = ProtectionFormat { guard: GuardFormat::Bits32, ..TYPE_1.unwrap() };
    let namespace = Namespace { metadata_bytes: 16, protection: Some(format), ..PLAIN };
    assert!(JobNamespace::new(namespace, &protection(false)).unwrap_err().contains("pi_act=1"));
    assert!(JobNamespace::new(namespace, &protection(true)).is_ok());
}

#[test]
fn modes_are_drawn_by_their_shares() {
    let shares = vec![(WriteMode::Write, 70), (WriteMode::Zeroes, 30)];
    let mut modes = WriteModeGenerator { shares, state: 0x9e37_79b9_7f4a_7c15 };
    let zeroes = (0..10_000).filter(|_| modes.next() == WriteMode::Zeroes).count();
    assert!((2_800..3_200).contains(&zeroes), "{zeroes}");
}

#[test]
fn a_file_that_is_no_namespace_is_refused_by_its_name() {
    let file = file_with(&[0; 512]);
    let mut spec = default_job("io_uring_cmd");
    spec.engine_options.passthrough.write_modes = vec![(WriteMode::Write, 100)];
    spec.files = vec![ferrio_plan::testing::file("f", ferrio_job::FileKind::Char, 512)];
    let error = Rig::<UringCmd>::new(&spec, open(&file, libc::O_RDWR).unwrap()).err().unwrap();
    assert_eq!(error.hint.as_deref(), Some("f: failed to fetch namespace-id"));
}
