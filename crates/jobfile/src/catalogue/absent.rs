//! Features of fio that ferrio lacks, with reasons: engines, and reasons that rows of the option table share.

use ferrio_job::{Choice as _, EngineKind, Word};

use super::opt::Opt;

/// An engine of fio that ferrio lacks.
#[derive(Debug)]
pub struct AbsentEngine {
    /// The name.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The reason.
    pub reason: &'static str,
    /// A replacement for the same or a similar purpose.
    pub instead: &'static str,
}

/// The engine of fio with this name, if ferrio lacks it.
#[must_use]
pub fn absent_engine(name: &str) -> Option<&'static AbsentEngine> {
    ABSENT_ENGINES.iter().find(|engine| engine.name == name)
}

/// The reason why a word of a supported option is not available.
#[must_use]
pub fn absent_word(opt: Opt, word: &str) -> Option<&'static str> {
    match (opt, word) {
        (Opt::Mem, "cudamalloc") => Some(CUDA),
        _ => None,
    }
}

pub(super) const CUDA: &str = "buffers in GPU memory need CUDA, which ferrio is not linked with";
pub(super) const RANGES: &str =
    "each trim of ferrio has one range; fio's engine io_uring_cmd puts several into one command";
pub(super) const PLACEMENT: &str =
    "placement ids need a device with FDP or write streams, and no engine of ferrio passes them on";
pub(super) const DFS: &str = "engine dfs needs DAOS (libdfs), which ferrio is not linked with";
pub(super) const GFAPI: &str = "engine gfapi needs Gluster (libgfapi), which ferrio is not linked with";
pub(super) const LIBBLKIO: &str =
    "engine libblkio needs the library libblkio, which ferrio is not linked with";
pub(super) const LIBCUFILE: &str =
    "engine libcufile needs the library libcufile and an NVIDIA GPU, which ferrio does not support";
pub(super) const LIBHIPFILE: &str =
    "engine libhipfile needs the library libhipfile and an AMD GPU, which ferrio does not support";
pub(super) const LIBHDFS: &str = "engine libhdfs needs Hadoop's libhdfs, which ferrio is not linked with";
pub(super) const LIBISCSI: &str =
    "engine libiscsi needs the library libiscsi, which ferrio is not linked with";
pub(super) const NFS: &str = "engine nfs needs the library libnfs, which ferrio is not linked with";
pub(super) const RADOS: &str = "engine rados needs Ceph's librados, which ferrio is not linked with";
pub(super) const RBD: &str = "engine rbd needs Ceph's librbd, which ferrio is not linked with";
pub(super) const RDMA: &str =
    "engine rdma needs an RDMA adapter and librdmacm, which ferrio is not linked with";
pub(super) const EXTERNAL: &str =
    "it is an option of the example in fio's own source, and engines made for fio cannot be loaded";
pub(super) const WINDOWS: &str = "engine windowsaio exists on Windows only";
pub(super) const XNVME: &str = "engine xnvme needs the library xNVMe, which ferrio is not linked with";
const ZBC: &str = "engine libzbc needs the library libzbc and a zoned disk, which ferrio is not linked with";
const IME: &str = "it needs DDN's Infinite Memory Engine (libim), which ferrio is not linked with";
const SOLARIS: &str = "engine solarisaio exists on Solaris only";

macro_rules! absent {
    ($($name:literal: $help:literal, $reason:expr, $instead:literal;)+) => {
        /// All absent engines by name.
        pub static ABSENT_ENGINES: &[AbsentEngine] =
            &[$(AbsentEngine { name: $name, help: $help, reason: $reason, instead: $instead }),+];

        /// Absent engines as words of `ioengine`.
        const ABSENT_WORDS: &[Word] = &[$(Word { word: $name, same_as: None, help: $help }),+];
    };
}

absent! {
    "dfs": "DAOS file system", DFS, "mount the container with dfuse and use `psync` or `io_uring` on its files";
    "gfapi": "GlusterFS, synchronous", GFAPI, "mount the volume and use `psync` on its files";
    "gfapi_async": "GlusterFS, asynchronous", GFAPI, "mount the volume and use `io_uring` on its files";
    "ime_aio": "DDN IME, asynchronous", IME, "mount the IME file system and use `libaio` on its files";
    "ime_psync": "DDN IME, synchronous", IME, "mount the IME file system and use `psync` on its files";
    "ime_psyncv": "DDN IME, synchronous vectors", IME, "mount the IME file system and use `pvsync` on its files";
    "libblkio": "libblkio", LIBBLKIO, "`io_uring` on the block device is the closest";
    "libcufile": "GPU memory by NVIDIA GDS", LIBCUFILE, "`io_uring` with direct=1 moves the data to ordinary memory";
    "libhdfs": "Hadoop file system", LIBHDFS, "mount HDFS through NFS or FUSE and use `psync` on its files";
    "libhipfile": "GPU memory by AMD hipFile", LIBHIPFILE, "`io_uring` with direct=1 moves the data to ordinary memory";
    "libiscsi": "iSCSI from user space", LIBISCSI, "log in with iscsiadm and use `io_uring` on the disk that appears";
    "libzbc": "Zoned devices by libzbc", ZBC, "use `psync` or `libaio` with `zonemode=zbd` on the block device";
    "nfs": "NFS from user space", NFS, "mount the export and use `io_uring` on its files";
    "rados": "Ceph RADOS objects", RADOS, "map an image (rbd map) and use `io_uring` on the device";
    "rbd": "Ceph block device", RBD, "map the image (rbd map) and use `io_uring` on the device";
    "rdma": "RDMA", RDMA, "no engine of ferrio is similar";
    "solarisaio": "Solaris only", SOLARIS, "`libaio` or `io_uring` is the same on Linux";
    "windowsaio": "Windows only", WINDOWS, "`libaio` or `io_uring` is the same on Linux";
    "xnvme": "NVMe by xNVMe", XNVME, "use `io_uring_cmd` on `/dev/ngXnY`";
}

/// The words of `ioengine`: the engines of ferrio by name but `external`, which is the last of them as in fio, then the absent ones.
pub(super) const ENGINES: &[Word] = &{
    const PRESENT: &[Word] = EngineKind::WORDS;
    const EXTERNAL: usize = EngineKind::External as usize;
    const LAST: usize = PRESENT.len() - 1;
    let mut words = [PRESENT[EXTERNAL]; PRESENT.len() + ABSENT_WORDS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = match at {
            LAST => PRESENT[EXTERNAL],
            EXTERNAL..LAST => PRESENT[at + 1],
            ..EXTERNAL => PRESENT[at],
            _ => ABSENT_WORDS[at - PRESENT.len()],
        };
        at += 1;
    }
    words
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{OptionScope, OptionStatus, rows};

    /// A clause with some words, one of them a verb, and no full stop, since it follows a colon.
    fn is_a_sentence(text: &str) -> bool {
        let verbs = [
            "needs", "need", "is", "was", "are", "exists", "puts", "drives", "does", "reads", "acts",
            "starts",
        ];
        text.split(' ').count() >= 4
            && text.split([' ', ';', ',']).any(|word| verbs.contains(&word))
            && !text.ends_with('.')
            && !text.contains('\n')
    }

    #[test]
    fn each_row_that_cannot_work_says_why() {
        for row in rows() {
            if let OptionStatus::Unavailable(reason) | OptionStatus::NoEffect(reason) = row.status {
                assert!(is_a_sentence(reason), "{}: {reason}", row.name);
            }
        }
    }

    #[test]
    fn an_absent_engine_is_one_of_fio_has_a_sentence_and_something_instead() {
        for engine in ABSENT_ENGINES {
            assert!(Opt::Ioengine.row().choice(engine.name).is_some(), "{}", engine.name);
            assert!(is_a_sentence(engine.reason), "{}", engine.name);
            assert!(engine.instead.split(' ').count() >= 3, "{}", engine.name);
        }
        assert!(ABSENT_ENGINES.is_sorted_by_key(|engine| engine.name));
        let usable: Vec<&str> = Opt::Ioengine.row().usable_choices().map(|engine| engine.word).collect();
        let (last, others) = usable.split_last().expect("engines");
        assert!(*last == "external" && others.is_sorted());
    }

    #[test]
    fn a_word_that_cannot_be_used_is_a_choice_of_its_option_and_says_why() {
        assert!(Opt::Mem.row().choice("cudamalloc").is_some());
        assert!(absent_word(Opt::Mem, "cudamalloc").is_some_and(is_a_sentence));
        assert_eq!(absent_word(Opt::Zonemode, "strided"), None);
    }

    #[test]
    fn private_options_of_absent_engines_are_refused_for_the_same_reason() {
        for row in rows() {
            let OptionScope::Engines(engines) = row.scope else { continue };
            let Some(engine) = absent_engine(engines[0]) else { continue };
            let status = OptionStatus::Unavailable(engine.reason);
            assert_eq!(row.status, status, "{} of {}", row.name, engine.name);
        }
    }
}
