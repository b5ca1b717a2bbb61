use std::time::Duration;

use super::*;
use crate::testing::{refusals, spec_of};

fn spec(options: &str) -> JobSpec {
    spec_of(&format!("[a]\nioengine=null\nsize=64k\n{options}"))
}

#[test]
fn an_empty_job_has_fios_defaults() {
    let spec = spec("");
    let bare = JobSpec::bare("a");
    assert_eq!((spec.rw, spec.depth, &spec.measure), (bare.rw, bare.depth, &bare.measure));
    assert_eq!((spec.seeding, spec.fallocate, spec.fadvise), (bare.seeding, bare.fallocate, bare.fadvise));
    assert_eq!((&spec.block, spec.rwmixread, spec.direct), (&bare.block, 50, false));
    assert_eq!((spec.units, spec.overwrite, spec.durability), (bare.units, true, bare.durability));
}

#[test]
fn direct_and_buffered_are_one_switch_and_the_last_counts() {
    assert!(spec("direct=1\n").direct);
    assert!(!spec("direct=1\nbuffered=1\n").direct);
    assert!(spec("buffered=1\nbuffered=0\n").direct);
    assert!(spec("buffered=0\n").direct);
}

#[test]
fn rwmixread_and_rwmixwrite_are_one_number_and_the_last_counts() {
    assert_eq!(spec("rwmixread=70\n").rwmixread, 70);
    assert_eq!(spec("rwmixread=70\nrwmixwrite=80\n").rwmixread, 20);
    assert_eq!(spec("rwmixwrite=80\nrwmixread=70\n").rwmixread, 70);
}

#[test]
fn a_range_of_block_sizes_beats_a_fixed_one_in_either_order() {
    let sizes = |options| spec(options).block.0.map(|block| (block.min, block.max));
    assert_eq!(sizes("bs=8k,4k\n"), [(8192, 8192), (4096, 4096), (4096, 4096)]);
    assert_eq!(sizes("bsrange=,1k-4k\nbs=16k\n"), [(16384, 16384), (1024, 4096), (1024, 4096)]);
    assert_eq!(sizes("bs=16k\nbsrange=2k-8k\n"), [(2048, 8192); 3]);
}

#[test]
fn depths_and_batches_are_brought_into_range() {
    let depth = spec("iodepth=16\n").depth;
    assert_eq!(depth, Depth { iodepth: 16, batch: 1, complete_min: 1, complete_max: 1, low: 16 });
    let depth = spec("iodepth=16\niodepth_batch=0\niodepth_low=40\niodepth_batch_complete=0\n").depth;
    assert_eq!(depth, Depth { iodepth: 16, batch: 16, complete_min: 0, complete_max: 0, low: 16 });
    let depth =
        spec("iodepth=16\niodepth_batch=8\niodepth_batch_complete_min=4\niodepth_batch_complete_max=2\n")
            .depth;
    assert_eq!(depth, Depth { iodepth: 16, batch: 8, complete_min: 4, complete_max: 4, low: 16 });
}

#[test]
fn the_step_of_rw_is_a_count_for_random_and_bytes_for_sequential_kinds() {
    assert_eq!(spec("rw=randwrite:8\n").rw_postfix, RwPostfix::Every(8));
    assert_eq!(spec("rw=write:-4k\n").rw_postfix, RwPostfix::Hole(-4096));
    assert_eq!(spec("rw=read:4k\nkb_base=1000\n").rw_postfix, RwPostfix::Hole(4000));
    assert_eq!(spec("rw=read:0\n").rw_postfix, RwPostfix::None);
    assert_eq!(spec("rw=read:(2*4k)\n").rw_postfix, RwPostfix::Hole(8192));
    assert_eq!(spec("rw=randread:(2*4)\n").rw_postfix, RwPostfix::Every(8));
    assert_eq!(spec("rw=write:(1-5)k\n").rw_postfix, RwPostfix::Hole(-4096));
}

#[test]
fn a_seed_is_used_whatever_randrepeat_says() {
    assert_eq!(spec("").seeding, Seeding::Repeatable);
    assert_eq!(spec("randrepeat=0\n").seeding, Seeding::FromSystem);
    assert_eq!(spec("randrepeat=0\nrandseed=7\n").seeding, Seeding::Fixed(7));
}

#[test]
fn times_loops_and_delays_are_kept() {
    let limits = spec("runtime=1m\nramp_time=500ms\nloops=0\nstartdelay=1,2\nnumber_ios=1k\n").limits;
    assert_eq!((limits.runtime, limits.ramp_time), (Duration::from_secs(60), Duration::from_millis(500)));
    assert_eq!(limits.startdelay, (Duration::from_secs(1), Duration::from_secs(2)));
    assert_eq!((limits.loops, limits.number_ios), (1, 1024));
}

#[test]
fn sync_options_become_flags_and_counts() {
    let durability = spec("sync_file_range=wait_before,write:8\nfsync=4\nend_fsync=1\n").durability;
    assert_eq!(durability.sync_file_range, SyncFileRange { flags: 3, every: 8 });
    assert_eq!((durability.fsync, durability.fdatasync, durability.end_fsync), (4, 0, true));
    assert_eq!(spec("sync_file_range=wait_after\n").durability.sync_file_range.every, 1);
    assert_eq!(spec("sync=dsync\n").open_sync, OpenSync::Dsync);
    assert_eq!(spec("sync=1\n").open_sync, OpenSync::Sync);
}

#[test]
fn numbers_words_and_texts_of_single_options_are_kept() {
    let spec = spec(
        "name=printed\nrw=randtrimwrite\nrate=,1m\nnice=-3\nfallocate=0\nfadvise_hint=noreuse\nnorandommap\n",
    );
    assert_eq!((spec.name.as_str(), spec.rw), ("printed", ReadWrite::RandTrimWrite));
    assert_eq!(spec.rates.bytes.0, [0, 1 << 20, 1 << 20]);
    assert_eq!((spec.nice, spec.fallocate, spec.fadvise), (-3, Fallocate::None, Fadvise::NoReuse));
    assert!(!spec.random_map);
}

#[test]
fn a_long_description_is_cut_between_characters() {
    let text = "ä".repeat(200);
    assert_eq!(spec(&format!("description={text}\n")).description, Some("ä".repeat(127)));
}

#[test]
fn sizes_in_zones_are_refused() {
    let job = "[a]\nioengine=null\n";
    let want = "option `size` in zones needs zonemode=zbd, which is not implemented yet";
    assert_eq!(refusals(&format!("{job}size=10z\n")), [want]);
}
