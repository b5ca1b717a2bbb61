//! Random offsets: seeds, generators, distributions.

rows! {
    [Core; "io" / "random"] {
        Randrepeat: "randrepeat" | "allrandrepeat", Bool, Plain, default "1", under "rw";
            Works; "Fixed seed, so random sequences repeat between runs";
        Randseed: "randseed", Int, Plain, default "0x89", under "rw";
            Works; "Seed for all random generators of the job";
        Norandommap: "norandommap", Flag, Plain, under "rw";
            Works; "Do not track visited blocks; random offsets may repeat or be missed";
        Softrandommap: "softrandommap", Bool, Plain, default "0", under "norandommap";
            Works; "Continue without the block map when it cannot be allocated";
        Sprandom: "sprandom", Bool, Plain, default "0", under "rw";
            Works; "Bring an SSD to its steady state of random writes in one pass";
        SprNumRegions: "spr_num_regions", Int, Count, default "100", max 4294967295, under "sprandom";
            Works; "Regions that sprandom divides the device into";
        SprOp: "spr_op", Float, Plain, default "0.15", under "sprandom";
            Works; "Spare space of the device as a share of its capacity, between 0 and 1";
        SprCs: "spr_cs", Size, Bytes, default "0", max 18446744073709551615, under "sprandom";
            Works; "Device cache size; delays invalidating writes by one region";
        RandomGenerator: "random_generator", Enum, Plain, of RandomGenerator;
            Works; "Generator of random offsets (permute: ferrio only)";
        RandomDistribution: "random_distribution", EnumArg, Plain, of DistributionType;
            Works; "Distribution of random offsets (zipf_exact: ferrio only)";
        RandomSequenceStride: "random_sequence_stride", Bool, Plain, default "0";
            Works; "Move the sequence window forward after each cycle instead of repeating it in place";
        PercentageRandom: "percentage_random", Int PerDirection, Percent, default "100,100,100", max 100;
            Works; "Share of a random workload that is random; the rest is sequential";
        PercentageSequential: "percentage_sequential", Deprecated, Plain;
            Unavailable("it was withdrawn from fio; percentage_random is its successor"); "Withdrawn; any use is an error";
    }
}
