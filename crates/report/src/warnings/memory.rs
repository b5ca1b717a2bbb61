//! Files and devices that are in memory, whether I/O is direct or not.

use ferrio_job::JobSpec;
use ferrio_machine::Place;

use super::run_view::{Finding, RunView};

/// A mount point that is known to be in memory.
const PLAIN: &str = "/dev/shm";

/// A job works in memory although its file names do not say so, or although it asks for direct I/O.
pub(super) fn memory_device(run: &RunView<'_>) -> Vec<Finding> {
    let surprises = |spec: &JobSpec, place: &Place| {
        let plain = place.mount_point.as_ref().is_none_or(|point| point.starts_with(PLAIN));
        place.is_in_memory() && (!plain || (spec.direct && place.device.is_none()))
    };
    let Some((jobs, place)) = jobs_on(run, surprises) else { return Vec::new() };
    let point = place.mount_point.as_ref().map(|point| point.display().to_string()).unwrap_or_default();
    let what = match &place.device {
        Some(device) => format!("{point} is on {}", device.disk_name),
        None => format!("{point} is a {}", place.file_system.as_deref().unwrap_or_default()),
    };
    let message = format!("{}: {what}, which is memory", run.who(&jobs));
    vec![Finding { jobs, message, help: "to measure a disk, use a file on a disk" }]
}

/// A job works on a loop device that goes through the page cache of another file.
pub(super) fn cached_device(run: &RunView<'_>) -> Vec<Finding> {
    let cached =
        |place: &Place| place.device.as_ref().and_then(|device| device.cached_file.as_ref()).is_some();
    let Some((jobs, place)) = jobs_on(run, |_, place| cached(place)) else { return Vec::new() };
    let Some(device) = &place.device else { return Vec::new() };
    let file = device.cached_file.as_deref().unwrap_or_default();
    let message = format!(
        "{}: {} reads and writes {file} through the page cache, even with direct=1",
        run.who(&jobs),
        device.disk_name
    );
    vec![Finding { jobs, message, help: "set up the loop device with losetup --direct-io=on" }]
}

/// Jobs with I/O on a place of a kind, and the first such place.
fn jobs_on<'a>(
    run: &RunView<'a>,
    kind: impl Fn(&JobSpec, &Place) -> bool,
) -> Option<(Vec<usize>, &'a Place)> {
    let mut jobs = Vec::new();
    let mut first = None;
    for (index, spec, result) in run.reported() {
        let places = run.setting.of_job(index).iter().filter_map(|&place| run.setting.places.get(place));
        let Some(place) = places.into_iter().find(|place| kind(spec, place)) else { continue };
        if result.stats.total_ios() > 0 {
            jobs.push(index);
            first.get_or_insert(place);
        }
    }
    Some((jobs, first?))
}

#[cfg(test)]
mod tests {
    use crate::warnings::testing::{TestRun, reading};
    use ferrio_job::EngineKind;
    use ferrio_machine::{BlockDevice, Place};

    fn found(code: &str, direct: bool, place: Place) -> Vec<String> {
        let mut case = TestRun::new().on_disk("a", reading(1000, 5000), |spec| {
            (spec.engine, spec.direct) = (EngineKind::Psync, direct);
        });
        case.setting.places = vec![place];
        case.warnings(code).into_iter().map(|warning| warning.message).collect()
    }

    fn on(point: &str, kind: &str, device: Option<&str>) -> Place {
        let of = |name: &str| BlockDevice { disk_name: name.to_owned(), ..BlockDevice::default() };
        Place {
            mount_point: Some(point.into()),
            file_system: Some(kind.to_owned()),
            device: device.map(of),
            ..Place::default()
        }
    }

    #[test]
    fn files_in_memory_have_a_warning_unless_their_names_say_so() {
        let found = |direct, place| found("memory-device", direct, place);
        assert_eq!(found(false, on("/tmp", "tmpfs", None)), ["a: /tmp is a tmpfs, which is memory"]);
        let zram = on("/data", "ext4", Some("zram0"));
        assert_eq!(found(true, zram.clone()), ["a: /data is on zram0, which is memory"]);
        assert_eq!(found(false, on("/dev/shm", "tmpfs", None)), Vec::<String>::new());
        assert_eq!(found(true, on("/dev/shm", "tmpfs", None)).len(), 1, "direct I/O to memory is none");
        assert!(found(true, Place { mount_point: None, file_system: None, ..zram }).is_empty());
        assert!(found(true, on("/data", "ext4", Some("vda"))).is_empty());
    }

    #[test]
    fn loop_devices_that_go_through_the_page_cache_have_a_warning() {
        let mut place = on("/data", "ext4", Some("loop0"));
        assert!(found("cached-device", true, place.clone()).is_empty());
        place.device.as_mut().unwrap().cached_file = Some("/srv/image".to_owned());
        let want = "a: loop0 reads and writes /srv/image through the page cache, even with direct=1";
        assert_eq!(found("cached-device", true, place), [want]);
    }
}
