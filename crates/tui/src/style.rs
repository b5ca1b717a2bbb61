//! Characters and colours, according to the terminal.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::bar;

/// Levels of a cell of the heat map above none.
pub(crate) const LEVELS: usize = 4;

/// Bars in ASCII.
const ASCII_BARS: bar::Set<'static> = bar::Set {
    full: "#",
    seven_eighths: "#",
    three_quarters: "+",
    five_eighths: "=",
    half: "=",
    three_eighths: "-",
    one_quarter: "-",
    one_eighth: ".",
    empty: " ",
};

/// The characters and colours that the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TerminalStyle {
    pub(crate) has_colors: bool,
    pub(crate) has_unicode: bool,
}

impl TerminalStyle {
    pub(crate) const fn bars(self) -> bar::Set<'static> {
        if self.has_unicode { bar::NINE_LEVELS } else { ASCII_BARS }
    }

    /// The character of a cell of the heat map, from 0 for none to [`LEVELS`].
    pub(crate) const fn shade(self, level: usize) -> &'static str {
        let shades =
            if self.has_unicode { [" ", "░", "▒", "▓", "█"] } else { [" ", ".", "+", "x", "#"] };
        shades[if level > LEVELS { LEVELS } else { level }]
    }

    /// The colour of a cell of the heat map.
    pub(crate) fn heat(self, level: usize) -> Style {
        const COLORS: [Color; LEVELS] = [Color::Blue, Color::Cyan, Color::Yellow, Color::Red];
        match level {
            0 => Style::new(),
            level => self.colored(COLORS[level.min(LEVELS) - 1]),
        }
    }

    pub(crate) fn colored(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    /// Bars of rates.
    pub(crate) fn rates(self) -> Style {
        self.colored(Color::Green)
    }

    /// Messages and errors.
    pub(crate) fn error(self) -> Style {
        self.colored(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn heading(self) -> Style {
        self.colored(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The selected row, and rows that stand out without colours too.
    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}
