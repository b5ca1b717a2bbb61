//! The permission to use io_uring: the sysctl `kernel.io_uring_disabled`, which Linux has since 6.6.

use std::path::Path;

use crate::files::sys_text;
use crate::interruptions::text_of_file;

/// The bit of CAP_SYS_ADMIN in a set of capabilities.
const SYS_ADMIN: u32 = 21;

/// Whether the sysctl `kernel.io_uring_disabled` lets the calling thread set up an io_uring. System call filters (seccomp) and security
/// modules may still forbid it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoUringSysctl {
    /// It is 0, the kernel has no such sysctl, or the thread is privileged.
    #[default]
    Allows,
    /// It is 1, and the thread has neither the privilege nor the group.
    AllowsOthers,
    /// It is 2.
    AllowsNobody,
}

impl IoUringSysctl {
    /// The remedy where it forbids io_uring.
    pub const ADVICE: &str =
        "allow it as root with `sysctl kernel.io_uring_disabled=0`, or use another engine, such as libaio";

    /// Queries the kernel.
    #[must_use]
    pub fn ask() -> Self {
        let text = |path: &str| sys_text(Path::new(path)).unwrap_or_default();
        Self::of(&text("/proc/sys/kernel/io_uring_disabled"), || {
            let status = text_of_file("/proc/thread-self/status").unwrap_or_default();
            let is_admin = is_admin(&status, &text("/proc/self/uid_map"));
            is_admin || is_in_group(&status, &text("/proc/sys/kernel/io_uring_group"))
        })
    }

    /// The meaning of the sysctl's text.
    fn of(text: &str, is_trusted: impl FnOnce() -> bool) -> Self {
        match text {
            "2" => IoUringSysctl::AllowsNobody,
            "1" if !is_trusted() => IoUringSysctl::AllowsOthers,
            _ => IoUringSysctl::Allows,
        }
    }

    /// The reason why io_uring is forbidden to this thread; `None` if it is not.
    #[must_use]
    pub fn obstacle(self) -> Option<&'static str> {
        match self {
            IoUringSysctl::Allows => None,
            IoUringSysctl::AllowsOthers => Some(
                "the sysctl kernel.io_uring_disabled is 1: only processes with CAP_SYS_ADMIN or in the group \
                 kernel.io_uring_group may use io_uring",
            ),
            IoUringSysctl::AllowsNobody => {
                Some("the sysctl kernel.io_uring_disabled is 2: no process may use io_uring")
            }
        }
    }
}

/// Whether a thread with this `/proc/.../status` has CAP_SYS_ADMIN over the host: in the first user namespace, which maps all users to
/// themselves.
fn is_admin(status: &str, uid_map: &str) -> bool {
    let capabilities = field(status, "CapEff:").and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    capabilities.is_some_and(|set| set >> SYS_ADMIN & 1 == 1)
        && uid_map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Whether a thread with this `/proc/.../status` belongs to the group, as its file system group or a supplementary one.
fn is_in_group(status: &str, group: &str) -> bool {
    let of_file_system = field(status, "Gid:").and_then(|ids| ids.split_whitespace().nth(3));
    let further = field(status, "Groups:").unwrap_or_default().split_whitespace();
    !group.is_empty() && further.chain(of_file_system).any(|id| id == group)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ROOT: &str = "Gid:\t0\t0\t0\t0\nGroups:\t0 \nCapEff:\t000001ffffffffff\n";
    const USER: &str = "Gid:\t1000\t1000\t1000\t1000\nGroups:\t27 1000 \nCapEff:\t0000000000000000\n";
    const FIRST: &str = "         0          0 4294967295";

    #[test]
    fn one_forbids_io_uring_to_those_without_privilege_and_two_to_all() {
        let of = |text: &str, is_trusted| IoUringSysctl::of(text, || is_trusted);
        assert_eq!(of("0", false).obstacle(), None);
        assert_eq!(of("", false), IoUringSysctl::Allows);
        assert_eq!([of("1", true), of("1", false)], [IoUringSysctl::Allows, IoUringSysctl::AllowsOthers]);
        assert_eq!([of("2", true), of("2", false)], [IoUringSysctl::AllowsNobody; 2]);
        assert!(of("1", false).obstacle().is_some_and(|text| text.contains("kernel.io_uring_group")));
        assert!(of("2", false).obstacle().is_some_and(|text| text.contains("io_uring_disabled is 2")));
    }

    #[test]
    fn privilege_is_a_capability_in_the_first_user_namespace_or_a_group() {
        assert!(is_admin(ROOT, FIRST) && !is_admin(USER, FIRST));
        assert!(!is_admin(ROOT, "0 1000 1"), "root of a user namespace is not root of the host");
        assert_eq!(
            ["27", "1000", "4", "-1", ""].map(|group| is_in_group(USER, group)),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn this_kernel_gives_the_figures_that_are_read() {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        assert!(["CapEff:", "Gid:", "Groups:"].iter().all(|name| field(&status, name).is_some()), "{status}");
    }
}
