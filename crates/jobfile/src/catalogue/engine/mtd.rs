//! Private options of mtd.

rows! {
    [Engines(&["mtd"]); "engine" / "mtd"] {
        SkipBad: "skip_bad", Bool, Plain, default "0";
            Works; "Pass over blocks that are known to be bad";
    }
}
