//! Memory and contents of the I/O buffers.

use crate::catalogue::absent;

rows! {
    [Core; "io" / "none"] {
        Mem: "mem" | "iomem", EnumArg, Plain, of MemoryType;
            Works; "Where I/O buffers come from";
        IomemAlign: "iomem_align" | "mem_align", Int, Bytes, default "0", max 4294967295, under "mem";
            Works; "Each I/O buffer begins at a multiple of this power of two";
    }
    [Core; "general" / "none"] {
        GpuDevId: "gpu_dev_id", Int, Plain, default "0", max 4294967295;
            Unavailable(absent::CUDA); "GPU that holds the I/O buffers";
        HugepageSize: "hugepage-size", Size, Bytes, default "2097152", max 4294967295;
            Works; "Size of the huge pages that buffers are made of";
    }
    [Core; "io" / "io_buf"] {
        ZeroBuffers: "zero_buffers", Flag, Plain;
            Works; "Fill buffers with zeros";
        RefillBuffers: "refill_buffers", Flag, Plain;
            Works; "New buffer contents for each write";
        ScrambleBuffers: "scramble_buffers", Bool, Plain, default "1";
            Works; "Change part of the buffer on each write to defeat deduplication";
        BufferPattern: "buffer_pattern", Pattern, Plain;
            Works; "Bytes to fill write buffers with, as numbers, strings or a file";
        BufferCompressPercentage: "buffer_compress_percentage", Int, Percent, max 100;
            Works; "Compressible share of buffer contents";
        BufferCompressChunk: "buffer_compress_chunk", Size, Bytes, default "512", max 4294967295, under "buffer_compress_percentage";
            Works; "Granularity of compressible regions; 0 is the block size";
        DedupePercentage: "dedupe_percentage", Int, Percent, max 100;
            Works; "Share of write buffers identical to others";
        DedupeGlobal: "dedupe_global", Bool, Plain, default "0";
            Works; "Share the duplicate pool between jobs";
        DedupeMode: "dedupe_mode", Enum, Plain, of DedupeMode, under "dedupe_percentage";
            Works; "Where duplicate contents come from";
        DedupeWorkingSetPercentage: "dedupe_working_set_percentage", Int, Percent, default "5", max 100, under "dedupe_percentage";
            Works; "Part of size used as unique pool";
    }
}
