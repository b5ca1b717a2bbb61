//! Draws the whole screen: title, table of jobs, graphs, last message, keys.

use std::time::Duration;

use ferrio_report::{HostState, LiveTable, clock_text};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::Clear;

use crate::board::Board;
use crate::columns::{JobColumn, name, row_noun};
use crate::graphs::{self, put};
use crate::style::TerminalStyle;
use crate::view::View;

/// Fewest rows between heading and keys for which graphs are drawn.
const MIN_WITH_GRAPHS: u16 = 10;

/// The keys, the most important ones first.
const KEYS: [&str; 5] = ["q end", "? help", "p pause", "s sort", "up/down select"];

/// The help on the keys and figures of this table.
fn help(table: &LiveTable) -> String {
    let stop = match table.has_hosts {
        // Only this program would stop.
        true => "",
        false => "Ctrl-Z       stop the program and the run; fg continues\n",
    };
    let (end, others) = match table.has_hosts {
        true => ("q, Ctrl-C    end the jobs of all hosts, and print the report", HELP_OF_HOSTS),
        false => ("q, Ctrl-C    end the run and print its report", ""),
    };
    let noun = row_noun(table);
    format!(
        "\
{end}
p, space     pause the display; the run goes on
s            sort by {noun}, IOPS, bandwidth, p99, errors
up, down     select the {noun} whose history is shown
             (also j, k, PgUp, PgDn, Home, End)
Ctrl-L       draw the screen again
{stop}?            close this help

Figures are those of the last second (with \"every 4s\",
of the last 4), errors those since the start. p50, p99
and max have the latencies of all directions. In the
heat map, a column is such a time and a row a band of
latencies; the denser, the more I/Os, on a logarithmic
scale. tps and tx are transactions of databases.{others}"
    )
}

const HELP_OF_HOSTS: &str = "
The first row has all hosts together, on one time axis.
A LOST host sends nothing more; the others go on.";

/// The division of the screen into rows.
#[derive(Debug, PartialEq, Eq)]
struct ScreenRows {
    /// The heading of the table and its rows.
    table: u16,
    graphs: u16,
    message: u16,
    keys: u16,
}

impl ScreenRows {
    /// Divides a screen of that `height` with `rows` in the table. The title is in the first row.
    fn of(height: u16, rows: usize) -> Self {
        let rest = height.saturating_sub(1);
        let keys = u16::from(rest >= 4);
        let message = u16::from(rest >= 7);
        let rest = rest - keys - message;
        let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(1);
        let table = match rest {
            MIN_WITH_GRAPHS.. => wanted.min(rest * 2 / 5),
            _ => rest,
        };
        let graphs = if rest >= MIN_WITH_GRAPHS { rest - table } else { 0 };
        ScreenRows { table, graphs, message, keys }
    }
}

pub(crate) fn draw(frame: &mut Frame<'_>, live: &Board, view: &mut View, look: TerminalStyle) {
    let paused = view.paused.take();
    let board = paused.as_deref().unwrap_or(live);
    let area = frame.area();
    let rows = view.rows(board);
    let heights = ScreenRows::of(area.height, rows.len());
    let mut y = area.y;
    let mut next = |height: u16| {
        let part = Rect { y, height, ..area }.intersection(area);
        y = y.saturating_add(height);
        part
    };
    draw_title(frame, next(1), board, live.is_ending, paused.is_some(), view, look);
    draw_table(frame, next(heights.table), board, &rows, view, look);
    let entry = view.shown(board);
    let shown = match view.selected {
        None => format!("all {}s", row_noun(&board.table)),
        index => {
            let (name, suffix) = name(&board.table, index);
            name + &suffix
        }
    };
    let graphs = next(heights.graphs);
    if graphs.height > 0 {
        graphs::draw(frame, graphs, &shown, entry, &board.table, look);
    }
    let message = next(heights.message);
    if message.height > 0 {
        match live.messages {
            0 => put(frame, message, 0, &live.message, look.heading()),
            number => put(frame, message, 0, &format!("message {number}: {}", live.message), look.error()),
        }
    }
    let keys = next(heights.keys);
    if keys.height > 0 {
        put(frame, keys, 0, &keys_that_fit(usize::from(keys.width)), look.heading());
    }
    if view.has_help {
        draw_help(frame, area, &help(&board.table), look);
    }
    view.paused = paused;
}

fn draw_title(
    frame: &mut Frame<'_>,
    area: Rect,
    board: &Board,
    is_ending: bool,
    is_paused: bool,
    view: &View,
    look: TerminalStyle,
) {
    let table = &board.table;
    let mut title = format!("ferrio {}", clock_text(table.elapsed.as_secs()));
    if let Some(left) = table.all.left {
        title += &format!(", {} left", clock_text(left));
    }
    let mut states: Vec<String> =
        table.states.iter().map(|(state, jobs)| format!("{jobs} {}", state.word())).collect();
    match table.lost_hosts() {
        0 => {}
        1 => states.push("1 host LOST".to_owned()),
        lost => states.push(format!("{lost} hosts LOST")),
    }
    let (mark, style) = match (is_ending, is_paused) {
        (true, _) => ("ENDING".to_owned(), look.error()),
        (_, true) => ("PAUSED".to_owned(), look.error()),
        _ => {
            let order = view.sort.word(row_noun(table));
            (format!("{}sort: {order}", figures_interval(table.sample_interval)), look.heading())
        }
    };
    let width = usize::from(area.width);
    let room = width.saturating_sub(mark.len() + 1);
    let text: String = format!("{title}  {}", states.join(", ")).chars().take(room).collect();
    put(frame, area, 0, &text, look.heading());
    let at = area.width.saturating_sub(u16::try_from(mark.len()).unwrap_or(u16::MAX));
    put(frame, Rect { x: area.x + at, width: area.width - at, ..area }, 0, &mark, style);
}

/// The interval of the figures, unless it is a second.
fn figures_interval(every: Duration) -> String {
    match every == Duration::from_secs(1) {
        true => String::new(),
        false => format!("every {}s  ", every.as_secs_f64()),
    }
}

fn draw_table(
    frame: &mut Frame<'_>,
    area: Rect,
    board: &Board,
    rows: &[Option<usize>],
    view: &mut View,
    look: TerminalStyle,
) {
    let width = usize::from(area.width);
    let columns = JobColumn::fitting(board.table.directions, board.table.has_transactions, width);
    let taken: usize = columns.iter().map(|column| column.width()).sum();
    let name_width = width.saturating_sub(taken);
    let line = |(name, suffix): (&str, &str), text: &dyn Fn(JobColumn) -> String| {
        let mut line = fitted(name, suffix, name_width);
        for &column in &columns {
            let width = column.width() - 1;
            line += &match column.is_text() {
                true => format!(" {}", fitted(&text(column), "", width)),
                false => format!(" {:>width$}", text(column)),
            };
        }
        line
    };
    put(frame, area, 0, &line((row_noun(&board.table), ""), &JobColumn::heading), look.heading());
    let visible = area.height.saturating_sub(1);
    let above = view.scroll(rows, usize::from(visible));
    for (y, &index) in (1..=visible).zip(rows.iter().skip(above)) {
        let entry = index.and_then(|index| board.table.entries.get(index)).unwrap_or(&board.table.all);
        let (name, suffix) = name(&board.table, index);
        let text = line((&name, &suffix), &|column| column.text(entry, board.table.units));
        let style = match index == view.selected {
            true => look.selected(),
            false if entry.host == Some(HostState::Lost) => look.error(),
            false => Style::new(),
        };
        put(frame, area, y, &text, style);
    }
}

/// A name and its suffix in exactly `width` columns; `~` marks a cut.
fn fitted(name: &str, suffix: &str, width: usize) -> String {
    let columns = |text: &str| Span::raw(text).width();
    let room = width.saturating_sub(columns(suffix));
    let mut fitted = name.to_owned();
    if columns(name) > room {
        while columns(&fitted) + 1 > room && fitted.pop().is_some() {}
        fitted.push('~');
    }
    fitted += suffix;
    while columns(&fitted) > width && fitted.pop().is_some() {}
    let blanks = width - columns(&fitted);
    fitted.extend(std::iter::repeat_n(' ', blanks));
    fitted
}

/// The help on keys, as far as it fits.
fn keys_that_fit(width: usize) -> String {
    let mut text = String::new();
    for key in KEYS {
        let gap = if text.is_empty() { "" } else { "  " };
        if text.len() + gap.len() + key.len() > width {
            break;
        }
        text += gap;
        text += key;
    }
    text
}

fn draw_help(frame: &mut Frame<'_>, area: Rect, help: &str, look: TerminalStyle) {
    let longest = help.lines().map(str::len).max().unwrap_or_default();
    let width = u16::try_from(longest + 2).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(help.lines().count()).unwrap_or(u16::MAX).min(area.height);
    let popup =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    frame.render_widget(Clear, popup);
    for (row, line) in (0..height).zip(help.lines()) {
        let text = format!(" {line:<rest$}", rest = usize::from(width).saturating_sub(1));
        put(frame, popup, row, &text, look.selected());
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
