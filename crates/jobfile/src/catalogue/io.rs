//! The I/O of a job: direction, engine, queue depth, sizes, and the flags of opening files.

use crate::catalogue::absent;

rows! {
    [Core; "io" / "io_basic"] {
        Rw: "rw" | "readwrite", EnumArg, Plain, of ReadWrite;
            Works; "Direction and pattern of the workload";
        RwSequencer: "rw_sequencer", Enum, Plain, of Sequencer;
            Works; "How offsets advance within the groups of I/Os of rw=randread:8 and the like";
        Ioengine: "ioengine", EnumArg, Plain, of EngineKind, list absent::ENGINES;
            Works; "Method used to submit I/O (tokio_uring: ferrio only)";
        Iodepth: "iodepth", Int, Count, default "1", min 1, max 4294967295;
            Works; "I/O units kept in flight per job";
        IodepthBatch: "iodepth_batch" | "iodepth_batch_submit", Int, Count, default "1", max 4294967295, words ["auto": "As many as have completed since the last submission (ferrio only)"], under "iodepth";
            Works; "I/Os to queue before each submission to the engine; `auto`: as many as have completed";
        IodepthBatchCompleteMin: "iodepth_batch_complete_min" | "iodepth_batch_complete", Int, Count, default "1", max 4294967295, under "iodepth";
            Works; "Fewest completions to wait for when reaping";
        IodepthBatchCompleteMax: "iodepth_batch_complete_max", Int, Count, max 4294967295, under "iodepth";
            Works; "Most completions to take in one reap";
        IodepthLow: "iodepth_low", Int, Count, max 4294967295, under "iodepth";
            Works; "After a full queue, refill only once this many remain in flight";
        SerializeOverlap: "serialize_overlap", Bool, Plain, default "0", under "iodepth";
            Works; "Hold back an I/O that overlaps one still in flight";
        IoSubmitMode: "io_submit_mode", Enum, Plain, of SubmitMode;
            Works; "Submit from the job thread, or hand I/Os to a pool of worker threads";
    }
    [Core; "io" / "none"] {
        Size: "size", SizeZone, Bytes;
            Works; "Region of the files the job covers and, by default, its total I/O";
        IoSize: "io_size" | "io_limit", SizeZone, Bytes;
            Works; "Total bytes to transfer, independent of size; may wrap over the region";
        Offset: "offset" | "fileoffset", SizeZone, Bytes, default "0";
            Works; "Start of the I/O region within each file";
        OffsetAlign: "offset_align", Int, Bytes, default "0", max 4294967295;
            Works; "Round a percentage-based start offset up to a multiple of this";
        OffsetIncrement: "offset_increment", SizeZone, Bytes, default "0", under "offset";
            Works; "Added to offset once per clone number, so clones get separate regions";
        NumberIos: "number_ios", Int, Count, default "0";
            Works; "Stop after this many I/Os";
        NumRange: "num_range", Int, Count, default "1", max 256;
            Unavailable(absent::RANGES); "Ranges packed into one trim command";
        Bs: "bs" | "blocksize", Size PerDirection, Bytes, default "4096", min 1, max 18446744073709551615, under "rw";
            Works; "Block size per direction";
        Ba: "ba" | "blockalign", Size PerDirection, Bytes, min 1, max 18446744073709551615, under "rw";
            Works; "Alignment of random offsets";
        Bsrange: "bsrange" | "blocksize_range", Range PerDirection, Bytes, under "rw";
            Works; "Random block sizes between two bounds, in steps of the lower bound";
        Bssplit: "bssplit", Bssplit PerDirection, Bytes, under "rw";
            Works; "Weighted list of block sizes, size/percent joined by colons; blank percents share the rest";
        BsUnaligned: "bs_unaligned" | "blocksize_unaligned", Flag, Plain, under "rw";
            Works; "Allow any byte size in bsrange and bssplit instead of multiples of the smallest";
        BsIsSeqRand: "bs_is_seq_rand", Bool, Plain, default "0", under "bs";
            Works; "Use the read block size for sequential and the write one for random I/O";
        WriteBarrier: "write_barrier", Int, Count, default "0", max 4294967295;
            NoEffect("no engine acts on the mark"); "Mark every Nth write as a barrier; no effect in practice";
    }
    [Core; "io" / "io_type"] {
        Direct: "direct", Bool, Plain, default "0";
            Works; "Open with O_DIRECT";
        Atomic: "atomic", Bool, Plain, default "0";
            Works; "Issue writes as untorn atomic writes";
        Buffered: "buffered", Bool, Plain, default "1";
            Works; "Use the page cache";
        Invalidate: "invalidate", Bool, Plain, default "1";
            Works; "Drop the page cache of the files at start";
        Sync: "sync", Enum, Plain, of OpenSync;
            Works; "Open with O_SYNC or O_DSYNC";
    }
    [Core; "io" / "rwmix"] {
        Rwmixread: "rwmixread", Int, Percent, default "50", max 100;
            Works; "Share of reads in a mixed job";
        Rwmixwrite: "rwmixwrite", Int, Percent, default "50", max 100;
            Works; "Share of writes in a mixed job";
        Rwmixcycle: "rwmixcycle", Deprecated, Plain;
            Unavailable("it was withdrawn from fio"); "Withdrawn; any use is an error";
    }
    [Core; "engine" / "none"] {
        WriteHint: "write_hint", Enum, Plain, of WriteHint;
            Works; "Expected lifetime of written data";
    }
}
