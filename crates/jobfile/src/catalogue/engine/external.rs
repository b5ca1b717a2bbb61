//! Private options of external engines.

rows! {
    [Engines(&["external"]); "engine" / "external"] {
        ExternalOptions: "external_options", Str, Plain;
            Works; "Text that the engine gets as it is, for options of its own (ferrio only)";
    }
}
