//! Private options of e4defrag.

rows! {
    [Engines(&["e4defrag"]); "engine" / "e4defrag"] {
        Donorname: "donorname", Str, Plain;
            Works; "File that gives its extents for those of the job's files; created in `directory`";
        Inplace: "inplace", Int, Plain, max 1;
            Works; "1 reserves donor space for each I/O and frees it; 0 reserves it once at the start";
    }
}
