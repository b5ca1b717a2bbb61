use ferrio_job::ZoneModel;
use ferrio_machine::ZonedDevice;

use super::file_zones::of_device;
use super::*;
use crate::testing::{first_refusal, good_plan_as_fio, jobs_of, plan_of, refusals, spec_of, texts, wrong};

const M: u64 = 1 << 20;

/// A job of the engine null on a file of 8 MiB in zones of 1 MiB.
fn job(options: &str) -> String {
    format!("[a]\nioengine=null\nzonemode=zbd\nzonesize=1m\nsize=8m\n{options}")
}

fn zbd(options: &str) -> Zbd {
    *spec_of(&job(options)).zbd.unwrap()
}

/// Why the last job cannot be set up.
fn setup_error(text: &str) -> Option<(i32, String)> {
    let plan = plan_of(text).unwrap();
    plan.jobs.last()?.setup_error.as_ref().map(|error| (error.errno, error.message.clone()))
}

fn error_of(options: &str) -> String {
    setup_error(&job(options)).unwrap_or_default().1
}

#[test]
fn zones_of_a_file_are_emulated_and_full_of_room() {
    let want = FileZones { model: ZoneModel::Emulated, size: M, capacity: M, max_open: 0 };
    assert_eq!(zbd("").files, [want]);
    let given = zbd("zonecapacity=768k\nmax_open_zones=5\n");
    assert_eq!(given.files, [FileZones { capacity: 768 << 10, max_open: 5, ..want }]);
    assert!(spec_of("[a]\nioengine=null\nsize=1m\n").zbd.is_none());
}

#[test]
fn resets_come_every_so_many_writes() {
    let resets = |options: &str| zbd(options).resets.map(|resets| (resets.threshold, resets.every));
    assert_eq!(resets("zone_reset_threshold=0.5\n"), None);
    assert_eq!(resets("zone_reset_frequency=0.25\n"), Some((0.0, 4)));
    assert_eq!(resets("zone_reset_threshold=0.5\nzone_reset_frequency=0.3\n"), Some((0.5, 3)));
    assert_eq!(resets("zone_reset_frequency=0.7\n"), Some((0.0, 1)));
    assert_eq!(resets("zone_reset_frequency=0\n"), None);
}

#[test]
fn sizes_and_offsets_may_be_in_zones() {
    let spec = spec_of(
        "[a]\nioengine=null\nrw=write\nzonemode=zbd\nzonesize=1m\nfilesize=8m\nsize=4z\noffset=2z\nio_size=3z\nzoneskip=1z\n",
    );
    let file = &spec.files[0];
    assert_eq!((file.offset, spec.limits.size, spec.limits.io_size), (2 * M, 4 * M, Some(3 * M)));
    assert_eq!(spec.zbd.unwrap().skip, M);
    let plan = plan_of(
        "[a]\nioengine=null\nrw=write\nnumjobs=2\nzonemode=zbd\nzonesize=1m\nsize=2z\noffset=1z\noffset_increment=2z\n",
    );
    let offsets = plan.unwrap().jobs.iter().map(|job| job.spec.files[0].offset).collect::<Vec<_>>();
    assert_eq!(offsets, [M, 3 * M]);
}

#[test]
fn what_is_written_begins_and_ends_with_a_zone() {
    let region = |options: &str| {
        let plan = plan_of(&job(options)).unwrap();
        let spec = &plan.jobs[0].spec;
        let file = &spec.files[0];
        (file.offset, file.size, spec.limits.size, texts(&plan.diagnostics).join("\n"))
    };
    let (offset, size, limit, note) = region("rw=write\noffset=500k\n");
    assert_eq!((offset, size, limit), (M, 7 * M, 7 * M));
    let path = "a.0.0";
    assert_eq!(
        note,
        format!(
            "{path}: rounded up offset from 512000 to 1048576\n{path}: rounded down io_size from 7852032 to 7340032"
        )
    );
    let (_, size, limit, note) = region("rw=randwrite\nsize=4500k\n");
    assert_eq!((size, limit), (4 * M, 4 * M));
    assert_eq!(note, format!("{path}: rounded down io_size from 4608000 to 4194304"));
    assert_eq!(region("rw=read\nsize=4500k\n").1, 4_608_000, "reads go anywhere");
    assert_eq!(
        error_of("rw=write\nfilesize=8m\nsize=100%\noffset=7500k\n"),
        format!("{path}: io_size must be at least one zone")
    );
}

#[test]
fn zones_that_do_not_fit_are_refused() {
    let of_file = |options: &str| error_of(&format!("filename=f\nrw=write\n{options}"));
    assert_eq!(
        of_file("zonesize=0\n"),
        "f: Specifying the zone size is mandatory for regular file/block device with --zonemode=zbd"
    );
    assert_eq!(of_file("zonesize=256\n"), "f: zone size must be at least 512 bytes for --zonemode=zbd");
    let want = "f: job parameter zonecapacity 2097152 is larger than zone size 1048576";
    assert_eq!(of_file("zonecapacity=2m\n"), want);
    assert_eq!(of_file("size=900k\n"), "f: file/device size 921600 is smaller than zone size 1048576");
    assert_eq!(
        of_file("zoneskip=100k\n"),
        "f: zoneskip 102400 is not a multiple of the device zone size 1048576."
    );
    assert_eq!(of_file("zoneskip=50%\n"), "f: zoneskip must be in bytes or zones");
    assert_eq!(of_file("bs=2m\n"), "I/O buflen 2097152 exceeds zone size 1048576");
    let want = "zone capacity 1024 smaller than minimum block size 4096";
    assert_eq!(of_file("zonecapacity=1k\n"), want);
    let want = "'job_max_open_zones' cannot be used without a global open zones limit";
    assert_eq!(of_file("job_max_open_zones=2\n"), want);
    assert_eq!(of_file("job_max_open_zones=2\nmax_open_zones=2\n"), "");
    assert_eq!(error_of("rw=read\nbs=2m\nread_beyond_wp=1\n"), "");
}

#[test]
fn to_fio_what_layout_adds_has_no_zones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::File::create(&path).unwrap().set_len(2 * M).unwrap();
    let text = format!("[a]\nfilename={}\nzonemode=zbd\nzonesize=1m\nsize=4m\nrw=write\n", path.display());
    let size = |plan: ferrio_job::Plan| (plan.jobs[0].spec.files[0].size, plan.jobs[0].spec.limits.size);
    assert_eq!(size(good_plan_as_fio(&jobs_of(&text))), (2 * M, 2 * M));
    assert_eq!(size(plan_of(&text).unwrap()), (4 * M, 4 * M));
}

#[test]
fn a_trim_is_a_zone() {
    let want = "a.0.0: trim block size 65536 is not the zone size 1048576";
    assert_eq!(error_of("rw=trim\nbs=64k\n"), want);
    assert_eq!(error_of("rw=trim\nbs=1m\n"), "");
    let want = ["bsrange and bssplit are not allowed for trim with zonemode=zbd"];
    assert_eq!(refusals(&job("rw=trim\nbsrange=512k-1m\n")), want);
    assert_eq!(refusals(&job("rw=trim\nbssplit=1m/50:512k/50\n")), want);
}

#[test]
fn the_first_job_with_a_file_settles_its_zones() {
    let second = |first: &str, options: &str| {
        let global = "[global]\nioengine=null\nfilename=f\nsize=8m\nzonemode=zbd\nzonesize=1m\n";
        let text = format!("{global}[a]\n{first}[b]\n{options}");
        let plan = plan_of(&text).unwrap();
        let job = &plan.jobs[1];
        job.setup_error
            .as_ref()
            .map(|error| error.message.clone())
            .ok_or_else(|| job.spec.zbd.clone().unwrap().files[0])
    };
    let want = FileZones { model: ZoneModel::Emulated, size: M, capacity: M / 2, max_open: 3 };
    assert_eq!(second("max_open_zones=3\nzonecapacity=512k\n", ""), Err(want));
    assert_eq!(second("", "max_open_zones=3\n").unwrap(), "Different 'max_open_zones' values");
    let want = "f: zonesize 2097152 does not match the device zone size 1048576.";
    assert_eq!(second("", "zonesize=2m\n").unwrap(), want);
    let want = "f: zonecapacity 524288 does not match that of an earlier job, 1048576";
    assert_eq!(second("", "zonecapacity=512k\n").unwrap(), want);
}

#[test]
fn limits_of_a_device_hold_unless_they_are_ignored() {
    let device = ZonedDevice { host_managed: true, zone_bytes: M, max_open_zones: 0, max_active_zones: 4 };
    let spec = |options: &str| spec_of(&format!("[a]\nioengine=null\nsize=8m\nrw=write\n{options}"));
    let zones = |options: &str, size, limits| {
        of_device(&"d", &spec(options), device, size, limits).map_err(|error| error.message)
    };
    let want = FileZones { model: ZoneModel::HostManaged, size: M, capacity: M, max_open: 4 };
    assert_eq!(zones("direct=1\n", 0, (0, false)), Ok(want), "active zones limit open ones");
    assert_eq!(zones("direct=1\n", M, (3, false)), Ok(FileZones { max_open: 3, ..want }));
    assert_eq!(zones("direct=1\n", 0, (9, true)), Ok(FileZones { max_open: 9, ..want }));
    assert_eq!(zones("direct=1\n", 0, (0, true)), Ok(FileZones { max_open: 0, ..want }));
    let refused = |options: &str, size, limits| zones(options, size, limits).unwrap_err();
    let want = "Specified --max_open_zones (5) is larger than max (4)";
    assert_eq!(refused("direct=1\n", 0, (5, false)), want);
    let want = "d job parameter zonesize 512 does not match disk zone size 1048576.";
    assert_eq!(refused("direct=1\n", 512, (0, false)), want);
    assert_eq!(refused("", 0, (0, false)), "Using direct I/O is mandatory for writing to ZBD drives");
    assert!(zones("rw=read\n", 0, (0, false)).is_ok());
}

#[test]
fn zones_are_never_laid_out_side_by_side() {
    let want = "--zonemode=zbd and --create_serialize=0 are not compatible";
    assert_eq!(first_refusal("zonemode=zbd\ncreate_serialize=0\n"), want);
}

#[test]
fn writing_remainders_of_zones_excludes_a_random_map() {
    let want = "write_zone_remainder=1 requires norandommap=1";
    assert_eq!(first_refusal("zonemode=zbd\nwrite_zone_remainder=1\nnorandommap=0\n"), want);
    let spec = spec_of(&job("rw=randwrite\nwrite_zone_remainder=1\n"));
    assert!(!spec.random_map && spec.zbd.unwrap().writes_remainder);
}

#[test]
fn what_has_no_zones_or_other_offsets_is_refused() {
    let want = "zonemode=zbd does not support experimental verify";
    assert_eq!(first_refusal("zonemode=zbd\nverify=md5\nexperimental_verify=1\n"), want);
    let want = "recover_zbd_write_error works only when continue_on_error is set";
    assert_eq!(first_refusal("zonemode=zbd\nrecover_zbd_write_error=1\n"), want);
    assert!(
        wrong("zonemode=zbd\nzonesize=4k\nrecover_zbd_write_error=1\ncontinue_on_error=write\n").is_empty()
    );
    let want = "zonemode=zbd and --file_append are not compatible";
    assert_eq!(first_refusal("zonemode=zbd\nfile_append=1\n"), want);
    let asynchronous = "ioengine=libaio\niodepth=4\nrw=write\nverify=md5\ncontinue_on_error=all\n";
    let want = "recover_zbd_write_error does not support verify with asynchronous engines";
    assert_eq!(refusals(&job(&format!("{asynchronous}recover_zbd_write_error=1\n"))), [want]);
    let want = "zonemode=zbd does not work with ioengine=filestat, which has no offsets";
    assert_eq!(refusals("[a]\nioengine=filestat\nzonemode=zbd\nzonesize=1m\nsize=8m\n"), [want]);
}
