//! What the words of options with choices mean, one line each. Words that stand for other words are not here.

use crate::catalogue::{Opt, Row};

/// The meaning of a word among the choices of `row`, empty if it says everything itself.
pub fn choice_text(row: &Row, word: &str) -> &'static str {
    let found = WORDS.iter().find(|(options, _)| options.contains(&row.opt));
    found.and_then(|(_, words)| words.iter().find(|(known, _)| *known == word)).map_or("", |(_, text)| text)
}

type Words = &'static [(&'static str, &'static str)];

/// By option; options with the same words share an entry.
const WORDS: &[(&[Opt], Words)] = &[
    (
        &[Opt::Filetype],
        &[
            ("none", "Find out by looking"),
            ("file", "Regular file"),
            ("block", "Block device"),
            ("char", "Character device"),
        ],
    ),
    (
        &[Opt::Lockfile],
        &[
            ("none", "Do not lock"),
            ("exclusive", "One job at a time"),
            ("readwrite", "Many readers or one writer"),
        ],
    ),
    (
        &[Opt::Rw],
        &[
            ("read", "Sequential read"),
            ("write", "Sequential write"),
            ("trim", "Sequential trim"),
            ("randread", "Random read"),
            ("randwrite", "Random write"),
            ("randtrim", "Random trim"),
            ("rw", "Sequential read and write, mixed"),
            ("randrw", "Random read and write, mixed"),
            ("trimwrite", "Sequential: each block trimmed, then written"),
            ("randtrimwrite", "Random: each block trimmed, then written"),
        ],
    ),
    (&[Opt::RwSequencer], &[("sequential", "Next offset in order"), ("identical", "The same offset again")]),
    (
        &[Opt::Ioengine],
        &[
            ("cpuio", "Burns CPU time, does no I/O"),
            ("dev-dax", "Memory copies to a DAX device"),
            ("dfs", "DAOS file system"),
            ("dircreate", "Creates directories"),
            ("dirdelete", "Deletes directories"),
            ("dirstat", "Looks directories up"),
            ("e4defrag", "ext4 defragmentation"),
            ("exec", "Runs another program"),
            ("falloc", "fallocate(2)"),
            ("filecreate", "Creates files"),
            ("filedelete", "Deletes files"),
            ("filestat", "Looks files up"),
            ("ftruncate", "ftruncate(2)"),
            ("gfapi", "GlusterFS, synchronous"),
            ("gfapi_async", "GlusterFS, asynchronous"),
            ("http", "HTTP, S3 or WebDAV"),
            ("ime_aio", "DDN IME, asynchronous"),
            ("ime_psync", "DDN IME, synchronous"),
            ("ime_psyncv", "DDN IME, synchronous vectors"),
            ("io_uring", "io_uring(7)"),
            ("io_uring_cmd", "NVMe pass-through by io_uring(7)"),
            ("libaio", "Kernel asynchronous I/O, io_submit(2)"),
            ("libblkio", "libblkio"),
            ("libcufile", "GPU memory by NVIDIA GDS"),
            ("libhdfs", "Hadoop file system"),
            ("libhipfile", "GPU memory by AMD hipFile"),
            ("libiscsi", "iSCSI from user space"),
            ("libpmem", "Persistent memory by libpmem"),
            ("libzbc", "Zoned devices by libzbc"),
            ("mmap", "Memory copies to mapped files"),
            ("mtd", "Raw flash"),
            ("nbd", "Network block device"),
            ("net", "Sockets"),
            ("netsplice", "Sockets by splice(2)"),
            ("nfs", "NFS from user space"),
            ("null", "Does nothing"),
            ("page_fault", "Faults pages of mapped files in"),
            ("posixaio", "aio_read(3) and its kin"),
            ("psync", "pread(2), pwrite(2)"),
            ("pvsync", "preadv(2), pwritev(2)"),
            ("pvsync2", "preadv2(2), pwritev2(2)"),
            ("rados", "Ceph RADOS objects"),
            ("rbd", "Ceph block device"),
            ("rdma", "RDMA"),
            ("sg", "SCSI generic"),
            ("solarisaio", "Solaris only"),
            ("splice", "splice(2) through a pipe"),
            ("sync", "lseek(2), read(2), write(2)"),
            ("tokio_uring", "io_uring(7) by the tokio-uring crate"),
            ("vsync", "readv(2), writev(2), neighbours joined"),
            ("windowsaio", "Windows only"),
            ("xnvme", "NVMe by xNVMe"),
            ("external", "A plug-in: external:/path.so"),
        ],
    ),
    (
        &[Opt::IoSubmitMode],
        &[("inline", "The job itself submits and completes"), ("offload", "A pool of threads submits")],
    ),
    (
        &[Opt::RandomGenerator],
        &[
            ("tausworthe", "Long period, 32 bits"),
            ("lfsr", "Every block once without a map"),
            ("tausworthe64", "Long period, 64 bits"),
            ("permute", "Every block once without a map, of any number of blocks (ferrio only)"),
        ],
    ),
    (
        &[Opt::RandomDistribution],
        &[
            ("random", "All offsets alike"),
            ("zipf", "Few offsets very often: zipf:theta"),
            ("pareto", "Few offsets very often: pareto:h"),
            ("normal", "A bell: normal:deviation"),
            ("zoned", "Shares of regions in percent: zoned:access/size:..."),
            ("zoned_abs", "Shares of regions in bytes: zoned_abs:access/size:..."),
            ("sequence", "Offsets in a given order"),
        ],
    ),
    (
        &[Opt::FileServiceType],
        &[
            ("random", "Any file"),
            ("zipf", "Few files very often: zipf:theta"),
            ("pareto", "Few files very often: pareto:h"),
            ("normal", "A bell: normal:deviation"),
            ("roundrobin", "One after the other, again and again"),
            ("sequential", "One file to its end, then the next"),
        ],
    ),
    (
        &[Opt::Fallocate],
        &[
            ("none", "Reserve nothing"),
            ("native", "fallocate(2) where it works"),
            ("posix", "posix_fallocate(3)"),
            ("keep", "Reserve, leave the file's size"),
            ("truncate", "Set the file's size only"),
        ],
    ),
    (
        &[Opt::FadviseHint],
        &[
            ("0", "No advice"),
            ("1", "Advice by the job's pattern"),
            ("random", "Random access"),
            ("sequential", "Sequential access"),
            ("noreuse", "Data is used once"),
        ],
    ),
    (
        &[Opt::SyncFileRange],
        &[
            ("wait_before", "Wait for what is being written"),
            ("write", "Start writing"),
            ("wait_after", "Wait for what was started"),
        ],
    ),
    (
        &[Opt::Clocksource],
        &[
            ("gettimeofday", "gettimeofday(2)"),
            ("clock_gettime", "clock_gettime(2)"),
            ("cpu", "The CPU's own counter"),
        ],
    ),
    (
        &[Opt::Mem],
        &[
            ("malloc", "Ordinary memory"),
            ("shm", "Shared memory segments"),
            ("shmhuge", "Shared memory segments of huge pages"),
            ("mmap", "Mapped memory, or a file: mmap:/path"),
            ("mmapshared", "Mapped memory, shared"),
            ("mmaphuge", "Mapped huge pages"),
            ("cudamalloc", "GPU memory"),
        ],
    ),
    (
        &[Opt::Verify],
        &[
            ("0", "No verification"),
            ("md5", "MD5"),
            ("crc64", "64-bit CRC"),
            ("crc32", "32-bit CRC"),
            ("crc32c", "CRC-32C, in hardware where there is some"),
            ("crc16", "16-bit CRC"),
            ("crc7", "7-bit CRC"),
            ("sha1", "SHA-1"),
            ("sha256", "SHA-256"),
            ("sha512", "SHA-512"),
            ("sha3-224", "SHA-3, 224 bits"),
            ("sha3-256", "SHA-3, 256 bits"),
            ("sha3-384", "SHA-3, 384 bits"),
            ("sha3-512", "SHA-3, 512 bits"),
            ("xxhash", "xxHash"),
            ("meta", "Headers only"),
            ("pattern", "The verify_pattern alone"),
            ("pattern_hdr", "A header and the verify_pattern"),
            ("null", "Read back, check nothing"),
        ],
    ),
    (
        &[Opt::VerifyPolicy],
        &[("completed", "Blocks that were written"), ("fsynced", "Blocks that were synced")],
    ),
    (
        &[Opt::ReplaySkip],
        &[
            ("read", "Leave reads out"),
            ("write", "Leave writes out"),
            ("trim", "Leave trims out"),
            ("sync", "Leave syncs out"),
        ],
    ),
    (
        &[Opt::Zonemode],
        &[
            ("none", "No zones"),
            ("strided", "Zones made by zonesize and zoneskip"),
            ("zbd", "Zones of a zoned block device"),
        ],
    ),
    (
        &[Opt::Dataplacement],
        &[
            ("none", "No placement"),
            ("fdp", "NVMe flexible data placement"),
            ("streams", "Kernel write streams"),
        ],
    ),
    (
        &[Opt::PlidSelect],
        &[
            ("random", "Any of the placements"),
            ("roundrobin", "One after the other"),
            ("scheme", "By the file of dp_scheme"),
        ],
    ),
    (
        &[Opt::ThinktimeBlocksType],
        &[("complete", "Count completed blocks"), ("issue", "Count issued blocks")],
    ),
    (&[Opt::RateProcess], &[("linear", "At equal distances"), ("poisson", "At random distances")]),
    (
        &[Opt::Sync],
        &[("none", "Open without it"), ("sync", "Open with O_SYNC"), ("dsync", "Open with O_DSYNC")],
    ),
    (
        &[Opt::WriteHint],
        &[
            ("none", "Data of no known lifetime"),
            ("short", "Data soon overwritten"),
            ("medium", "Data that lasts a while"),
            ("long", "Data that lasts long"),
            ("extreme", "Data that lasts very long"),
        ],
    ),
    (
        &[Opt::CpusAllowedPolicy],
        &[("shared", "Every job on all of these CPUs"), ("split", "One CPU for each job")],
    ),
    (
        &[Opt::NumaMemPolicy],
        &[
            ("default", "The system's policy"),
            ("prefer", "One node first: prefer:0"),
            ("bind", "These nodes only: bind:0-1"),
            ("interleave", "Nodes in turn: interleave:0-1"),
            ("local", "The node that asks"),
        ],
    ),
    (
        &[Opt::ExitWhat],
        &[
            ("group", "Jobs of the same group"),
            ("stonewall", "Jobs up to the next stonewall"),
            ("all", "All jobs"),
        ],
    ),
    (
        &[Opt::LogWindowValue],
        &[("avg", "Mean of the window"), ("max", "Largest of the window"), ("both", "Both")],
    ),
    (
        &[Opt::DedupeMode],
        &[("repeat", "Repeat the block before"), ("working_set", "Take blocks from a fixed set")],
    ),
    (
        &[Opt::UnifiedRwReporting],
        &[
            ("none", "Each direction by itself"),
            ("mixed", "All directions as one"),
            ("both", "Each by itself, and all as one"),
        ],
    ),
    (
        &[Opt::ContinueOnError],
        &[
            ("none", "End at the first error"),
            ("read", "Go on after failed reads"),
            ("write", "Go on after failed writes"),
            ("io", "Go on after failed reads and writes"),
            ("verify", "Go on after wrong data"),
            ("all", "Go on after all of these"),
        ],
    ),
    (
        &[Opt::KbBase],
        &[
            ("1024", "k is 1024 and KiB 1000 when reading; binary when printing"),
            ("1000", "k is 1000 and KiB 1024; decimal when printing"),
        ],
    ),
    (&[Opt::UnitBase], &[("0", "As the engine counts"), ("8", "Bytes"), ("1", "Bits")]),
    (
        &[Opt::Steadystate],
        &[
            ("iops", "Largest distance of IOPS from their mean"),
            ("iops_slope", "Slope of IOPS"),
            ("bw", "Largest distance of bandwidth from its mean"),
            ("bw_slope", "Slope of bandwidth"),
            ("lat", "Largest distance of latency from its mean"),
            ("lat_slope", "Slope of latency"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Scope, rows};

    #[test]
    fn every_word_of_a_core_option_has_a_meaning_or_stands_for_another() {
        for row in rows().iter().filter(|row| row.scope == Scope::Core) {
            for word in row.choices {
                let stands_for_another = row.same.iter().any(|(same, _)| same == word);
                assert_ne!(choice_text(row, word).is_empty(), !stands_for_another, "{} {word}", row.name);
            }
        }
    }

    #[test]
    fn there_is_no_meaning_of_a_word_that_does_not_exist() {
        for (options, words) in WORDS {
            for (word, text) in *words {
                assert!(options.iter().all(|opt| opt.row().choices.contains(word)), "{word}");
                assert!(!text.is_empty() && !text.contains('\n'), "{word}");
            }
        }
    }
}
