use ferrio_job::ReadWrite;
use ferrio_plan::testing::{default_job, plan};
use ferrio_report::{HostState, LiveLatency, LiveTable, Transactions};
use ferrio_results::JobState;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::style::Color;

use super::testing::{board, hosts_board};
use super::*;

const PLAIN: TerminalStyle = TerminalStyle { has_colors: false, has_unicode: true };

fn drawn(board: &Board, view: &mut View, look: TerminalStyle, columns: u16, rows: u16) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, board, view, look)).unwrap();
    terminal.backend().clone()
}

/// Three jobs of which one has ended, one waits and one is selected.
fn three() -> (Board, View) {
    let mut board = board(&["index", "log", "backup of the night"]);
    board.table.states = vec![(JobState::Running, 1), (JobState::NotCreated, 1), (JobState::Reaped, 1)];
    for (at, state) in [(1, JobState::Reaped), (2, JobState::NotCreated)] {
        let entry = &mut board.table.entries[at];
        (entry.state, entry.left) = (state, None);
    }
    board.table.entries[0].errors = 3;
    (board, View { selected: Some(0), ..View::default() })
}

#[test]
fn a_wide_screen_reads_like_this() {
    let (mut board, mut view) = three();
    board.add_message("index: I/O error on \u{1b}f: offset 4096");
    insta::assert_snapshot!(drawn(&board, &mut view, PLAIN, 150, 40));
}

#[test]
fn a_screen_of_80_columns_has_fewer_figures() {
    let (board, mut view) = three();
    insta::assert_snapshot!(drawn(&board, &mut view, PLAIN, 80, 24));
}

#[test]
fn a_small_screen_has_the_table_alone() {
    let (board, mut view) = three();
    insta::assert_snapshot!(drawn(&board, &mut view, PLAIN, 40, 10));
}

#[test]
fn a_terminal_without_unicode_has_ascii() {
    let (board, mut view) = three();
    let screen = drawn(&board, &mut view, TerminalStyle { has_unicode: false, ..PLAIN }, 80, 30).to_string();
    assert!(screen.lines().all(|line| line.is_ascii()), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn before_the_first_second_there_is_nothing_to_show() {
    let job = ferrio_job::JobSpec { rw: ReadWrite::Read, ..default_job("a") };
    let board = Board::new(LiveTable::new(&plan([job])));
    insta::assert_snapshot!(drawn(&board, &mut View::default(), PLAIN, 80, 20));
}

#[test]
fn figures_of_more_than_a_second_say_so() {
    let (mut board, mut view) = three();
    board.table.sample_interval = Duration::from_secs(4);
    let screen = drawn(&board, &mut view, PLAIN, 100, 30).to_string();
    let title = screen.lines().next().unwrap();
    assert!(title.ends_with(" every 4s  sort: job\""), "{title}");
    // 60 columns of 4 s each.
    assert!(screen.contains(" -240s ") && !screen.contains(" -60s "), "{screen}");
}

#[test]
fn jobs_with_transactions_have_columns_for_them() {
    let (mut board, mut view) = three();
    board.table.has_transactions = true;
    let latency = LiveLatency { p50: 2_000_000, p99: 31_000_000, max: 40_000_000 };
    let transactions = Transactions { rate: 1234.4, latency: Some(latency) };
    let second = board.table.entries[0].history.back_mut().unwrap();
    second.transactions = Some(transactions);
    let screen = drawn(&board, &mut view, PLAIN, 180, 30).to_string();
    let row = |start: &str| screen.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(row("\"job ").contains(" left       tps   tx p50   tx p99 read IOPS "), "{screen}");
    assert!(row("\"index ").contains(" 1234 2.000 ms 31.00 ms "), "{screen}");
    // All jobs together have none here.
    assert!(row("\"all ").contains("         -        -        -     16.0k "), "{screen}");
}

#[test]
fn help_lies_over_the_screen() {
    let (board, mut view) = three();
    view.key(KeyEvent::from(KeyCode::Char('?')), &board);
    insta::assert_snapshot!(drawn(&board, &mut view, PLAIN, 80, 24));
}

#[test]
fn no_size_is_too_small_and_none_too_large() {
    let names: Vec<String> = (0..1000).map(|at| format!("a job with a long name {at}")).collect();
    let mut board = board(&names.iter().map(String::as_str).collect::<Vec<_>>());
    board.add_message("one");
    let mut view = View { selected: Some(999), ..View::default() };
    for has_help in [false, true] {
        view.has_help = has_help;
        for (columns, rows) in (0..60).map(|at| (at, 60 - at)).chain((0..60).map(|at| (at * 7, at))) {
            drawn(&board, &mut view, PLAIN, columns, rows);
        }
    }
    view.has_help = false;
    let screen = drawn(&board, &mut view, PLAIN, 300, 100).to_string();
    assert!(screen.contains("a job with a long name 999 "), "{screen}");
    assert!(!screen.contains("a job with a long name 0 "), "the table scrolls");
    let screen = drawn(&board, &mut view, PLAIN, 40, 10).to_string();
    assert!(screen.contains("a job wit~ "), "{screen}");
}

#[test]
fn the_same_name_is_told_apart_by_number() {
    let screen = drawn(&board(&["a", "b", "a"]), &mut View::default(), PLAIN, 80, 24).to_string();
    for name in ["\"all x3 ", "\"a #1 ", "\"b  ", "\"a #3 "] {
        assert!(screen.contains(name), "{name}: {screen}");
    }
}

#[test]
fn a_paused_screen_stays_as_it_is_and_says_so() {
    let (mut board, mut view) = three();
    view.key(KeyEvent::from(KeyCode::Char('p')), &board);
    let before = drawn(&board, &mut view, PLAIN, 80, 24).to_string();
    assert!(before.lines().next().unwrap().contains(" PAUSED"), "{before}");
    board.table.entries[0].errors = 77;
    assert_eq!(drawn(&board, &mut view, PLAIN, 80, 24).to_string(), before);
    board.is_ending = true;
    board.add_message("ended");
    let ending = drawn(&board, &mut view, PLAIN, 80, 24).to_string();
    assert!(
        ending.lines().next().unwrap().contains(" ENDING") && ending.contains("message 1: ended"),
        "{ending}"
    );
}

#[test]
fn colours_are_used_only_if_there_are_any() {
    let (board, mut view) = three();
    let colored = |look: TerminalStyle, view: &mut View| {
        let backend = drawn(&board, view, look, 120, 40);
        backend.buffer().content().iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert_eq!(colored(PLAIN, &mut view), 0);
    assert!(colored(TerminalStyle { has_colors: true, ..PLAIN }, &mut view) > 500);
}

#[test]
fn the_table_leaves_room_for_graphs_unless_there_is_little() {
    assert_eq!(ScreenRows::of(40, 4), ScreenRows { table: 5, graphs: 32, message: 1, keys: 1 });
    assert_eq!(ScreenRows::of(40, 1001), ScreenRows { table: 14, graphs: 23, message: 1, keys: 1 });
    assert_eq!(ScreenRows::of(10, 4), ScreenRows { table: 7, graphs: 0, message: 1, keys: 1 });
    assert_eq!(ScreenRows::of(1, 4), ScreenRows { table: 0, graphs: 0, message: 0, keys: 0 });
}

#[test]
fn wide_characters_do_not_move_the_figures() {
    assert_eq!(fitted("日本語のジョブ", "", 8), "日本語~ ");
    assert_eq!(fitted("日本", "", 4), "日本");
    assert_eq!([fitted("abc", "", 3), fitted("abcd", "", 3), fitted("a", "", 0)], ["abc", "ab~", ""]);
    assert_eq!([fitted("long name", " #12", 9), fitted("name", " #12", 3)], ["long~ #12", "~ #"]);
}

#[test]
fn control_characters_of_names_and_messages_do_not_reach_the_terminal() {
    let hostile = "a\u{1b}]0;t\u{7}\u{1b}[2J\r\u{7f}\u{9b}5mz";
    let mut board = board(&[hostile]);
    board.add_message(hostile);
    let screen = drawn(&board, &mut View { selected: Some(0), ..View::default() }, PLAIN, 100, 30);
    let mut symbols = screen.buffer().content().iter().flat_map(|cell| cell.symbol().chars());
    assert!(symbols.all(|sign| !sign.is_control()));
    assert!(screen.to_string().contains("message 1: a ]0;t [2J 5mz"), "{screen}");
}

#[test]
fn a_run_on_many_hosts_has_a_row_for_each_and_marks_the_lost_ones() {
    let mut board = hosts_board(&["node1", "node2", "node2", "node3"]);
    let at = Duration::from_secs(60);
    board.table.set_host(0, HostState::Lost, None, at);
    board.table.set_host(3, HostState::Preparing, None, at);
    board.table.all.state = JobState::Running;
    board.add_message("host node1 is lost: nothing was heard for 15 s");
    let mut view = View { selected: Some(1), ..View::default() };
    insta::assert_snapshot!(drawn(&board, &mut view, PLAIN, 120, 24));
    let colored = TerminalStyle { has_colors: true, ..PLAIN };
    let backend = drawn(&board, &mut view, colored, 120, 24);
    // Title, heading, all, node1.
    assert_eq!(backend.buffer().cell((0, 3)).unwrap().fg, Color::Yellow);
    view.key(KeyEvent::from(KeyCode::Char('?')), &board);
    let screen = drawn(&board, &mut view, PLAIN, 100, 30).to_string();
    for (text, is_there) in [
        ("end the jobs of all hosts", true),
        ("select the host", true),
        ("LOST host", true),
        ("Ctrl-Z", false),
    ] {
        assert_eq!(screen.contains(text), is_there, "{text}: {screen}");
    }
}
