//! Private options of mmap.

rows! {
    [Engines(&["mmap"]); "engine" / "mmap"] {
        Thp: "thp", Int, Plain, max 4294967295;
            Works; "Ask for huge pages on the mapping";
    }
}
