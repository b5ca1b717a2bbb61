//! `ferrio genzipf`, and fio's `fio-genzipf`: shows how often each block is hit under a skewed distribution.
//!
//! The distribution is that of a job with `random_distribution`.

use std::fmt::Write as _;

use clap::{ArgMatches, Command, value_parser};
use ferrio_job::{Skew, SkewShape};
use ferrio_workload::SkewedChoice;

use super::subcommand::{Invocation, flag, option};
use crate::error::Error;
use crate::messages::print_text;

/// Help text after the options.
pub const LONG_HELP: &str = "\
Draws one access for each block of the data set, as a job with
random_distribution=TYPE:INPUT and norandommap does, and sorts the blocks by
their hits. A row of the table is an equal share of the blocks that were hit,
the most hit first. The share of hits that a cache of some size can serve is
that of the blocks that fit into it, at best.

Needs 4 bytes of memory for each block of the data set.";

/// Seed of fio's program, so that both draw the same numbers.
const SEED: u64 = 1;
const LINE: &str = "-----------------------------------------------------------------------\n";

/// The options, which are those of fio's program.
pub fn command() -> Command {
    let number = |letter: char, name, value, default: &'static str, help| {
        let number = option(name, value, help).short(letter).default_value(default);
        number.value_parser(value_parser!(u64).range(1..))
    };
    Command::new("genzipf").args([
        option("type", "TYPE", "The distribution")
            .short('t')
            .value_parser(["zipf", "zipf_exact", "pareto", "normal"])
            .default_value("zipf"),
        option("input", "NUMBER", "Theta of zipf and zipf_exact, power of pareto or deviation of normal in percent [default: 1.2, 0.3 or 0]")
            .short('i')
            .allow_negative_numbers(true)
            .value_parser(value_parser!(f64)),
        number('b', "block-size", "BYTES", "4096", "Size of a block"),
        number('g', "gigabytes", "GIB", "500", "Size of the data set"),
        number('o', "rows", "NUMBER", "20", "Rows of the table")
            .value_parser(value_parser!(u64).range(1..=1_000_000)),
        option("percent", "PERCENT", "Print the size of the blocks that get this share of the hits")
            .short('p')
            .value_parser(value_parser!(f64)),
        flag("csv", "Print the hits of each block as CSV").short('c'),
    ])
}

/// The parsed and validated options.
struct ZipfOptions {
    shape: SkewShape,
    block_bytes: u64,
    gib: u64,
    blocks: u64,
    rows: u64,
    percent: Option<f64>,
}

/// Prints the table or the CSV.
///
/// # Errors
/// The arguments are invalid, memory is short, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let wrong = |message| invocation.refusal(message);
    let request = ZipfOptions::of(&arguments).map_err(wrong)?;
    let hits = request.hits().map_err(wrong)?;
    let text = if arguments.get_flag("csv") { csv(&hits) } else { request.table(&hits) };
    print_text(&text)
}

impl ZipfOptions {
    fn of(arguments: &ArgMatches) -> Result<Self, String> {
        let number = |name: &str| arguments.get_one(name).copied().unwrap_or_default();
        let input = arguments.get_one("input").copied();
        let shape = match arguments.get_one("type").map(String::as_str) {
            Some("pareto") => SkewShape::Pareto(input.unwrap_or(0.3)),
            Some("normal") => SkewShape::Normal(input.unwrap_or(0.0)),
            Some("zipf_exact") => SkewShape::ZipfExact(input.unwrap_or(1.2)),
            _ => SkewShape::Zipf(input.unwrap_or(1.2)),
        };
        match shape {
            SkewShape::Zipf(1.0) => Err("zipf input must be different than 1.0")?,
            SkewShape::Zipf(theta) if !(theta.is_finite() && theta >= 0.0) => {
                Err("zipf input must be >= 0.00")?;
            }
            SkewShape::ZipfExact(theta) if !(theta.is_finite() && theta >= 0.0) => {
                Err("zipf_exact input must be >= 0.00")?;
            }
            SkewShape::Pareto(h) if !(h > 0.0 && h < 1.0) => Err("pareto input must be > 0.00 and < 1.00")?,
            SkewShape::Normal(deviation) if !(0.0..100.0).contains(&deviation) => {
                Err("normal input must be >= 0.00 and < 100.00")?;
            }
            _ => {}
        }
        let percent = arguments.get_one::<f64>("percent").copied();
        if percent.is_some_and(|percent| !(percent > 0.0 && percent <= 100.0)) {
            Err("-p must be above 0 and at most 100")?;
        }
        let (block_bytes, gib): (u64, u64) = (number("block-size"), number("gigabytes"));
        let blocks = gib.checked_mul(1 << 30).ok_or("-g is too large")? / block_bytes;
        if blocks == 0 {
            Err(format!("a block of {block_bytes} bytes is larger than the data set of {gib} GiB"))?;
        }
        Ok(ZipfOptions { shape, block_bytes, gib, blocks, rows: number("rows"), percent })
    }

    /// The number of hits of each block that is hit, in descending order.
    fn hits(&self) -> Result<Vec<u32>, String> {
        let no_memory = |_| format!("no memory for {} blocks of {} bytes", self.blocks, self.block_bytes);
        let len = usize::try_from(self.blocks).map_err(|_| "-g is too large")?;
        let mut hits: Vec<u32> = Vec::new();
        hits.try_reserve_exact(len).map_err(no_memory)?;
        hits.resize(len, 0);
        let mut choices =
            SkewedChoice::new(&Skew { shape: self.shape, center: None }, self.blocks, SEED, true);
        for _ in 0..self.blocks {
            let hit = &mut hits[choices.next() as usize];
            *hit = hit.saturating_add(1);
        }
        hits.retain(|&count| count > 0);
        hits.sort_unstable_by(|one, other| other.cmp(one));
        Ok(hits)
    }

    fn table(&self, hits: &[u32]) -> String {
        let (name, input) = match self.shape {
            SkewShape::Zipf(theta) => ("Zipf", theta),
            SkewShape::ZipfExact(theta) => ("Exact Zipf", theta),
            SkewShape::Pareto(h) => ("Pareto", h),
            SkewShape::Normal(deviation) => ("Normal", deviation),
        };
        let ZipfOptions { block_bytes, gib, blocks, rows, .. } = *self;
        let mut text = format!(
            "Generating {name} distribution with {input:.6} input and {gib} GiB size and {block_bytes} block_size.\n"
        );
        if let Some(percent) = self.percent {
            let mib = served_by(hits, percent, blocks) as f64 * block_bytes as f64 / f64::from(1 << 20);
            let _ = writeln!(text, "{percent:.2}% of hits satisfied in {mib:.3}MB of cache");
        }
        text.push_str("\n   Rows           Hits %         Sum %           # Hits          Size\n");
        text.push_str(LINE);
        let each = hits.len().div_ceil(rows as usize);
        let mut parts = hits.chunks(each);
        let share = |hits: u64| 100.0 * hits as f64 / blocks as f64;
        let mut sum = 0;
        for row in 1..=rows {
            let hits: u64 = parts.next().unwrap_or_default().iter().map(|&count| u64::from(count)).sum();
            sum += hits;
            let label = if row == 1 { "Top " } else { "|-> " };
            let percent = 100.0 * row as f64 / rows as f64;
            let size = size(hits as f64 * block_bytes as f64);
            let _ = writeln!(
                text,
                "{label}{percent:6.2}%\t{:6.2}%\t\t{:6.2}%\t\t{hits:8}\t{size}",
                share(hits),
                share(sum)
            );
        }
        text.push_str(LINE);
        let _ = writeln!(text, "Total\t\t\t\t\t\t{blocks:8}");
        text
    }
}

/// The number of blocks, most hit first, that receive `percent` of all hits.
fn served_by(hits: &[u32], percent: f64, all: u64) -> u64 {
    let wanted = all as f64 * percent / 100.0;
    let mut sum = 0;
    let enough = |&count: &u32| {
        sum += u64::from(count);
        sum as f64 >= wanted
    };
    hits.iter().position(enough).map_or(hits.len(), |last| last + 1) as u64
}

fn size(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes / 1024.0, 'K');
    for next in ['M', 'G', 'T', 'P'] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    format!("{value:6.2}{unit}")
}

fn csv(hits: &[u32]) -> String {
    let mut text = "rank, count\n".to_owned();
    for (rank, count) in hits.iter().enumerate() {
        let _ = writeln!(text, "{rank}, {count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_holds_the_most_hit_blocks_first() {
        let hits = [5, 3, 1, 1];
        assert_eq!(
            [10.0, 50.0, 51.0, 80.0, 100.0].map(|percent| served_by(&hits, percent, 10)),
            [1, 1, 2, 2, 4]
        );
    }

    #[test]
    fn sizes_have_the_largest_unit_that_leaves_one() {
        assert_eq!(
            [0.0, 512.0, 1048576.0, 1.5 * f64::from(1 << 30)].map(size),
            ["  0.00K", "  0.50K", "  1.00M", "  1.50G"]
        );
    }
}
