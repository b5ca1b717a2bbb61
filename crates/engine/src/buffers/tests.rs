use std::fs;
use std::path::PathBuf;

use ferrio_job::MemoryType;

use super::*;

fn memory(kind: MemoryType, file: Option<PathBuf>) -> Memory {
    Memory { kind, file, huge_page: 2 << 20, ..Memory::default() }
}

/// Writes every byte of every slot and finds it there.
fn works(buffers: &mut Buffers) {
    let stride = buffers.stride();
    for unit in 0..buffers.count() {
        buffers.fill(unit, stride).fill(unit as u8 + 1);
    }
    for unit in 0..buffers.count() {
        assert!(buffers.fill(unit, stride).iter().all(|&byte| byte == unit as u8 + 1));
    }
}

#[test]
fn slots_are_page_aligned_for_direct_io_and_do_not_overlap() {
    let mut buffers = Buffers::new(3, 5000, true).unwrap();
    assert_eq!(buffers.stride(), 8192);
    assert_eq!(buffers.slot(1) as usize % 4096, 0);
    works(&mut buffers);
}

#[test]
fn one_buffer_for_all_takes_the_memory_of_one() {
    let memory = Memory { align: 4096, one_for_all: true, ..memory(MemoryType::Malloc, None) };
    let mut buffers = Buffers::allocate(&memory, 1000, 5000, false).unwrap();
    buffers.populate();
    assert_eq!((buffers.slot(0), buffers.stride()), (buffers.slot(999), 8192));
    buffers.fill(7, 8192).fill(1);
    assert_eq!(buffers.fill(9, 1), [1]);
}

/// Bytes of the mappings of this process in which the kernel may use huge pages, from this address on.
fn advised_from(start: *const u8) -> usize {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut range, mut bytes) = (0..0, 0);
    for line in maps.lines() {
        let first = line.split(' ').next().unwrap();
        let ends =
            first.split_once('-').map(|(low, high)| [low, high].map(|end| usize::from_str_radix(end, 16)));
        if let Some([Ok(low), Ok(high)]) = ends {
            range = low..high;
        } else if line.starts_with("VmFlags:") && line.contains(" hg") && range.start == start.addr() {
            bytes = range.len();
        }
    }
    bytes
}

#[test]
fn large_buffers_are_on_the_huge_pages_that_they_fill_and_no_others() {
    let page = ferrio_machine::transparent_huge_page();
    let lean = Memory { transparent_huge: true, ..memory(MemoryType::Malloc, None) };
    for (count, size, want) in [
        (5, 1 << 20, 4 << 20),
        (32, 64 << 10, 2 << 20),
        (31, 64 << 10, 0),
        (1, 1 << 20, 0),
        (64, 32 << 10, 0),
    ] {
        let mut buffers = Buffers::allocate(&lean, count, size, true).unwrap();
        buffers.populate();
        let want = if page == Some(2 << 20) { want } else { 0 };
        assert_eq!(buffers.on_huge_pages(), want > 0, "{count} of {size}");
        assert_eq!(advised_from(buffers.slot(0)), want, "{count} of {size}");
        if want > 0 {
            assert_eq!(buffers.slot(0).addr() % (2 << 20), 0);
        }
        works(&mut buffers);
    }
    for other in [
        Memory { transparent_huge: false, ..lean.clone() },
        memory(MemoryType::Shm, None),
        Memory { one_for_all: true, ..lean.clone() },
    ] {
        assert!(!Buffers::allocate(&other, 8, 1 << 20, true).unwrap().on_huge_pages());
    }
    let aligned = Memory { align: 4 << 20, ..lean };
    let buffers = Buffers::allocate(&aligned, 2, 1 << 20, true).unwrap();
    assert!((0..2).all(|unit| buffers.slot(unit).addr().is_multiple_of(4 << 20)));
}

#[test]
fn an_impossible_size_is_an_error() {
    assert!(Buffers::new(u32::MAX, u64::MAX / 2, true).is_err());
    let error = Buffers::allocate(&memory(MemoryType::Shm, None), u32::MAX, u64::MAX / 2, false).unwrap_err();
    assert_eq!(error.errno(), libc::ENOMEM);
}

#[test]
fn every_slot_begins_at_a_multiple_of_the_alignment_whatever_the_kind() {
    for kind in [MemoryType::Malloc, MemoryType::Mmap, MemoryType::MmapShared, MemoryType::Shm] {
        for align in [16u64, 512, 4096, 8192, 1 << 20] {
            let memory = Memory { align, ..memory(kind, None) };
            let mut buffers = Buffers::allocate(&memory, 3, 1000, false).unwrap();
            assert!((0..3).all(|unit| (buffers.slot(unit) as u64).is_multiple_of(align)), "{kind:?} {align}");
            works(&mut buffers);
        }
    }
    let memory = Memory { align: 512, ..Memory::default() };
    let direct = Buffers::allocate(&memory, 2, 512, true).unwrap();
    assert_eq!(direct.slot(1) as usize % 4096, 0, "a page satisfies 512, too");
}

#[test]
fn segments_are_marked_for_removal_while_they_are_in_use() {
    let mut buffers = Buffers::allocate(&memory(MemoryType::Shm, None), 2, 12_345, false).unwrap();
    works(&mut buffers);
    // Column 2 are the permissions, whose 01000 says that the segment goes when the last process lets go; 4 is the size.
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let size = (buffers.stride() * 2).to_string();
    let pid = std::process::id().to_string();
    let own = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).find(|line| {
        line.get(3).is_some_and(|bytes| **bytes == size) && line.get(4).is_some_and(|maker| **maker == pid)
    });
    let own = own.expect("the segment is listed");
    assert_eq!(own[2], "1600", "{own:?}");
}

#[test]
fn a_file_that_was_missing_is_made_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    for kind in [MemoryType::Mmap, MemoryType::MmapShared] {
        let mut buffers = Buffers::allocate(&memory(kind, Some(path.clone())), 2, 10_000, false).unwrap();
        works(&mut buffers);
        assert!(fs::metadata(&path).unwrap().len() >= 20_000);
        drop(buffers);
        assert!(!path.exists());
    }
}

#[test]
fn a_file_that_existed_is_kept_and_never_shortened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, vec![7; 50_000]).unwrap();
    works(&mut Buffers::allocate(&memory(MemoryType::Mmap, Some(path.clone())), 2, 10_000, false).unwrap());
    assert_eq!(fs::read(&path).unwrap(), [7; 50_000], "a private mapping leaves the file alone");
    works(
        &mut Buffers::allocate(&memory(MemoryType::MmapShared, Some(path.clone())), 2, 10_000, false)
            .unwrap(),
    );
    let now = fs::read(&path).unwrap();
    assert_eq!((now.len(), now[0], now[10_000], now[20_000]), (50_000, 1, 2, 7));
}

#[test]
fn an_empty_file_is_made_large_enough() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "").unwrap();
    works(
        &mut Buffers::allocate(&memory(MemoryType::MmapShared, Some(path.clone())), 4, 4096, true).unwrap(),
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 16_384);
}

#[test]
fn a_path_that_cannot_be_opened_is_named() {
    let error = Buffers::allocate(&memory(MemoryType::MmapShared, Some("/nowhere/f".into())), 1, 4096, false)
        .unwrap_err();
    assert_eq!((error.func.as_str(), error.errno()), ("open(/nowhere/f)", libc::ENOENT));
}

#[test]
fn a_huge_page_file_elsewhere_than_on_a_hugetlbfs_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let error =
        Buffers::allocate(&memory(MemoryType::MmapHuge, Some(path.clone())), 1, 4096, false).unwrap_err();
    assert!(error.to_string().contains("hugetlbfs"), "{error}");
    assert!(!path.exists());
}

#[test]
fn huge_pages_work_where_there_are_some_and_are_an_advice_where_not() {
    for kind in [MemoryType::MmapHuge, MemoryType::ShmHuge] {
        match Buffers::allocate(&memory(kind, None), 2, 4096, true) {
            Ok(mut buffers) => works(&mut buffers),
            Err(error) => {
                let hint = error.hint.unwrap_or_default();
                assert!(hint.contains("huge pages") || hint.contains("CAP_IPC_LOCK"), "{hint}");
            }
        }
    }
}

#[test]
fn populated_slots_have_their_pages() {
    let buffers = Buffers::new(5, 3 * PAGE_BYTES as u64, true).unwrap();
    let mut resident = [0u8; 15];
    let mut look = || {
        let start = buffers.slot(0).cast();
        // SAFETY: the range is that of the slots, and there is a byte for each of its 15 pages.
        assert_eq!(unsafe { libc::mincore(start, 15 * PAGE_BYTES, resident.as_mut_ptr()) }, 0);
        resident.iter().filter(|&&page| page & 1 == 1).count()
    };
    assert_eq!(look(), 0);
    buffers.populate();
    assert_eq!(look(), 15);
}

#[test]
fn a_lent_slot_is_used_by_another_thread_and_outlives_the_buffers() {
    let mut buffers = Buffers::new(2, 4096, true).unwrap();
    buffers.fill(1, 100).fill(7);
    let mut lent = buffers.lend(1, 100).unwrap();
    buffers.fill_unless_lent(0, 100).unwrap().fill(1);
    drop(buffers);
    let sum = std::thread::spawn(move || {
        lent[0] = 9;
        lent.iter().map(|&byte| u32::from(byte)).sum::<u32>()
    });
    assert_eq!(sum.join().unwrap(), 99 * 7 + 9);
}

#[test]
fn a_lent_slot_is_neither_filled_nor_lent_again_until_it_is_back() {
    let mut buffers = Buffers::new(2, 4096, true).unwrap();
    buffers.fill(1, 100).fill(7);
    let lent = buffers.lend(1, 100).unwrap();
    assert!(buffers.lend(1, 100).is_none() && buffers.fill_unless_lent(1, 1).is_none());
    drop(lent);
    assert_eq!(buffers.fill_unless_lent(1, 100).unwrap(), [7; 100]);
    assert!(buffers.lend(1, 4096).is_some());
    assert!(buffers.lend(2, 1).is_none() && buffers.lend(0, 4097).is_none(), "there are two slots of a page");
}

#[test]
#[should_panic(expected = "slot 0 of 0")]
fn a_job_that_lends_slots_asks_for_each_whether_it_is_lent() {
    let mut buffers = Buffers::new(2, 4096, true).unwrap();
    drop(buffers.lend(1, 100));
    buffers.fill(0, 100);
}
