//! Zones of files and devices, and placement of data.

use crate::catalogue::absent;

rows! {
    [Core; "io" / "zone"] {
        Zonemode: "zonemode", Enum, Plain, of ZoneMode;
            Works; "Meaning of the zone options";
        Zonesize: "zonesize", Size, Bytes, default "0";
            Works; "Bytes handled per zone, or zone size for zbd";
        Zonecapacity: "zonecapacity", Size, Bytes, default "0";
            Works; "Writable part of each emulated zone";
        Zonerange: "zonerange", Size, Bytes, default "0";
            Works; "Spacing of strided zones";
        Zoneskip: "zoneskip", SizeZone, Bytes, default "0";
            Works; "Bytes skipped after each zone";
        ZoneResetThreshold: "zone_reset_threshold", Float, Plain, min 0, max 1;
            Works; "Ratio of written data above which zone resets start";
        ZoneResetFrequency: "zone_reset_frequency", Float, Plain, min 0, max 1;
            Works; "Resets issued per write, between 0 and 1";
        RecoverZbdWriteError: "recover_zbd_write_error", Bool, Plain;
            Works; "Repair write pointers after a failed write and go on";
        WriteZoneRemainder: "write_zone_remainder", Bool, Plain;
            Works; "Write short blocks to fill zone ends instead of finishing zones";
    }
    [Core; "io" / "none"] {
        ReadBeyondWp: "read_beyond_wp", Bool, Plain, default "0";
            Works; "Allow reads past a zone's write pointer";
        MaxOpenZones: "max_open_zones", Int, Count, default "0", max 4096;
            Works; "Zones open for writing at once, over all jobs of a file";
        JobMaxOpenZones: "job_max_open_zones", Int, Count, default "0", max 4096;
            Works; "Zones one job may write at once";
        IgnoreZoneLimits: "ignore_zone_limits", Bool, Plain, default "0";
            Works; "Do not enforce the device's open-zone limit";
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
