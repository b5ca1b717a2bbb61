//! Values of every kind, right and wrong.

use std::io;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::catalogue::{Opt, rows};
use ferrio_job::{IoPriority, Pattern};

fn no_file(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

fn read(opt: Opt, text: &str) -> Result<Value, ValueError> {
    parse(opt.row(), Some(text), 1024, &no_file)
}

fn why(opt: Opt, text: &str) -> String {
    read(opt, text).expect_err(text).label.into_string()
}

fn bs(text: &str) -> [Option<u64>; 3] {
    match read(Opt::Bs, text) {
        Ok(Value::Directions(values)) => values,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn sizes_take_suffixes_in_any_case() {
    for (text, bytes) in [
        ("512", 512),
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4KB", 4096),
        ("4KiB", 4000),
        ("4Ki", 4096),
        ("1m", 1 << 20),
        ("1Mb", 1 << 20),
        ("1mib", 1_000_000),
        ("512b", 512),
        ("0x1000", 4096),
        ("0X2000", 8192),
        ("0x10k", 16384),
        (" 4k ", 4096),
        ("(2*1k)", 2048),
    ] {
        assert_eq!(bs(text), [Some(bytes); 3], "{text}");
    }
    assert_eq!(read(Opt::Size, "1t"), Ok(Value::Amount(Amount::Bytes(1 << 40))));
}

#[test]
fn a_kb_base_of_1000_swaps_the_suffixes_except_for_engines() {
    let read = |opt: Opt, text| parse(opt.row(), Some(text), 1000, &no_file);
    assert_eq!(read(Opt::Bs, "4k,4kib"), Ok(Value::Directions([Some(4000), Some(4096), Some(4096)])));
    assert_eq!(read(Opt::ChunkSizeLibhdfs, "4k"), Ok(Value::Int(4096)));
}

#[test]
fn directions_get_their_pieces() {
    let k = |n: u64| Some(n * 1024);
    for (text, want) in [
        ("1k,2k", [k(1), k(2), k(2)]),
        ("1k,2k,4k", [k(1), k(2), k(4)]),
        ("8k,", [k(8), None, None]),
        (",8k", [None, k(8), k(8)]),
        ("2k,,8k", [k(2), None, k(8)]),
        (",,8k", [None, None, k(8)]),
        ("2k-8k", [k(2), k(8), k(8)]),
        ("1k,2k,4k,", [k(1), k(2), k(4)]),
        ("1k:2k", [k(1), k(2), k(2)]),
        ("(2*1k),(0x10k)", [k(2), k(16), k(16)]),
        ("(8k-2k)", [k(6), k(6), k(6)]),
    ] {
        assert_eq!(bs(text), want, "{text}");
    }
    assert_eq!(why(Opt::Bs, "4k,8k,16k,32k"), "three values (read, write, trim) are possible");
    assert_eq!(why(Opt::Bs, ",,"), "no direction has a value");
    assert_eq!(why(Opt::Bs, "4k,foo"), "a number is expected");
    assert_eq!(
        read(Opt::CmdprioPercentageLibaio, "10,20"),
        Ok(Value::Directions([Some(10), Some(20), None]))
    );
}

#[test]
fn a_fraction_of_zero_changes_nothing() {
    for (opt, text, plain) in [
        (Opt::Size, "33554432.0", "33554432"),
        (Opt::Rwmixread, "70.0", "70"),
        (Opt::Runtime, "60.0", "60"),
        (Opt::Runtime, "1.0m", "1m"),
        (Opt::Iodepth, "32.00", "32"),
        (Opt::Bs, "4096.0,8k", "4096,8k"),
        (Opt::Size, "1.0g", "1g"),
    ] {
        assert_eq!(read(opt, text).unwrap(), read(opt, plain).unwrap(), "{text}");
    }
}

#[test]
fn a_word_in_place_of_a_number_is_named_where_neither_is_given() {
    let refused = read(Opt::IodepthBatch, "automatic").unwrap_err();
    assert_eq!(
        (refused.label.as_ref(), refused.help.as_deref()),
        ("a number is expected", Some("in place of a number: auto"))
    );
    assert_eq!(read(Opt::Iodepth, "x").unwrap_err().help, None);
}

#[test]
fn numbers_with_something_after_them_are_refused() {
    for (opt, text, label) in [
        (Opt::Bs, "x", "a number is expected"),
        (Opt::Bs, "-", "a number is expected"),
        (Opt::Bs, "0x", "a number is expected"),
        (Opt::Bs, "4foo", "unknown suffix"),
        (Opt::Bs, "1.5g", "fractions are not allowed here"),
        (Opt::Bs, "1.05", "fractions are not allowed here"),
        (Opt::Bs, "4096.", "fractions are not allowed here"),
        (Opt::Bs, "0x10.0", "fractions are not allowed here"),
        (Opt::Bs, "1z", "`z` (zones) is not applicable to this option"),
        (Opt::Bs, "50%", "a percentage is not applicable to this option"),
        (Opt::Size, "99999999999999999999999", "too large"),
        (Opt::Size, "9999999t", "too large"),
        (Opt::Size, "-4k", "must not be negative"),
        (Opt::Iodepth, "0", "the minimum is 1"),
        (Opt::Iodepth, "4294967298", "the maximum is 4294967295"),
        (Opt::Iodepth, "4,8", "one number is expected"),
        (Opt::Rwmixread, "-1", "must not be negative"),
        (Opt::LogAvgMsec, "500ms", "no time suffixes here"),
        (Opt::ReplayAlign, "3", "must be a power of 2"),
        (Opt::Nice, "-21", "the minimum is -20"),
        (Opt::Prio, "8", "the maximum is 7"),
        (Opt::Prioclass, "4", "the maximum is 3"),
        (Opt::Priohint, "1024", "the maximum is 1023"),
        (Opt::CmdprioPercentageIoUring, "50,101", "the maximum is 100"),
        (Opt::CmdprioClassLibaio, "0", "the minimum is 1"),
        (Opt::CmdprioClassIoUring, "4", "the maximum is 3"),
        (Opt::CmdprioLibaio, "8", "the maximum is 7"),
        (Opt::CmdprioHintIoUring, "1024", "the maximum is 1023"),
    ] {
        assert_eq!(why(opt, text), label, "{text}");
    }
    assert_eq!(read(Opt::Nice, "-20"), Ok(Value::Int(-20)));
    assert_eq!(read(Opt::NumberIos, "1kib"), Ok(Value::Int(1000)));
    assert_eq!(read(Opt::Iodepth, "(16-12)"), Ok(Value::Int(4)));
}

#[test]
fn times_are_microseconds_whatever_the_suffix() {
    for (opt, text, us) in [
        (Opt::Runtime, "120", 120_000_000),
        (Opt::Runtime, "1500ms", 1_500_000),
        (Opt::Runtime, "5 s", 5_000_000),
        (Opt::Runtime, "(10*2)", 20_000_000),
        (Opt::Runtime, "(500ms)", 500_000),
        (Opt::Runtime, "(1.5)", 1_500_000),
        (Opt::LatencyTarget, "2500", 2500),
        (Opt::LatencyTarget, "7usec", 7),
        (Opt::LatencyTarget, "5Msec", 5000),
        (Opt::LatencyTarget, "3S", 3_000_000),
        (Opt::LatencyTarget, "2h", 7_200_000_000),
        (Opt::LatencyTarget, "1d", 86_400_000_000),
    ] {
        assert_eq!(read(opt, text), Ok(Value::Time(us)), "{text}");
    }
    for text in ["10sec", "5min", "1h30m", "5%", "10x"] {
        assert_eq!(why(Opt::Runtime, text), "unknown time suffix", "{text}");
    }
    assert_eq!(why(Opt::Thinktime, "2h"), "the maximum is 4294967295");
    assert!(read(Opt::ThinktimeIotime, "2h").is_ok(), "its limit is in seconds");
}

#[test]
fn bounds_are_put_in_order() {
    assert_eq!(read(Opt::Filesize, "64k-8k"), Ok(Value::Range(8192, 65536)));
    assert_eq!(read(Opt::Filesize, "8k:8k"), Ok(Value::Range(8192, 8192)));
    assert_eq!(read(Opt::Filesize, "12k"), Ok(Value::Range(12288, 12288)));
    assert_eq!(read(Opt::Startdelay, "1s-3s"), Ok(Value::Range(1_000_000, 3_000_000)));
    assert_eq!(read(Opt::Startdelay, "800ms,1"), Ok(Value::Range(800_000, 1_000_000)));
    assert_eq!(why(Opt::Filesize, "0"), "the minimum is 1");
    assert_eq!(why(Opt::Filesize, "1k-2k-3k"), "at most two values are allowed");
    let range = Some((1024, 4096));
    assert_eq!(read(Opt::Bsrange, ",4k-1k"), Ok(Value::Ranges([None, range, range])));
    assert_eq!(why(Opt::Bsrange, "4k"), "two bounds are expected");
    assert_eq!(why(Opt::Bsrange, "0-4k"), "a block must have at least 1 byte");
}

#[test]
fn amounts_are_bytes_percent_or_zones() {
    assert_eq!(read(Opt::Size, "50%"), Ok(Value::Amount(Amount::Percent(50))));
    assert_eq!(read(Opt::Size, "10z"), Ok(Value::Amount(Amount::Zones(10))));
    for text in ["101%", "150%", "50.5%", "-1%", "%"] {
        assert_eq!(why(Opt::IoSize, text), "a percentage is a whole number from 0 to 100", "{text}");
    }
    assert_eq!(why(Opt::Size, "xz"), "a whole number is expected before `z`");
}

#[test]
fn switches_take_numbers_only() {
    assert_eq!(read(Opt::Direct, "1"), Ok(Value::Switch(true)));
    assert_eq!(read(Opt::Thread, "7"), Ok(Value::Switch(true)));
    assert_eq!(read(Opt::Thread, "0"), Ok(Value::Switch(false)));
    assert_eq!(why(Opt::Direct, "2"), "the maximum is 1");
    assert_eq!(why(Opt::Direct, "yes"), "words are not accepted here");
    assert_eq!(why(Opt::Direct, "-1"), "must not be negative");
}

#[test]
fn words_are_resolved_to_their_main_spelling() {
    let word = |word| Ok(Value::Word(word, Argument::None));
    let engine = |name: &str| Ok(Value::Engine(name.to_owned(), None));
    assert_eq!(read(Opt::Rw, "readwrite"), word("rw"));
    assert_eq!(read(Opt::Fallocate, "1"), word("posix"));
    assert_eq!(read(Opt::Sync, "1"), word("sync"));
    assert_eq!(read(Opt::Ioengine, "linuxaio"), engine("libaio"));
    assert_eq!(read(Opt::Ioengine, "nosuch"), engine("nosuch"));
    let external = Value::Engine("external".to_owned(), Some("/x:y.so".to_owned()));
    assert_eq!(read(Opt::Ioengine, "external:/x:y.so"), Ok(external));
    assert_eq!(why(Opt::Rw, "READ"), "did you mean `read`?");
    assert_eq!(why(Opt::Rw, "randred"), "did you mean `randread`?");
    assert_eq!(why(Opt::Rw, "read,foo"), "not one of the choices");
    assert_eq!(
        read(Opt::SyncFileRange, "write,wait_before:8"),
        Ok(Value::Words(vec!["wait_before", "write"], Some(8)))
    );
    assert_eq!(why(Opt::SyncFileRange, "write:x"), "a number of writes is expected");
    assert_eq!(why(Opt::ReplaySkip, "foo"), "not one of the choices");
}

#[test]
fn arguments_of_words_are_checked() {
    for (opt, good) in [
        (Opt::Rw, "randread:8"),
        (Opt::Rw, "write:-4k"),
        (Opt::RandomDistribution, "zipf:0.9:0.5"),
        (Opt::RandomDistribution, "zipf_exact:1:0.5"),
        (Opt::FileServiceType, "zipf_exact:0.8"),
        (Opt::RandomDistribution, "zoned:100/100,50/50:50/50"),
        (Opt::RandomDistribution, "zoned_abs:100/1m"),
        (Opt::RandomDistribution, "sequence:0,1"),
        (Opt::FileServiceType, "roundrobin:4"),
        (Opt::FileServiceType, "gauss"),
        (Opt::Steadystate, "iops:10%"),
        (Opt::Steadystate, "bw:10m"),
        (Opt::Steadystate, "lat:2ms"),
        (Opt::Mem, "mmaphuge:/huge/x"),
        (Opt::NumaMemPolicy, "bind:0-1"),
        (Opt::WriteMode, "write/60:verify/40"),
    ] {
        assert!(read(opt, good).is_ok(), "{good}: {:?}", read(opt, good));
    }
    for (opt, bad) in [
        (Opt::Rw, "randread:0"),
        (Opt::Rw, "randread:x"),
        (Opt::RandomDistribution, "zipf:1"),
        (Opt::RandomDistribution, "zipf_exact:-1"),
        (Opt::RandomDistribution, "zipf_exact:1.2:3"),
        (Opt::RandomDistribution, "zipf_exact:0.8,0.9"),
        (Opt::RandomDistribution, "zipf:1.2:3"),
        (Opt::RandomDistribution, "pareto:0"),
        (Opt::RandomDistribution, "normal:200"),
        (Opt::RandomDistribution, "zoned"),
        (Opt::RandomDistribution, "zoned:50/10:40/90"),
        (Opt::RandomDistribution, "zoned_abs:50/:50/40k"),
        (Opt::RandomDistribution, "random:1"),
        (Opt::FileServiceType, "zipf:1"),
        (Opt::Steadystate, "iops"),
        (Opt::Steadystate, "iops:"),
        (Opt::Mem, "malloc:/x"),
        (Opt::NumaMemPolicy, "prefer:0,1"),
        (Opt::NumaMemPolicy, "local:0"),
        (Opt::WriteMode, "write/60:verify/30"),
    ] {
        assert!(read(opt, bad).is_err(), "{bad}");
    }
}

#[test]
fn lists_hold_what_was_written() {
    let names = |names: &[&str]| Ok(Value::List(names.iter().map(|name| (*name).to_owned()).collect()));
    assert_eq!(read(Opt::Filename, ":sub/x::y\\:z"), names(&["sub/x", "y:z"]));
    assert_eq!(read(Opt::Filename, "a\\b:c"), names(&["a\\b", "c"]));
    assert_eq!(why(Opt::Filename, "::"), "a name is expected");
    assert_eq!(why(Opt::Filename, &"x".repeat(5000)), "5000 bytes long; the limit is 4095");
    assert_eq!(read(Opt::CpusAllowed, "0,2-4,3"), Ok(Value::Numbers(vec![0, 2, 3, 4])));
    assert_eq!(why(Opt::CpusAllowed, "9999"), "the highest CPU number is 1023");
    assert_eq!(why(Opt::CpusAllowed, "0,,1"), "a CPU number is expected");
    assert_eq!(read(Opt::Plids, "5,1-3"), Ok(Value::Numbers(vec![1, 2, 3, 5])));
    assert_eq!(why(Opt::Plids, "1-200"), "at most 128 ids are allowed");
    assert_eq!(read(Opt::PercentileList, "99.95:1"), Ok(Value::Floats(vec![99.95, 1.0], 2)));
    assert_eq!(read(Opt::PercentileList, "50:99:"), Ok(Value::Floats(vec![50.0, 99.0], 0)));
    assert_eq!(why(Opt::PercentileList, "50:foo"), "a number is expected");
    assert_eq!(why(Opt::PercentileList, "100.5"), "must lie between 0 and 100");
    assert_eq!(why(Opt::PercentileList, "nan"), "a number is expected");
    assert_eq!(read(Opt::PercentileList, &"1:".repeat(22)), Ok(Value::Floats(vec![1.0; 22], 0)));
    assert_eq!(why(Opt::LatencyPercentile, "50:90"), "one number is expected");
    assert_eq!(read(Opt::IgnoreError, "EIO:28,,5"), Ok(Value::Errors([vec![5, 28], vec![], vec![5]])));
    let aliases = Value::Errors([vec![11, 35], vec![95], vec![132]]);
    assert_eq!(read(Opt::IgnoreError, "EWOULDBLOCK:EDEADLOCK,ENOTSUP,ERFKILL"), Ok(aliases));
    for name in ["EFOO", "UnknownErrno", "EHWPOISON"] {
        assert_eq!(why(Opt::IgnoreError, name), "unknown error name");
    }
}

#[test]
fn splits_share_what_is_left() {
    let entry = |bytes, percent| SplitEntry { bytes, percent };
    let first = vec![entry(4096, Some(20)), entry(8192, None)];
    let rest = vec![entry(65536, Some(100))];
    let want = Value::Splits([Some(first), Some(rest.clone()), Some(rest)]);
    assert_eq!(read(Opt::Bssplit, "4k/20:8k/,64k/100"), Ok(want));
    assert_eq!(
        why(Opt::Bssplit, "4k/80:8k/40:16k/:32k/"),
        "the shares add up to 120, so nothing is left for the blank ones"
    );
    assert_eq!(why(Opt::Bssplit, "x/50"), "a number is expected");
    assert!(read(Opt::CmdprioBssplitLibaio, "4k/50/1/0:8k/50").is_ok());
    assert!(read(Opt::CmdprioBssplitLibaio, "4k/50/9/0").is_err());
}

#[test]
fn a_split_of_priorities_has_lists_for_reads_and_for_writes() {
    let opt = Opt::CmdprioBssplitIoUring;
    let entry = |bytes, percent, priority| PrioritySplit { bytes, percent, priority };
    let priority = |class, level, hint| Some(IoPriority::new(class, hint, level));
    let reads =
        vec![entry(4096, 20, priority(2, 7, 0)), entry(8192, 10, None), entry(512, 5, priority(1, 0, 3))];
    let writes = vec![entry(65536, 100, None)];
    let lists = |text| match read(opt, text) {
        Ok(Value::Priorities(lists)) => lists,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(
        lists("4k/20/2/7:8k/10:512/5/1/0/3,64k/100"),
        Some([reads.clone(), writes.clone()]),
        "the last list also serves what follows it"
    );
    assert_eq!(lists("64k/100"), Some([writes.clone(), writes.clone()]));
    assert_eq!(lists(",64k/100,4k/5"), Some([Vec::new(), writes]));
    for (text, label) in [
        ("4k/101", "a whole number from 0 to 100 is expected"),
        ("4k/50/4/0", "a number from 0 to 3 is expected"),
        ("4k/50/2/8", "a number from 0 to 7 is expected"),
        ("4k/50/2/0/1024", "a number from 0 to 1023 is expected"),
        ("x/50", "a number is expected"),
    ] {
        assert_eq!(why(opt, text), label, "{text}");
    }
    for text in ["4k", "foo", "4k/50/1", "4k/50/1/2/3/4", "4k/50:8k"] {
        assert_eq!(lists(text), None, "{text}: judged when a job is set up");
    }
}

#[test]
fn patterns_are_joined_from_all_notations() {
    let file = |name: &Path| if name == "pf" { Ok(b"FILE".to_vec()) } else { no_file(name) };
    let bytes = |text: &str| match parse(Opt::BufferPattern.row(), Some(text), 1024, &file) {
        Ok(Value::Pattern(pattern)) => pattern.bytes,
        other => panic!("{text}: {other:?}"),
    };
    for (text, want) in [
        ("0xff0x14", &[0xff, 0x14][..]),
        ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef]),
        ("0xfff", &[0x0f, 0xff]),
        ("\"abc\"", b"abc"),
        ("'pf'", b"FILE"),
        ("256", &[0, 1]),
        ("0", &[0]),
        ("-1024", &[0, 0xfc, 0xff, 0xff]),
        ("0x12\"ab\"34", &[0x12, 0x61, 0x62, 0x22]),
        ("-100xab\"1\"\"2\"", &[0xf6, 0xff, 0xff, 0xff, 0xab, 0x31, 0x32]),
    ] {
        assert_eq!(bytes(text), want, "{text}");
    }
    let verify = Pattern { bytes: [&[0xff][..], &[0; 8], b"z"].concat(), offsets: vec![1] };
    assert_eq!(read(Opt::VerifyPattern, "0xff%o\"z\""), Ok(Value::Pattern(verify)));
    for text in ["abc", "\"open", "\"\"", "0x", "%o", "99999999999", "'nofile'"] {
        assert!(read(Opt::BufferPattern, text).is_err(), "{text}");
    }
}

#[test]
fn missing_and_empty_values_are_refused_where_one_is_needed() {
    let bare = |opt: Opt| parse(opt.row(), None, 1024, &no_file);
    assert_eq!(bare(Opt::Thread), Ok(Value::Switch(true)));
    assert_eq!(bare(Opt::WriteBwLog), Ok(Value::Text(String::new())));
    assert_eq!(bare(Opt::Size).unwrap_err().message.as_deref(), Some("option `size` requires a value"));
    assert_eq!(bare(Opt::Bssplit).unwrap_err().message.as_deref(), Some("option `bssplit` requires a value"));
    assert_eq!(
        read(Opt::Norandommap, "").unwrap_err().message.as_deref(),
        Some("option `norandommap` has an empty value")
    );
    assert_eq!(read(Opt::WriteLatLog, ""), Ok(Value::Text(String::new())));
    assert!(
        read(Opt::Rwmixcycle, "1").unwrap_err().message.is_some_and(|message| message.contains("deprecated"))
    );
    assert_eq!(read(Opt::Verifysort, "1"), Ok(Value::Nothing));
}

proptest! {
    #[test]
    fn no_text_makes_any_grammar_panic(text in "\\PC{0,24}", at in 0..414_usize) {
        let row = &rows()[at];
        if let Err(error) = parse(row, Some(&text), 1024, &no_file) {
            prop_assert!(text.get(error.start..error.start + error.length).is_some(), "{error:?}");
        }
    }

    #[test]
    fn no_number_like_text_makes_any_grammar_panic(text in "[-+0-9xkmgtbzsi%:,/.()*^ eE]{0,24}", at in 0..414_usize) {
        let row = &rows()[at];
        if let Err(error) = parse(row, Some(&text), 1000, &no_file) {
            prop_assert!(text.get(error.start..error.start + error.length).is_some(), "{error:?}");
        }
    }

    #[test]
    fn sizes_survive_being_written_out(bytes in 1..=i64::MAX as u64) {
        prop_assert_eq!(read(Opt::Size, &bytes.to_string()), Ok(Value::Amount(Amount::Bytes(bytes))));
        prop_assert_eq!(read(Opt::Size, &format!("{bytes:#x}")), Ok(Value::Amount(Amount::Bytes(bytes))));
        prop_assert_eq!(read(Opt::Size, &format!("({bytes}+0)")), Ok(Value::Amount(Amount::Bytes(bytes))));
    }

    #[test]
    fn suffixes_multiply(count in 1..1_000_u64, power in 1..=5_u32) {
        let letter = ["k", "m", "g", "t", "p"][power as usize - 1];
        prop_assert_eq!(read(Opt::Size, &format!("{count}{letter}")), Ok(Value::Amount(Amount::Bytes(count << (10 * power)))));
        let decimal = count * 1000_u64.pow(power);
        prop_assert_eq!(read(Opt::Size, &format!("{count}{letter}ib")), Ok(Value::Amount(Amount::Bytes(decimal))));
    }

    #[test]
    fn times_survive_being_written_out(us in 0..=u64::MAX >> 20) {
        prop_assert_eq!(read(Opt::Runtime, &format!("{us}us")), Ok(Value::Time(us)));
        prop_assert_eq!(read(Opt::LatencyTarget, &us.to_string()), Ok(Value::Time(us)));
    }

    #[test]
    fn cpu_lists_survive_being_written_out(cpus in proptest::collection::btree_set(0..1024_u32, 1..20)) {
        let text = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        prop_assert_eq!(read(Opt::CpusAllowed, &text), Ok(Value::Numbers(cpus.into_iter().collect())));
    }
}
