//! What a run happens on, as the kernel tells it: the host and its processors, mounted file systems, block devices.
//!
//! Only `stat`, `uname` and files below `/proc` and `/sys` are asked; no device and no file of a job is opened.
#![forbid(unsafe_code)]

mod cpu_time;
mod devices;
mod host;
mod mounts;
mod places;

pub use cpu_time::{CpuTime, CpuUse};
pub use devices::{BlockDevice, DeviceNumber, device_node, device_number, is_read_only, sys_path, sys_text};
pub use host::Host;
pub use mounts::{Mount, Mounts};
pub use places::{Place, existing_parent};
