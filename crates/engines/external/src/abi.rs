//! The C interface, with the types of `docs/ferrio_engine.h`, which documents them.

use std::ffi::{c_char, c_int, c_void};

/// `FERRIO_ENGINE_VERSION`
pub const VERSION: u32 = 1;

/// `enum ferrio_submitted`
pub const DONE: c_int = 0;
pub const QUEUED: c_int = 1;
pub const FULL: c_int = 2;

/// Flags of a job.
pub const DIRECT: u32 = 1;
pub const WRITES: u32 = 2;
pub const TRIMS: u32 = 4;

/// `struct ferrio_job`
#[repr(C)]
pub struct Job {
    pub size: u32,
    pub flags: u32,
    pub iodepth: u32,
    pub files: u32,
    pub name: *const c_char,
    pub options: *const c_char,
    pub buffers: *mut c_void,
    pub buffer_stride: u64,
}

/// `struct ferrio_file`
#[repr(C)]
pub struct File {
    pub path: *const c_char,
    pub fd: i32,
    pub reserved: u32,
    pub offset: u64,
    pub size: u64,
}

/// `struct ferrio_request`
#[repr(C)]
pub struct Request {
    pub op: u32,
    pub unit: u32,
    pub file: u32,
    pub len: u32,
    pub offset: u64,
    pub buffer: *mut c_void,
    pub sync_flags: u32,
    pub priority: u32,
}

/// `struct ferrio_completion`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Completion {
    pub unit: u32,
    pub reserved: u32,
    pub result: i64,
}

/// `struct ferrio_engine`; every function may be null.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Engine {
    pub version: u32,
    pub size: u32,
    pub name: *const c_char,
    pub open: Option<unsafe extern "C" fn(*const Job, *mut *mut c_void) -> c_int>,
    pub attach: Option<unsafe extern "C" fn(*mut c_void, *const File, u32) -> c_int>,
    pub submit: Option<unsafe extern "C" fn(*mut c_void, *const Request, *mut i64) -> c_int>,
    pub flush: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub reap: Option<unsafe extern "C" fn(*mut c_void, u32, u32, *mut Completion) -> c_int>,
    pub close: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// `ferrio_engine()`
pub type DescribeFn = unsafe extern "C" fn() -> *const Engine;

// The header is the contract: these sizes change only with its version.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(
    size_of::<Job>() == 48
        && size_of::<File>() == 32
        && size_of::<Request>() == 40
        && size_of::<Completion>() == 16
        && size_of::<Engine>() == 64
);
