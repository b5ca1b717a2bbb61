//! Recording and replaying I/O, hooks, and zoned or placement-aware devices.
//!
//! One entry per option; the entry's form is explained in `macros.rs`. The text below is the arm of a macro
//! that hands its rows, after those it was given, to the next part of the table.

macro_rules! rows {
    ($($before:tt)*) => {
        $crate::catalogue::core_pace::rows! {
        $($before)*
        [Core; "io" / "iolog"] {
            WriteIolog: "write_iolog", Str, Plain;
                Works; "Append the issued I/O pattern to this file";
            WriteIologVersion: "write_iolog_version", Int, Plain, default "3", min 2, max 3, under "write_iolog";
                Works; "Format of the log: 3 has times, 2 has none (ferrio only)";
            ReadIolog: "read_iolog", StrList, Plain;
                NotYet; "Replay an I/O log or a blktrace binary";
            ReadIologChunked: "read_iolog_chunked", Bool, Plain, default "0", under "read_iolog";
                OnlyOff(&["0"]); "Read the log in pieces to bound memory";
            ReplayNoStall: "replay_no_stall", Bool, Plain, default "0", under "read_iolog";
                OnlyOff(&["0"]); "Ignore recorded delays";
            ReplayRedirect: "replay_redirect", Str, Plain, under "read_iolog";
                NotYet; "Send all replayed I/O to this file or device";
            ReplayScale: "replay_scale", Int, Count, default "1", max 4294967295, under "read_iolog";
                OnlyOff(&["1"]); "Divide replayed offsets by this number";
            ReplayAlign: "replay_align", Int, Bytes, max 4294967295, under "read_iolog";
                OnlyOff(&["0"]); "Align replayed offsets and lengths to this size";
            ReplayTimeScale: "replay_time_scale", Int, Percent, default "100", min 1, max 4294967295, under "read_iolog";
                OnlyOff(&["100"]); "Scale recorded delays; 100 is original speed";
            ReplaySkip: "replay_skip", WordList, Plain, words ["read": "Leave reads out", "write": "Leave writes out", "trim": "Leave trims out", "sync": "Leave syncs out"], under "read_iolog";
                NotYet; "Leave these I/O kinds out of a replay";
            MergeBlktraceFile: "merge_blktrace_file", Str, Plain;
                NotYet; "Merge the listed traces into this file and replay it";
            MergeBlktraceScalars: "merge_blktrace_scalars", FloatList, Percent;
                NotYet; "Time scale of each merged trace";
            MergeBlktraceIters: "merge_blktrace_iters", FloatList, Count;
                NotYet; "Repetitions of each merged trace";
        }
        [Core; "general" / "none"] {
            ExecPrerun: "exec_prerun", Str, Plain;
                Works; "Shell command run before the job, in the job's process";
            ExecPostrun: "exec_postrun", Str, Plain;
                Works; "Shell command run after the job";
        }
        [Core; "file" / "none"] {
            Ioscheduler: "ioscheduler", Str, Plain;
                NotYet; "Switch the block device's I/O scheduler first";
        }
        [Core; "io" / "zone"] {
            Zonemode: "zonemode", Enum, Plain, of ZoneMode;
                Works; "Meaning of the zone options";
            Zonesize: "zonesize", Size, Bytes, default "0";
                Works; "Bytes handled per zone, or zone size for zbd";
            Zonecapacity: "zonecapacity", Size, Bytes, default "0";
                Unavailable(absent::ZONES); "Writable part of each emulated zone";
            Zonerange: "zonerange", Size, Bytes, default "0";
                Works; "Spacing of strided zones";
            Zoneskip: "zoneskip", SizeZone, Bytes, default "0";
                Works; "Bytes skipped after each zone";
        }
        [Core; "io" / "none"] {
            ReadBeyondWp: "read_beyond_wp", Bool, Plain, default "0";
                Unavailable(absent::ZONES); "Allow reads past a zone's write pointer";
            MaxOpenZones: "max_open_zones", Int, Count, default "0", max 4096;
                Unavailable(absent::ZONES); "Zones open for writing at once, over all jobs of a file";
            JobMaxOpenZones: "job_max_open_zones", Int, Count, default "0", max 4096;
                Unavailable(absent::ZONES); "Zones one job may write at once";
            IgnoreZoneLimits: "ignore_zone_limits", Bool, Plain, default "0";
                Unavailable(absent::ZONES); "Do not enforce the device's open-zone limit";
        }
        [Core; "io" / "zone"] {
            ZoneResetThreshold: "zone_reset_threshold", Float, Plain, min 0, max 1;
                Unavailable(absent::ZONES); "Ratio of written data above which zone resets start";
            ZoneResetFrequency: "zone_reset_frequency", Float, Plain, min 0, max 1;
                Unavailable(absent::ZONES); "Resets issued per write, between 0 and 1";
            RecoverZbdWriteError: "recover_zbd_write_error", Bool, Plain;
                Unavailable(absent::ZONES); "Repair write pointers after a failed write and go on";
            WriteZoneRemainder: "write_zone_remainder", Bool, Plain;
                Unavailable(absent::ZONES); "Write short blocks to fill zone ends instead of finishing zones";
        }
        [Core; "io" / "none"] {
            Fdp: "fdp", Bool, Plain, default "0";
                Unavailable(absent::PLACEMENT); "Tag writes with Flexible Data Placement ids";
            Dataplacement: "dataplacement" | "data_placement", Enum, Plain, default "none", words ["none": "No placement", "fdp": "NVMe flexible data placement", "streams": "Kernel write streams"];
                Unavailable(absent::PLACEMENT); "Kind of placement directive on writes";
            PlidSelect: "plid_select" | "fdp_pli_select", Enum, Plain, default "roundrobin", words ["random": "Any of the placements", "roundrobin": "One after the other", "scheme": "By the file of dp_scheme"];
                Unavailable(absent::PLACEMENT); "How the next placement id is chosen";
            Plids: "plids" | "fdp_pli", IdList, Plain;
                Unavailable(absent::PLACEMENT); "Placement id indices (FDP) or stream ids the job may use";
            DpScheme: "dp_scheme", Str, Plain;
                Unavailable(absent::PLACEMENT); "File with lines start, end, id mapping offsets to placement ids";
        }
        }
    };
}
pub(super) use rows;
