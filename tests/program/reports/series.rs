//! `ferrio.series` and `ferrio.device_series`: what jobs and disks did over time.

use serde_json::Value;

use crate::support::TestDir;

/// A second of reads and writes in a fixed order and number.
const JOB: [&str; 6] =
    ["--name=a", "--ioengine=null", "--rw=randrw", "--rate_iops=400", "--number_ios=900", "--size=1g"];

fn document(dir: &TestDir, words: &[&str]) -> Value {
    dir.ferrio(&[&JOB[..], words].concat()).run().succeeded().json()
}

fn column(series: &Value, direction: &str, name: &str) -> Vec<u64> {
    let values = series[direction][name].as_array().unwrap();
    values.iter().map(|value| value.as_u64().unwrap()).collect()
}

#[test]
fn rows_add_up_to_the_figures_of_the_job() {
    let dir = TestDir::new();
    let document = document(&dir, &["--output-format=json+"]);
    let (job, series) = (&document["jobs"][0], &document["ferrio"]["series"][0]);
    assert_eq!((&series["jobname"], &series["job_number"]), (&"a".into(), &1.into()));
    let ends: Vec<u64> =
        series["time_ms"].as_array().unwrap().iter().map(|ms| ms.as_u64().unwrap()).collect();
    assert!(ends.len() > 1 && ends.is_sorted(), "{ends:?}");
    let runtime = job["job_runtime"].as_u64().unwrap();
    let length = ends[ends.len() - 1] - series["start_ms"].as_u64().unwrap();
    assert!(length.abs_diff(runtime) <= 2, "{length} of {runtime} ms");
    for direction in ["read", "write"] {
        let figures = &job[direction];
        let ios: u64 = column(series, direction, "ios").iter().sum();
        assert_eq!(ios, figures["total_ios"].as_u64().unwrap());
        assert_eq!(
            column(series, direction, "bytes").iter().sum::<u64>(),
            figures["io_bytes"].as_u64().unwrap()
        );
        let largest = figures["clat_ns"]["max"].as_u64().unwrap();
        assert_eq!(column(series, direction, "max_ns").into_iter().max(), Some(largest));
        let cells = series[direction]["cells"].as_array().unwrap();
        assert_eq!(cells.len(), ends.len());
        let samples = cells.iter().flat_map(|row| row.as_array().unwrap().iter().skip(1).step_by(2));
        assert_eq!(samples.map(|count| count.as_u64().unwrap()).sum::<u64>(), ios);
    }
    assert!(series["trim"].is_null());
}

#[test]
fn only_json_plus_of_ferrio_has_series() {
    let dir = TestDir::new();
    assert!(document(&dir, &["--output-format=json"])["ferrio"]["series"].is_null());
    let fio = dir.ferrio(&[&JOB[..], &["--as=fio", "--output-format=json+"]].concat()).run().succeeded();
    assert!(fio.json()["ferrio"].is_object() && fio.json()["ferrio"]["series"].is_null());
}

#[test]
fn a_disk_has_its_reads_and_writes_over_time() {
    let dir = TestDir::new();
    let job = ["--name=a", "--rw=write", "--size=4m", "--end_fsync=1", "--output-format=json+"];
    let document = dir.ferrio(&job).run().succeeded().json();
    let disks = document["disk_util"].as_array();
    let series = document["ferrio"]["device_series"].as_array();
    let names = |list: Option<&Vec<Value>>| -> Vec<String> {
        list.into_iter().flatten().map(|disk| disk["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(series), names(disks), "a place in memory has neither");
    for (disk, series) in disks.into_iter().flatten().zip(series.into_iter().flatten()) {
        let writes = series["write_ios"].as_array().unwrap().iter().map(|ios| ios.as_u64().unwrap());
        assert_eq!(writes.sum::<u64>(), disk["write_ios"].as_u64().unwrap());
    }
}
