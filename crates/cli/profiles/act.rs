//! The profile `act`, modelled on the certification tool of the same name: for each device, threads that read small records at a fixed
//! rate, and one that writes large blocks.

use std::time::Duration;

use ferrio_job::{ArgOrigin, Diagnostic};
use ferrio_jobfile::{Opt, Options};

use super::{JobOptions, ProfileJobs, flag, refusal, value};
use crate::error::Error;

/// Reads per second and device at load 1.
const READS_PER_SECOND: u64 = 2000;
/// Records written per second and device at load 1, collected into large blocks.
const RECORDS_WRITTEN_PER_SECOND: u64 = 1000;

/// Generates the jobs from the profile's options; `origin` is where `--profile` is given.
///
/// # Errors
/// No device is named, or the options result in no load.
pub(super) fn jobs(options: &Options, origin: &ArgOrigin) -> Result<ProfileJobs, Error> {
    let devices: Vec<&str> = options
        .text(Opt::DeviceNames)
        .into_iter()
        .flat_map(|names| names.split(','))
        .filter(|name| !name.is_empty())
        .collect();
    if devices.is_empty() {
        let message = "act: you need to set IO target(s) with the device-names option.";
        let help =
            "write --device-names=/dev/nvme0n1, with commas between several: their data is overwritten";
        return Err(refusal(Diagnostic::error(message, origin.origin()).help(help)));
    }
    let mut all_jobs = vec![
        value("direct", 1),
        value("ioengine", "sync"),
        value("random_generator", "lfsr"),
        value("group_reporting", 1),
        flag("thread"),
    ];
    if options.value(Opt::Prep) {
        return Ok(ProfileJobs { all_jobs, jobs: devices.into_iter().flat_map(preparation).collect() });
    }
    let load = DeviceLoad::of(options)?;
    all_jobs.extend(load.time_options());
    Ok(ProfileJobs { all_jobs, jobs: devices.into_iter().flat_map(|device| load.jobs(device)).collect() })
}

/// The jobs that fill a device with zeros, then with random data.
fn preparation(device: &str) -> JobOptions {
    vec![
        value("name", format!("act-prep-zeroes-{device}")),
        value("filename", device),
        value("bs", 1 << 20),
        flag("zero_buffers"),
        value("rw", "write"),
        value("name", format!("act-prep-salt-{device}")),
        flag("stonewall"),
        value("filename", device),
        value("bs", 4096),
        value("ioengine", "libaio"),
        value("iodepth", 64),
        value("rw", "randwrite"),
    ]
}

/// The load on each device.
struct DeviceLoad {
    threads: u64,
    reads_per_thread: u64,
    read_bytes: u64,
    writes_per_second: u64,
    write_bytes: u64,
    duration: Duration,
}

impl DeviceLoad {
    fn of(options: &Options) -> Result<Self, Error> {
        let refuse = |opt, message: String| {
            let origin = options.given(opt).map(|given| given.value_origin.clone()).unwrap_or_default();
            Err(refusal(Diagnostic::error(message, origin)))
        };
        let number = |opt| u64::from(options.value::<u32>(opt));
        let load = number(Opt::Load);
        if load == 0 {
            return refuse(Opt::Load, "`load` must be at least 1".to_owned());
        }
        let (threads, most) = (number(Opt::ThreadsPerQueue), load * READS_PER_SECOND);
        if threads == 0 || threads > most {
            let message = format!(
                "`threads-per-queue` must be between 1 and {most}: each thread reads at least once a second"
            );
            return refuse(Opt::ThreadsPerQueue, message);
        }
        let read_bytes = 512 * number(Opt::ReadReqNum512Blocks);
        if read_bytes == 0 {
            return refuse(
                Opt::ReadReqNum512Blocks,
                "`read-req-num-512-blocks` must be at least 1".to_owned(),
            );
        }
        let write_bytes = number(Opt::LargeBlockOpKbytes);
        if write_bytes < read_bytes {
            let message = format!(
                "`large-block-op-kbytes` must be at least as large as a read, {read_bytes} bytes; it counts bytes despite its name"
            );
            return refuse(Opt::LargeBlockOpKbytes, message);
        }
        let records_per_write = write_bytes / read_bytes;
        Ok(DeviceLoad {
            threads,
            reads_per_thread: most / threads,
            read_bytes,
            writes_per_second: (load * RECORDS_WRITTEN_PER_SECOND).div_ceil(records_per_write),
            write_bytes,
            duration: options.value(Opt::TestDuration),
        })
    }

    fn time_options(&self) -> JobOptions {
        vec![value("runtime", format!("{}s", self.duration.as_secs().max(1))), value("time_based", 1)]
    }

    fn jobs(&self, device: &str) -> JobOptions {
        let mut lines = vec![
            value("name", format!("act-read-{device}")),
            value("filename", device),
            value("rw", "randread"),
            value("numjobs", self.threads),
            value("rate_iops", self.reads_per_thread),
            value("bs", self.read_bytes),
            value("name", format!("act-write-{device}")),
            value("filename", device),
            value("rw", "randwrite"),
            value("rate_iops", self.writes_per_second),
            value("bs", self.write_bytes),
        ];
        lines.extend(self.time_options());
        lines
    }
}
