//! The user's selection, sort order and keys.

use ferrio_report::{LiveEntry, LiveFigures};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::board::Board;

/// The order of the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// The order of the job file, or the ranks of hosts.
    #[default]
    Job,
    Iops,
    Bandwidth,
    P99,
    Errors,
}

impl Sort {
    const ALL: [Sort; 5] = [Sort::Job, Sort::Iops, Sort::Bandwidth, Sort::P99, Sort::Errors];

    /// The order in a word; `row` is what a row is.
    pub(crate) const fn word(self, row: &'static str) -> &'static str {
        match self {
            Sort::Job => row,
            Sort::Iops => "IOPS",
            Sort::Bandwidth => "bandwidth",
            Sort::P99 => "p99",
            Sort::Errors => "errors",
        }
    }

    fn next(self) -> Self {
        Sort::ALL[(self as usize + 1) % Sort::ALL.len()]
    }

    /// The sort key; the largest comes first.
    fn key(self, entry: &LiveEntry) -> f64 {
        let of = |figure: fn(&LiveFigures) -> f64| entry.now().map_or(0.0, figure);
        match self {
            Sort::Job => 0.0,
            Sort::Iops => of(LiveFigures::total_iops),
            Sort::Bandwidth => of(LiveFigures::total_bandwidth),
            Sort::P99 => of(|second| second.latency.map_or(0.0, |latency| latency.p99 as f64)),
            Sort::Errors => entry.errors as f64,
        }
    }
}

/// An action that a key requests outside the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyAction {
    /// End the run.
    End,
    /// Stop the program like Ctrl-Z.
    Stop,
    /// Redraw the whole screen.
    Redraw,
    /// Do nothing, for this reason.
    Explain(&'static str),
}

/// The answer to Ctrl-Z, which would stop the coordinator of a run on many hosts: its agents take silence for its death.
const HOSTS_DO_NOT_STOP: &str = "Ctrl-Z would not stop the jobs of other hosts; q ends them";

/// The state that the user controls.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Index of the selected entry; `None` for all entries together.
    pub(crate) selected: Option<usize>,
    pub(crate) sort: Sort,
    /// The figures that are shown while the display is paused.
    pub(crate) paused: Option<Box<Board>>,
    pub(crate) has_help: bool,
    /// Rows of the table above the first visible one.
    pub(crate) above: usize,
    /// Visible rows of the table in the last drawing.
    pub(crate) page: usize,
}

impl View {
    /// The rows of the table: all entries together, then the index of each entry.
    pub(crate) fn rows(&self, board: &Board) -> Vec<Option<usize>> {
        let entries = &board.table.entries;
        let mut indices: Vec<usize> = (0..entries.len()).collect();
        if self.sort != Sort::Job {
            let key = |&index: &usize| self.sort.key(&entries[index]);
            indices.sort_by(|a, b| key(b).total_cmp(&key(a)));
        }
        std::iter::once(None).chain(indices.into_iter().map(Some)).collect()
    }

    /// The entry whose history is shown.
    pub(crate) fn shown<'a>(&self, board: &'a Board) -> &'a LiveEntry {
        self.selected.and_then(|index| board.table.entries.get(index)).unwrap_or(&board.table.all)
    }

    /// Scrolls until the selected row is among the `visible` ones. Returns the first of them.
    pub(crate) fn scroll(&mut self, rows: &[Option<usize>], visible: usize) -> usize {
        self.page = visible;
        let at = rows.iter().position(|&row| row == self.selected).unwrap_or_default();
        let last = rows.len().saturating_sub(visible);
        self.above = self.above.min(at).max((at + 1).saturating_sub(visible)).min(last);
        self.above
    }

    /// Handles a key.
    pub(crate) fn key(&mut self, key: KeyEvent, board: &Board) -> Option<KeyAction> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Some(KeyAction::End),
                KeyCode::Char('z') if board.table.has_hosts => Some(KeyAction::Explain(HOSTS_DO_NOT_STOP)),
                KeyCode::Char('z') => Some(KeyAction::Stop),
                KeyCode::Char('l') => Some(KeyAction::Redraw),
                _ => None,
            };
        }
        let page = isize::try_from(self.page.max(1)).unwrap_or(isize::MAX);
        match key.code {
            KeyCode::Char('q' | 'Q') => return Some(KeyAction::End),
            KeyCode::Char('p' | ' ') => {
                self.paused = match self.paused {
                    Some(_) => None,
                    None => Some(Box::new(board.clone())),
                };
            }
            KeyCode::Char('s') => self.sort = self.sort.next(),
            KeyCode::Char('?' | 'h') => self.has_help = !self.has_help,
            KeyCode::Esc => self.has_help = false,
            KeyCode::Char('j') | KeyCode::Down => self.select(board, 1),
            KeyCode::Char('k') | KeyCode::Up => self.select(board, -1),
            KeyCode::PageDown => self.select(board, page),
            KeyCode::PageUp => self.select(board, -page),
            KeyCode::Char('g') | KeyCode::Home => self.select(board, isize::MIN),
            KeyCode::Char('G') | KeyCode::End => self.select(board, isize::MAX),
            _ => {}
        }
        None
    }

    /// Moves the selection `by` rows down.
    fn select(&mut self, board: &Board, by: isize) {
        let rows = self.rows(self.paused.as_deref().unwrap_or(board));
        let at = rows.iter().position(|&row| row == self.selected).unwrap_or_default();
        let to = at.saturating_add_signed(by).min(rows.len() - 1);
        self.selected = rows[to];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::testing::{board, hosts_board};

    fn press(view: &mut View, board: &Board, keys: &[KeyCode]) {
        for &key in keys {
            assert_eq!(view.key(KeyEvent::from(key), board), None, "{key}");
        }
    }

    #[test]
    fn arrows_and_letters_select_within_the_rows() {
        let (board, mut view) = (board(&["a", "b", "c"]), View::default());
        for (keys, selected) in [
            (&[KeyCode::Up, KeyCode::Char('k')][..], None),
            (&[KeyCode::Down], Some(0)),
            (&[KeyCode::Char('j'), KeyCode::Char('j'), KeyCode::Down], Some(2)),
            (&[KeyCode::Up], Some(1)),
            (&[KeyCode::Home], None),
            (&[KeyCode::End], Some(2)),
            (&[KeyCode::PageUp, KeyCode::PageUp, KeyCode::PageUp], None),
        ] {
            press(&mut view, &board, keys);
            assert_eq!(view.selected, selected, "{keys:?}");
        }
    }

    #[test]
    fn the_selected_row_is_always_visible() {
        let names: Vec<String> = (0..1000).map(|at| format!("job{at}")).collect();
        let board = board(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut view = View::default();
        let rows = view.rows(&board);
        assert_eq!((rows.len(), view.scroll(&rows, 10)), (1001, 0));
        press(&mut view, &board, &[KeyCode::PageDown]);
        assert_eq!((view.selected, view.scroll(&rows, 10)), (Some(9), 1));
        press(&mut view, &board, &[KeyCode::End]);
        assert_eq!(view.scroll(&rows, 10), 991);
        assert_eq!(view.scroll(&rows, 400), 601, "a larger terminal has no empty rows");
        press(&mut view, &board, &[KeyCode::Home]);
        assert_eq!((view.scroll(&rows, 10), view.scroll(&rows, 0)), (0, 1));
    }

    #[test]
    fn each_order_has_the_largest_first_and_keeps_the_selected_entry() {
        let (mut board, mut view) = (board(&["a", "b", "c"]), View::default());
        let p99 = |second: &mut LiveFigures, ns| second.latency.as_mut().unwrap().p99 = ns;
        for (entry, (iops, bandwidth, ns, errors)) in
            board.table.entries.iter_mut().zip([(1.0, 9.0, 5, 0), (3.0, 1.0, 4, 0), (2.0, 2.0, 6, 1)])
        {
            let second = entry.history.back_mut().unwrap();
            (second.iops, second.bandwidth) = ([iops, 0.0, 0.0], [0.0, bandwidth, 0.0]);
            p99(second, ns);
            entry.errors = errors;
        }
        press(&mut view, &board, &[KeyCode::Down]);
        for indices in [[0, 1, 2], [1, 2, 0], [0, 2, 1], [2, 0, 1], [2, 0, 1], [0, 1, 2]] {
            let rows = view.rows(&board);
            assert_eq!(rows, [None, Some(indices[0]), Some(indices[1]), Some(indices[2])], "{:?}", view.sort);
            assert_eq!(view.shown(&board).name, "a");
            press(&mut view, &board, &[KeyCode::Char('s')]);
        }
    }

    #[test]
    fn a_paused_view_keeps_what_it_shows() {
        let (mut board, mut view) = (board(&["a"]), View::default());
        press(&mut view, &board, &[KeyCode::Char(' ')]);
        board.add_message("later");
        assert_eq!(view.paused.as_ref().unwrap().messages, 0);
        press(&mut view, &board, &[KeyCode::Char('p')]);
        assert!(view.paused.is_none());
    }

    #[test]
    fn keys_that_are_not_a_matter_of_the_view() {
        let (board, mut view) = (board(&["a"]), View::default());
        let mut action = |code, modifiers| view.key(KeyEvent::new(code, modifiers), &board);
        let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        assert_eq!(action(KeyCode::Char('q'), none), Some(KeyAction::End));
        assert_eq!(action(KeyCode::Char('c'), control), Some(KeyAction::End));
        assert_eq!(action(KeyCode::Char('z'), control), Some(KeyAction::Stop));
        assert_eq!(action(KeyCode::Char('l'), control), Some(KeyAction::Redraw));
        assert_eq!(action(KeyCode::Char('c'), none), None);
        assert_eq!(action(KeyCode::Char('x'), control), None);
    }

    #[test]
    fn a_run_on_many_hosts_ends_but_does_not_stop() {
        let (board, mut view) = (hosts_board(&["n1", "n2"]), View::default());
        let mut action =
            |letter, modifiers| view.key(KeyEvent::new(KeyCode::Char(letter), modifiers), &board);
        assert_eq!(action('z', KeyModifiers::CONTROL), Some(KeyAction::Explain(HOSTS_DO_NOT_STOP)));
        assert_eq!(action('c', KeyModifiers::CONTROL), Some(KeyAction::End));
        assert_eq!(action('q', KeyModifiers::NONE), Some(KeyAction::End));
    }
}
