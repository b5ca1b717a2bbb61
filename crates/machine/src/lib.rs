//! All queries to the kernel about the host: processors, memory and limits, mounted file systems, block devices; and file calls that stop
//! retrying EINTR after a limit.
//!
//! Answers come from `stat`, `statvfs`, `uname`, `sysconf`, `getrlimit` and files below `/proc`, `/sys` and `/run/udev`. The queries open
//! no file of a job, only block devices for reading: to find their size, and their contents if udev does not know them. Nothing here
//! depends on jobs.
//!
//! - The whole host: [`Host`] for reports, [`Machine`] for job files, [`Resources`] for the limits of this process.
//! - CPUs: [`allowed_cpus`], [`NumaNode`], how busy they are: [`CpuMeter`], and what slowed them down: [`ThrottleMeter`].
//! - Control groups: [`IoCgroups`].
//! - Whether io_uring is allowed: [`IoUringSysctl`].
//! - The time of day: [`local_now`].
//! - The terminal: [`terminal_columns`].
//! - Storage: [`StorageLocations`] of files, [`Mounts`], [`BlockDevice`], [`DaxDevice`], what a device is used for ([`DeviceUse`]), whether it has
//!   zones ([`ZonedDevice`]), the statistics of a [`Disk`].
//! - Whether two paths are the same file: [`is_same_file`]; where links lead: [`follow_links`].
//! - What layout leaves on files: [`mark_laid_out`].
//! - Calls that are retried when a signal interrupts them, up to a limit: [`retry_interrupted`]; files: [`open_file`], [`create_file`],
//!   [`text_of_file`].
#![forbid(unsafe_code)]

mod cgroups;
mod char_devices;
mod claims;
mod cpu_waits;
mod cpus;
mod dax;
mod device_use;
mod devices;
mod disks;
mod exclusive_devices;
mod files;
mod host;
mod identity;
mod interruptions;
mod io_uring;
mod launcher;
mod layout_mark;
mod links;
mod local_time;
mod mounts;
mod obstacles;
mod process;
mod processes;
mod storage_locations;
mod terminal;
mod throttling;
mod zoned;

pub use cgroups::{IoCgroups, cgroup_memory_left};
pub use char_devices::{ScsiGeneric, flash_bytes};
pub use claims::{FileClaims, written_since};
pub use cpu_waits::CpuWaits;
pub use cpus::{CpuMeter, CpuUse, NumaNode, allowed_cpus, run_on};
pub use dax::{DaxDevice, is_without_dax};
pub use device_use::{DeviceUse, is_mounted};
pub use devices::{BlockDevice, DeviceNumber, block_device_node, device_number};
pub use disks::{Disk, DiskActivity, DiskCounters};
pub use exclusive_devices::is_held;
pub use files::{DirectIo, FileAccess, block_device_bytes, holds_data, is_among_devices, names_in};
pub use host::{
    Host, HugePagePool, Machine, Resources, address_space_left, clock_source, has_clock, host_name,
    open_file_limits, page_bytes, transparent_huge_page,
};
pub use identity::{FileIdentity, is_same_file};
pub use interruptions::{
    InterruptionLimit, RetryInterrupted, bytes_of_file, close_file, create_file, open_file, open_to_read,
    retry_interrupted, set_length, text_of_file, write_whole,
};
pub use io_uring::IoUringSysctl;
pub use launcher::{Launcher, Rank, rank};
pub use layout_mark::{is_as_laid_out, mark_laid_out};
pub use links::{Destination, OpenDescriptor, directory_of, follow_links};
pub use local_time::local_now;
pub use mounts::{MOUNTINFO, Mount, Mounts, Room};
pub use obstacles::{
    is_on_hugetlbfs, obstacle_to_loading, obstacle_to_reading, obstacle_to_running, obstacle_to_writing,
};
pub use process::{SignalMask, switches_of_blocked_main, switches_of_other_threads, thread_id};
pub use processes::{Process, is_stopped, process, running_with_descendants};
pub use storage_locations::{StorageLocation, StorageLocations, storage_device};
pub use terminal::{has_terminal, terminal_columns, terminal_input};
pub use throttling::{CpuThrottling, ThrottleMeter};
pub use zoned::ZonedDevice;
