//! Statistics, and the units that they are printed in.

rows! {
    [Core; "stat" / "none"] {
        GroupReporting: "group_reporting", Flag, Plain;
            Works; "Merge the jobs of a group into one report entry";
        Stats: "stats", Bool, Plain, default "1";
            Works; "When 0, leave the job out of the report";
        ClatPercentiles: "clat_percentiles", Bool, Plain, default "1";
            Works; "Report completion latency percentiles";
        LatPercentiles: "lat_percentiles", Bool, Plain, default "0";
            Works; "Report total latency percentiles";
        SlatPercentiles: "slat_percentiles", Bool, Plain, default "0";
            Works; "Report submission latency percentiles";
        PercentileList: "percentile_list", FloatList, Percent, default "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99", min 0, max 100;
            Works; "Percentiles to print";
        SignificantFigures: "significant_figures", Int, Count, default "4", min 1, max 10;
            Works; "Digits shown in human-readable numbers";
        DiskUtil: "disk_util", Bool, Plain, default "1";
            Works; "Collect and print disk statistics";
        GtodReduce: "gtod_reduce", Bool, Plain, default "0";
            Works; "Cut timing calls at the price of latency statistics";
        DisableLat: "disable_lat", Bool, Plain, default "0", under "gtod_reduce";
            Works; "Do not measure total latency";
        DisableClat: "disable_clat", Bool, Plain, default "0", under "gtod_reduce";
            Works; "Do not measure completion latency";
        DisableSlat: "disable_slat", Bool, Plain, default "0", under "gtod_reduce";
            Works; "Do not measure submission latency";
        DisableBwMeasurement: "disable_bw_measurement" | "disable_bw", Bool, Plain, default "0", under "gtod_reduce";
            Works; "Drop per-I/O bandwidth log records; averaged bandwidth sampling continues";
    }
    [Core; "general" / "clock"] {
        JobStartClockId: "job_start_clock_id", Int, Plain, max 4294967295;
            Works; "clock_gettime id used for job_start in JSON";
    }
    [Core; "general" / "none"] {
        UnifiedRwReporting: "unified_rw_reporting", Enum, Plain, of UnifiedReporting;
            Works; "Sum directions into one mixed report, or print both";
        KbBase: "kb_base", Enum, Plain, of KbBase;
            Works; "Meaning of size suffixes on input and of units on output";
        UnitBase: "unit_base", Enum, Plain, of UnitBase, default "";
            Works; "Report bandwidth in bytes or bits";
    }
}
