//! Compares the text of directions with that printed by fio 3.42 for the same run.

use super::*;
use crate::model::{LatencyReport, Pairs};

fn read() -> DirectionReport {
    DirectionReport {
        io_bytes: 2_048_000,
        io_kbytes: 2000,
        bw_bytes: 2_045_954,
        bw: 1998,
        iops: 499.5005,
        runtime: 1001,
        total_ios: 500,
        clat_ns: LatencyReport {
            min: 951,
            max: 22_693_545,
            mean: 761341.182000,
            stddev: 1603205.779594,
            samples: 500,
            percentile: Pairs(vec![
                (1.0, 34_048),
                (5.0, 52_992),
                (10.0, 55_552),
                (20.0, 58_112),
                (30.0, 61_184),
                (40.0, 66_048),
                (50.0, 89_600),
                (60.0, 456_704),
                (70.0, 501_760),
                (80.0, 823_296),
                (90.0, 2_342_912),
                (95.0, 3_751_936),
                (99.0, 5_734_400),
                (99.5, 7_176_192),
                (99.9, 22_675_456),
                (99.95, 22_675_456),
                (99.99, 22_675_456),
            ]),
            ..LatencyReport::default()
        },
        lat_ns: LatencyReport {
            min: 991,
            max: 22_693_595,
            mean: 761377.340000,
            stddev: 1603207.474682,
            samples: 500,
            percentile: Pairs(vec![]),
            ..LatencyReport::default()
        },
        bw_min: 1980,
        bw_max: 2016,
        bw_agg: 99.999902,
        bw_mean: 1998.0,
        bw_dev: 25.455844,
        bw_samples: 2,
        iops_min: 495,
        iops_max: 504,
        iops_mean: 499.5,
        iops_stddev: 6.363961,
        iops_samples: 2,
        ..DirectionReport::default()
    }
}

fn write() -> DirectionReport {
    DirectionReport {
        io_bytes: 2_039_808,
        io_kbytes: 1992,
        bw_bytes: 2_037_770,
        bw: 1990,
        iops: 497.502498,
        runtime: 1001,
        total_ios: 498,
        clat_ns: LatencyReport {
            min: 1482,
            max: 20_150,
            mean: 3820.620482,
            stddev: 1957.109962,
            samples: 498,
            percentile: Pairs(vec![
                (1.0, 1832),
                (5.0, 2128),
                (10.0, 2224),
                (20.0, 2736),
                (30.0, 2992),
                (40.0, 3216),
                (50.0, 3472),
                (60.0, 3760),
                (70.0, 4080),
                (80.0, 4448),
                (90.0, 5280),
                (95.0, 5984),
                (99.0, 15_680),
                (99.5, 18_048),
                (99.9, 20_096),
                (99.95, 20_096),
                (99.99, 20_096),
            ]),
            ..LatencyReport::default()
        },
        lat_ns: LatencyReport {
            min: 1502,
            max: 20_241,
            mean: 3870.263052,
            stddev: 1981.544519,
            samples: 498,
            percentile: Pairs(vec![]),
            ..LatencyReport::default()
        },
        bw_min: 1980,
        bw_max: 2000,
        bw_agg: 99.999509,
        bw_mean: 1990.0,
        bw_dev: 14.142136,
        bw_samples: 2,
        iops_min: 495,
        iops_max: 500,
        iops_mean: 497.5,
        iops_stddev: 3.535534,
        iops_samples: 2,
        ..DirectionReport::default()
    }
}

const READ: &str = "  read: IOPS=499, BW=1998KiB/s (2046kB/s)(2000KiB/1001msec)
    clat (nsec): min=951, max=22694k, avg=761341.18, stdev=1603205.78
     lat (nsec): min=991, max=22694k, avg=761377.34, stdev=1603207.47
    clat percentiles (usec):
     |  1.00th=[   35],  5.00th=[   53], 10.00th=[   56], 20.00th=[   59],
     | 30.00th=[   62], 40.00th=[   67], 50.00th=[   90], 60.00th=[  457],
     | 70.00th=[  502], 80.00th=[  824], 90.00th=[ 2343], 95.00th=[ 3752],
     | 99.00th=[ 5735], 99.50th=[ 7177], 99.90th=[22676], 99.95th=[22676],
     | 99.99th=[22676]
   bw (  KiB/s): min= 1980, max= 2016, per=100.00%, avg=1998.00, stdev=25.46, samples=2
   iops        : min=  495, max=  504, avg=499.50, stdev= 6.36, samples=2
";

const WRITE: &str = "  write: IOPS=497, BW=1990KiB/s (2038kB/s)(1992KiB/1001msec)
    clat (nsec): min=1482, max=20150, avg=3820.62, stdev=1957.11
     lat (nsec): min=1502, max=20241, avg=3870.26, stdev=1981.54
    clat percentiles (nsec):
     |  1.00th=[ 1832],  5.00th=[ 2128], 10.00th=[ 2224], 20.00th=[ 2736],
     | 30.00th=[ 2992], 40.00th=[ 3216], 50.00th=[ 3472], 60.00th=[ 3760],
     | 70.00th=[ 4080], 80.00th=[ 4448], 90.00th=[ 5280], 95.00th=[ 5984],
     | 99.00th=[15680], 99.50th=[18048], 99.90th=[20096], 99.95th=[20096],
     | 99.99th=[20096]
   bw (  KiB/s): min= 1980, max= 2000, per=100.00%, avg=1990.00, stdev=14.14, samples=2
   iops        : min=  495, max=  500, avg=497.50, stdev= 3.54, samples=2
";

#[test]
fn directions_are_printed_as_fio_printed_them() {
    let (plan, result) = run();
    let report = RunReport::new(&plan, &result, &options(false));
    for (name, direction, wanted) in [("read", read(), READ), ("write", write(), WRITE)] {
        let mut out = String::new();
        write_direction(&mut out, &report.jobs[0], name, &direction).unwrap();
        assert_eq!(out, wanted, "{name}");
    }
}
