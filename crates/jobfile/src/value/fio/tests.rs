//! Values as fio reads them, compared with what fio 3.33 was seen to make of the same texts unless 3.42 differs.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::catalogue::rows;
use crate::value::Dialect;
use crate::value::{Amount, Argument, SplitEntry, advice::meant};
use ferrio_job::{Distribution, RwPostfix, Skew, SkewShape};

fn no_file(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

fn read(opt: Opt, text: &str) -> Result<Value, String> {
    parse(opt.row(), Some(text), 1024, &no_file).map_err(|error| error.label.into_string())
}

fn bs(text: &str) -> [Option<u64>; 3] {
    match read(Opt::Bs, text) {
        Ok(Value::Directions(values)) => values,
        other => panic!("{text}: {other:?}"),
    }
}

fn all(number: u64) -> [Option<u64>; 3] {
    [Some(number); 3]
}

#[test]
fn numbers_end_at_the_first_other_character() {
    for (text, want) in [
        ("4k", 4096),
        (" 4k", 4),
        ("\t4k", 4),
        ("4 k", 4),
        ("+4k", 4096),
        ("1.5k", 1),
        ("1+1", 1),
        ("10x", 16),
        ("0x10", 16),
        ("0x10k", 16),
        ("4ki", 4096),
        ("4kib", 4000),
        ("4KIBfoo", 4000),
        ("4kfoo", 4096),
        ("4k8k", 4096),
        ("4k/8k", 4096),
        ("512foo", 512),
        ("4096e", 4096),
        ("10b", 10),
        ("4294967297", 4_294_967_297),
        ("50%", u64::MAX - 50),
    ] {
        assert_eq!(bs(text), all(want), "{text}");
    }
    for text in ["foo", "-", "k", "0x", "0", "10z", "xz", "9223372036854775808"] {
        assert!(read(Opt::Bs, text).is_err(), "{text}");
    }
    assert_eq!(bs(&format!("{}4k", "0".repeat(125))), all(4096), "127 bytes count");
    assert!(read(Opt::Bs, &format!("{}4k", "0".repeat(127))).is_err());
}

#[test]
fn commas_cut_pieces_and_other_separators_do_not() {
    assert_eq!(pieces_of("4k-8k,16k"), ["4k-8k", "16k"]);
    assert_eq!(pieces_of("4k:8k-16k"), ["4k:8k-16k", "8k-16k", "16k"]);
    assert_eq!(pieces_of("-4-8"), ["-4-8", "8"]);
    assert_eq!(pieces_of("8k,"), ["8k", ""]);
    let k = |n: u64| Some(n * 1024);
    for (text, want) in [
        ("4k:8k:16k", [k(4), k(8), k(16)]),
        ("4k-8k,16k", [k(4), k(16), k(16)]),
        ("4k,8k,16k,32k", [k(4), k(8), k(16)]),
        ("4k,,8k", [k(4), None, k(8)]),
        ("4k,foo", [k(4), None, None]),
        ("foo,4k", [None, k(4), k(4)]),
        ("4k,0", [k(4), None, None]),
    ] {
        assert_eq!(bs(text), want, "{text}");
    }
}

fn pieces_of(text: &str) -> Vec<&str> {
    number::pieces(text).into_iter().map(|piece| piece.text).collect()
}

#[test]
fn options_of_32_bits_keep_the_low_ones_and_compare_them_signed() {
    assert_eq!(read(Opt::Iodepth, "4294967298"), Ok(Value::Int(2)));
    for text in ["4294967296", "2147483648", "4294967295", "-1", "50%"] {
        assert_eq!(read(Opt::Iodepth, text), Err("the minimum is 1".to_owned()), "{text}");
    }
    assert_eq!(read(Opt::Iodepth, "4:0"), Ok(Value::Int(4)));
    assert_eq!(read(Opt::Iodepth, "0:4"), Ok(Value::Nothing));
    assert_eq!(read(Opt::Rwmixread, "4294967298"), Ok(Value::Int(2)));
    assert_eq!(read(Opt::Rwmixread, "101"), Err("the maximum is 100".to_owned()));
    assert_eq!(read(Opt::Rwmixread, "1k"), Err("the maximum is 100".to_owned()));
    for text in ["-1", "-5", "80%", "4294967295"] {
        assert_eq!(read(Opt::Rwmixread, text), Ok(Value::Int(100)), "{text}");
    }
    assert_eq!(read(Opt::Nice, "-5"), Ok(Value::Int(-5)));
    assert_eq!(read(Opt::Nice, "4294967295"), Ok(Value::Int(-1)));
    assert!(read(Opt::VerifyInterval, "-1").is_err());
    assert!(read(Opt::LogEntries, "-1").is_err());
    for text in ["3", "0", "5g"] {
        assert_eq!(read(Opt::ReplayAlign, text), Err("must be a power of 2".to_owned()), "{text}");
    }
}

#[test]
fn sizes_of_a_job_are_percentages_next_to_2_to_the_64() {
    let amount = |text| match read(Opt::Size, text) {
        Ok(Value::Amount(amount)) => amount,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(amount("50%"), Amount::Percent(50));
    for (text, want) in [
        ("-1", Amount::Bytes(1)),
        ("-50", Amount::Bytes(50)),
        ("-4k", Amount::Bytes(4096)),
        ("-30%", Amount::Percent(30)),
        ("-1z", Amount::Zones(1)),
    ] {
        assert_eq!(amount(text), want, "{text}");
    }
    let offset = |text| read(Opt::Offset, text);
    assert_eq!(offset("-4k"), Ok(Value::Amount(Amount::Bytes(4096))));
    assert_eq!(offset("-1"), Ok(Value::Amount(Amount::Bytes(1))));
    assert_eq!(offset("-2"), Ok(Value::Amount(Amount::Percent(1))));
    assert_eq!(offset("-101"), Ok(Value::Amount(Amount::Percent(100))));
    assert_eq!(offset("-102"), Ok(Value::Amount(Amount::Bytes(102))));
    assert_eq!(amount("101%"), Amount::Bytes(u64::MAX - 101));
    assert_eq!(amount("50.5%"), Amount::Bytes(50));
    assert_eq!(amount("10z"), Amount::Zones(10));
    assert_eq!(amount("10Z"), Amount::Bytes(10));
    assert_eq!(amount("4k,foo"), Amount::Bytes(4096));
    assert_eq!(amount("4k:10z"), Amount::Zones(10), "the first piece is no number of zones");
    assert_eq!(amount("(8k-2k)"), Amount::Bytes(2048));
    assert_eq!(read(Opt::IoSize, "150%"), Err("more than 100%".to_owned()));
    assert_eq!(read(Opt::Filesize, "0,4k"), Ok(Value::Range(4096, 4096)));
    assert_eq!(read(Opt::Bsrange, "4k-8k,foo"), Ok(Value::Ranges([Some((4096, 8192)), None, None])));
    assert!(read(Opt::Bsrange, "4k/8k").is_err());
}

#[test]
fn times_have_few_units_and_everything_else_is_microseconds() {
    for (text, us) in [
        ("10", 10_000_000),
        ("10sec", 10),
        ("5min", 5),
        ("1h30m", 1),
        ("0x10", 16),
        ("5%", 5_000_000),
        ("1.5s", 1_000_000),
        ("5 s", 5_000_000),
        ("2M", 120_000_000),
        ("3msecs", 3_000),
        ("3usec", 3),
        ("1d", 86_400_000_000),
        ("(10*2)", 20_000_000),
        ("(500ms)", 0),
        ("(1m)", 60_000_000),
        ("7,foo", 7_000_000),
    ] {
        assert_eq!(read(Opt::Runtime, text), Ok(Value::Time(us)), "{text}");
    }
    assert_eq!(read(Opt::Startdelay, "1s-3s"), Ok(Value::Range(1, 3_000_000)));
    assert_eq!(read(Opt::Startdelay, "1ms-3ms"), Ok(Value::Range(1000, 3000)));
    assert_eq!(read(Opt::LatencyTarget, "(500ms)"), Ok(Value::Time(500_000)));
    assert!(read(Opt::Runtime, "foo").is_err());
}

#[test]
fn switches_are_the_digits_at_the_beginning() {
    for (text, on) in
        [("1foo", true), ("-1", true), ("0/1", false), ("0,1", false), ("1.5", true), ("0x1", true)]
    {
        assert_eq!(read(Opt::Direct, text), Ok(Value::Switch(on)), "{text}");
    }
    assert_eq!(read(Opt::Direct, "4294967296"), Ok(Value::Switch(false)));
    assert_eq!(read(Opt::Direct, "2,1"), Ok(Value::Nothing));
    assert_eq!(read(Opt::Direct, "2"), Err("the maximum is 1".to_owned()));
    assert!(read(Opt::Direct, "yes").is_err());
    assert_eq!(read(Opt::Exitall, "0"), Ok(Value::Switch(true)));
    assert_eq!(read(Opt::Stonewall, "0"), Ok(Value::Switch(false)));
}

#[test]
fn expressions_have_32_bits_without_a_unit() {
    for (text, want) in [
        ("(2+3k)", 3074),
        ("(2*10%4)", 4),
        ("(2^3^2)", 512),
        ("(10k)k", 10 << 20),
        ("(2.5k)", 2048),
        ("(7/2*2)", 6),
        ("(4k/0)", 4096),
        ("(1pib)", 1_000_000_000_000),
        ("(4096m)", 4 << 30),
        ("(1s)", 1_000_000),
        ("(0x10k)", 16384),
    ] {
        assert_eq!(bs(text), all(want), "{text}");
    }
    assert_eq!(read(Opt::NumberIos, "(3000000000)"), Ok(Value::Int(3_000_000_000_u32 as i32 as i64)));
    for text in ["(1+", "()", "(2**3)", "(1)2", "(1ki)", "(1tib)", " (2)"] {
        assert!(read(Opt::Bs, text).is_err(), "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(read(Opt::Bs, &deep).is_err());
}

#[test]
fn bc_divides_whole_numbers_and_refuses_words() {
    for (text, want) in [("4096*2", "8192"), ("(2+1)*2", "6"), ("7/2", "3"), ("0-4", "-4"), ("7*3%2", "1")] {
        assert_eq!(bc(text).unwrap(), want, "{text}");
    }
    for text in ["8k*2", "/x/2", "1/0", "1;2"] {
        assert!(bc(text).is_err(), "{text}");
    }
}

#[test]
fn lists_end_before_the_first_bad_element() {
    let floats = |text| match read(Opt::PercentileList, text) {
        Ok(Value::Floats(numbers, _)) => numbers,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(floats("50:foo:90"), [50.0]);
    assert_eq!(floats("foo:50"), [0.0; 0]);
    assert_eq!(floats("50,99"), [50.0]);
    assert_eq!(floats("50x:90"), [50.0, 90.0]);
    assert_eq!(floats("0x10"), [16.0]);
    assert_eq!(floats("50:"), [50.0]);
    assert_eq!(floats(&"1:".repeat(30)).len(), 20);
    for text in [":", "foo", "inf", "101"] {
        assert!(read(Opt::PercentileList, text).is_err(), "{text}");
    }
    let splits = |text| match read(Opt::Bssplit, text) {
        Ok(Value::Splits([read, ..])) => read,
        other => panic!("{text}: {other:?}"),
    };
    let split = |bytes, percent| SplitEntry { bytes, percent };
    assert_eq!(splits("4k/x:8k/150"), Some(vec![split(4096, None), split(8192, Some(100))]));
    assert_eq!(splits("4k/50::8k/50"), Some(vec![split(4096, Some(50))]));
    assert_eq!(splits(":4k"), None);
    assert_eq!(splits("0/50"), None);
    assert_eq!(splits(&"4k:".repeat(100)).map(|splits| splits.len()), Some(64));
    assert!(read(Opt::Bssplit, "x/50").is_err());
    assert_eq!(read(Opt::CpusAllowed, "foo,2-3x,,9"), Ok(Value::Numbers(vec![0, 2, 3])));
    for none in ["3-1", "10-9", ",1", ""] {
        assert_eq!(read(Opt::CpusAllowed, none), Ok(Value::Numbers(Vec::new())), "{none}");
    }
    assert_eq!(read(Opt::CpusAllowed, "3-1,9-10"), Ok(Value::Numbers(vec![9, 10])));
    assert_eq!(read(Opt::Filename, ":"), Ok(Value::List(Vec::new())));
}

#[test]
fn words_drop_unused_arguments() {
    let word = |word, argument| Ok(Value::Word(word, argument));
    let none = Argument::None;
    assert_eq!(read(Opt::Rw, "read,foo"), word("read", none.clone()));
    assert_eq!(read(Opt::Rw, "randread:8foo"), word("randread", Argument::Postfix(RwPostfix::Every(8))));
    assert_eq!(read(Opt::Rw, "write:-4k"), word("write", Argument::Postfix(RwPostfix::Hole(-4096))));
    assert_eq!(read(Opt::Fallocate, "none,foo"), word("none", none.clone()));
    assert_eq!(read(Opt::Sync, "dsync:1"), word("dsync", none.clone()));
    assert_eq!(read(Opt::KbBase, "1024,1000"), word("1024", none.clone()));
    assert_eq!(read(Opt::Mem, "malloc:/x"), word("malloc", none.clone()));
    assert_eq!(read(Opt::RandomDistribution, "random:1"), word("random", none));
    let skew = Skew { shape: SkewShape::Zipf(1.2), center: Some(0.5) };
    assert_eq!(
        read(Opt::RandomDistribution, "zipf:1.2:0.5x"),
        word("zipf", Argument::Distribution(Distribution::Skewed(skew)))
    );
    assert!(read(Opt::Rw, " read").is_err());
    assert!(read(Opt::KbBase, "1024foo").is_err());
    assert!(read(Opt::RandomDistribution, "zipf:1").is_err());
    let words = |words: &[&'static str], count| Ok(Value::Words(words.to_vec(), count));
    assert_eq!(read(Opt::SyncFileRange, "foo,write:8:9"), words(&["write"], Some(8)));
    assert!(read(Opt::SyncFileRange, "foo").is_err());
}

#[test]
fn long_values_take_time_in_proportion() {
    let mut kinds = HashSet::new();
    let different = rows().iter().filter(|row| kinds.insert(format!("{:?}{:?}", row.kind, row.multi)));
    let different: Vec<_> = different.collect();
    let begun = Instant::now();
    for unit in ["1,", "1:", "1-", "(", "(-", "-", "0x", "1k/1:", "a", "a,", "1:,", "0-1023,", "\u{e4}"] {
        let text = unit.repeat(4_000 / unit.len());
        for row in &different {
            for dialect in [Dialect::Ferrio, Dialect::Fio] {
                let _ = crate::value::read(dialect, row, Some(&text), 1024, &no_file);
            }
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
}

proptest! {
    #[test]
    fn no_text_makes_any_grammar_panic(text in "\\PC{0,24}", at in 0..rows().len()) {
        check(at, &text)?;
    }

    #[test]
    fn no_number_like_text_makes_any_grammar_panic(text in "[-+0-9xkmgtbzsi%:,/.()*^ eE]{0,24}", at in 0..rows().len()) {
        check(at, &text)?;
    }

    #[test]
    fn what_advice_says_to_write_is_accepted(
        text in "[0-9]{1,3}[ .]?[0-9]{0,2}(sec|min|hours|ms|s|m|h|g|k|%| k)?[0-9]{0,2}(s|m)?",
        at in 0..rows().len(),
    ) {
        let row = &rows()[at];
        if let Some(meant) = meant(row, &text, 1024) {
            let value = crate::value::parse(row, Some(&meant), 1024, &no_file);
            prop_assert!(value.is_ok(), "{}={} for {}", row.name, meant, text);
        }
    }

    #[test]
    fn plain_numbers_mean_the_same_to_both(number in 1..=i32::MAX as u64, unit in "(|k|m|K|M|kb|kib|MiB)") {
        let text = format!("{number}{unit}");
        let usual = crate::value::parse(Opt::Bs.row(), Some(&text), 1024, &no_file);
        prop_assert_eq!(parse(Opt::Bs.row(), Some(&text), 1024, &no_file), usual);
    }

    #[test]
    fn plain_times_mean_the_same_to_both(number in 0..=1_000_000_u64, unit in "(|us|ms|s|m|h|d|usec|msec|S)") {
        let text = format!("{number}{unit}");
        let usual = crate::value::parse(Opt::Runtime.row(), Some(&text), 1024, &no_file);
        prop_assert_eq!(parse(Opt::Runtime.row(), Some(&text), 1024, &no_file), usual);
    }
}

/// Reads a text both ways and looks at the place of the error.
fn check(at: usize, text: &str) -> Result<(), TestCaseError> {
    let row = &rows()[at];
    for dialect in [Dialect::Ferrio, Dialect::Fio] {
        match crate::value::read(dialect, row, Some(text), 1000, &no_file) {
            Ok(value) => {
                let _ = crate::value::describe::describe(row, &value);
            }
            Err(error) => {
                prop_assert!(text.get(error.start..error.start + error.length).is_some(), "{error:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_direction_takes_the_value_of_the_one_before_it_without_its_sign() {
    let negative = |number: i64| Some(number.cast_unsigned());
    let align = |text: &str| read(Opt::Ba, text);
    assert_eq!(align("-8k"), Ok(Value::Directions([negative(-8192), Some(8192), Some(8192)])));
    assert_eq!(align("4k,-8k"), Ok(Value::Directions([Some(4096), negative(-8192), Some(8192)])));
    assert_eq!(align("-1,-2,-3"), Ok(Value::Directions([-1, -2, -3].map(negative))));
    assert_eq!(align("-8k,"), Ok(Value::Directions([negative(-8192), None, None])));
    let iops = Value::Directions([Some(4_294_967_294), Some(2), Some(2)]);
    assert_eq!(read(Opt::RateIops, "-2"), Ok(iops));
}
