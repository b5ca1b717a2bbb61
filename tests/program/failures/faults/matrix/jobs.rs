//! The jobs of the matrix, which together have all engines that move data by different calls, and all phases; and the errors to try.

use nix::errno::Errno;

/// Name and text of each job. `f` and `g` are their files.
pub const JOBS: [(&str, &str); 13] = [
    (
        "psync",
        "[a]\nsize=32k\nioengine=psync\nrw=randrw\nfilename=f\nfsync=4\nunlink=1\nwrite_lat_log=x\nramp_time=5ms\n",
    ),
    (
        "sync",
        "[a]\nsize=32k\nioengine=sync\nrw=write\nfilename=f\nend_fsync=1\nverify=crc32c\ncreate_on_open=1\n",
    ),
    (
        "vsync",
        "[a]\nsize=32k\nioengine=vsync\niodepth=2\nrw=randread\nfilename=f\ncreate_fsync=1\npre_read=1\n",
    ),
    ("mmap", "[global]\nsize=32k\n[a]\nioengine=mmap\nrw=randrw\nfilename=f\nfsync=2\n[b]\nioengine=null\n"),
    ("libaio", "[a]\nsize=32k\nioengine=libaio\niodepth=4\nrw=randrw\nfilename=f\ndirect=1\nunlink=1\n"),
    (
        "io_uring",
        "[a]\nsize=32k\nioengine=io_uring\niodepth=4\nrw=randrw\nfilename=f\nfdatasync=4\nverify=md5\n",
    ),
    ("posixaio", "[a]\nsize=32k\nioengine=posixaio\niodepth=4\nrw=write\nfilename=f\nfsync=4\n"),
    ("tokio_uring", "[a]\nsize=32k\nioengine=tokio_uring\niodepth=4\nrw=randrw\nfilename=f\n"),
    (
        "logs",
        "[a]\nsize=32k\nioengine=null\nwrite_bw_log=x\nwrite_hist_log=x\nlog_hist_msec=1\nwrite_iops_log=x\nlog_avg_msec=1\n\
         log_compression=1k\nrate_iops=1000\n",
    ),
    (
        "commands",
        "[global]\nsize=32k\nioengine=psync\nfilename=f\n[a]\nrw=write\nexec_prerun=true\nexec_postrun=true\nverify=crc32c\n\
         verify_state_save=1\n[b]\nstonewall\nrw=read\nthinktime=1ms\n",
    ),
    (
        "memory",
        "[global]\nsize=32k\nioengine=psync\n[a]\nrw=read\nfilename=f\nmem=shm\n[b]\nrw=write\nfilename=g\nmem=mmap:buffer\nunlink=1\n",
    ),
    (
        "files",
        "[a]\nsize=32k\nioengine=psync\nrw=write\nnrfiles=4\nopenfiles=2\nnumjobs=3\nsync_file_range=write:2\n\
         file_service_type=random\n",
    ),
    (
        "file systems",
        "[global]\nsize=32k\n[a]\nioengine=splice\nrw=randrw\nfilename=f\nend_syncfs=1\n[b]\nioengine=ftruncate\nrw=write\n\
         filename=g\n",
    ),
];

/// Calls that cannot fail, or whose failure the kernel never reports in this way: a thread could not even end.
const NOT_TRIED: [&str; 20] = [
    "arch_prctl",
    "brk",
    "execve",
    "exit",
    "exit_group",
    "futex",
    "getegid",
    "geteuid",
    "getgid",
    "getpid",
    "getppid",
    "gettid",
    "getuid",
    "restart_syscall",
    "rseq",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_yield",
    "set_robust_list",
    "tgkill",
];

pub fn is_tried(call: &str) -> bool {
    !NOT_TRIED.contains(&call)
}

/// Errors that the kernel, a filter of system calls or a device may answer a call with.
pub fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "open" | "openat" => &["EACCES", "EMFILE", "EINTR"],
        "read" | "pread64" | "preadv" | "preadv2" => &["EIO", "EINTR"],
        "write" | "pwrite64" | "pwritev" | "pwritev2" => &["EIO", "ENOSPC", "EINTR"],
        "mmap" | "mprotect" | "munmap" | "mremap" => &["ENOMEM"],
        "madvise" => &["ENOMEM", "EINVAL"],
        "clone" | "clone3" => &["EAGAIN"],
        "rt_sigtimedwait" | "wait4" | "waitid" => &["EINTR"],
        "clock_nanosleep" => &["EINTR", "EPERM"],
        "getrandom" => &["EPERM", "ENOSYS", "EINTR"],
        "close" | "fdatasync" | "syncfs" | "sync_file_range" | "msync" => &["EIO"],
        "fsync" => &["EIO", "EINTR"],
        "io_uring_enter" => &["EINTR", "EPERM", "EAGAIN"],
        "io_uring_setup" => &["EPERM", "ENOMEM"],
        "io_submit" => &["EAGAIN", "EIO"],
        "io_getevents" | "io_pgetevents" => &["EINTR", "EIO"],
        "io_setup" => &["EAGAIN", "ENOMEM"],
        "io_destroy" => &["EINVAL"],
        "poll" | "ppoll" => &["EINTR", "ENOMEM"],
        "epoll_wait" => &["EINTR"],
        "epoll_ctl" => &["ENOMEM"],
        "epoll_create1" | "eventfd2" | "pipe2" | "timerfd_create" => &["EMFILE"],
        "fallocate" => &["ENOSPC", "EOPNOTSUPP"],
        "unlink" | "unlinkat" | "ftruncate" | "getdents64" => &["EIO"],
        _ => &["EIO", "EPERM"],
    }
}

/// False for calls that the standard library or the runtime of tokio_uring retries without a limit (docs/reliability.md).
pub fn ends_if_it_always_fails(call: &str, error: &str) -> bool {
    error != "EINTR" || !["getrandom", "epoll_wait"].contains(&call)
}

pub fn errno(name: &str) -> Errno {
    match name {
        "EACCES" => Errno::EACCES,
        "EAGAIN" => Errno::EAGAIN,
        "EINTR" => Errno::EINTR,
        "EINVAL" => Errno::EINVAL,
        "EIO" => Errno::EIO,
        "EMFILE" => Errno::EMFILE,
        "ENOMEM" => Errno::ENOMEM,
        "ENOSPC" => Errno::ENOSPC,
        "ENOSYS" => Errno::ENOSYS,
        "EOPNOTSUPP" => Errno::EOPNOTSUPP,
        "EPERM" => Errno::EPERM,
        _ => panic!("{name} is not in the table of errors"),
    }
}
