use std::path::PathBuf;

use ferrio_job::FileKind;
use ferrio_random::{DEFAULT_SEED, Generator, Stream, job_seeds, purpose};

use super::regions::Regions;
use super::*;
use crate::probe::FoundFile;

const K: u64 = 1024;

const SIZE_OPTIONS: SizeOptions = SizeOptions {
    size: None,
    io_size: None,
    filesize: None,
    offset: BytesOrPercent::Bytes(0),
    offset_increment: BytesOrPercent::Bytes(0),
    offset_align: 0,
    min_block: 4 * K,
    file_append: false,
    lays_out: true,
    pretended_files_are_endless: false,
};

/// The stream of the first job's sizes.
fn stream() -> Stream {
    Stream::new(Generator::Tausworthe32, job_seeds(DEFAULT_SEED, 1)[purpose::FILE_SIZE])
}

fn files(kind: FileKind, sizes: &[Option<u64>]) -> Vec<JobFile> {
    let file = |(at, &size): (usize, &Option<u64>)| JobFile {
        path: PathBuf::from(format!("f{at}")),
        found: FoundFile { kind, size, device: None },
        size_by_then: size,
        run: None,
    };
    sizes.iter().enumerate().map(file).collect()
}

/// No run is split.
fn no_path(_: u64) -> PathBuf {
    PathBuf::new()
}

/// `(offset, size, real_size, extend)` of each file, and the job's size.
fn sized(size_options: SizeOptions, clone: u32, sizes: &[Option<u64>]) -> (Vec<(u64, u64, u64, bool)>, u64) {
    let found =
        regions(clone, &size_options, files(FileKind::Regular, sizes), &no_path, &mut stream()).unwrap();
    (found.files.iter().map(|f| (f.offset, f.size, f.real_size, f.extend)).collect(), found.size)
}

/// What there is to say about the files.
fn messages(regions: &Regions) -> Vec<&str> {
    regions.notes.iter().map(|note| note.message.as_str()).collect()
}

fn refused(size_options: SizeOptions, kind: FileKind, sizes: &[Option<u64>]) -> (i32, String) {
    let error = regions(0, &size_options, files(kind, sizes), &no_path, &mut stream()).unwrap_err();
    (error.errno, error.diagnostic("a").line(ferrio_job::Compat::Fio))
}

#[test]
fn size_is_split_evenly_without_rounding_to_blocks() {
    let size_options = SizeOptions { size: Some(BytesOrPercent::Bytes(18 * K)), ..SIZE_OPTIONS };
    let (found, size) = sized(size_options, 0, &[None; 4]);
    assert_eq!(found, [(0, 4608, 4608, true); 4]);
    assert_eq!(size, 18 * K);
}

#[test]
fn a_device_of_known_size_has_no_more_than_that() {
    let size_options = SizeOptions { size: Some(BytesOrPercent::Bytes(64 * K)), ..SIZE_OPTIONS };
    for kind in [FileKind::Block, FileKind::Char] {
        let found = regions(0, &size_options, files(kind, &[Some(16 * K)]), &no_path, &mut stream()).unwrap();
        assert_eq!(
            (found.files[0].size, found.files[0].real_size, found.files[0].extend),
            (16 * K, 16 * K, false)
        );
        let whole = regions(0, &SIZE_OPTIONS, files(kind, &[Some(16 * K)]), &no_path, &mut stream()).unwrap();
        assert_eq!(whole.size, 16 * K);
    }
    let unknown = regions(0, &size_options, files(FileKind::Char, &[None]), &no_path, &mut stream()).unwrap();
    assert_eq!(unknown.size, 64 * K);
}

#[test]
fn a_remainder_larger_than_a_block_goes_to_the_first_files() {
    let size_options = SizeOptions { size: Some(BytesOrPercent::Bytes(10)), min_block: 2, ..SIZE_OPTIONS };
    let (found, size) = sized(size_options, 0, &[None; 4]);
    assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), [4, 2, 2, 2]);
    assert_eq!(size, 10);
}

#[test]
fn filesize_sets_each_file_and_size_caps_the_job() {
    let size_options = SizeOptions {
        size: Some(BytesOrPercent::Bytes(12 * K)),
        filesize: Some((8 * K, 8 * K)),
        ..SIZE_OPTIONS
    };
    let (found, size) = sized(size_options, 0, &[None, Some(8 * K), Some(64 * K)]);
    assert_eq!(found, [(0, 8192, 8192, true), (0, 8192, 8192, false), (0, 8192, 65536, false)]);
    assert_eq!(size, 12 * K);
}

#[test]
fn filesize_counts_from_the_start_of_the_file() {
    let size_options = SizeOptions {
        filesize: Some((16 * K, 16 * K)),
        offset: BytesOrPercent::Bytes(4 * K),
        ..SIZE_OPTIONS
    };
    assert_eq!(sized(size_options, 0, &[Some(8 * K)]), (vec![(4096, 12288, 16384, true)], 12288));
    let far = SizeOptions { offset: BytesOrPercent::Bytes(20 * K), ..size_options };
    let want = (0, "a: you need to specify valid offset=".to_owned());
    assert_eq!(refused(far, FileKind::Regular, &[None]), want);
}

#[test]
fn without_a_size_the_existing_file_is_used_from_the_offset_on() {
    let size_options = SizeOptions { offset: BytesOrPercent::Bytes(16 * K), ..SIZE_OPTIONS };
    assert_eq!(sized(size_options, 0, &[Some(64 * K)]), (vec![(16384, 49152, 65536, false)], 49152));
    assert_eq!(
        sized(SizeOptions { size: Some(BytesOrPercent::Percent(100)), ..size_options }, 0, &[Some(64 * K)]).1,
        49152
    );
}

#[test]
fn a_share_of_the_file_is_cut_at_its_end_and_rounded_down_to_blocks() {
    let half = SizeOptions { size: Some(BytesOrPercent::Percent(50)), ..SIZE_OPTIONS };
    assert_eq!(sized(half, 0, &[Some(64 * K)]).1, 32 * K);
    assert_eq!(
        sized(SizeOptions { size: Some(BytesOrPercent::Percent(33)), ..SIZE_OPTIONS }, 0, &[Some(64 * K)]).1,
        20 * K
    );
    let late = SizeOptions { offset: BytesOrPercent::Bytes(48 * K), ..half };
    assert_eq!(sized(late, 0, &[Some(64 * K)]).1, 16 * K);
}

#[test]
fn a_share_of_a_given_file_size_does_not_look_at_the_file() {
    let half = SizeOptions {
        size: Some(BytesOrPercent::Percent(50)),
        filesize: Some((30 * K, 30 * K)),
        ..SIZE_OPTIONS
    };
    assert_eq!(sized(half, 0, &[None]), (vec![(0, 12288, 12288, true)], 12288));
    assert_eq!(sized(half, 0, &[Some(64 * K)]).1, 12288);
    let late = SizeOptions { offset: BytesOrPercent::Bytes(20 * K), ..half };
    assert_eq!(sized(late, 0, &[None]), (vec![(20480, 8192, 28672, true)], 8192));
}

#[test]
fn offsets_in_percent_are_rounded_up_and_plain_ones_never_aligned() {
    let third = SizeOptions { offset: BytesOrPercent::Percent(33), min_block: 16 * K, ..SIZE_OPTIONS };
    assert_eq!(sized(third, 0, &[Some(64 * K)]), (vec![(32 * K, 32 * K, 64 * K, false)], 32 * K));
    let aligned = SizeOptions { offset_align: 1000, ..third };
    assert_eq!(sized(aligned, 0, &[Some(64 * K)]).0[0].0, 22000);
    let plain = SizeOptions {
        offset: BytesOrPercent::Bytes(10 * K),
        size: Some(BytesOrPercent::Bytes(20 * K)),
        ..third
    };
    assert_eq!(sized(plain, 0, &[None]), (vec![(10240, 20480, 30720, true)], 20480));
}

#[test]
fn each_clone_starts_further_in_by_the_increment() {
    let size_options = SizeOptions {
        offset_increment: BytesOrPercent::Percent(25),
        size: Some(BytesOrPercent::Bytes(8 * K)),
        ..SIZE_OPTIONS
    };
    let starts = [0, 1, 2].map(|clone| sized(size_options, clone, &[Some(64 * K)]).0[0].0);
    assert_eq!(starts, [0, 16 * K, 32 * K]);
}

#[test]
fn nothing_known_means_a_size_is_needed() {
    let want = (libc::EINVAL, "a: you need to specify size=".to_owned());
    assert_eq!(refused(SIZE_OPTIONS, FileKind::Regular, &[None]), want);
    assert_eq!(refused(SIZE_OPTIONS, FileKind::Regular, &[Some(0)]), want);
    assert_eq!(refused(SIZE_OPTIONS, FileKind::Char, &[None]), want);
    let half = SizeOptions { size: Some(BytesOrPercent::Percent(50)), ..SIZE_OPTIONS };
    assert_eq!(refused(half, FileKind::Pretend, &[None]), want);
}

#[test]
fn a_region_below_one_block_fails_without_an_error_number() {
    let want = (0, "fio: blocksize is larger than data set range".to_owned());
    assert_eq!(refused(SIZE_OPTIONS, FileKind::Regular, &[Some(2 * K)]), want);
    let scaled = SizeOptions {
        size: Some(BytesOrPercent::Bytes(8 * K)),
        io_size: Some(BytesOrPercent::Percent(10)),
        ..SIZE_OPTIONS
    };
    assert_eq!(refused(scaled, FileKind::Regular, &[None]), want);
}

#[test]
fn a_size_in_bytes_that_the_offset_leaves_nothing_of_means_nothing_to_do() {
    let size_options =
        SizeOptions { offset: BytesOrPercent::Bytes(8 * K), filesize: Some((8 * K, 8 * K)), ..SIZE_OPTIONS };
    let want = "fio: blocksize is larger than data set range";
    assert_eq!(refused(size_options, FileKind::Regular, &[None]).1, want);
    let capped = SizeOptions { size: Some(BytesOrPercent::Bytes(8 * K)), ..size_options };
    assert_eq!(sized(capped, 0, &[None]), (vec![(8192, 0, 8192, true)], 0));
}

#[test]
fn io_size_is_bytes_or_a_share_of_the_region() {
    let io_size = |io_size| {
        let size_options =
            SizeOptions { size: Some(BytesOrPercent::Bytes(8 * K)), io_size: Some(io_size), ..SIZE_OPTIONS };
        regions(0, &size_options, files(FileKind::Regular, &[None]), &no_path, &mut stream()).unwrap().io_size
    };
    assert_eq!(io_size(BytesOrPercent::Bytes(100 * K)), Some(100 * K));
    assert_eq!(io_size(BytesOrPercent::Bytes(K)), Some(K));
    assert_eq!(io_size(BytesOrPercent::Percent(50)), Some(4 * K));
    assert_eq!(io_size(BytesOrPercent::Percent(0)), None);
}

#[test]
fn a_block_device_does_not_grow() {
    let size_options = SizeOptions {
        size: Some(BytesOrPercent::Bytes(64 * K)),
        offset: BytesOrPercent::Bytes(16 * K),
        ..SIZE_OPTIONS
    };
    let found =
        regions(0, &size_options, files(FileKind::Block, &[Some(32 * K)]), &no_path, &mut stream()).unwrap();
    assert_eq!(
        (found.files[0].size, found.files[0].real_size, found.files[0].extend),
        (16 * K, 32 * K, false)
    );
    let far = SizeOptions { offset: BytesOrPercent::Bytes(48 * K), ..size_options };
    assert_eq!(refused(far, FileKind::Block, &[Some(32 * K)]).1, "a: offset extends end (49152 > 32768)");
}

#[test]
fn engines_without_files_take_their_size_from_the_job() {
    let size_options =
        SizeOptions { size: Some(BytesOrPercent::Bytes(K * K)), lays_out: false, ..SIZE_OPTIONS };
    let found =
        regions(0, &size_options, files(FileKind::Pretend, &[None]), &no_path, &mut stream()).unwrap();
    assert_eq!((found.files[0].size, found.files[0].real_size, found.files[0].extend), (K * K, K * K, false));
}

#[test]
fn a_file_with_an_empty_region_gets_a_note() {
    let found =
        regions(0, &SIZE_OPTIONS, files(FileKind::Regular, &[Some(8 * K), Some(0)]), &no_path, &mut stream())
            .unwrap();
    assert_eq!(messages(&found), ["file f1 may be ignored"]);
    assert_eq!(found.size, 8 * K);
}

#[test]
fn no_files_at_all_means_nothing_to_do() {
    let size_options = SizeOptions { size: Some(BytesOrPercent::Bytes(8 * K)), ..SIZE_OPTIONS };
    assert_eq!(regions(0, &size_options, Vec::new(), &no_path, &mut stream()).unwrap(), Regions::default());
}

/// Sizes of files in blocks of 4 KiB that a job of clone 0 gives them.
fn drawn(range: (u64, u64), offset: u64, there: &[Option<u64>]) -> Vec<u64> {
    let size_options =
        SizeOptions { filesize: Some(range), offset: BytesOrPercent::Bytes(offset), ..SIZE_OPTIONS };
    sized(size_options, 0, there).0.iter().map(|f| f.1 / (4 * K)).collect()
}

#[test]
fn sizes_between_bounds_are_drawn_as_fio_draws_them() {
    assert_eq!(drawn((8 * K, 64 * K), 0, &[None; 8]), [4, 6, 6, 14, 12, 9, 10, 2]);
    assert_eq!(drawn((8 * K, 64 * K), 8 * K, &[None; 4]), [2, 4, 4, 12]);
    let small = SizeOptions { filesize: Some((8000, 65001)), min_block: K, ..SIZE_OPTIONS };
    let sizes: Vec<u64> = sized(small, 0, &[None; 8]).0.iter().map(|f| f.1 / K).collect();
    assert_eq!(sizes, [15, 25, 24, 57, 50, 36, 40, 9]);
}

#[test]
fn a_file_between_the_bounds_keeps_its_size_and_draws_nothing() {
    assert_eq!(drawn((8 * K, 64 * K), 0, &[None, Some(16 * K), None, None]), [4, 4, 6, 6]);
    assert_eq!(drawn((8 * K, 64 * K), 0, &[None, Some(128 * K), None, None]), [4, 6, 6, 14]);
    assert_eq!(drawn((8 * K, 64 * K), 0, &[None, Some(0), None, None]), [4, 6, 6, 14]);
}

#[test]
fn size_is_a_share_of_what_was_drawn() {
    let half = SizeOptions {
        filesize: Some((8 * K, 64 * K)),
        size: Some(BytesOrPercent::Percent(50)),
        ..SIZE_OPTIONS
    };
    assert_eq!(sized(half, 0, &[None; 4]).0.iter().map(|f| f.1 / (4 * K)).collect::<Vec<_>>(), [2, 3, 3, 7]);
}

#[test]
fn appending_begins_at_the_end_of_what_is_there() {
    let size_options =
        SizeOptions { size: Some(BytesOrPercent::Bytes(8 * K)), file_append: true, ..SIZE_OPTIONS };
    let (found, _) = sized(size_options, 0, &[None]);
    assert_eq!(found, [(0, 8192, 8192, true)]);
    let (found, _) = sized(size_options, 0, &[Some(5000)]);
    assert_eq!(found, [(5000, 8192, 13192, true)]);
    let upto = SizeOptions { size: None, filesize: Some((16 * K, 16 * K)), ..size_options };
    assert_eq!(sized(upto, 0, &[Some(8 * K)]).0, [(8192, 8192, 16384, true)]);
    let message = "fio: blocksize is larger than data set range";
    let nothing = SizeOptions { size: None, ..size_options };
    assert_eq!(refused(nothing, FileKind::Regular, &[Some(8 * K)]), (0, message.to_owned()));
}

#[test]
fn appending_is_for_regular_files_and_leaves_offsets_aside() {
    let size_options = SizeOptions {
        size: Some(BytesOrPercent::Bytes(8 * K)),
        offset: BytesOrPercent::Bytes(4 * K),
        file_append: true,
        ..SIZE_OPTIONS
    };
    let found =
        |kind| regions(0, &size_options, files(kind, &[Some(64 * K)]), &no_path, &mut stream()).unwrap();
    let regular = found(FileKind::Regular);
    assert_eq!(regular.files[0].offset, 64 * K);
    assert_eq!(messages(&regular), ["offset has no effect on f0: file_append begins at its end"]);
    let block = found(FileKind::Block);
    assert_eq!(block.files[0].offset, 4 * K);
    assert_eq!(messages(&block), ["file_append has no effect on f0: it is not a regular file"]);
}
