//! Private options of nbd.

rows! {
    [Engines(&["nbd"]); "engine" / "nbd"] {
        Uri: "uri", Str, Plain;
            Works; "NBD export to use: nbd://host[:port]/export or nbd+unix:///export?socket=/path";
    }
}
