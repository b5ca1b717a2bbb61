//! Private options of filestat and dirstat.

rows! {
    [Engines(&["filestat", "dirstat"]); "engine" / "filestat"] {
        StatType: "stat_type", Enum, Plain, of StatType;
            Works; "Call measured by the stat engines";
    }
}
