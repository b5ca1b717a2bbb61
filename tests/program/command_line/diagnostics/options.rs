//! Names of options and engines, and jobs that cannot be.

use super::{of, said};

#[test]
fn an_unknown_option() {
    insta::assert_snapshot!(of("[a]\nquantum_flux=1\n"), @"
    [unknown-option] [job-dropped]
    error: unknown option `quantum_flux`
     --> x.fio:2:1
      |
    2 | quantum_flux=1
      | ^^^^^^^^^^^^ no such option

    note: job a dropped
    ");
}

#[test]
fn a_misspelt_option() {
    insta::assert_snapshot!(of("[a]\nsize=4k\n  iodpeth = 32 ; deep\n"), @r#"
    [unknown-option -> iodepth] [job-dropped]
    error: unknown option `iodpeth`
     --> x.fio:3:3
      |
    3 |   iodpeth = 32 ; deep
      |   ^^^^^^^ did you mean `iodepth`?

    note: job a dropped
    "#);
}

#[test]
fn a_misspelt_option_of_another_engine() {
    insta::assert_snapshot!(of("[a]\nuserspace_raep\n"), @r#"
    [unknown-option -> userspace_reap] [job-dropped]
    error: unknown option `userspace_raep`
     --> x.fio:2:1
      |
    2 | userspace_raep
      | ^^^^^^^^^^^^^^ did you mean `userspace_reap`, an option of engine libaio?

    note: job a dropped
    "#);
}

#[test]
fn an_option_of_another_engine() {
    insta::assert_snapshot!(of("[a]\nioengine=null\nhipri\n"), @r#"
    [option-of-other-engine] [job-dropped]
    error: option `hipri` belongs to engines io_uring, io_uring_cmd, libblkio, sg, pvsync2, xnvme; this job uses null
     --> x.fio:3:1
      |
    3 | hipri
      | ^^^^^ not an option of null
      |
      = help: choose the engine with `ioengine=io_uring`, or remove the option

    note: job a dropped
    "#);
}

#[test]
fn an_option_of_an_engine_nobody_knows() {
    insta::assert_snapshot!(of("[a]\nioengine=spdk\nspdk_mem=2\n"), @r#"
    [unknown-option] [job-dropped]
    error: unknown option `spdk_mem`
     --> x.fio:3:1
      |
    3 | spdk_mem=2
      | ^^^^^^^^
      |
      = help: private options of engine spdk are unknown here

    note: job a dropped
    "#);
}

#[test]
fn an_option_name_in_capitals() {
    insta::assert_snapshot!(of("[a]\nBS=4k\n"), @r#"
    [unknown-option -> bs] [job-dropped]
    error: unknown option `BS`
     --> x.fio:2:1
      |
    2 | BS=4k
      | ^^ did you mean `bs`?

    note: job a dropped
    "#);
}

#[test]
fn a_removed_option() {
    insta::assert_snapshot!(of("[a]\npercentage_sequential=50\n"), @r#"
    [removed-option] [job-dropped]
    error: option `percentage_sequential` is deprecated and was removed
     --> x.fio:2:1
      |
    2 | percentage_sequential=50
      | ^^^^^^^^^^^^^^^^^^^^^ no longer supported
      |
      = help: use `percentage_random`

    note: job a dropped
    "#);
}

#[test]
fn an_option_without_implementation() {
    insta::assert_snapshot!(of("[a]\nioengine=io_uring\nsize=4k\nverify_bytchk=1\n"), @"
    [unimplemented-value]
    error: option `verify_bytchk` is not implemented yet
     --> x.fio:4:15
      |
    4 | verify_bytchk=1
      |               ^ its purpose: Comparison done by SCSI VERIFY
      |
      = help: remove the option to run the job without it; only `0` is accepted
    ");
}

#[test]
fn an_option_that_cannot_work_here() {
    insta::assert_snapshot!(of("[a]\nioengine=null\nsize=4k\nfdp=1\n"), @"
    [unavailable-option]
    error: option `fdp` is not available: placement ids need a device with FDP or write streams, and no engine of ferrio passes them on
     --> x.fio:4:1
      |
    4 | fdp=1
      | ^^^ its purpose: Tag writes with Flexible Data Placement ids
      |
      = help: remove the option to run the job without it
    ");
}

#[test]
fn an_engine_that_is_misspelt() {
    insta::assert_snapshot!(of("[a]\nioengine=libiao\nsize=4k\n"), @r#"
    [unknown-engine -> libaio]
    error: engine libiao not loadable
     --> x.fio:2:10
      |
    2 | ioengine=libiao
      |          ^^^^^^ no such engine; did you mean `libaio`?
      |
      = help: engines are cpuio, dev-dax, dircreate, dirdelete, dirstat, e4defrag, exec, external, falloc, filecreate, filedelete, filestat, ftruncate, http, io_uring, io_uring_cmd, libaio, libpmem, mmap, mtd, nbd, net, netsplice, null, page_fault, posixaio, psync, pvsync, pvsync2, sg, splice, sync, tokio_uring, vsync
    "#);
}

#[test]
fn an_engine_that_is_not_there() {
    insta::assert_snapshot!(of("[a]\nioengine=rbd\nrbdname=x\nsize=4k\n"), @"
    [unavailable-engine]
    error: engine rbd not loadable
     --> x.fio:2:10
      |
    2 | ioengine=rbd
      |          ^^^ not available: engine rbd needs Ceph's librbd, which ferrio is not linked with
      |
      = help: map the image (rbd map) and use `io_uring` on the device; engines are cpuio, dev-dax, dircreate, dirdelete, dirstat, e4defrag, exec, external, falloc, filecreate, filedelete, filestat, ftruncate, http, io_uring, io_uring_cmd, libaio, libpmem, mmap, mtd, nbd, net, netsplice, null, page_fault, posixaio, psync, pvsync, pvsync2, sg, splice, sync, tokio_uring, vsync
    ");
}

#[test]
fn a_directory_that_is_not_there() {
    insta::assert_snapshot!(of("[a]\ndirectory=nowhere\nsize=4k\n"), @r#"
    [not-a-directory]
    error: nowhere is not a directory
     --> x.fio:2:11
      |
    2 | directory=nowhere
      |           ^^^^^^^
      |
      = help: create it first: only directories inside file names are created
    "#);
}

#[test]
fn a_warning_that_is_fatal() {
    insta::assert_snapshot!(said(&[("x.fio", b"[a]\nioengine=null\nsize=4k\ntime_based\n")], &["--warnings-fatal", "x.fio"]), @r#"
    [fatal-warning]
    error: time_based requires a runtime/timeout setting
     --> x.fio:4:1
      |
    4 | time_based
      | ^^^^^^^^^^
      |
      = help: warnings are fatal (--warnings-fatal)
    "#);
}

#[test]
fn what_sprandom_cannot_be_used_with() {
    let job = |more: &str| of(&format!("[a]\nioengine=null\nsize=1m\nrw=randwrite\nsprandom=1\n{more}\n"));
    insta::assert_snapshot!(job("loops=2"), @"
    [sprandom-with-conflicting-option]
    error: sprandom makes one pass over the device, and another one would undo its work
     --> x.fio:6:7
      |
    6 | loops=2
      |       ^
      |
      = help: remove `loops` and `time_based`
    ");
    insta::assert_snapshot!(job("nrfiles=3"), @"
    [sprandom-with-several-files]
    error: sprandom requires one file, but the job has 3
     --> x.fio:6:9
      |
    6 | nrfiles=3
      |         ^
      |
      = help: write a job for each device
    ");
    insta::assert_snapshot!(job("spr_op=15"), @"
    [sprandom-value-out-of-range]
    error: spr_op=15 is out of range: spare space is a share of the capacity, above 0 and below 1
     --> x.fio:6:8
      |
    6 | spr_op=15
      |        ^^
      |
      = help: a device of 1000 GB with 1150 GB of flash has spr_op=0.15
    ");
    insta::assert_snapshot!(job("spr_num_regions=1000"), @"
    [sprandom-regions-too-small]
    error: sprandom cannot divide 294 blocks of 4096 bytes into 1000 regions
     --> x.fio:6:17
      |
    6 | spr_num_regions=1000
      |                 ^^^^
      |
      = help: set `spr_num_regions` to at most 294, or choose a smaller block size
    ");
    insta::assert_snapshot!(job("spr_cs=64k"), @"
    [sprandom-regions-smaller-than-cache]
    error: spr_cs=65536 is larger than a region of 8192 bytes: with this cache there can be at most 18 regions
     --> x.fio:6:8
      |
    6 | spr_cs=64k
      |        ^^^
      |
      = help: set `spr_num_regions` to a smaller number, or `spr_cs` to the size of the device's cache
    ");
    insta::assert_snapshot!(job("numjobs=2\nfilename=x"), @"
    [sprandom-clones-overlap]
    error: several clones of a job with sprandom write the same part of x
     --> x.fio:1:1
      |
    1 | [a]
      | ^^^
      |
      = help: remove `numjobs`, or give each clone its part with `size` and `offset_increment`
    ");
}
