//! Private options of pvsync2.

rows! {
    [Engines(&["pvsync2"]); "engine" / "none"] {
        HipriPvsync2: "hipri", Flag, Plain;
            Works; "Ask for polled completion";
        HipriPercentage: "hipri_percentage", Int, Percent, default "100", max 100;
            Works; "Percentage of I/Os that use hipri";
        UncachedPvsync2: "uncached", Int, Plain, max 4294967295;
            Works; "Buffered I/O that drops its pages from the cache afterwards";
        NowaitPvsync2: "nowait", Bool, Plain;
            Works; "Fail with EAGAIN instead of blocking";
    }
}
