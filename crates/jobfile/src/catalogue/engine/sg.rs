//! Private options of sg.

rows! {
    [Engines(&["sg"]); "engine" / "sg"] {
        HipriSg: "hipri", Flag, Plain;
            Works; "Ask for polled completion";
        ReadfuaSg: "readfua", Bool, Plain, default "0";
            Works; "Set force-unit-access on reads";
        WritefuaSg: "writefua", Bool, Plain, default "0";
            Works; "Set force-unit-access on writes";
        SgWriteMode: "sg_write_mode", Enum, Plain, of SgWriteMode;
            Works; "SCSI command used for writes";
        StreamId: "stream_id", Int, Plain, default "0", max 65535;
            Works; "Which device stream writes go to; 0 opens one";
    }
}
