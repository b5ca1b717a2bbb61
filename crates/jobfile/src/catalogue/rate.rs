//! Speed of a job: rates, pauses, latency targets, flow groups.

rows! {
    [Core; "io" / "thinktime"] {
        Thinktime: "thinktime", Time, Microseconds, default "0", max 4294967295;
            Works; "Pause after each thinktime_blocks I/Os";
        ThinktimeSpin: "thinktime_spin", Time, Microseconds, default "0", max 4294967295, under "thinktime";
            Works; "Part of thinktime spent busy-looping";
        Thinkcycles: "thinkcycles", Int, Count, default "0", max 4294967295, under "thinktime";
            Works; "Spin this many cycles between I/Os";
        ThinktimeBlocks: "thinktime_blocks", Int, Count, default "1", max 4294967295, under "thinktime";
            Works; "I/Os between pauses";
        ThinktimeBlocksType: "thinktime_blocks_type", Enum, Plain, of ThinktimeBlocksType, under "thinktime";
            Works; "Count thinktime_blocks at completion or at issue";
        ThinktimeIotime: "thinktime_iotime", Time, Seconds, default "0", max 4294967295, under "thinktime";
            Works; "I/O time between pauses";
    }
    [Core; "io" / "rate"] {
        Rate: "rate", Size PerDirection, BytesPerSecond, max 18446744073709551615;
            Works; "Bandwidth cap";
        RateMin: "rate_min" | "ratemin", Size PerDirection, BytesPerSecond, max 18446744073709551615, under "rate";
            Works; "Abort the job when bandwidth falls below this";
        RateIops: "rate_iops", Int PerDirection, CountPerSecond, max 4294967295;
            Works; "I/O rate cap";
        RateIopsMin: "rate_iops_min", Int PerDirection, CountPerSecond, max 4294967295, under "rate_iops";
            Works; "Abort the job when the I/O rate falls below this";
        RateProcess: "rate_process", Enum, Plain, of RateProcess, under "rate";
            Works; "Even pacing, or Poisson arrivals";
        RateCycle: "rate_cycle" | "ratecycle", Int, Milliseconds, default "1000", max 4294967295, under "rate";
            Works; "Time over which the minimum rates are averaged";
        RateIgnoreThinktime: "rate_ignore_thinktime", Bool, Plain, under "rate";
            Works; "Do not catch up for time spent in thinktime";
    }
    [Core; "io" / "latprof"] {
        MaxLatency: "max_latency", Time PerDirection, Microseconds, max 18446744073709551615;
            Works; "Fail the job when one I/O takes longer";
        LatencyTarget: "latency_target", Time, Microseconds;
            Works; "Find the highest queue depth that keeps latency below this";
        LatencyWindow: "latency_window", Time, Microseconds;
            Works; "Sampling period of the latency search";
        LatencyPercentile: "latency_percentile", Float, Percent, default "100", min 0, max 100;
            Works; "Share of I/Os that must meet latency_target";
        LatencyRun: "latency_run", Bool, Plain, default "0";
            Works; "Keep adjusting the depth instead of stopping at the answer";
    }
    [Core; "io" / "io_flow"] {
        FlowId: "flow_id", Int, Plain, default "0", max 4294967295;
            Works; "Flow group; jobs with one id share a token balance";
        Flow: "flow", Int, Count, default "0", max 1000, under "flow_id";
            Works; "Weight of the job in its flow group";
        FlowWatermark: "flow_watermark", Ignored, Plain;
            NoEffect("it is deprecated in fio, where it does nothing either"); "Accepted with a notice and ignored";
        FlowSleep: "flow_sleep", Int, Microseconds, default "0", max 4294967295, under "flow_id";
            Works; "Pause when the flow balance holds the job back";
    }
}
