//! Rates and latencies of one entry over time. A column is one interval, mostly a second; the latest one is on the right.

use std::ops::RangeInclusive;
use std::time::Duration;

use ferrio_report::{BAND_STARTS_NS, LiveEntry, LiveFigures, LiveTable, Unit};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{RenderDirection, Sparkline};

use crate::columns::{bandwidth_text, iops_text};
use crate::style::{LEVELS, TerminalStyle};

/// Columns left of the graphs, for their scales.
const GUTTER: u16 = 10;
/// Rows of a graph of rates: its title and its bars.
const RATES: u16 = 3;
/// Most rows by which a graph of rates grows.
const MORE_BARS: u16 = 4;
/// Fewest rows of a heat map: its title, four bands and the time scale.
const MIN_HEAT: u16 = 6;

/// Draws the graphs that fit: rates first if there is little room, latencies in the remaining rows.
pub(crate) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    name: &str,
    entry: &LiveEntry,
    table: &LiveTable,
    look: TerminalStyle,
) {
    let LiveTable { units, sample_interval, .. } = *table;
    let seconds = last_seconds(entry, area.width.saturating_sub(GUTTER));
    let rows = |from: u16, height: u16| Rect { y: area.y + from, height, ..area };
    let iops = |frame: &mut Frame<'_>, area| {
        let values: Vec<f64> = seconds.iter().map(|second| second.total_iops()).collect();
        draw_rates(frame, area, &format!("IOPS of {name}"), &values, iops_text, look);
    };
    let bandwidth = |frame: &mut Frame<'_>, area| {
        let values: Vec<f64> = seconds.iter().map(|second| second.total_bandwidth()).collect();
        draw_rates(frame, area, &format!("bandwidth of {name}"), &values, |v| bandwidth_text(v, units), look);
    };
    let heat = |frame: &mut Frame<'_>, area| draw_heat(frame, area, name, &seconds, sample_interval, look);
    if area.height >= 2 * RATES + MIN_HEAT {
        // Rows that the heat map does not need make the bars of rates finer.
        let bands = used_bands(&seconds).map_or(MIN_HEAT, |bands| bands.count() as u16 + 2);
        let spare = area.height.saturating_sub(2 * RATES + bands.max(MIN_HEAT));
        let rates = RATES + (spare / 2).min(MORE_BARS);
        iops(frame, rows(0, rates));
        bandwidth(frame, rows(rates, rates));
        heat(frame, rows(2 * rates, area.height - 2 * rates));
    } else if area.height >= RATES + MIN_HEAT {
        iops(frame, rows(0, RATES));
        heat(frame, rows(RATES, area.height - RATES));
    } else if area.height >= 2 * RATES {
        iops(frame, rows(0, RATES));
        bandwidth(frame, rows(RATES, RATES));
    } else {
        iops(frame, area);
    }
}

/// The latest seconds that fit, oldest first.
fn last_seconds(entry: &LiveEntry, columns: u16) -> Vec<&LiveFigures> {
    let skipped = entry.history.len().saturating_sub(usize::from(columns));
    entry.history.iter().skip(skipped).collect()
}

fn draw_rates(
    frame: &mut Frame<'_>,
    area: Rect,
    title: &str,
    values: &[f64],
    text: impl Fn(f64) -> String,
    look: TerminalStyle,
) {
    let most = values.iter().copied().fold(0.0, f64::max);
    let last = values.last().map_or("none so far".to_owned(), |&last| text(last));
    put(frame, area, 0, &format!("{title}: {last}"), look.heading());
    let plot = plot(area, 1, area.height.saturating_sub(1));
    if values.is_empty() || plot.height == 0 {
        return;
    }
    label(frame, area, plot.y, &text(most));
    if plot.height > 1 {
        label(frame, area, plot.bottom() - 1, "0");
    }
    // The largest value has about 1000 parts, so that counts below one per second are visible.
    let scale = if most > 0.0 { 1000.0 / most } else { 0.0 };
    let bars = values.iter().rev().map(|&value| (value * scale).ceil() as u64);
    let sparkline = Sparkline::default().data(bars).max(1000).bar_set(look.bars());
    let sparkline = sparkline.direction(RenderDirection::RightToLeft).style(look.rates());
    frame.render_widget(sparkline, plot);
}

/// Draws the density of latencies: rows are bands, the largest latencies at the top.
fn draw_heat(
    frame: &mut Frame<'_>,
    area: Rect,
    name: &str,
    seconds: &[&LiveFigures],
    sample_interval: Duration,
    look: TerminalStyle,
) {
    let plot = plot(area, 1, area.height.saturating_sub(2));
    let Some(bands) = used_bands(seconds) else {
        put(frame, area, 0, &format!("latency of {name}: none so far"), look.heading());
        return;
    };
    let last = seconds.last().and_then(|second| second.latency);
    let text = |ns: u64| Unit::Nanoseconds.text(ns as f64);
    let last = last.map_or(String::new(), |last| format!(": p50 {}, p99 {}", text(last.p50), text(last.p99)));
    put(frame, area, 0, &format!("latency of {name}{last}"), look.heading());
    let rows = HeatRows::new(bands, usize::from(plot.height));
    let most = seconds.iter().flat_map(|second| rows.counts(second)).max().unwrap_or_default();
    for (row, bands) in rows.iter().enumerate() {
        let Some(y) = u16::try_from(row).ok().map(|row| plot.y + row).filter(|&y| y < plot.bottom()) else {
            break;
        };
        let start = BAND_STARTS_NS[*bands.start()];
        label(frame, area, y, &if start == 0 { "0".to_owned() } else { latency_label(start) });
        for (x, second) in (plot.left()..plot.right()).rev().zip(seconds.iter().rev()) {
            let count: u64 = second.bands[bands.clone()].iter().copied().map(u64::from).sum();
            let level = level(count, most);
            put_cell(frame.buffer_mut(), x, y, look.shade(level), look.heat(level));
        }
    }
    let scale = Rect {
        y: plot.y + u16::try_from(rows.len()).unwrap_or(plot.height).min(plot.height),
        height: 1,
        ..plot
    };
    draw_time(frame, scale.intersection(area), seconds.len(), sample_interval, look);
}

/// Draws the time scale below a plot of that many columns.
fn draw_time(
    frame: &mut Frame<'_>,
    area: Rect,
    columns: usize,
    sample_interval: Duration,
    look: TerminalStyle,
) {
    let style = look.heading();
    let width = usize::from(area.width);
    let from = format!("-{:.0}s", columns as f64 * sample_interval.as_secs_f64());
    let begin = width.saturating_sub(columns.max(from.len() + 4));
    let text = format!("{:begin$}{from:<rest$}now", "", rest = width.saturating_sub(begin + 3));
    put(frame, area, 0, &text, style);
}

/// The lower bound of a band, which has one digit: `100us`.
fn latency_label(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1000 => (ns, "ns"),
        1000..1_000_000 => (ns / 1000, "us"),
        1_000_000..1_000_000_000 => (ns / 1_000_000, "ms"),
        _ => (ns / 1_000_000_000, "s"),
    };
    format!("{value}{unit}")
}

/// The range of bands with any latency.
fn used_bands(seconds: &[&LiveFigures]) -> Option<RangeInclusive<usize>> {
    let is_used = |&band: &usize| seconds.iter().any(|second| second.bands[band] > 0);
    let mut used = (0..BAND_STARTS_NS.len()).filter(is_used);
    let first = used.next()?;
    Some(first..=used.next_back().unwrap_or(first))
}

/// The mapping from bands to rows.
struct HeatRows {
    bands: RangeInclusive<usize>,
    /// Bands per row.
    each: usize,
}

impl HeatRows {
    /// Merges as many bands into a row as are needed for at most `most` rows.
    fn new(bands: RangeInclusive<usize>, most: usize) -> Self {
        let each = (bands.end() + 1 - bands.start()).div_ceil(most.max(1));
        HeatRows { bands, each }
    }

    fn len(&self) -> usize {
        (self.bands.end() + 1 - self.bands.start()).div_ceil(self.each)
    }

    /// The bands of each row, from the top.
    fn iter(&self) -> impl Iterator<Item = RangeInclusive<usize>> + '_ {
        (0..self.len()).rev().map(|row| {
            let first = self.bands.start() + row * self.each;
            first..=(first + self.each - 1).min(*self.bands.end())
        })
    }

    fn counts<'a>(&'a self, second: &'a LiveFigures) -> impl Iterator<Item = u64> + 'a {
        self.iter().map(|bands| second.bands[bands].iter().copied().map(u64::from).sum())
    }
}

/// The level of a count on a logarithmic scale, so that single slow I/Os are visible beside thousands of fast ones.
fn level(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let share = (count as f64 + 1.0).ln() / (most as f64 + 1.0).ln();
    ((share * LEVELS as f64).ceil() as usize).clamp(1, LEVELS)
}

/// The part of an area right of the scale.
fn plot(area: Rect, from: u16, height: u16) -> Rect {
    let left = GUTTER.min(area.width);
    Rect { x: area.x + left, y: area.y + from, width: area.width - left, height }.intersection(area)
}

/// Writes a label of a scale, right-aligned in the gutter.
fn label(frame: &mut Frame<'_>, area: Rect, y: u16, text: &str) {
    let width = usize::from(GUTTER) - 1;
    put(frame, Rect { y, height: 1, ..area }, 0, &format!("{text:>width$}"), Style::new());
}

/// Writes a line of text, cut at the edge.
pub(crate) fn put(frame: &mut Frame<'_>, area: Rect, row: u16, text: &str, style: Style) {
    let line = Rect { y: area.y.saturating_add(row), height: 1, ..area }.intersection(frame.area());
    if !line.is_empty() {
        frame.buffer_mut().set_stringn(line.x, line.y, text, usize::from(line.width), style);
    }
}

fn put_cell(buffer: &mut Buffer, x: u16, y: u16, symbol: &str, style: Style) {
    if let Some(cell) = buffer.cell_mut((x, y)) {
        cell.set_symbol(symbol).set_style(style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_all_bands_once_from_the_top() {
        let rows = HeatRows::new(3..=9, 3);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [9..=9, 6..=8, 3..=5]);
        assert_eq!(HeatRows::new(3..=9, 7).len(), 7);
        assert_eq!(HeatRows::new(3..=9, 0).len(), 1);
        assert_eq!(HeatRows::new(4..=4, 8).iter().collect::<Vec<_>>(), [4..=4]);
    }

    #[test]
    fn one_io_among_a_million_is_seen() {
        assert_eq!(
            [0, 1, 30, 900, 40_000, 1_000_000].map(|count| level(count, 1_000_000)),
            [0, 1, 1, 2, 4, 4]
        );
        assert_eq!((level(1, 1), level(0, 0)), (4, 0));
    }

    #[test]
    fn starts_of_bands_are_short() {
        let labels: Vec<String> = BAND_STARTS_NS.into_iter().map(latency_label).collect();
        assert_eq!(labels[..5], ["0ns", "100ns", "200ns", "500ns", "1us"]);
        assert_eq!(labels.last().map(String::as_str), Some("100s"));
    }
}
