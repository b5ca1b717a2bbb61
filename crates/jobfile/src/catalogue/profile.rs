//! Options of the built-in profiles act and tiobench.

rows! {
    [Core; "profile" / "none"] {
        Profile: "profile", Str, Plain;
            NoEffect("only --profile on the command line starts a profile"); "Name of a built-in profile";
    }
    [Profile("act"); "profile" / "act"] {
        DeviceNames: "device-names", Str, Plain;
            NoEffect("only --profile=act reads it"); "Devices to test";
        Load: "load", Int, Count, default "1", max 4294967295;
            NoEffect("only --profile=act reads it"); "Load multiplier; 1 is 2000 reads and 1000 write units per second";
        TestDuration: "test-duration", Time, Seconds, default "24h";
            NoEffect("only --profile=act reads it"); "Length of the test";
        ThreadsPerQueue: "threads-per-queue", Int, Count, default "8", max 4294967295;
            NoEffect("only --profile=act reads it"); "Reader threads per device";
        ReadReqNum512Blocks: "read-req-num-512-blocks", Int, Count, default "3", max 4294967295;
            NoEffect("only --profile=act reads it"); "512-byte blocks per read";
        LargeBlockOpKbytes: "large-block-op-kbytes", Int, Bytes, default "131072", max 4294967295;
            NoEffect("only --profile=act reads it"); "Size of the large writes";
        Prep: "prep", Flag, Plain;
            NoEffect("only --profile=act reads it"); "Run the preparation phase instead of the test";
    }
    [Profile("tiobench"); "profile" / "tiobench"] {
        SizeTiobench: "size", Size, Mebibytes;
            NoEffect("only --profile=tiobench reads it"); "Size of the files; the job option `size` is read instead";
        Block: "block", Int, Bytes, default "4096", max 4294967295;
            NoEffect("only --profile=tiobench reads it"); "Block size; without effect in fio";
        Numruns: "numruns", Int, Count, max 4294967295;
            NoEffect("only --profile=tiobench reads it"); "Repetitions of each test; without effect in fio";
        Dir: "dir", Str, Plain;
            NoEffect("only --profile=tiobench reads it"); "Directory of the files; without effect in fio";
        Threads: "threads", Int, Count, max 4294967295;
            NoEffect("only --profile=tiobench reads it"); "Jobs that run each test together; without effect in fio";
    }
}
